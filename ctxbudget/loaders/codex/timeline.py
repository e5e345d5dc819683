"""The lines of a rollout in the order the model saw them: items, calls, compactions; rolled back ones apart.

A reply is the assistant-side items between two inputs. Its count follows it (``items, count, outputs``) or, in
rollouts of 2025, precedes it (``count, items, outputs``); a count without items is a call whose text was removed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ctxbudget.loaders.codex.kinds import REPLIES, SUMMARIES, asks_something, instructions, is_input, is_reply
from ctxbudget.loaders.codex.usage import Charge, Estimate, Meter, window
from ctxbudget.providers.openai.counters import read_counts

if TYPE_CHECKING:
    from ctxbudget.records import Reading

Fields = dict[str, Any]

SILENT = frozenset({"world_state", "inter_agent_communication_metadata", "turn_token_usage"})
"""Records that nothing is sent of: snapshots of settings, and sums."""


@dataclass(slots=True)
class Item:
    """A piece of the conversation."""

    data: Fields
    line: int


@dataclass(slots=True)
class Call:
    """A model call; its reply's items follow it."""

    line: int
    model: str | None
    charge: Charge | None = None
    items: int = 0
    early: bool = False
    """Its count came before its items."""
    purpose: str = "turn"


@dataclass(slots=True)
class Cut:
    """A compaction. ``payload`` is None where only the client's new estimate tells of it."""

    line: int
    payload: Fields | None
    post_tokens: int | None = None


@dataclass(slots=True)
class Timeline:
    """Everything that counts in a file. ``dropped`` was rolled back."""

    entries: list[Item | Call | Cut] = field(default_factory=list)
    dropped: list[Item | Call | Cut] = field(default_factory=list)
    metas: list[Fields] = field(default_factory=list)
    context: Fields = field(default_factory=dict)
    """The latest ``turn_context``."""
    instructions: str | None = None
    window: int | None = None
    skipped: Counter[str] = field(default_factory=Counter)
    _meter: Meter = field(default_factory=Meter)
    _users: list[int] = field(default_factory=list)
    _open: Call | None = None
    _late: Call | None = None
    """The latest call if it ended without a count, and no user has spoken since."""
    _cut: Cut | None = None
    """The latest compaction, if no call was made since."""
    _rolled: bool = False

    def read(self, reading: Reading) -> None:
        """Take in every record."""
        for record in reading.unwrap():
            match record.data:
                case {"type": str(kind), "payload": dict(payload)}:
                    self._record(kind, payload, record.line)
                case {"type": str(kind)} as bare:
                    # before September 2025 items stood in the file as they are
                    self._record("response_item" if kind in REPLIES or is_input(kind) else kind, bare, record.line)
                case {"id": str(), "timestamp": str()} as meta:
                    self.metas.append(meta)
                case {"record_type": str()}:
                    pass
                case _:
                    self.skipped["(no record of Codex)"] += 1

    def _record(self, kind: str, payload: Fields, line: int) -> None:
        match kind:
            case "response_item":
                self._item(payload, line)
            case "event_msg":
                self._event(payload, line)
            case "compacted":
                self._compacted(payload, line)
            case "token_usage_record":
                self._charge(self._meter.record(payload), line)
            case "session_meta":
                self.metas.append(payload)
            case "turn_context":
                self.context = payload
                self.instructions = self.instructions or instructions(payload.get("base_instructions"))
            case _ if kind not in SILENT:
                self.skipped[kind] += 1

    def _event(self, payload: Fields, line: int) -> None:
        """Events are copies for the display, but for these; the text in them is in the items."""
        match payload:
            case {"type": "token_count"}:
                info = payload.get("info")
                self.window = (window(info) if isinstance(info, dict) else None) or self.window
                self._charge(self._meter.count(info), line)
            case {"type": "task_started"}:
                self.window = window(payload) or self.window
            case {"type": "turn.completed", "usage": dict(usage)}:
                self._charge(self._meter.count_alone(read_counts(usage)), line)
            case {"type": "token_usage_record"}:
                self._charge(self._meter.record(payload), line)
            case {"type": "thread_rolled_back"}:
                turns = payload.get("num_turns")
                self._roll_back(turns if type(turns) is int else 1)

    def _item(self, data: Fields, line: int) -> None:
        kind = data.get("type")
        if kind == "ghost_snapshot":  # the client keeps it for itself
            return
        if is_reply(data):
            call = self._open
            # a summary is the work of a call of its own
            if call is None or (call.charge is not None and not call.early) or (kind in SUMMARIES and call.items):
                call = self._call(line)
            call.items += kind not in SUMMARIES
            if kind == "reasoning":  # no part of later prompts: it only tells that a reply began
                return
        elif isinstance(kind, str) and is_input(kind):
            self._open = None
            if asks_something(data):
                self._users.append(len(self.entries))
                self._late = None
        else:
            self.skipped[f"response_item/{kind if isinstance(kind, str) else '?'}"] += 1
            return
        self.entries.append(Item(data, line))

    def _call(self, line: int, charge: Charge | None = None) -> Call:
        model = self.context.get("model")
        call = Call(line, model if isinstance(model, str) else None, charge, early=charge is not None)
        self.entries.append(call)
        self._open, self._late, self._cut, self._rolled = call, None if charge else call, None, False
        return call

    def _charge(self, found: Charge | Estimate | None, line: int) -> None:
        if isinstance(found, Estimate):
            self._rebuilt(found.tokens, line)
        elif found is not None and (call := self._open or self._late) and call.charge is None:
            call.charge, self._late = found, None
        elif found is not None:
            self._call(line, found)

    def _rebuilt(self, tokens: int, line: int) -> None:
        """An estimate without a call: after a compaction (recorded or cut out of the file) or a roll-back."""
        if self._cut is None and not self._rolled:
            self._cut = Cut(line, None)
            self.entries.append(self._cut)
            self._open = self._late = None
        if self._cut is not None:
            self._cut.post_tokens = tokens

    def _compacted(self, payload: Fields, line: int) -> None:
        """The call just before that left no items, or only the compaction itself, wrote the summary."""
        call = self._open
        if call is not None and call.items == 0:
            call.purpose = "compaction"
            while self.entries[-1] is not call:
                self.entries.pop()
        self._cut = Cut(line, payload)
        self.entries.append(self._cut)
        self._open = self._late = None

    def _roll_back(self, turns: int) -> None:
        """The last ``turns`` turns of the user leave the history, with all that came of them."""
        self._open = self._late = self._cut = None
        self._rolled = True
        if turns > 0 and self._users:
            at = self._users[-min(turns, len(self._users))]
            del self._users[-min(turns, len(self._users)) :]
            self.dropped += self.entries[at:]
            del self.entries[at:]
