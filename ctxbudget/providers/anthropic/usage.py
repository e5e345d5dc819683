"""Usage as Anthropic reports it: disjoint already."""

from __future__ import annotations

from typing import Any

from ctxbudget.records.values import count, tokens
from ctxbudget.trace import Usage


def read_usage(raw: Any, *, final: bool = True) -> Usage | None:
    """``input_tokens`` is the uncached part; ``final`` is False where the stream broke off before the last count."""
    if not isinstance(raw, dict):
        return None
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
    given, read, write, output = (tokens(raw.get(name)) for name in names)
    details = raw.get("output_tokens_details")
    reasoning = count(details.get("thinking_tokens")) if isinstance(details, dict) else None
    total = given + read + write + output
    return Usage(given, read, write, output, reasoning, total, final) if total else None
