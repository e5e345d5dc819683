"""Evict what matters least first."""

from __future__ import annotations

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
        for rank, members in sorted(self._ranked(view), key=lambda ranked: ranked[0]):
            if self.ledger and rank != STALE:
                yield from self._lines(view, members)
                continue
            gone = cut(view, members)
            if gone:
                leaving += gone
                yield _evicted(gone, f"priority {rank}")
        yield from _freed(view, leaving)

    def _ranked(self, view: View) -> Iterator[tuple[int, list[Fragment]]]:
        """Units before the tail with their rank, oldest first."""
        edge = min(view.end, view.turn_start(view.turn - self.tail_turns + 1))
        ranks: dict[str, int] = {}
        firsts: dict[str, Fragment] = {}
        for fragment in view.between(view.overhead * STRIDE, edge):
            rank = _rank(view, fragment)
            if rank > ranks.get(fragment.unit, -1):
                ranks[fragment.unit] = rank
            firsts.setdefault(fragment.unit, fragment)
        for unit, rank in ranks.items():
            if rank < self.below and not _accompanies(view, firsts[unit]):
                yield rank, list(view.units.members(firsts[unit]))

    def _lines(self, view: View, members: list[Fragment]) -> Iterator[Edit]:
        for fragment in members:
            if not fragment.answers or fragment.form is Form.DIGEST or fragment.id in view.pins.ids:
                continue
            short = digested(view, fragment, self.line)
            if short is not None:
                yield Edit(NAME, (fragment.id,), (short,), Form.DIGEST, "a line of the ledger")


def _accompanies(view: View, fragment: Fragment) -> bool:
    """Whether it is injected text that leaves with the rest of its message."""
    return fragment.kind is Kind.INJECTED and any(one.kind is not Kind.INJECTED for one in message_of(view, fragment))


def _evicted(gone: list[Fragment], reason: str) -> Edit:
    return Edit(NAME, tuple(fragment.id for fragment in gone), reason=reason)


def _freed(view: View, leaving: list[Fragment]) -> Iterator[Edit]:
    """Thinking of the unfinished loop that nothing rests on once these are gone."""
    ids = {fragment.id for fragment in leaving}
    held = [view.known[one] for one in view.loop.holder if one in view and one not in ids] if leaving else []
    gone = [fragment for fragment in cut(view, [*leaving, *held]) if fragment.id not in ids] if held else []
    if gone:
        yield _evicted(gone, "thinking that nothing rests on any longer")


def _rank(view: View, fragment: Fragment) -> int:
    """How much a fragment matters."""
    kind = fragment.kind
    if kind in _RANKS:
        return _RANKS[kind]
    if fragment.id == view.task.plan:
        return OPEN
    if fragment.error:
        return FAILED
    if view.place_of[fragment.id] >= view.task.chain:
        return CHAIN
    return STALE if kind is Kind.RETRIEVAL or (kind is Kind.CALL and fragment.asks) else FINISHED
