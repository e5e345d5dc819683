"""LangChain's messages → plain ``{role, content, tool_calls}``.

Three writings (langchain-core 0.1 to 1.0, Python and JavaScript): constructors of ``dumps`` with ``kwargs``; ``{type,
data}`` of ``messages_to_dict``; and ``{type, content}`` as ``model_dump`` gives it.
"""

from __future__ import annotations

from typing import Any

ROLES = {
    "human": "user", "HumanMessage": "user", "HumanMessageChunk": "user",
    "ai": "assistant", "AIMessage": "assistant", "AIMessageChunk": "assistant",
    "system": "system", "SystemMessage": "system", "SystemMessageChunk": "system",
    "developer": "system",
    "tool": "tool", "ToolMessage": "tool", "ToolMessageChunk": "tool",
    "function": "tool", "FunctionMessage": "tool",
    "chat": "user", "ChatMessage": "user", "generic": "user",
}  # fmt: skip
"""Types and class names of messages, and whose they are. ``RemoveMessage`` is an instruction, not a message."""


def plain(value: dict[str, Any]) -> dict[str, Any]:
    """The message; empty if it is none. Calls stand in ``tool_calls`` alone, though content blocks may repeat them."""
    name, fields = opened(value)
    role = ROLES.get(name)
    if role is None:
        return {}
    extra = _object(fields.get("additional_kwargs"))
    given = fields["role"] if isinstance(fields.get("role"), str) and role == "user" else role
    said: dict[str, Any] = {"role": given, "content": fields.get("content", "")}
    if role == "assistant":
        said |= _reply(fields, extra)
    elif role == "tool":
        said["tool_call_id"], said["name"] = fields.get("tool_call_id"), fields.get("name")
        said["is_error"] = fields.get("status") == "error"
    return said


def opened(value: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The type or class of a message, and its fields."""
    match value:
        case {"id": [*_, str(name)], "kwargs": dict(fields)}:
            return name, fields
        case {"type": str(name), "data": dict(fields)}:
            return name, fields
        case {"type": str(name)}:
            return name, value
    return "", {}


def _reply(fields: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    said: dict[str, Any] = {}
    calls = fields.get("tool_calls")
    broken = fields.get("invalid_tool_calls")
    calls = [*(calls if isinstance(calls, list) else []), *(broken if isinstance(broken, list) else [])]
    said["tool_calls"] = [_call(call) for call in calls if isinstance(call, dict)] or extra.get("tool_calls")
    if not said["tool_calls"] and isinstance(extra.get("function_call"), dict):
        said["function_call"] = extra["function_call"]
    if isinstance(extra.get("reasoning_content"), str):
        said["reasoning_content"] = extra["reasoning_content"]
    return said


def _call(call: dict[str, Any]) -> dict[str, Any]:
    return {"id": call.get("id"), "function": {"name": call.get("name") or "?", "arguments": call.get("args")}}


def usage(value: dict[str, Any]) -> dict[str, Any]:
    """What the provider counted, as ``dialects.counts`` reads it; empty if the message does not say.

    ``usage_metadata`` is inclusive: its ``input_tokens`` hold the cached ones, its ``output_tokens`` the reasoning
    (langchain-core ``messages/ai.py``). ``response_metadata`` keeps the provider's own words.
    """
    _, fields = opened(value)
    told = _object(fields.get("response_metadata"))
    named = ("token_usage", "tokenUsage", "usage")
    found = (_object(place) for place in (fields.get("usage_metadata"), *(told.get(name) for name in named)))
    return next((place for place in found if place), {})


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def model(value: dict[str, Any]) -> str | None:
    """The model that wrote the message, where it says so."""
    _, fields = opened(value)
    match fields.get("response_metadata"):
        case {"model_name": str(name)} | {"model": str(name)}:
            return name
    return None
