"""The rule of the budget, for one layer: what it keeps, and in what form."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from ctxbudget.passes.budget_per_layer.least import least, least_tokens
from ctxbudget.trace import Kind
from ctxbudget.view import digested, draft
from ctxbudget.view.lane import END

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from ctxbudget.trace import Fragment
    from ctxbudget.view import View
    from ctxbudget.view.lane import Lane
    from ctxbudget.view.lanes import Lanes, Members

_AHEAD = 96
"""Items whose digests are written together at most; no more than were needed so far, for many are never needed."""


class Want(NamedTuple):
    """An item of a lane, and the form that should stand in its place: itself, a stand-in, or nothing."""

    item: Fragment
    form: Fragment | None


class Walk:
    """One layer walked from newest to oldest."""

    __slots__ = ("dropped", "due", "edge", "floor", "lane", "late", "layer", "left", "start", "tail")

    def __init__(self, layer: str, lane: Lane, start: int, left: int) -> None:
        """From index ``start`` of the lane on everything stays whole, and ``left`` tokens are left for older items."""
        self.layer, self.lane, self.start = layer, lane, start
        self.left = left
        """What the quota has over."""
        self.edge = self.floor = lane.places[start] if start < len(lane.places) else END
        """The place from which on everything stays whole; and of the oldest item that was walked over and stays."""
        self.tail: dict[int, Fragment] = {}
        """What stays of the older items, by place."""
        self.due: dict[int, int] = {}
        """Members of units in the tail that have not been walked over yet: the tokens of their least form, paid."""
        self.late: list[str] = []
        """Units that have members beyond the end of the walk."""
        self.dropped: int | None = None
        """Tokens of the newest item that found no room."""

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
        lane, tail, edge, here = self.lane, self.tail, self.edge, view.here
        items, spared = lane.items, lane.spared
        found: dict[int, Want] = {}
        if lane.lacking and lane.lacking[-1] >= edge:
            for place in lane.lacking[bisect_left(lane.lacking, edge) :]:
                found[place] = Want(items[place], items[place])
        for place, form in tail.items():
            if form.id not in here:
                found[place] = Want(items[place], form)
        for place in lane.alive[: bisect_left(lane.alive, edge)]:
            if place not in tail and place not in spared:
                found[place] = Want(items[place], None)
        return found


def walk(view: View, lanes: Lanes, layer: str, room: int, cost: int) -> Walk:
    """Keep from newest to oldest what fits: whole, else as a digest of at most ``cost`` tokens, else not at all; end
    when less than ``cost`` is left. ``room`` is tokens. What is kept first of a unit brings the rest of it along: as
    much of it as fits, at least its least forms.
    """
    found = _all_whole(lanes, layer, room, cost)
    if not found.start:
        return found
    places, tail = found.lane.places, found.tail
    at = found.start - 1
    while at >= 0 and found.left >= cost:
        place = places[at]
        if place in found.due:
            _complete(view, found, place, cost)
        elif place not in tail:
            _look(view, lanes, found, place, cost)
        if place in tail:
            found.floor = place
        at -= 1
    if found.due:
        found.late = list(dict.fromkeys([found.lane.items[place].unit for place in found.due]))
        for place in sorted(found.due, reverse=True):
            _complete(view, found, place, cost)
    while at >= 0 and places[at] in tail:
        at -= 1
    if found.dropped is None and at >= 0:
        found.dropped = found.lane.items[places[at]].tokens
    return found


def _all_whole(lanes: Lanes, layer: str, room: int, cost: int) -> Walk:
    """From where on everything stays whole: what fits, before less than ``cost`` is left, in whole units."""
    lane = lanes.lanes[layer]
    places, items = lane.places, lane.items
    if room < cost:
        return Walk(layer, lane, len(places), room)
    start, spent = lane.fitting(room)
    while start < len(places):
        place = places[start]
        newer = spent - lane.weights[place]
        if room - newer >= cost and _first(lanes.units.get(items[place].unit), place, items):
            break
        start, spent = start + 1, newer
    return Walk(layer, lane, start, room - spent)


def _first(unit: Members | None, place: int, items: Container[int]) -> bool:
    """Whether no other member of the unit stands before ``place`` in the same lane."""
    if unit is not None:
        for at in unit.items:
            if at < place and at in items:
                return False
    return True


def _look(view: View, lanes: Lanes, found: Walk, place: int, cost: int) -> None:
    """Take the item at ``place`` if it fits together with what must stay of its unit."""
    items, tail, edge = found.lane.items, found.tail, found.edge
    unit = lanes.units.get(items[place].unit)
    room = found.left
    rest: dict[int, int] = {}
    if unit is not None:
        for at, (_, one) in unit.items.items():
            if at < edge and at != place and at not in tail and at in items:
                rest[at] = least_tokens(view, one)
                room -= rest[at]
        if unit.dues:
            room -= unit.due(found.layer)
    form = _form(view, found.lane, place, room, cost)
    if form is None:
        if found.dropped is None:
            found.dropped = items[place].tokens
        return
    tail[place] = form
    found.left = room - form.tokens
    for at, paid in rest.items():
        if at < place:
            found.due[at] = paid
        else:
            tail[at] = least(view, items[at])


def _form(view: View, lane: Lane, place: int, room: int, cost: int) -> Fragment | None:
    """The largest form that fits."""
    item = lane.items[place]
    if item.tokens <= room:
        return item
    if item.kind is Kind.INJECTED:
        return None
    try:
        short = view.made.digests[item.id, cost]
    except KeyError:
        if (item.id, cost) not in view.made.drafts:
            ahead = min(_AHEAD, 1 + len(view.made.digests))
            draft(view, _next(lane, place, cost, ahead), cost)
        short = digested(view, item, cost)
    return short if short is not None and short.tokens <= room else None


def _next(lane: Lane, place: int, cost: int, ahead: int) -> Iterator[Fragment]:
    """The item at ``place``, and those that will leave after it, ``ahead`` in all."""
    at = bisect_left(lane.places, place)
    items = (lane.items[one] for one in lane.places[at : at + ahead])
    return (one for one in items if one.tokens > cost and one.kind is not Kind.INJECTED)


def _complete(view: View, found: Walk, place: int, cost: int) -> None:
    """A member of a unit that stays: more than its least form where that fits."""
    room = found.left + found.due.pop(place)
    form = _form(view, found.lane, place, room, cost) or least(view, found.lane.items[place])
    found.tail[place] = form
    found.left = room - form.tokens
