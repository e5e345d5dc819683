"""Usage as OpenAI and its gateways report it → disjoint counts."""

from __future__ import annotations

from typing import Any

from ctxbudget.records.values import count, tokens
from ctxbudget.trace import Usage


def read_usage(raw: Any) -> Usage | None:
    """Cached tokens are part of ``prompt_tokens``, and reasoning of ``completion_tokens``; what differs is told by
    the sums: gateways that keep the cache apart, and providers whose total has the reasoning on top.
    """
    if not isinstance(raw, dict):
        return None
    prompt, output, total = _first(raw, "prompt_tokens"), _first(raw, "completion_tokens"), _first(raw, "total_tokens")
    if not prompt and not output:
        return Usage(total=total, split=False) if total else None
    details, spent = _details(raw, "prompt_tokens_details"), _details(raw, "completion_tokens_details")
    read = _first(details, "cached_tokens") or _first(raw, "cache_read_input_tokens", "prompt_cache_hit_tokens")
    write = _first(details, "cache_creation_tokens", "cache_write_tokens") or _first(raw, "cache_creation_input_tokens")
    reasoning = count(spent.get("reasoning_tokens"))
    if reasoning and total == prompt + output + reasoning:
        output += reasoning
    given = prompt - read - write if read + write <= prompt else prompt
    return Usage(given, read, write, output, reasoning, given + read + write + output)


def read_items_usage(raw: Any) -> Usage | None:
    """The same as for chat, under other names; the Agents SDK stores the details in a list."""
    if not isinstance(raw, dict):
        return None
    return read_usage(
        {
            "prompt_tokens": raw.get("input_tokens", raw.get("inputTokens")),
            "completion_tokens": raw.get("output_tokens", raw.get("outputTokens")),
            "total_tokens": raw.get("total_tokens", raw.get("totalTokens")),
            "prompt_tokens_details": _only(raw.get("input_tokens_details", raw.get("inputTokensDetails"))),
            "completion_tokens_details": _only(raw.get("output_tokens_details", raw.get("outputTokensDetails"))),
        }
    )


def _details(raw: dict[str, Any], name: str) -> dict[str, Any]:
    details = raw.get(name)
    return details if isinstance(details, dict) else {}


def _first(raw: dict[str, Any], *names: str) -> int:
    return next((found for name in names if (found := tokens(raw.get(name)))), 0)


def _only(details: Any) -> Any:
    return details[0] if isinstance(details, list) and details else details
