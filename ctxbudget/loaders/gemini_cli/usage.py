"""Usage as Gemini reports it → disjoint counts."""

from __future__ import annotations

from typing import Any

from ctxbudget.records.values import tokens
from ctxbudget.trace import Usage


def read_usage(raw: Any) -> Usage | None:
    """Cached tokens are part of the prompt. Thoughts are beside the candidates; some back ends count them in, which
    the total tells. Prompts of tools that ran at the provider's are billed with the prompt.

    Takes the names of a recording (``tokens``) and of the API (``usageMetadata``).
    """
    if not isinstance(raw, dict):
        return None
    prompt, cached = _count(raw, "input", "promptTokenCount"), _count(raw, "cached", "cachedContentTokenCount")
    said, thoughts = _count(raw, "output", "candidatesTokenCount"), _count(raw, "thoughts", "thoughtsTokenCount")
    prompt += _count(raw, "tool", "toolUsePromptTokenCount")
    total = _count(raw, "total", "totalTokenCount")
    if not (prompt or said or thoughts):
        return Usage(total=total, split=False) if total else None
    output = said if total == prompt + said else said + thoughts
    read = min(cached, prompt)
    return Usage(prompt - read, read, 0, output, min(thoughts, output), prompt + output)


def read_sums(raw: dict[str, Any]) -> Usage | None:
    """The sums of a whole run (``stats`` of stream-json): the total has the thoughts, the output has not."""
    prompt, cached = _count(raw, "input_tokens"), _count(raw, "cached")
    total = max(_count(raw, "total_tokens"), prompt + _count(raw, "output_tokens"))
    read = min(cached, prompt)
    return Usage(prompt - read, read, 0, total - prompt, None, total) if total else None


def _count(raw: dict[str, Any], *names: str) -> int:
    return next((found for name in names if (found := tokens(raw.get(name)))), 0)
