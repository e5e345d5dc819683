"""Writes a session as Claude Code stores it: one JSON line per content block.

Lines of one response share ``message.id`` and repeat its usage. The system prompt and the tool schemas are
billed and not stored, and every result has a display copy (``toolUseResult``) that the model never saw.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from meter import Meter, count
from script import compact
from stamps import Clock, seal, token, uuid4

if TYPE_CHECKING:
    from script import Call, Outcome, Turn


SECONDS = {"Bash": 4, "Task": 44}
"""How long the slower tools take."""


@dataclass(frozen=True, slots=True)
class Session:
    """What all lines of a session share."""

    name: str
    cwd: str
    model: str
    start: str
    overhead: int
    """Tokens of the system prompt and the tool schemas."""
    cached: int
    """How many of them an earlier session had left in the prompt cache."""
    factor: float = 1.2
    agent: str = ""
    """Id of the sub-agent whose session this is."""
    slug: str = "quiet-counting-teapot"
    version: str = "2.1.52"
    branch: str = "money"

    @property
    def id(self) -> str:
        """The id of the session; a sub-agent has that of its parent."""
        return uuid4(f"session/{self.cwd}")


class ClaudeCode:
    """The growing file of one session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.clock = Clock(session.start)
        self.meter = Meter(session.name, session.factor, session.overhead)
        self.lines: list[dict[str, Any]] = []
        self.turns = 0
        self.usage: dict[str, Any] = {}
        self._asked = self.clock.now
        self._parent: str | None = None
        self._known = session.cached
        self._waiting: list[tuple[str, str]] = []

    def bytes(self) -> bytes:
        """Return the file."""
        return "".join(compact(line) + "\n" for line in self.lines).encode()

    def user(self, text: str) -> None:
        """Write a line of the user; in the main session with the bookkeeping that comes before it."""
        self.clock.tick(40)
        identity = uuid4(f"{self.session.name}/line/{len(self.lines)}")
        if not self.session.agent:
            self._bookkeeping(identity)
        self._line("user", {"message": {"role": "user", "content": text}}, identity)
        self._asked = self.clock.now
        self.meter.enter(text)

    def reply(self, turn: Turn) -> None:
        """Write one response: thinking, text and calls, a line each, with the same usage on all of them."""
        self.turns += 1
        identity = f"{self.session.name}/reply/{turn.n}"
        blocks = self._blocks(turn, identity)
        shown = [turn.think, turn.say, *(call.tool + call.json for call in turn.calls)]
        output = sum(self.meter.price(text) for text in shown if text) + turn.hidden
        self.usage = self._bill(output)
        for block in blocks:
            self._line("assistant", {"message": self._message(block, turn, identity), "requestId": self._request(turn)})
            self.clock.tick(1)
        self.meter.carry(output)

    def result(self, call: Call, outcome: Outcome) -> None:
        """Write the result of one call and the copy that the terminal showed."""
        identity, origin = self._waiting.pop(0)
        self.clock.tick(SECONDS.get(call.tool, 1))
        block: dict[str, Any] = {"tool_use_id": identity, "type": "tool_result", "content": outcome.text}
        if outcome.error or call.tool == "Bash":
            block["is_error"] = outcome.error
        self._line(
            "user",
            {
                "message": {"role": "user", "content": [block]},
                "toolUseResult": outcome.display,
                "sourceToolAssistantUUID": origin,
            },
        )
        self.meter.enter(outcome.text)

    def finish(self) -> None:
        """Write the line about how long the user waited; it is not sent to the model."""
        self._line("system", {"subtype": "turn_duration", "durationMs": self.waited(), "isMeta": False})

    def waited(self) -> int:
        """Return the milliseconds since the user last said something."""
        return round((self.clock.now - self._asked).total_seconds() * 1000)

    def _blocks(self, turn: Turn, identity: str) -> list[dict[str, Any]]:
        blocks: list[dict[str, Any]] = []
        if turn.think or turn.hidden:
            size = 180 + 3 * (turn.hidden + count(turn.think))
            blocks.append({"type": "thinking", "thinking": turn.think, "signature": seal(identity, size)})
        if turn.say:
            blocks.append({"type": "text", "text": turn.say})
        for number, call in enumerate(turn.calls):
            tool_id = "toolu_01" + token(f"{identity}/{number}", 22)
            line = uuid4(f"{self.session.name}/line/{len(self.lines) + len(blocks)}")
            self._waiting.append((tool_id, line))
            blocks.append({"type": "tool_use", "id": tool_id, "name": call.tool, "input": call.arguments})
        return blocks

    def _message(self, block: dict[str, Any], turn: Turn, identity: str) -> dict[str, Any]:
        return {
            "model": self.session.model,
            "id": "msg_01" + token(identity, 22),
            "type": "message",
            "role": "assistant",
            "content": [block],
            "stop_reason": "tool_use" if turn.calls else "end_turn",
            "stop_sequence": None,
            "usage": self.usage,
        }

    def _request(self, turn: Turn) -> str:
        return "req_011C" + token(f"{self.session.name}/request/{turn.n}", 20)

    def _bill(self, output: int) -> dict[str, Any]:
        fresh = 3 if self.turns == 1 else 1
        written = self.meter.prompt - self._known - fresh
        usage = {
            "input_tokens": fresh,
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": self._known,
            "cache_creation": {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0},
            "output_tokens": output,
            "service_tier": "standard",
        }
        self._known += written
        return usage

    def _bookkeeping(self, identity: str) -> None:
        stamp = self.clock.stamp()
        for operation in ("enqueue", "dequeue"):
            head = {"type": "queue-operation", "operation": operation, "timestamp": stamp}
            self.lines.append(head | {"sessionId": self.session.id})
        snapshot = {"messageId": identity, "trackedFileBackups": {}, "timestamp": stamp}
        head = {"type": "file-history-snapshot", "messageId": identity}
        self.lines.append(head | {"snapshot": snapshot, "isSnapshotUpdate": False})

    def _line(self, kind: str, content: dict[str, Any], identity: str = "") -> None:
        identity = identity or uuid4(f"{self.session.name}/line/{len(self.lines)}")
        head: dict[str, Any] = {
            "parentUuid": self._parent,
            "isSidechain": bool(self.session.agent),
            "userType": "external",
            "cwd": self.session.cwd,
            "sessionId": self.session.id,
            "version": self.session.version,
            "gitBranch": self.session.branch,
            "slug": self.session.slug,
        }
        if self.session.agent:
            head["agentId"] = self.session.agent
        stamp = self.clock.tick(1)
        self.lines.append(head | {"type": kind} | content | {"uuid": identity, "timestamp": stamp})
        self._parent = identity
