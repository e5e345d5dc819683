"""Usage as the Responses API reports it → disjoint counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget.loaders.openai_chat.usage import read_usage as read_chat_usage

if TYPE_CHECKING:
    from ctxbudget.trace import Usage


def read_usage(raw: Any) -> Usage | None:
    """The same as for chat, under other names; the Agents SDK stores the details in a list."""
    if not isinstance(raw, dict):
        return None
    return read_chat_usage(
        {
            "prompt_tokens": raw.get("input_tokens", raw.get("inputTokens")),
            "completion_tokens": raw.get("output_tokens", raw.get("outputTokens")),
            "total_tokens": raw.get("total_tokens", raw.get("totalTokens")),
            "prompt_tokens_details": _first(raw.get("input_tokens_details", raw.get("inputTokensDetails"))),
            "completion_tokens_details": _first(raw.get("output_tokens_details", raw.get("outputTokensDetails"))),
        }
    )


def _first(details: Any) -> Any:
    return details[0] if isinstance(details, list) and details else details
