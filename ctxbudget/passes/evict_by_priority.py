"""Evict what matters least first."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
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
"""What search and knowledge tools brought for a chain that is over."""

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
        for rank, first in self._ranked(view):
            if self.ledger and rank != STALE:
                yield from self._lines(view, first)
            elif not view.loop.keeps(first.id) and (gone := cut(view, view.units.members(first))):
                leaving += gone
                yield _evicted(gone, f"priority {rank}")
        yield from _freed(view, leaving)

    def _ranked(self, view: View) -> Iterator[tuple[int, Fragment]]:
        """Units before the tail with their rank, lowest rank first, oldest first within a rank; each by its first
        fragment. Those of the current chain come one by one, as they are asked for.
        """
        edge = min(view.end, view.turn_start(view.turn - self.tail_turns + 1))
        # what came since is of the chain's rank or above: with a lower bound only units that began before it count
        stop = min(edge, view.task.chain) if self.below <= CHAIN else edge
        start = max(view.task.chain, view.overhead * STRIDE)
        ranks, firsts = _older(view, start, stop)
        if start < stop:
            _raise(view, start, stop, ranks, firsts)
        of_rank: dict[int, list[Fragment]] = {CHAIN: []}
        for unit, rank in ranks.items():
            of_rank.setdefault(rank, []).append(firsts[unit])
        for rank in sorted(one for one in of_rank if one < self.below):
            newer = self._chain(view, start, stop, ranks) if rank == CHAIN else ()
            for first in chain(of_rank[rank], newer):
                if first.kind is Kind.INJECTED and _accompanies(view, first):
                    continue
                if stop == edge or not _goes_on(view, first, edge):
                    yield rank, first

    def _chain(self, view: View, start: int, stop: int, ranks: dict[str, int]) -> Iterator[Fragment]:
        """The first fragments of units that are nothing but a part of the chain; where lines are to be left, of those
        with a result that has none yet.
        """
        if self.ledger:
            index = view.standing((NAME, "whole"), _has_no_line)
            units = dict.fromkeys(one.unit for _, one in index.since(start) if one.unit not in ranks)
            places = sorted(min(view.units.live[unit]) for unit in units)
            yield from (view.live[place] for place in places if place < stop)
            return
        seen: set[str] = set()
        for fragment in view.between(start, stop):
            if fragment.unit not in ranks and fragment.unit not in seen:
                seen.add(fragment.unit)
                yield fragment

    def _lines(self, view: View, first: Fragment) -> Iterator[Edit]:
        for fragment in list(view.units.members(first)):
            if not _has_no_line(fragment) or fragment.id in view.pins.ids:
                continue
            short = digested(view, fragment, self.line)
            if short is not None:
                yield Edit(NAME, (fragment.id,), (short,), Form.DIGEST, "a line of the ledger")


def _older(view: View, start: int, stop: int) -> tuple[dict[str, int], dict[str, Fragment]]:
    """Rank and first fragment of the units that began before the chain, which begins at ``start``, in order."""
    ranks: dict[str, int] = {}
    firsts: dict[str, Fragment] = {}
    plan = view.task.plan
    for fragment in view.between(view.overhead * STRIDE, min(start, stop)):
        rank, unit = _rank(fragment, plan, current=False), fragment.unit
        if unit not in ranks:
            ranks[unit], firsts[unit] = rank, fragment
        elif rank > ranks[unit]:
            ranks[unit] = rank
    return ranks, firsts


def _raise(view: View, start: int, stop: int, ranks: dict[str, int], firsts: dict[str, Fragment]) -> None:
    """Older units that go on in the chain are of its rank; what matters more in it is few, and known."""
    for unit, rank in ranks.items():
        if rank < CHAIN and any(start <= place < stop for place in view.units.live.get(unit, ())):
            ranks[unit] = CHAIN
    found = [one for place, one in view.standing((NAME, "special"), _is_special).since(start) if place < stop]
    plan = view.task.plan
    if plan is not None and plan in view and start <= view.place_of[plan] < stop:
        found.append(view.known[plan])
    newer: dict[str, int] = {}
    for one in found:
        rank = _rank(one, plan, current=True)
        known = ranks if one.unit in ranks else newer
        known[one.unit] = max(rank, known.get(one.unit, 0))
        if known is newer:
            firsts[one.unit] = min(view.units.members(one), key=lambda member: view.place_of[member.id])
    ranks.update(sorted(newer.items(), key=lambda ranked: view.place_of[firsts[ranked[0]].id]))


def _is_special(fragment: Fragment) -> bool:
    """Whether it is of a rank above the chain's wherever it stands, the plan aside."""
    return fragment.kind in _RANKS or fragment.error


def _has_no_line(fragment: Fragment) -> bool:
    return fragment.answers and fragment.form is not Form.DIGEST


def _accompanies(view: View, fragment: Fragment) -> bool:
    """Whether injected text leaves with the rest of its message."""
    return any(one.kind is not Kind.INJECTED for one in message_of(view, fragment))


def _evicted(gone: list[Fragment], reason: str) -> Edit:
    return Edit(NAME, tuple([fragment.id for fragment in gone]), reason=reason)


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
