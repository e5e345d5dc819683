"""What the items and texts of a rollout are."""

from __future__ import annotations

import re
from typing import Any

from ctxbudget.providers.openai.items import parts
from ctxbudget.trace import Kind

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
