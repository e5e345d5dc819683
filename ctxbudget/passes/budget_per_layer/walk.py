"""The rule of the budget, for one layer: what it keeps, and in what form."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ctxbudget.trace import Kind
from ctxbudget.view import STRIDE, digested

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.trace import Fragment
    from ctxbudget.view import View
    from ctxbudget.view.lane import Lane


@dataclass(frozen=True, slots=True)
class Want:
    """An item of a lane, and the form that should stand in its place: itself, a stand-in, or nothing."""

    item: Fragment
    form: Fragment | None


@dataclass(slots=True)
class Walk:
    """One layer walked from newest to oldest: from index ``start`` of its lane on everything stays whole; ``tail``
    holds what stays of the older ones, by place; ``left`` is what the quota has over.
    """

    lane: Lane
    start: int
    left: int
    tail: dict[int, Fragment] = field(default_factory=dict)
    dropped: int | None = None
    """Tokens of the newest item that found no room."""

    @property
    def floor(self) -> int:
        """Place of the oldest item that stays; past the end where none does."""
        if self.tail:
            return min(self.tail)
        return self.lane.places[self.start] if self.start < len(self.lane.places) else 1 << 62

    def keeps(self, place: int) -> bool:
        """Whether the item at ``place`` stays in some form; what is not to be divided always does."""
        if place not in self.lane.items or place in self.tail:
            return True
        return self.start < len(self.lane.places) and place >= self.lane.places[self.start]

    def oldest(self) -> Iterator[Fragment]:
        """The oldest items that stay: of those that all stay whole, and of the tail."""
        if self.start < len(self.lane.places):
            yield self.lane.items[self.lane.places[self.start]]
        if self.tail:
            yield self.lane.items[min(self.tail)]

    def wants(self) -> Iterator[tuple[int, Want]]:
        """The places where the view differs from what should stand there."""
        items = self.lane.items
        yield from self._whole()
        for place, form in self.tail.items():
            if self.lane.stands(place) != ("whole" if form is items[place] else "short"):
                yield place, Want(items[place], form)
        stop = self.lane.places[self.start] if self.start < len(self.lane.places) else 1 << 62
        for place in self.lane.alive[: bisect_left(self.lane.alive, stop)]:
            if place not in self.tail and place not in self.lane.spared:
                yield place, Want(items[place], None)

    def _whole(self) -> Iterator[tuple[int, Want]]:
        missing = self.lane.missing(self.start)
        at = self.start
        while missing:
            place = self.lane.places[at]
            at += 1
            if self.lane.stands(place) != "whole":
                missing -= 1
                yield place, Want(self.lane.items[place], self.lane.items[place])


def walk(view: View, lane: Lane, room: int, cost: int) -> Walk:
    """Keep from newest to oldest what fits: whole, else as a digest of at most ``cost`` tokens, else not at all; end
    when less than ``cost`` is left. ``room`` is tokens.
    """
    if room < cost:
        start, left = len(lane.places), room
    else:
        start, left = _all_whole(lane, room, cost)
    found = Walk(lane, start, left)
    at = start - 1
    while at >= 0 and found.left >= cost:
        _keep(view, found, lane.places[at], cost)
        at -= 1
    if found.dropped is None and at >= 0:
        found.dropped = lane.items[lane.places[at]].tokens
    return found


def _all_whole(lane: Lane, room: int, cost: int) -> tuple[int, int]:
    """The index from which on everything stays whole, and what is left then."""
    number, spent = lane.sums.fitting(room)
    start = bisect_left(lane.places, number * STRIDE)
    while start < len(lane.places):
        newer = spent - lane.weights[lane.places[start]]
        if room - newer >= cost:
            break
        start, spent = start + 1, newer
    return start, room - spent


def _keep(view: View, found: Walk, place: int, cost: int) -> None:
    item = found.lane.items[place]
    weight = found.lane.weights[place]
    if weight <= found.left:
        found.tail[place] = item
        found.left -= weight
        return
    short = None if item.kind is Kind.INJECTED else digested(view, item, cost)
    if short is not None and short.tokens + weight - item.tokens <= found.left:
        found.tail[place] = short
        found.left -= short.tokens + weight - item.tokens
    elif found.dropped is None:
        found.dropped = item.tokens


def resting(view: View, thinking: Lane, floor: int) -> Walk:
    """Thinking of the unfinished loop: it stays, whole, with every unit that rests on it and is not older than
    ``floor``; the newest in any case.
    """
    stretches = view.loop.stretches
    first = min(bisect_left(stretches, floor, key=lambda stretch: stretch.end), len(stretches) - 1)
    start = bisect_left(thinking.places, stretches[first].start) if stretches else len(thinking.places)
    spent = thinking.sums.since(thinking.places[start] // STRIDE) if start < len(thinking.places) else 0
    return Walk(thinking, start, -spent)
