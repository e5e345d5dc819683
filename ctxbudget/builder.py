"""TraceBuilder: what keeps loaders short.

A loader says in context order what the file holds (messages, their parts, model calls, compactions); the builder
assigns ids, turns and units, joins results to calls, counts tokens once, and gives a frozen Trace.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from ctxbudget import media, resources
from ctxbudget.records.lines import is_deep
from ctxbudget.tokens import counter, encoding_for, family
from ctxbudget.trace import (
    Billed,
    Compaction,
    Edit,
    Form,
    Fragment,
    Kind,
    Origin,
    Outcome,
    Parse,
    Resource,
    Source,
    Trace,
    Turn,
    Usage,
    Warning,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ctxbudget.tokens import Counter

OPAQUE_RATIO = 3 / 16
"""Tokens per character of an encrypted thinking signature: base64 holds 3 bytes in 4 characters, and a token of
plain thinking is about 4 bytes. A flat estimate, used only where the reply's own output count is unknown."""


@dataclass(slots=True)
class Piece:
    """A fragment while the file is still being read. Loaders pass it back, and look at nothing inside."""

    kind: Kind | None
    text: str
    turn: int
    reply: int
    message: int
    role: str
    origin: Origin
    call: str | None = None
    tool: str | None = None
    resource: Resource | None = None
    error: bool = False
    pinned: bool = False
    size: tuple[int, int] | None = None
    opaque: int = 0
    unit: str | None = None
    cost: int | None = None
    """Tokens of a part without text, where the file says them."""
    id: str = ""


@dataclass(slots=True)
class _Cut:
    """A recorded compaction while the file is still being read: the drafts it removes, those it brings."""

    turn: int
    by: str
    trigger: str
    pre_tokens: int | None
    post_tokens: int | None
    line: int
    form: Form | None
    removed: list[Piece]
    inserted: list[Piece] = field(default_factory=list)


class TraceBuilder:
    """Collects one conversation. Set the public attributes as they become known; call ``finish`` at the end."""

    def __init__(
        self,
        path: str,
        format_name: str,
        *,
        label: str | None = None,
        rules: Mapping[str, str] | None = None,
        as_model: str | None = None,
    ) -> None:
        """``rules`` maps tool-name patterns to tool classes, ahead of the built-in vocabulary; ``as_model`` takes the
        place of the recorded model."""
        self.path = path
        self.format = format_name
        self.label = label
        self.agent: str | None = None
        self.session: str | None = None
        self.cwd: str | None = None
        """The folder the agent worked in: targets below it are named relative to it."""
        self.model: str | None = None
        self.window: int | None = None
        self.outcome: Outcome | None = None
        self.abandoned = 0
        """Messages on branches that were rewound."""
        self.carries_reasoning = True
        """False where earlier reasoning is not part of later prompts (the provider drops it)."""
        self.warnings: list[Warning] = []
        self._rules = rules
        self._as_model = as_model
        self._drafts: list[Piece] = []
        self._live: list[Piece] = []
        self._turns: list[dict[str, Any]] = []
        self._billed: list[Billed] = []
        self._cuts: list[_Cut] = []
        self._cut: _Cut | None = None
        self._children: list[Trace] = []
        self._resources: dict[str, tuple[Resource, bool]] = {}
        self._calls: dict[str, Piece] = {}
        self._open: list[Piece] = []
        self._message = -1
        self._role = "user"
        self._line = 0

    # ── what the file holds, in context order ──────────────────────────────────────────────────────────────────

    def message(self, role: str, line: int) -> None:
        """A new message begins; ``line`` is its record. Parts added next belong to it."""
        self._message += 1
        self._role = role
        self._line = line

    def add(
        self,
        kind: Kind | None,
        text: str,
        *,
        block: int = 0,
        line: int | None = None,
        pinned: bool = False,
        size: tuple[int, int] | None = None,
        opaque: int = 0,
        call: str | None = None,
    ) -> Piece:
        """A part of the current message. Kind None is assistant text: ``reasoning`` if its reply also calls, else
        ``answer``. ``size`` is an image's pixels; ``opaque`` the length of an encrypted thinking signature;
        ``call`` makes it part of that call's result."""
        draft = self._draft(kind, text, block, line)
        draft.pinned = pinned
        draft.size = size
        draft.opaque = opaque
        if call is not None:
            self._join(draft, call)
        return draft

    def call(
        self,
        tool: str,
        arguments: Any,
        *,
        id: str | None = None,
        block: int = 0,
        line: int | None = None,
    ) -> Piece:
        """A tool call of the current reply. ``arguments`` is a mapping or the text the model wrote."""
        given = _given(arguments)
        shown = given if isinstance(given, str) else orjson.dumps(given, option=orjson.OPT_NON_STR_KEYS).decode()
        draft = self._draft(Kind.CALL, f"{tool} {shown}", block, line)
        draft.tool = tool
        draft.resource, planned = self._worked_on(tool, given, draft.text)
        if planned:
            draft.kind = Kind.PLAN
        draft.call = id if id is not None else f"#{len(self._calls)}"
        draft.unit = f"u{draft.reply}"
        self._calls[draft.call] = draft
        self._open.append(draft)
        return draft

    def result(
        self,
        text: str,
        *,
        call: str | None = None,
        tool: str | None = None,
        error: bool = False,
        block: int = 0,
        line: int | None = None,
    ) -> Piece:
        """The result of a call; with ``call`` None it answers the oldest call still open (formats without ids)."""
        draft = self._draft(Kind.RESULT, text, block, line)
        draft.error = error
        draft.tool = tool
        self._join(draft, call)
        return draft

    def stand_in(self, piece: Piece, text: str, *, line: int | None = None) -> Piece:
        """Inside a ``compaction`` block: what the agent sent in place of ``piece``, at its place in its message."""
        draft = self._draft(piece.kind, text, piece.origin.block, line)
        draft.message, draft.role, draft.call, draft.tool = piece.message, piece.role, piece.call, piece.tool
        draft.resource, draft.unit, draft.error = piece.resource, piece.unit, piece.error
        draft.reply = piece.reply
        return draft

    def turn(
        self, *, model: str | None = None, usage: Usage | None = None, line: int | None = None, key: str | None = None
    ) -> None:
        """A model call was made with the context so far. Say it before the reply's own message and parts.

        ``key`` names the billed call across files; without it the call is billed once, here.
        """
        self._open = []
        self._turns.append({"stop": len(self._drafts), "model": model, "usage": usage, "line": line})
        if usage is not None:
            self.bill(key or f"{self.path}:{line}:{len(self._turns)}", model, usage, turn=len(self._turns))

    def bill(
        self, key: str, model: str | None, usage: Usage, *, turn: int | None = None, purpose: str = "turn"
    ) -> None:
        """A billed call; with ``turn`` None it is not part of the live history (``abandoned``, ``compaction``)."""
        self._billed.append(Billed(key, model, usage, turn, purpose))

    @contextmanager
    def compaction(
        self,
        line: int,
        *,
        trigger: str = "unknown",
        pre_tokens: int | None = None,
        post_tokens: int | None = None,
        by: str = "recorded",
        form: Form | None = Form.SUMMARY,
        removed: Iterable[Piece] | None = None,
    ) -> Iterator[None]:
        """The agent compacted here: parts added inside the ``with`` block are what it put in place.

        ``removed`` are the parts that went (what is gone already is left out); None is everything but system
        messages. A ``trigger`` of ``elision`` is an agent that shortens older observations as it goes: an edit, but
        no compaction to report.
        """
        live = set(map(id, self._live))
        chosen = self._everything() if removed is None else {id(draft): draft for draft in removed}.values()
        gone = [draft for draft in chosen if id(draft) in live]
        cut = _Cut(len(self._turns) + 1, by, trigger, pre_tokens, post_tokens, line, form, gone)
        self._cut = cut
        try:
            yield
        finally:
            self._cut = None
            out = {id(draft) for draft in gone}
            self._live = [draft for draft in self._live if id(draft) not in out] + cut.inserted
            self._cuts.append(cut)

    def child(self, trace: Trace) -> None:
        """A sub-agent's own trace."""
        self._children.append(trace)

    def warn(self, code: str, message: str, line: int | None = None) -> None:
        """Something the reader should know."""
        self.warnings.append(Warning(code, message, line))

    @property
    def turns(self) -> int:
        """Model calls so far."""
        return len(self._turns)

    @property
    def started(self) -> bool:
        """Whether anything has been added yet."""
        return bool(self._drafts)

    def knows(self, call: str) -> bool:
        """Whether a call of that id has been added."""
        return call in self._calls

    # ── bookkeeping ────────────────────────────────────────────────────────────────────────────────────────────

    def _draft(self, kind: Kind | None, text: str, block: int, line: int | None) -> Piece:
        reply = len(self._turns)
        origin = Origin(self.path, self._line if line is None else line, block)
        draft = Piece(kind, text, reply + 1, reply, self._message, self._role, origin)
        if self._cut is not None:
            self._cut.inserted.append(draft)
        else:
            self._drafts.append(draft)
            self._live.append(draft)
        return draft

    def _worked_on(self, tool: str, given: Any, text: str) -> tuple[Resource, bool]:
        """What a call works on, and whether it is a plan; the same call asked again is not looked at again."""
        found = self._resources.get(text)
        if found is None:
            resource = resources.resource(tool, given, rules=self._rules, cwd=self.cwd)
            found = self._resources[text] = resource, resources.is_plan(tool, resource)
        return found

    def _join(self, draft: Piece, call: str | None) -> None:
        asked = self._calls.get(call) if call is not None else (self._open[0] if self._open else None)
        if asked is None:
            draft.call = call
            return
        if asked in self._open:
            self._open.remove(asked)
        draft.call, draft.unit, draft.resource = asked.call, asked.unit, asked.resource
        draft.tool = asked.tool
        if draft.kind is Kind.RESULT and resources.is_retrieval(asked.tool or "", asked.resource):
            draft.kind = Kind.RETRIEVAL

    def _everything(self) -> list[Piece]:
        return [draft for draft in self._live if draft.role != "system"]

    # ── the frozen trace ───────────────────────────────────────────────────────────────────────────────────────

    def finish(self, parse: Parse | None = None) -> Trace:
        """The trace, counted but not yet calibrated."""
        self._close_pending()
        self._replace_model()
        encoding = encoding_for(self.model)
        count = counter(encoding.name)
        calling = {draft.reply for draft in self._drafts if draft.call is not None and draft.role == "assistant"}
        fragments = self._freeze(self._drafts, "t", calling, count)
        recorded = tuple(self._freeze_cut(number, cut, calling, count) for number, cut in enumerate(self._cuts, 1))
        return Trace(
            source=Source(self.path, self.format, self.agent, self.session, self.label),
            fragments=fragments,
            turns=self._freeze_turns(),
            model=self.model,
            window=self.window,
            encoding=count.name,
            recorded=recorded,
            billed=tuple(self._billed),
            abandoned=self.abandoned,
            children=tuple(self._children),
            parse=parse or Parse(),
            outcome=self.outcome,
            warnings=tuple(self.warnings),
            carries_reasoning=self.carries_reasoning,
        )

    def _replace_model(self) -> None:
        """What the user says it was, for the trace and for the turns of its main model."""
        recorded = self.model
        if self._as_model is None:
            return
        self.model = self._as_model
        for turn in self._turns:
            if turn["model"] in {recorded, None}:
                turn["model"] = self._as_model

    def _close_pending(self) -> None:
        """A last turn holds what no recorded call has seen: anything but a finished reply."""
        seen = self._turns[-1]["stop"] if self._turns else 0
        tail = self._drafts[seen:]
        cut = bool(self._cuts) and self._cuts[-1].turn > len(self._turns)
        if cut or any(draft.role != "assistant" or draft.call is not None for draft in tail):
            self._turns.append(
                {"stop": len(self._drafts), "model": self.model, "usage": None, "line": None, "pending": True}
            )

    def _freeze_turns(self) -> tuple[Turn, ...]:
        starts = [0, *(turn["stop"] for turn in self._turns)]
        return tuple(
            Turn(index, start, turn["stop"], turn["model"], turn["usage"], turn["line"], turn.get("pending", False))
            for index, (start, turn) in enumerate(zip(starts, self._turns, strict=False), 1)
        )

    def _freeze_cut(self, number: int, cut: _Cut, calling: set[int], count: Counter) -> Compaction:
        inserted = self._freeze(cut.inserted, f"c{number}.", calling, count)
        edit = Edit(cut.by, tuple(draft.id for draft in cut.removed), inserted, cut.form, f"{cut.trigger} compaction")
        return Compaction(cut.turn, edit, cut.trigger, cut.pre_tokens, cut.post_tokens, cut.line)

    def _freeze(self, drafts: list[Piece], prefix: str, calling: set[int], count: Counter) -> tuple[Fragment, ...]:
        counts = count.count_all([draft.text for draft in drafts])
        kin = family(self.model)
        place: dict[int, int] = {}
        frozen = []
        for draft, counted in zip(drafts, counts, strict=True):
            number = place.get(draft.turn, 0)
            place[draft.turn] = number + 1
            draft.id = f"{prefix}{draft.turn}.{number}" if prefix == "t" else f"{prefix}{len(frozen)}"
            kind = draft.kind or (Kind.REASONING if draft.reply in calling else Kind.ANSWER)
            tokens, estimated = self._cost(draft, kind, counted, kin)
            frozen.append(
                Fragment(
                    draft.id, kind, draft.text, tokens, counted, draft.turn, draft.unit or draft.id, draft.message,
                    draft.role, draft.origin, draft.call, draft.tool, draft.resource, draft.error, draft.pinned,
                    estimated,
                )
            )  # fmt: skip
        return tuple(frozen)

    @staticmethod
    def _cost(draft: Piece, kind: Kind, counted: int, kin: str) -> tuple[int, bool]:
        if draft.cost is not None and not draft.text:
            return draft.cost, True
        if kind is Kind.MEDIA and not draft.text:
            return media.image_tokens(draft.size, kin), True
        if draft.opaque and not draft.text:
            return round(draft.opaque * OPAQUE_RATIO), True
        return counted, False


def _given(arguments: Any) -> Any:
    """Arguments as data: a JSON string of an object is parsed, anything else stays as it is."""
    if isinstance(arguments, str):
        try:
            parsed = orjson.loads(arguments)
        except orjson.JSONDecodeError:
            return arguments
        # what is nested too deep to be written again stays as it was written
        return parsed if isinstance(parsed, dict) and not is_deep(arguments.encode(), parsed) else arguments
    return {} if arguments is None else arguments
