"""Writes a session as Codex stores it: a rollout of session, turn context, response items and events.

The base instructions are in the file, the tool schemas are not. Reasoning is encrypted, billed once and dropped
by the server from later prompts. Counts come in ``token_count`` events, the first of which is empty.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from meter import Meter
from script import compact
from stamps import Clock, seal, token, uuid4

if TYPE_CHECKING:
    from script import Call, Outcome, Turn

KEYS = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens", "total_tokens")
IMAGE = 1_000
"""A screenshot of 1280 x 800 on this model: one token for each patch of 32 x 32."""


@dataclass(frozen=True, slots=True)
class Thread:
    """What all lines of a rollout share."""

    name: str
    cwd: str
    model: str
    start: str
    instructions: str
    environment: str
    """What the harness says about the machine before the first user message."""
    overhead: int
    """Tokens of the tool schemas, which are not in the file."""
    window: int = 258_400


class Codex:
    """The growing file of one thread."""

    def __init__(self, thread: Thread) -> None:
        self.thread = thread
        self.clock = Clock(thread.start)
        self.meter = Meter(thread.name, 1.0, thread.overhead)
        self.lines: list[dict[str, Any]] = []
        self.total = dict.fromkeys(KEYS, 0)
        self._sent = 0
        self._asked = 0
        self._waiting: list[str] = []
        self._meta()

    def bytes(self) -> bytes:
        """Return the file."""
        return "".join(compact(line) + "\n" for line in self.lines).encode()

    def user(self, text: str) -> None:
        """Write what the user typed: a context line, the message and the copy for the terminal."""
        self._asked += 1
        self.clock.tick(30)
        self._event("task_started", turn_id=self._turn_id(), model_context_window=self.thread.window)
        self._line("turn_context", self._context())
        if self._asked == 1:
            self._say("user", self.thread.environment)
        self._say("user", text)
        self._event("user_message", message=text, images=[], local_images=[], text_elements=[])
        if self._asked == 1:
            self._event("token_count", info=None, rate_limits=self._limits())

    def reply(self, turn: Turn) -> None:
        """Write one response: reasoning, text and calls, then the count of it."""
        self.clock.tick(6)
        if turn.think or turn.hidden:
            self._reason(turn)
        visible = sum(self.meter.price(call.tool + call.json) for call in turn.calls)
        if turn.say:
            visible += self.meter.price(turn.say)
            self._message("assistant", "output_text", turn.say)
            self._event("agent_message", message=turn.say)
        for number, call in enumerate(turn.calls):
            identity = "call_" + token(f"{self.thread.name}/{turn.n}/{number}", 24)
            self._waiting.append(identity)
            item = {"type": "function_call", "name": call.tool, "arguments": call.json, "call_id": identity}
            self._line("response_item", item)
        self._count(visible, turn.hidden)
        if not turn.calls:
            self._event("task_complete", turn_id=self._turn_id(), last_agent_message=turn.say)

    def result(self, call: Call, outcome: Outcome) -> None:
        """Write the output of one call; a browser's output also as the event of its server."""
        self.clock.tick(1)
        identity = self._waiting.pop(0)
        pictures = [f"data:image/png;base64,{base64.b64encode(data).decode()}" for data in outcome.images]
        output: Any = outcome.text
        if pictures:
            parts = [{"type": "input_text", "text": outcome.text}]
            output = parts + [{"type": "input_image", "image_url": url} for url in pictures]
        if call.tool.startswith("mcp__"):
            self._event("mcp_tool_call_end", call_id=identity, **self._served(call, outcome))
        self._line("response_item", {"type": "function_call_output", "call_id": identity, "output": output})
        self.meter.enter(outcome.text)
        self.meter.carry(IMAGE * len(pictures))

    def _meta(self) -> None:
        identity = self._id("thread")
        meta = {"id": identity, "timestamp": self.clock.stamp(), "cwd": self.thread.cwd, "originator": "codex_cli_rs"}
        meta |= {"cli_version": "0.98.0", "source": "cli", "model_provider": "openai"}
        self._line("session_meta", meta | {"base_instructions": {"text": self.thread.instructions}})
        self.meter.enter(self.thread.instructions)

    def _context(self) -> dict[str, Any]:
        return {
            "turn_id": self._turn_id(),
            "cwd": self.thread.cwd,
            "approval_policy": "never",
            "sandbox_policy": {"type": "read-only"},
            "model": self.thread.model,
            "effort": "medium",
            "summary": "auto",
            "truncation_policy": {"mode": "tokens", "limit": 100_000},
        }

    def _say(self, role: str, text: str) -> None:
        self._message(role, "input_text", text)
        self.meter.enter(text)

    def _message(self, role: str, kind: str, text: str) -> None:
        self._line("response_item", {"type": "message", "role": role, "content": [{"type": kind, "text": text}]})

    def _reason(self, turn: Turn) -> None:
        if turn.think:
            self._event("agent_reasoning", text=turn.think)
        summary = [{"type": "summary_text", "text": turn.think}] if turn.think else []
        sealed = seal(f"{self.thread.name}/{turn.n}", 300 + 3 * turn.hidden)
        item = {"type": "reasoning", "summary": summary, "content": None, "encrypted_content": sealed}
        self._line("response_item", item)

    def _count(self, visible: int, reasoning: int) -> None:
        prompt, output = self.meter.prompt, visible + reasoning
        cached = min(self._sent, prompt) // 128 * 128
        last = dict(zip(KEYS, (prompt, cached, output, reasoning, prompt + output), strict=True))
        self.total = {key: self.total[key] + last[key] for key in KEYS}
        info = {"total_token_usage": self.total, "last_token_usage": last, "model_context_window": self.thread.window}
        self._event("token_count", info=info, rate_limits=self._limits())
        self._sent = prompt
        self.meter.carry(visible)

    def _limits(self) -> dict[str, Any]:
        used = round(4 + self.total["total_tokens"] / 400_000, 1)
        return {"primary": {"used_percent": used, "window_minutes": 300, "resets_at": 1_771_000_000}, "secondary": None}

    def _served(self, call: Call, outcome: Outcome) -> dict[str, Any]:
        _, server, tool = call.tool.split("__")
        pictures = (base64.b64encode(data).decode() for data in outcome.images)
        content = [{"type": "text", "text": outcome.text}]
        content += [{"type": "image", "data": data, "mimeType": "image/png"} for data in pictures]
        return {
            "invocation": {"server": server, "tool": tool, "arguments": call.arguments},
            "duration": {"secs": 0, "nanos": 84_000_000},
            "result": {"Ok": {"content": content, "isError": outcome.error}},
        }

    def _turn_id(self) -> str:
        return self._id(f"turn/{self._asked}")

    def _id(self, what: str) -> str:
        return "019c41d2" + uuid4(f"{self.thread.name}/{what}")[8:]

    def _event(self, kind: str, **content: object) -> None:
        self._line("event_msg", {"type": kind} | content)

    def _line(self, kind: str, payload: dict[str, Any]) -> None:
        self.lines.append({"timestamp": self.clock.tick(1), "type": kind, "payload": payload})
