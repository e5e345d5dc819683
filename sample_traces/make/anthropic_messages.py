"""Writes a conversation as the Anthropic messages format has it: one request, the results in the user's turn."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from stamps import seal, token

if TYPE_CHECKING:
    from script import Call, Outcome, Turn

EPHEMERAL = {"cache_control": {"type": "ephemeral"}}


class AnthropicMessages:
    """The growing request. What does not change is marked for the prompt cache."""

    def __init__(self, model: str, system: str, tools: list[dict[str, Any]]) -> None:
        self.model = model
        self.system = [{"type": "text", "text": system} | EPHEMERAL]
        self.tools = [*tools[:-1], tools[-1] | EPHEMERAL]
        self.messages: list[dict[str, Any]] = []
        self._waiting: list[str] = []

    def bytes(self) -> bytes:
        """Return the file."""
        head = {"model": self.model, "max_tokens": 4096, "system": self.system, "tools": self.tools}
        return (json.dumps(head | {"messages": self.messages}, ensure_ascii=False, indent=1) + "\n").encode()

    def user(self, text: str) -> None:
        """Add a message of the customer."""
        self.messages.append({"role": "user", "content": text})

    def reply(self, turn: Turn) -> None:
        """Add an answer: thinking, text, calls."""
        blocks: list[dict[str, Any]] = []
        if turn.think:
            blocks.append({"type": "thinking", "thinking": turn.think, "signature": seal(f"order/{turn.n}", 240)})
        if turn.say:
            blocks.append({"type": "text", "text": turn.say})
        self._waiting = [f"toolu_01{token(f'order/{turn.n}/{number}', 22)}" for number, _ in enumerate(turn.calls)]
        for identity, call in zip(self._waiting, turn.calls, strict=True):
            blocks.append({"type": "tool_use", "id": identity, "name": call.tool, "input": call.arguments})
        self.messages.append({"role": "assistant", "content": blocks})

    def result(self, _call: Call, outcome: Outcome) -> None:
        """Add the result of a call to the one message that holds the results of a reply."""
        if self.messages[-1]["role"] == "assistant":
            self.messages.append({"role": "user", "content": []})
        block = {"type": "tool_result", "tool_use_id": self._waiting.pop(0), "content": outcome.text}
        self.messages[-1]["content"].append(block | ({"is_error": True} if outcome.error else {}))


def tool(name: str, description: str, required: str = "", /, **properties: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a tool."""
    schema = {"type": "object", "properties": properties, "required": required.split()}
    return {"name": name, "description": description, "input_schema": schema}
