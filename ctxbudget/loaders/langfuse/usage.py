"""Usage buckets of an observation → disjoint counts."""

from __future__ import annotations

from typing import Any

from ctxbudget.records.values import tokens
from ctxbudget.trace import Usage

INPUT = ("input", "prompt_tokens", "promptTokens", "input_tokens")
OUTPUT = ("output", "completion_tokens", "completionTokens", "output_tokens")
TOTAL = ("total", "total_tokens", "totalTokens")


def read_usage(row: dict[str, Any]) -> Usage | None:
    """``usageDetails``, else the fields of before version 3.

    The buckets are meant to be disjoint (``input`` 179, ``output`` 35, ``output_reasoning`` 64, ``total`` 278). Where
    ``input`` and ``output`` alone make the total, the others are parts of them; so are ``prompt_details.…`` and
    ``completion_details.…``, which OpenInference's exporters send.
    """
    for given in (row.get("usageDetails"), row.get("usage_details"), row.get("usage"), row):
        if isinstance(given, dict) and (found := _read(given)) is not None:
            return found
    return None


def _read(given: dict[str, Any]) -> Usage | None:
    base, said, total = _first(given, INPUT), _first(given, OUTPUT), _first(given, TOTAL)
    if not base and not said:
        return Usage(total=total, split=False) if total else None
    read = _sum(given, "cache", ("read", "cached", "hit")) or _first(given, ("input_cached_tokens", "input_cached"))
    write = _sum(given, "cache", ("creation", "write"))
    reasoning = _sum(given, "reason", ("reason",))
    is_inclusive = total == base + said if total else any("_details" in name for name in given)
    if is_inclusive:
        prompt = base - read - write if read + write <= base else base
        output = said
    else:
        prompt, output = base, said + reasoning
        # buckets of other kinds (audio, image) complete the total
        prompt += max(0, total - prompt - read - write - output)
    known = any("reason" in name for name in given)
    return Usage(prompt, read, write, output, reasoning if known else None, prompt + read + write + output)


def _first(given: dict[str, Any], names: tuple[str, ...]) -> int:
    return next((found for name in names if (found := tokens(given.get(name)))), 0)


def _sum(given: dict[str, Any], word: str, others: tuple[str, ...]) -> int:
    """The buckets whose name holds ``word`` and one of the others."""
    names = [name for name in given if word in name.lower() and any(other in name.lower() for other in others)]
    return sum(tokens(given[name]) for name in names)
