"""Put a summary in place of the older part of the conversation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from ctxbudget.constraints import parse_fact
from ctxbudget.errors import UnknownName
from ctxbudget.passes.summarize.aid import Summarising
from ctxbudget.passes.summarize.attempt import attempted
from ctxbudget.passes.summarize.span import Open, fresh, oldest, tail_start
from ctxbudget.passes.summarize.telling import edit_of, note_of
from ctxbudget.summaries import STEPS, request
from ctxbudget.view import cut

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.summaries import Summary
    from ctxbudget.trace import Edit, Fragment
    from ctxbudget.view import Note, View

__all__ = ["Summarising", "Summarize"]

NAME: Final = "summarize"


@dataclass(frozen=True, slots=True)
class Summarize:
    """Replace everything before a tail by a summary; the earlier summary is folded in from its text alone.

    Keeps: the fixed overhead, what is pinned, the tail word by word, and what the summary says of the rest.
    Costs: one or more model calls at every firing; the cached prefix ends where the summary stands.
    Fails: every generation loses a little more, and what one left out no later one can bring back.
    Use when: the thread of the work matters more than its wording.
    """

    to: float = 4_000
    """Most tokens of the summary: tokens, or a fraction of (window - reserve) (Cline: 4,096)."""
    to_share: float = 0.2
    """But no more than this fraction of (window - reserve): in a small window 4,000 tokens would be half of it."""
    keep_tail: float = 0.10
    """What stays word by word at the end: a fraction of (window - reserve), or tokens (deepagents: 0.10). What has
    arrived this turn always does, unless this and ``keep_turns`` are 0: then nothing stays."""
    tail_share: float = 0.25
    """But no more than this fraction of (window - reserve)."""
    keep_turns: int = 0
    """So many of the newest turns stay in any case."""
    keep_first: bool = False
    """Keep the first user message."""
    floor: float = 0
    """Do nothing while the view is smaller than this: a fraction of (window - reserve), or tokens."""
    least: float = 0.05
    """Do nothing unless there is so much besides the earlier summary, or the view does not fit: a summary of a summary
    and two messages only adds drift."""
    down_to: float = 0
    """Summarise only as much of the oldest as brings the view down to this; 0: all before the tail."""
    fold_earlier: bool = True
    """Fold the earlier summary into the new one; otherwise it stays and the new one stands after it."""
    steps: tuple[str, ...] = STEPS
    """The ladder, each step tried where the one before failed: ``full``; ``partial``, without texts over 25,000
    characters; ``noted``, without texts over 2,000 and with a note of what was left out; ``notice``, the bare notice,
    which is not taken where a summary only would not be smaller."""
    must_fit: bool = False
    """Act only on a view that does not fit, and count a step as failed while it still does not."""
    must_show: tuple[str, ...] = ()
    """Texts, or ``/patterns/``, that a summary has to show if what it replaces does (what holds them is not pinned)."""
    repair: bool = True
    """Append such texts where a summary lost them; otherwise it is refused for it."""
    notice: str = "[{messages} earlier messages removed; no summary could be made]"
    """The bare notice; ``{messages}`` is how many are missing by then."""

    def __post_init__(self) -> None:
        """Raises UnknownName for a step that is none, UsageError for a pattern that cannot be used."""
        for step in self.steps:
            if step not in STEPS:
                raise UnknownName("step", step, STEPS)
        for text in self.must_show:
            parse_fact(text)

    def plan(self, view: View) -> Iterator[Edit | Note]:
        """One edit with the whole span, after a note of what it took."""
        if view.tokens < view.share(self.floor) or (self.must_fit and view.tokens <= view.limit):
            return
        cap = min(view.share(self.to), int(self.to_share * view.limit))
        span = self._span(view, cap)
        new = sum(fragment.tokens for fragment in span if fresh(fragment))
        if new < (1 if view.tokens > view.limit else max(1, view.share(self.least))):
            return
        aid = view.aid(Summarising) or Summarising()
        facts = (*aid.facts, *map(parse_fact, self.must_show))
        asked = request(span, cap, view.tokens_of, pinned=facts, turn=view.turn)
        made = attempted(
            aid, asked, self.steps, repair=self.repair, urgent=view.tokens > view.limit,
            accept=lambda summary: self._unfit(view, span, summary),
        )  # fmt: skip
        edit = edit_of(view, NAME, span, made.outcome, self.notice)
        note = note_of(view, span, made, edit)
        yield note
        if edit is not None:
            yield replace(edit, reason=note.message)

    def _span(self, view: View, cap: int) -> list[Fragment]:
        """What is to be replaced, oldest first; pinned fragments stay, units go whole."""
        edge = tail_start(view, min(view.share(self.keep_tail), int(self.tail_share * view.limit)), self.keep_turns)
        first = view.task.first if self.keep_first else None
        open_to = Open(view, edge, first, self.fold_earlier)
        if not self.down_to:
            return cut(view, open_to)
        return oldest(view, open_to, view.tokens - view.share(self.down_to) + cap)

    def _unfit(self, view: View, span: list[Fragment], summary: Summary) -> str:
        """Why a checked summary will not do, empty where it will."""
        size, replaced = view.tokens_of(summary.text), sum(fragment.tokens for fragment in span)
        if size >= replaced:
            return f"not smaller: {size:,} tokens for {replaced:,}"
        left = view.tokens - replaced + size
        return f"still over: {left:,} tokens for {view.limit:,}" if self.must_fit and left > view.limit else ""
