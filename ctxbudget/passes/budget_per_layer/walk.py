"""The rule of the budget, for one layer: what it keeps, and in what form."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ctxbudget.passes.budget_per_layer.least import least
from ctxbudget.trace import Kind
from ctxbudget.view import digested
from ctxbudget.view.lane import END

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.trace import Fragment
    from ctxbudget.view import View
    from ctxbudget.view.lane import Lane
    from ctxbudget.view.lanes import Lanes


class Want(NamedTuple):
    """An item of a lane, and the form that should stand in its place: itself, a stand-in, or nothing."""

    item: Fragment
    form: Fragment | None


@dataclass(slots=True)
class Walk:
    """One layer walked from newest to oldest: from index ``start`` of its lane on everything stays whole; ``tail``
    holds what stays of the older ones, by place; ``left`` is what the quota has over.
    """

    layer: str
    lane: Lane
    start: int
    left: int
    tail: dict[int, Fragment] = field(default_factory=dict)
    due: dict[int, Fragment] = field(default_factory=dict)
    """Members of units in the tail that have not been walked over yet: the least form, paid already."""
    late: list[str] = field(default_factory=list)
    """Units that have members beyond the end of the walk."""
    floor: int = END
    """Place of the oldest item that was walked over and stays."""
    dropped: int | None = None
    """Tokens of the newest item that found no room."""

    edge: int = field(init=False)
    """The place from which on everything stays whole."""

    def __post_init__(self) -> None:
        """Where the items that stay whole begin."""
        self.edge = self.lane.places[self.start] if self.start < len(self.lane.places) else END

    def keeps(self, place: int) -> bool:
        """Whether the item at ``place`` stays in some form; what is not to be divided always does."""
        return place >= self.edge or place in self.tail or place not in self.lane.items

    def units(self, start: int, stop: int) -> Iterator[str]:
        """Units of which a member stays that stands between two places."""
        places = self.lane.places
        for place in places[bisect_left(places, start) : bisect_left(places, stop)]:
            if self.keeps(place):
                yield self.lane.items[place].unit

    def wants(self, view: View) -> dict[int, Want]:
        """The places where the view differs from what should stand there."""
        lane, items, tail = self.lane, self.lane.items, self.tail
        found = {place: Want(items[place], items[place]) for place in self._missing()}
        for place, form in tail.items():
            if form.id not in view.here:
                found[place] = Want(items[place], form)
        for place in lane.alive[: bisect_left(lane.alive, self.edge)]:
            if place not in tail and place not in lane.spared:
                found[place] = Want(items[place], None)
        return found

    def _missing(self) -> Iterator[int]:
        """Places from the edge on that do not stand whole."""
        missing = self.lane.missing(self.start)
        at = self.start
        while missing:
            place = self.lane.places[at]
            at += 1
            if not self.lane.whole(place):
                missing -= 1
                yield place


def walk(view: View, lanes: Lanes, layer: str, room: int, cost: int) -> Walk:
    """Keep from newest to oldest what fits: whole, else as a digest of at most ``cost`` tokens, else not at all; end
    when less than ``cost`` is left. ``room`` is tokens. What is kept first of a unit brings the rest of it along: as
    much of it as fits, at least its least forms.
    """
    if not lanes.lanes[layer].places:
        return Walk(layer, lanes.lanes[layer], 0, room)
    found = _all_whole(lanes, layer, room, cost)
    places = found.lane.places
    at = found.start - 1
    while at >= 0 and found.left >= cost:
        _look(view, lanes, found, places[at], cost)
        at -= 1
    found.floor = min(found.edge, next((place for place in places[at + 1 : found.start] if place in found.tail), END))
    if found.due:
        found.late = list(dict.fromkeys(found.lane.items[place].unit for place in found.due))
        for place in sorted(found.due, reverse=True):
            _complete(view, found, place, cost)
    while at >= 0 and places[at] in found.tail:
        at -= 1
    if found.dropped is None and at >= 0:
        found.dropped = found.lane.items[places[at]].tokens
    return found


def _all_whole(lanes: Lanes, layer: str, room: int, cost: int) -> Walk:
    """From where on everything stays whole: what fits, before less than ``cost`` is left, in whole units."""
    lane = lanes.lanes[layer]
    if room < cost:
        return Walk(layer, lane, len(lane.places), room)
    start, spent = lane.fitting(room)
    while start < len(lane.places):
        place = lane.places[start]
        newer = spent - lane.weights[place]
        if room - newer >= cost and not [at for at, _ in lanes.others(layer, place) if at < place]:
            break
        start, spent = start + 1, newer
    return Walk(layer, lane, start, room - spent)


def _look(view: View, lanes: Lanes, found: Walk, place: int, cost: int) -> None:
    """Take the item at ``place`` if it fits together with what must stay of its unit."""
    if place in found.due:
        _complete(view, found, place, cost)
    if place in found.tail:
        return
    item = found.lane.items[place]
    room = found.left - lanes.due(item.unit, found.layer)
    rest: dict[int, Fragment] = {}
    for at, other in lanes.others(found.layer, place):
        if not found.keeps(at):
            rest[at] = least(view, other)
            room -= rest[at].tokens
    form = _form(view, item, room, cost)
    if form is None:
        found.dropped = item.tokens if found.dropped is None else found.dropped
        return
    found.tail[place] = form
    found.left = room - form.tokens
    for at, least_form in rest.items():
        (found.due if at < place else found.tail)[at] = least_form


def _form(view: View, item: Fragment, room: int, cost: int) -> Fragment | None:
    """The largest form that fits."""
    if item.tokens <= room:
        return item
    short = None if item.kind is Kind.INJECTED else digested(view, item, cost)
    return short if short is not None and short.tokens <= room else None


def _complete(view: View, found: Walk, place: int, cost: int) -> None:
    """A member of a unit that stays: more than its least form where that fits."""
    paid = found.due.pop(place)
    room = found.left + paid.tokens
    form = _form(view, found.lane.items[place], room, cost) or paid
    found.tail[place] = form
    found.left = room - form.tokens
