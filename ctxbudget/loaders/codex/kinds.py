"""What the items and texts of a rollout are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

REPLIES = frozenset({
    "reasoning", "function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call",
    "image_generation_call", "compaction", "compaction_summary", "context_compaction",
})  # fmt: skip
"""Items that the model writes, beside its messages."""

SUMMARIES = frozenset({"compaction", "compaction_summary", "context_compaction"})
"""Items that hold a summary which only the server can read."""

_MEMORY = re.compile(r"\s*(<user_instructions>|# AGENTS\.md)")
_INJECTED = re.compile(
    r"\s*<(permissions|environment_|skill|turn_aborted|user_shell_command|subagent|child_agents|collaboration_mode"
    r"|personality|model_switch|apps?[_-]|plugin|hook|realtime|goal|multi_agent|memor|user_action)"
)
_SUMMARY = "Another language model started to solve this problem"
"""How Codex introduces a summary that it wrote on this side."""
_HEAD = re.compile(r"(?:Chunk ID: .*\n)?(?:Wall time: .*\n)?(?:Exit code: |Process exited with code )(-?\d+)")
"""How the result of a command begins: freeform, and of a session that goes on."""
_JSON = re.compile(r'"metadata":\{"exit_code":(-?\d+)')
"""The result of a command as JSON, the form of 2025."""


def is_reply(item: dict[str, Any]) -> bool:
    """Whether the model wrote the item."""
    kind = item.get("type")
    return item.get("role") == "assistant" if kind == "message" else isinstance(kind, str) and kind in REPLIES


def is_input(kind: str) -> bool:
    """Whether an item of that type goes to the model from outside."""
    return kind in {"message", "agent_message"} or kind.endswith("_output")


def kind_of(text: str, role: str) -> Kind:
    """What a text in an input message is, by who says it and the tag it begins with."""
    if role == "system":
        return Kind.SYSTEM_PROMPT
    if _MEMORY.match(text):
        return Kind.MEMORY_FILE
    if text.startswith(_SUMMARY):
        return Kind.SUMMARY
    return Kind.INJECTED if role == "developer" or _INJECTED.match(text) else Kind.USER


def parts(content: Any) -> Iterator[tuple[int, str, str]]:
    """The parts of a content: place, what it is (``text``, ``image``, ``sealed``, else its type), text or data."""
    if isinstance(content, str):
        yield 0, "text", content
    for block, part in enumerate(content if isinstance(content, list) else []):
        match part:
            case str(text) | {"text": str(text)} | {"refusal": str(text)}:
                yield block, "text", text
            case {"type": "input_image" | "output_image" | "image"}:
                url = part.get("image_url")
                yield block, "image", url if isinstance(url, str) else ""
            case {"encrypted_content": str(sealed)}:
                yield block, "sealed", sealed
            case {"type": str(kind)}:
                yield block, kind, ""
            case _:
                yield block, type(part).__name__, ""


def asks_something(item: dict[str, Any]) -> bool:
    """Whether an input item is the user's own word: where a turn of the user begins."""
    if item.get("type") != "message" or item.get("role") != "user":
        return False
    said = (text for _, what, text in parts(item.get("content")) if what == "text")
    return any(kind_of(text, "user") is Kind.USER for text in said)


def instructions(given: Any) -> str | None:
    """The system prompt in ``base_instructions``, an object today and a string before."""
    text = given.get("text") if isinstance(given, dict) else given
    return text if isinstance(text, str) and text else None


def failed(output: str) -> bool:
    """Whether the output of a command says that it did not end with 0."""
    found = _HEAD.match(output)
    if found is None and output.startswith('{"'):
        found = _JSON.search(output, 0, 200) or _JSON.search(output, max(0, len(output) - 200))
    return found is not None and found[1] != "0"


def tool_name(item: dict[str, Any]) -> str:
    """The name of a called tool; one of a namespace (an MCP server) is written ``namespace__name``."""
    name, space = item.get("name"), item.get("namespace")
    name = name if isinstance(name, str) and name else "?"
    return f"{space}__{name}" if isinstance(space, str) and space and not name.startswith(space) else name
