"""Evict what matters least first."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ctxbudget.trace import Edit, Form, Fragment, Kind
from ctxbudget.view import STRIDE, Note, cut, digested, message_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.view import View

NAME: Final = "evict-by-priority"
NEVER: Final = 100
"""User text; pinned fragments are never even looked at."""
OPEN: Final = 90
"""The newest plan, which is the open sub-task, and summaries."""
FAILED: Final = 80
CHAIN: Final = 60
"""Since the last user text or completed plan item."""
FINISHED: Final = 40
STALE: Final = 20
"""What search and knowledge tools brought for a chain that is over (ranks: DESIGN section 6)."""

_RANKS: Final = {Kind.USER: NEVER, Kind.MEMORY_FILE: NEVER, Kind.SUMMARY: OPEN}


@dataclass(frozen=True, slots=True)
class EvictByPriority:
    """Evict units by what they are for: stale retrieval, finished sub-tasks, the current chain, failures, the plan.

    Keeps: user text and pinned policy always; failures and the open sub-task longest; the newest turns verbatim.
    Costs: the cached prefix breaks at the oldest unit evicted.
    Fails: without a plan in the trace nothing tells a finished sub-task from the open one but the last user text.
    Use when: results are read once and sub-tasks follow each other.
    """

    ledger: bool = False
    """Leave a line of each result of finished sub-tasks, of the chain and of failures instead of dropping the unit."""
    below: int = NEVER
    """Evict only ranks below this."""
    tail_turns: int = 6
    """The newest turns, which are not touched."""
    line: int = 60
    """Most tokens of a ledger line."""

    def plan(self, view: View) -> Iterator[Edit | Note]:
        """One edit per unit, lowest rank first, oldest first within a rank."""
        if view.task.plan is None:
            yield Note("no-plan", "no plan in this trace: only user text tells where a sub-task ends")
        leaving: list[Fragment] = []
        for rank, first in sorted(self._ranked(view), key=lambda ranked: ranked[0]):
            members = list(view.units.members(first))
            if self.ledger and rank != STALE:
                yield from self._lines(view, members)
                continue
            gone = cut(view, members)
            if gone:
                leaving += gone
                yield _evicted(gone, f"priority {rank}")
        yield from _freed(view, leaving)

    def _ranked(self, view: View) -> Iterator[tuple[int, Fragment]]:
        """Units before the tail with their rank, oldest first; each by its first fragment."""
        edge = min(view.end, view.turn_start(view.turn - self.tail_turns + 1))
        chain, plan = view.task.chain, view.task.plan
        ranks: dict[str, int] = {}
        firsts: dict[str, Fragment] = {}
        # what came since is of the chain's rank or above: with a lower bound only units that began before it count
        stop = min(edge, chain) if self.below <= CHAIN else edge
        places, live = view.places, view.live
        for place in places[bisect_left(places, view.overhead * STRIDE) : bisect_left(places, stop)]:
            fragment = live[place]
            rank, unit = _rank(fragment, plan, current=place >= chain), fragment.unit
            if unit not in ranks:
                ranks[unit], firsts[unit] = rank, fragment
            elif rank > ranks[unit]:
                ranks[unit] = rank
        for unit, rank in ranks.items():
            first = firsts[unit]
            if rank >= self.below or (first.kind is Kind.INJECTED and _accompanies(view, first)):
                continue
            if stop == edge or not _goes_on(view, first, edge):
                yield rank, first

    def _lines(self, view: View, members: list[Fragment]) -> Iterator[Edit]:
        for fragment in members:
            if fragment.form is Form.DIGEST or not fragment.answers or fragment.id in view.pins.ids:
                continue
            short = digested(view, fragment, self.line)
            if short is not None:
                yield Edit(NAME, (fragment.id,), (short,), Form.DIGEST, "a line of the ledger")


def _accompanies(view: View, fragment: Fragment) -> bool:
    """Whether injected text leaves with the rest of its message."""
    return any(one.kind is not Kind.INJECTED for one in message_of(view, fragment))


def _evicted(gone: list[Fragment], reason: str) -> Edit:
    return Edit(NAME, tuple(fragment.id for fragment in gone), reason=reason)


def _freed(view: View, leaving: list[Fragment]) -> Iterator[Edit]:
    """Thinking of the unfinished loop that nothing rests on once these are gone."""
    ids = {fragment.id for fragment in leaving}
    held = [view.known[one] for one in view.loop.holder if one in view and one not in ids] if leaving else []
    gone = [fragment for fragment in cut(view, [*leaving, *held]) if fragment.id not in ids] if held else []
    if gone:
        yield _evicted(gone, "thinking that nothing rests on any longer")


def _goes_on(view: View, first: Fragment, edge: int) -> bool:
    """Whether a unit has a part of the current chain, or a late result in it."""
    return any(view.task.chain <= view.place_of[one.id] < edge for one in view.units.members(first))


def _rank(fragment: Fragment, plan: str | None, *, current: bool) -> int:
    """How much a fragment matters; ``current`` is one of the chain."""
    kind = fragment.kind
    if kind in _RANKS:
        return _RANKS[kind]
    if fragment.id == plan:
        return OPEN
    if fragment.error or current:
        return FAILED if fragment.error else CHAIN
    return STALE if kind is Kind.RETRIEVAL or (kind is Kind.CALL and fragment.asks) else FINISHED
