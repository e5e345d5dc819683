"""The messages of a task or session → its conversation, with what was condensed, truncated or left out."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from ctxbudget.loaders.cline.calls import model_of, read_metrics
from ctxbudget.loaders.cline.parts import Parts
from ctxbudget.records.values import mapping, string, tokens
from ctxbudget.trace import Form, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ctxbudget.builder import Piece, TraceBuilder
    from ctxbudget.loaders.cline.calls import Call


class Said(NamedTuple):
    """A message that has been said: its index (-1 for what took the place of others), what it is hidden by, its parts.

    Those in the context are kept in the order of their index.
    """

    place: int
    hidden: frozenset[str]
    name: str | None
    pieces: list[Piece]


class Change(NamedTuple):
    """A summary or a notice that takes the place of messages, and when (ms since 1970; None: where it stands).

    ``gone`` is the id under which it hides them, None where it hides all; ``kept`` are messages that stay by name.
    """

    message: dict[str, Any]
    line: int
    at: int | None
    form: Form
    gone: str | None = None
    kept: frozenset[str] = frozenset()


class History:
    """Says messages to a builder; ``calls`` tell of replies by their index."""

    def __init__(self, build: TraceBuilder, calls: Mapping[int, Call]) -> None:
        """``build`` takes the parts."""
        self.skipped: Counter[str] = Counter()
        self._build = build
        self._calls = calls
        self._parts = Parts(build, self.skipped)
        self._said: list[Said] = []
        self._hidden: dict[str, list[Said]] = {}
        self._changes: list[Change] = []
        self._deleted: tuple[int, int] | None = None
        self._spent: Counter[str] = Counter()

    def system(self, text: str) -> None:
        """The system prompt, where it is kept."""
        self._build.message("system", 1)
        self._build.add(Kind.SYSTEM_PROMPT, text)

    def say(self, messages: list[Any], compacted: Sequence[Any] = ()) -> None:
        """All messages; ``compacted`` are those that took their place later (the SDK's file of a compaction)."""
        self._changes += _replaced(compacted)
        for index, message in enumerate(messages):
            match message:
                case {"role": "user" | "assistant"}:
                    self._message(message, index)
                case _:
                    self.skipped["message without a known role, skipped"] += 1
        self._change(None)
        self._build.model = max(self._spent, key=lambda name: (self._spent[name], name), default=None)

    def _message(self, message: dict[str, Any], index: int) -> None:
        line = index + 1
        change = _change_of(message, line)
        if change is not None and self._said:
            self._changes.append(change)
            return
        if change is not None:
            pieces = self._parts.written(message.get("content"), line, Kind.SUMMARY)
        elif message["role"] == "assistant":
            self._ask(message, index)
            pieces = self._parts.reply(message.get("content"), line, message)
        else:
            pieces = self._parts.user(message.get("content"), line)
        said = Said(index, _hidden_by(message), string(message.get("id")), pieces)
        self._said.append(said)
        for name in said.hidden:
            self._hidden.setdefault(name, []).append(said)

    def _ask(self, message: dict[str, Any], index: int) -> None:
        """The call whose reply this is, and what it left out."""
        ts, call = message.get("ts"), self._calls.get(index)
        self._change(ts if type(ts) is int else None)
        usage, model = read_metrics(message.get("metrics")), model_of(message)
        name = self._build.session or self._build.path
        if call is not None:
            usage, model = usage or call.usage, model or call.model
            for number, lost in enumerate(call.failed):
                self._build.bill(f"cline:{name}:{index}:{number}", model, lost, purpose="abandoned")
            self._leave_out(call.deleted, index + 1)
        if model is not None:
            self._spent[model] += usage.prompt + 1 if usage else 1
        key = f"cline:{string(message.get('id')) or ts or name}:{index}"
        self._build.turn(model=model, usage=usage, line=index + 1, key=key)

    def _leave_out(self, deleted: tuple[int, int] | None, line: int) -> None:
        if deleted is None or deleted == self._deleted:
            return
        self._deleted = deleted
        first = bisect_left(self._said, deleted[0], key=lambda said: said.place)
        last = bisect_right(self._said, deleted[1], key=lambda said: said.place)
        removed = [piece for said in self._said[first:last] for piece in said.pieces]
        if removed:
            with self._build.compaction(line, trigger="auto", form=None, removed=removed):
                del self._said[first:last]

    def _change(self, now: int | None) -> None:
        """Make the changes that were due when a call was made: at ``now``, or all where that is not told."""
        due = [one for one in self._changes if one.at is None or now is None or one.at <= now]
        self._changes = [one for one in self._changes if not (one.at is None or now is None or one.at <= now)]
        for change in due:
            self._make(change)

    def _make(self, change: Change) -> None:
        leaving = self._leaving(change)
        facts = mapping(change.message.get("metadata"))
        with self._build.compaction(
            change.line,
            trigger="auto" if change.form is Form.NOTICED else "unknown",
            pre_tokens=tokens(facts.get("tokensBefore")) or None,
            form=change.form,
            removed=[piece for said in leaving for piece in said.pieces],
        ):
            kind = Kind.SUMMARY if change.form is Form.SUMMARY else Kind.INJECTED
            put = self._parts.written(change.message.get("content"), change.line, kind)
        self._leave(leaving)
        own = Said(-1, _hidden_by(change.message), string(change.message.get("id")), put)
        self._said.insert(0, own)
        for name in own.hidden:
            self._hidden.setdefault(name, []).insert(0, own)

    def _leaving(self, change: Change) -> list[Said]:
        """What a change takes the place of, in its order."""
        if change.gone is not None:
            return self._hidden.get(change.gone, [])
        return [said for said in self._said if said.name is None or said.name not in change.kept]

    def _leave(self, leaving: list[Said]) -> None:
        if len(leaving) == 1 and leaving[0].place >= 0:  # one of many: looked up, not searched for
            at = bisect_left(self._said, leaving[0].place, key=lambda said: said.place)
            del self._said[at : at + (self._said[at : at + 1] == leaving)]
        elif leaving:
            gone = set(map(id, leaving))
            self._said = [said for said in self._said if id(said) not in gone]


def _hidden_by(message: dict[str, Any]) -> frozenset[str]:
    names = (message.get("condenseParent"), message.get("truncationParent"))
    return frozenset(name for name in names if isinstance(name, str))


def _change_of(message: dict[str, Any], line: int) -> Change | None:
    """A message that stands for others, if this is one."""
    ts = message.get("ts")
    at = ts if type(ts) is int else None
    match message:
        case {"isSummary": True}:
            return Change(message, line, at, Form.SUMMARY, string(message.get("condenseId")))
        case {"isTruncationMarker": True}:
            return Change(message, line, at, Form.NOTICED, string(message.get("truncationId")))
        case {"metadata": {"kind": "compaction_summary"}}:
            return Change(message, line, at, Form.SUMMARY)
    return None


def _replaced(compacted: Sequence[Any]) -> list[Change]:
    """The change that a file of a compaction tells: its first message is the summary, the others stayed."""
    match compacted:
        case [{"metadata": {"kind": "compaction_summary", **facts}} as summary, *kept]:
            at = facts.get("generatedAt")
            names = frozenset(name for message in kept if (name := string(mapping(message).get("id"))))
            return [Change(summary, 1, at if type(at) is int else None, Form.SUMMARY, None, names)]
    return []
