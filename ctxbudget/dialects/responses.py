"""Items of OpenAI's Responses API → chat messages. Items of one reply stay messages of their own."""

from __future__ import annotations

from typing import Any

ITEMS = frozenset({
    "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "reasoning",
    "computer_call_output", "local_shell_call_output", "mcp_call", "web_search_call", "file_search_call",
    "code_interpreter_call", "image_generation_call",
})  # fmt: skip
"""Types of items that are no message (platform.openai.com, "Responses")."""


def item(value: dict[str, Any]) -> list[dict[str, Any]]:
    """One item; ``call_id`` joins a call and its output, ``id`` is the item's own."""
    name = value.get("call_id") or value.get("id")
    match value:
        case {"type": "function_call" | "custom_tool_call", "name": str(tool)}:
            return [_call(name, tool, value.get("arguments", value.get("input")))]
        case {"type": str(kind), "output": output} if kind.endswith("_output"):
            return [{"role": "tool", "tool_call_id": name, "content": output}]
        case {"type": "mcp_call", "name": str(tool)}:
            answer = value.get("output") or value.get("error")
            failed = bool(value.get("error"))
            result = {"role": "tool", "tool_call_id": name, "content": answer, "is_error": failed}
            return [_call(name, tool, value.get("arguments")), *([result] if answer else [])]
        case {"type": "reasoning"}:
            thought = _thought(value)
            return [{"role": "assistant", "content": thought}] if thought else []
        case {"type": str(kind)}:
            asked = {key: value[key] for key in ("action", "queries", "code") if key in value}
            return [_call(name, kind.removesuffix("_call"), asked)]
    return []


def _call(name: Any, tool: str, arguments: Any) -> dict[str, Any]:
    call = {"id": name, "function": {"name": tool, "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _thought(value: dict[str, Any]) -> list[dict[str, Any]]:
    """What the reasoning shows: its text, else its summary, else how long its encrypted form is."""
    for name in ("content", "summary"):
        given = value.get(name)
        texts = [part.get("text") for part in given if isinstance(part, dict)] if isinstance(given, list) else []
        if shown := "\n".join(text for text in texts if isinstance(text, str)):
            return [{"type": "thinking", "thinking": shown}]
    hidden = value.get("encrypted_content")
    return [{"type": "redacted_thinking", "data": hidden}] if isinstance(hidden, str) else []
