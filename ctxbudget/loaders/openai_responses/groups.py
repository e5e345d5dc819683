"""Items → messages: what the model wrote between two inputs is one reply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

Fields = dict[str, Any]

REPLIES = frozenset({
    "reasoning", "function_call", "custom_tool_call", "computer_call", "web_search_call", "file_search_call",
    "code_interpreter_call", "mcp_call", "mcp_list_tools", "mcp_approval_request", "local_shell_call", "shell_call",
    "apply_patch_call", "image_generation_call", "tool_search_call", "compaction",
})  # fmt: skip
"""Items that the model, or a tool at OpenAI's, writes; beside them its messages."""

INPUTS = frozenset({
    "function_call_output", "custom_tool_call_output", "computer_call_output", "local_shell_call_output",
    "shell_call_output", "apply_patch_call_output", "tool_search_call_output", "tool_search_output",
    "mcp_approval_response", "item_reference",
})  # fmt: skip
"""Items that go to the model."""

ITEMS = REPLIES | INPUTS

PARTS = ("input_text", "output_text", "input_image", "input_file")
"""Types of the parts of a message."""

ANSWERS = ("_output", "_result")
"""How types of results end; the second in the Agents SDK for JavaScript."""


def is_item(data: Any) -> bool:
    """Whether it is an item of the API; a plain ``{role, content}`` is one too."""
    match data:
        case {"type": "message", "role": str()}:
            return True
        case {"type": str(kind)}:
            return kind in ITEMS
        case {"role": "user" | "assistant" | "system" | "developer", "content": str() | list()}:
            return "messages" not in data and "parts" not in data
    return False


def is_telling(data: Fields) -> bool:
    """Whether it is an item that no other format has: by its type, or by the types of its parts."""
    match data:
        case {"payload": _} | {"uuid": _} | {"parentId": _}:
            return False
        case {"type": "reasoning" | "compaction"}:
            return "encrypted_content" in data or isinstance(data.get("summary"), list)
        case {"type": str(kind)} if kind in ITEMS:
            return True
        case {"role": str(), "content": list(content)}:
            return any(isinstance(part, dict) and part.get("type") in PARTS for part in content)
    return False


def is_reply(item: Any) -> bool:
    """Whether the model wrote it."""
    match item:
        case {"role": role}:
            return bool(role == "assistant")
        case {"type": str(kind)}:
            return kind in REPLIES
    return False


def grouped(given: Any, lines: Sequence[int] = ()) -> list[Fields]:
    """The messages of an input or output: each its ``role``, its ``items``, and their ``lines`` where these are given.

    A string is what the user says.
    """
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    found: list[Fields] = []
    for at, item in enumerate(items if isinstance(items, list) else []):
        role = _role(item)
        if not (role == "assistant" and found and found[-1]["role"] == "assistant"):
            found.append({"role": role, "items": [], "lines": []})
        found[-1]["items"].append(item)
        found[-1]["lines"] += lines[at : at + 1]
    return found


def _role(item: Any) -> str:
    if is_reply(item):
        return "assistant"
    match item:
        case {"role": "system" | "developer"}:
            return "system"
        case {"type": str(kind)} if kind.endswith(ANSWERS):
            return "tool"
    return "user"


def call_of(item: Any) -> str | None:
    """The call that an item makes or answers: ``call_id``, not the item's own id; a tool at OpenAI's has only that."""
    names = (item.get(name) for name in ("call_id", "callId", "id")) if isinstance(item, dict) else ()
    return next((name for name in names if isinstance(name, str) and name), None)


def texts(content: Any) -> list[Any]:
    """What the parts of a content say, in whatever form; a part without text as it is."""
    parts = content if isinstance(content, list) else [content]
    return [part.get("text", part.get("refusal", part)) if isinstance(part, dict) else part for part in parts]
