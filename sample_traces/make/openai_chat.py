"""Writes a conversation as the OpenAI chat format has it: messages and tools of one request, without any usage."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from stamps import token

if TYPE_CHECKING:
    from script import Call, Outcome, Turn


class OpenAIChat:
    """The growing list of messages."""

    def __init__(self, model: str, system: str, tools: list[dict[str, Any]]) -> None:
        self.model = model
        self.tools = tools
        self.messages: list[dict[str, Any]] = [{"role": "system", "content": system}]
        self._waiting: list[str] = []

    def bytes(self) -> bytes:
        """Return the file."""
        request = {"model": self.model, "messages": self.messages, "tools": self.tools}
        return (json.dumps(request, ensure_ascii=False, indent=1) + "\n").encode()

    def user(self, text: str) -> None:
        """Add a message of the customer."""
        self.messages.append({"role": "user", "content": text})

    def reply(self, turn: Turn) -> None:
        """Add an answer, with its calls if it has any."""
        message: dict[str, Any] = {"role": "assistant", "content": turn.say or None}
        self._waiting = [f"call_{token(f'{turn.n}/{number}', 24)}" for number, _ in enumerate(turn.calls)]
        if turn.calls:
            message["tool_calls"] = [
                {"id": identity, "type": "function", "function": {"name": call.tool, "arguments": call.json}}
                for identity, call in zip(self._waiting, turn.calls, strict=True)
            ]
        self.messages.append(message)

    def result(self, _call: Call, outcome: Outcome) -> None:
        """Add the result of a call."""
        self.messages.append({"role": "tool", "tool_call_id": self._waiting.pop(0), "content": outcome.text})


def function(name: str, description: str, required: str = "", /, **properties: str) -> dict[str, Any]:
    """Return the schema of a tool whose arguments are described in one sentence each.

    A description that begins with a type and a colon sets it; text is the default.
    """
    described = {}
    for key, sentence in properties.items():
        kind, _, rest = sentence.partition(": ") if sentence.startswith(("number: ", "array: ")) else ("string", "", "")
        described[key] = {"type": kind, "description": rest or sentence}
        if kind == "array":
            described[key]["items"] = {"type": "object"}
    schema = {"type": "object", "properties": described, "required": required.split(), "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}
