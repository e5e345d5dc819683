"""Usage as Anthropic reports it: disjoint already."""

from __future__ import annotations

from typing import Any

from ctxbudget.trace import Usage

MOST_TOKENS = 10**9
"""A token count above this is a damaged number: no call has a thousand million tokens."""


def read_usage(raw: Any, *, final: bool = True) -> Usage | None:
    """``input_tokens`` is the uncached part; ``final`` is False where the stream broke off before the last count."""
    if not isinstance(raw, dict):
        return None
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
    given, read, write, output = (_whole(raw.get(name)) or 0 for name in names)
    details = raw.get("output_tokens_details")
    reasoning = _whole(details.get("thinking_tokens")) if isinstance(details, dict) else None
    total = given + read + write + output
    return Usage(given, read, write, output, reasoning, total, final) if total else None


def _whole(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else None
