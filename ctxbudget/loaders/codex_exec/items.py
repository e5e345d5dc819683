"""Items of tools: what was called, with what, and what came back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget import media
from ctxbudget.exchanges import compact, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

Fields = dict[str, Any]

TOOLS = frozenset({"command_execution", "file_change", "mcp_tool_call", "collab_tool_call"})
FAILED = ("failed", "declined")
"""States of a command, a patch or a call that did not do what was asked."""


def kind_of(item: Fields) -> str:
    """The type of an item."""
    return str(item.get("type", item.get("item_type")))[:40]


def uses_tool(data: Fields) -> bool:
    """Whether an event is of a tool that answers the agent."""
    item = data.get("item")
    return isinstance(item, dict) and (kind_of(item) in TOOLS or kind_of(item) == "todo_list")


def asked(kind: str, item: Fields) -> tuple[str, Any]:
    """The tool that an item calls, and with what."""
    match kind:
        case "command_execution":
            return "shell", {"command": item.get("command")}
        case "file_change":
            changes = item.get("changes")
            files = [change for change in changes if isinstance(change, dict)] if isinstance(changes, list) else []
            return "apply_patch", files[0] if len(files) == 1 else {"changes": files}
        case "mcp_tool_call":
            given = item.get("arguments")
            return f"{item.get('server')}__{item.get('tool')}", given if isinstance(given, dict | str) else {}
    given = {name: item[name] for name in ("prompt", "receiver_thread_ids") if item.get(name)}
    return str(item.get("tool")), given


def said(kind: str, item: Fields) -> str:
    """What the tool answered, as far as the event shows it."""
    match item:
        case {"aggregated_output": str(text)} | {"error": {"message": str(text)}}:
            return text
        case {"result": {"content": list(content)}} if content:
            return "\n".join(_text(part) for part in content if not _is_image(part))
        case {"result": {"structured_content": data}} if data is not None:
            return plain(data)
        case {"agents_states": dict(states)} if states:
            return compact(states)
    return str(item.get("status", "")) if kind == "file_change" else ""


def _text(part: Any) -> str:
    match part:
        case {"text": str(text)}:
            return text
    return plain(part)


def _is_image(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "image"


def pictures(item: Fields) -> Iterator[tuple[int, int] | None]:
    """Sizes of the images that an MCP tool answered with."""
    match item.get("result"):
        case {"content": list(content)}:
            for part in content:
                if _is_image(part):
                    data = part.get("data")
                    yield media.base64_size(data) if isinstance(data, str) else None
