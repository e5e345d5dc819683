"""TraceBuilder: what keeps loaders short.

A loader says in context order what the file holds (messages, their parts, model calls, compactions); the builder
assigns ids, turns and units, joins results to calls, counts tokens once, and gives a frozen Trace.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ctxbudget import resources
from ctxbudget.builder.freeze import Freezer, turns
from ctxbudget.builder.live import Asked, Live
from ctxbudget.builder.pieces import Call, Cut, Piece, arguments_of, written
from ctxbudget.builder.start import Start
from ctxbudget.builder.works import Works
from ctxbudget.tokens import counter, encoding_for
from ctxbudget.trace import Billed, Form, Kind, Origin, Outcome, Parse, Source, Trace, Usage, Warning

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["Piece", "Start", "TraceBuilder"]


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
        self._works = Works(rules)
        self._as_model = as_model
        self._pieces: list[Piece] = []
        self._live = Live()
        self._turns: list[Call] = []
        self._billed: list[Billed] = []
        self._cuts: list[Cut] = []
        self._cut: Cut | None = None
        self._children: list[Trace] = []
        self._asked = Asked()
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
        piece = self._piece(kind, text, block, line)
        piece.pinned = pinned
        piece.size = size
        piece.opaque = opaque
        if call is not None:
            self._join(piece, call)
        return piece

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
        given = arguments_of(arguments)
        piece = self._piece(Kind.CALL, f"{tool} {written(given)}", block, line)
        piece.tool = tool
        piece.resource, planned = self._works.of(tool, given, piece.text, self.cwd)
        if planned:
            piece.kind = Kind.PLAN
        piece.unit = f"u{piece.reply}"
        self._asked.add(piece, id)
        return piece

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
        piece = self._piece(Kind.RESULT, text, block, line)
        piece.error = error
        piece.tool = tool
        self._join(piece, call)
        return piece

    def stand_in(self, piece: Piece, text: str, *, line: int | None = None) -> Piece:
        """Inside a ``compaction`` block: what the agent sent in place of ``piece``, at its place in its message."""
        put = self._piece(piece.kind, text, piece.origin.block, line)
        put.message, put.role, put.call, put.tool = piece.message, piece.role, piece.call, piece.tool
        put.resource, put.unit, put.error, put.reply = piece.resource, piece.unit, piece.error, piece.reply
        return put

    def turn(
        self, *, model: str | None = None, usage: Usage | None = None, line: int | None = None, key: str | None = None
    ) -> None:
        """A model call was made with the context so far. Say it before the reply's own message and parts.

        ``key`` names the billed call across files; without it the call is billed once, here.
        """
        self._asked.close()
        self._turns.append(Call(len(self._pieces), model, usage, line))
        if usage is not None:
            self.bill(key or f"{self.path}:{line}:{len(self._turns)}", model, usage, turn=len(self._turns))

    def was_sent(self) -> None:
        """What was added since the latest call was in its prompt, too: tools that the provider looked up first."""
        if self._cut is None and self._turns:
            for piece in self._pieces[self._turns[-1].stop :]:
                piece.turn = len(self._turns)
            self._turns[-1].stop = len(self._pieces)

    def go_on(self, line: int) -> None:
        """The reply goes on behind what a tool answered that ran at the provider's: within the same billed call the
        model was asked again, and what was counted is this prompt. (What a compaction retells was asked before.)"""
        if self._cut is not None or not self._turns:
            return
        before = self._turns[-1]
        self.turn(model=before.model, line=line)
        if before.usage is not None:
            self._billed[-1] = replace(self._billed[-1], turn=len(self._turns))
        self._turns[-1].usage, before.usage = before.usage, None

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
        gone = self._live.take(removed)
        cut = Cut(len(self._turns) + 1, by, trigger, pre_tokens, post_tokens, line, form, gone)
        self._cut = cut
        try:
            yield
        finally:
            self._cut = None
            for piece in cut.inserted:
                self._live.add(piece)
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
        return bool(self._pieces)

    def knows(self, call: str) -> bool:
        """Whether a call of that id has been added."""
        return call in self._asked

    # ── bookkeeping ────────────────────────────────────────────────────────────────────────────────────────────

    def _piece(self, kind: Kind | None, text: str, block: int, line: int | None) -> Piece:
        reply = len(self._turns)
        origin = Origin(self.path, self._line if line is None else line, block)
        piece = Piece(kind, text, reply + 1, reply, self._message, self._role, origin)
        if self._cut is not None:
            self._cut.inserted.append(piece)
        else:
            self._pieces.append(piece)
            self._live.add(piece)
        return piece

    def _join(self, piece: Piece, call: str | None) -> None:
        asked = self._asked.answered(call)
        if asked is None:
            piece.call = call
            return
        piece.call, piece.unit, piece.resource = asked.call, asked.unit, asked.resource
        piece.tool = asked.tool
        if piece.kind is Kind.RESULT and resources.is_retrieval(asked.tool or "", asked.resource):
            piece.kind = Kind.RETRIEVAL

    # ── the frozen trace ───────────────────────────────────────────────────────────────────────────────────────

    def finish(self, parse: Parse | None = None, skipped: Mapping[str, int] | None = None) -> Trace:
        """The trace, counted but not yet calibrated. ``skipped`` counts what was not read, by kind."""
        self._close_pending()
        self._replace_model()
        count = counter(encoding_for(self.model).name)
        freezer = Freezer(self._pieces, self.model, count)
        fragments = freezer.log(self._pieces)
        return Trace(
            source=Source(self.path, self.format, self.agent, self.session, self.label),
            fragments=fragments,
            turns=turns(self._turns),
            model=self.model,
            window=self.window,
            encoding=count.name,
            recorded=tuple(freezer.compaction(number, cut) for number, cut in enumerate(self._cuts, 1)),
            billed=tuple(self._billed),
            abandoned=self.abandoned,
            children=tuple(self._children),
            parse=replace(parse or Parse(), skipped=tuple(sorted(skipped.items()))) if skipped else parse or Parse(),
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
        for call in self._turns:
            if call.model in {recorded, None}:
                call.model = self._as_model

    def _close_pending(self) -> None:
        """A last turn holds what no recorded call has seen: anything but a finished reply."""
        tail = self._pieces[self._turns[-1].stop if self._turns else 0 :]
        cut = bool(self._cuts) and self._cuts[-1].turn > len(self._turns)
        if cut or any(piece.role != "assistant" or piece.call is not None for piece in tail):
            self._turns.append(Call(len(self._pieces), self.model, pending=True))
