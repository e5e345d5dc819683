"""What the walks leave of a unit must be valid: all of it in some form, or nothing; and its thinking."""

from __future__ import annotations

from bisect import bisect_left
from operator import attrgetter
from typing import TYPE_CHECKING

from ctxbudget.passes.budget_per_layer.least import least
from ctxbudget.passes.budget_per_layer.walk import Want
from ctxbudget.trace import Kind
from ctxbudget.view import message_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ctxbudget.passes.budget_per_layer.walk import Walk
    from ctxbudget.trace import Fragment
    from ctxbudget.view import View
    from ctxbudget.view.lanes import Lanes
    from ctxbudget.view.loop import Stretch

_END = attrgetter("end")


def unsettled(view: View, wants: Mapping[int, Want]) -> dict[str, None]:
    """Units with a change in them, and those with a result that has only now arrived: its call may be gone."""
    units = {item.unit: None for item, _ in wants.values() if item.call is not None}
    for late in view.between(view.turns[-1], view.end):
        if late.call is not None and late.role != "assistant" and view.units.parted(late.unit):
            units[late.unit] = None
    return units


def completed(
    view: View, lanes: Lanes, walks: Mapping[str, Walk], wants: dict[int, Want], units: Iterable[str]
) -> dict[str, bool]:
    """Make every unit in ``units`` valid in the wants; says of each whether anything of it will be in view.

    A unit stays while a walk keeps a part of it, a part is pinned or a call is still open; what no walk keeps of it
    stays in its least form then, for which who keeps it has paid.
    """
    stays: dict[str, bool] = {}
    for unit in units:
        members = lanes.units[unit].items if unit in lanes.units else {}
        short = [place for place, (layer, _) in members.items() if layer in walks and not walks[layer].keeps(place)]
        will = stays[unit] = len(short) < len(members) or (unit == view.units.open and bool(members))
        for place in short:
            layer, item = members[place]
            form = least(view, item) if will else None
            _want(view, wants, place, Want(item, form))
            spared = lanes.lanes[layer].spared
            if form is item:
                spared.add(place)
            else:
                spared.discard(place)
    back = [place for place, (item, form) in wants.items() if form is item and item.kind is Kind.INJECTED]
    for place in [place for place in back if _alone(view, wants, wants[place].item)]:
        del wants[place]
    return stays


def _want(view: View, wants: dict[int, Want], place: int, want: Want) -> None:
    """Want it, unless it is so already."""
    standing = view.stand_for(want.item.id)
    if (standing.id if standing else None) == (want.form.id if want.form else None):
        wants.pop(place, None)
    else:
        wants[place] = want


def _alone(view: View, wants: Mapping[int, Want], item: Fragment) -> bool:
    """Whether injected text would come back without anything else of its message."""
    mates = [other for other in wants.values() if other.item.message == item.message]
    others = [other for other in mates if other.item.kind is not item.kind]
    if any(other.form is not None for other in others):
        return False
    leaving = {other.item.id for other in others}
    return not any(one.kind is not item.kind and one.id not in leaving for one in message_of(view, item))


def resting(view: View, lanes: Lanes, walks: Mapping[str, Walk], lender: str) -> int:
    """Tokens of the thinking in the unfinished loop that must stay with the units that the walks keep. It is whole
    from the stretch on at which the lender's walk ends; of older ones it stays where a part of a unit does.
    """
    stretches, home = view.loop.stretches, view.loop.home
    if not stretches:
        return 0
    floor = walks[lender].floor if lender in walks else 0
    first = min(bisect_left(stretches, floor, key=_END), len(stretches) - 1)
    since = stretches[first].start
    older: dict[int, Stretch] = {}
    for walk in walks.values():
        kept = walk.units(view.loop.since, since) if walk.layer != lender else ()
        for unit in (*walk.late, *kept):
            stretch = home.get(unit)
            if stretch is not None and stretch.start < since:
                older[stretch.start] = stretch
    return lanes.thinking.since(since) + sum([stretch.tokens for stretch in older.values()])


def rested(view: View, wants: dict[int, Want], stays: Mapping[str, bool]) -> None:
    """Want the thinking of the unfinished loop whole where a unit rests on it or it is the newest; ``stays`` says of
    the units that may have changed whether anything of them will be in view.
    """
    loop, live, here = view.loop, view.units.live, view.here
    affected = dict(loop.idle)
    change: dict[int, int] = {}
    for unit, will in stays.items():
        stretch = loop.home.get(unit) if will != (unit in live) else None
        if stretch is not None:
            affected[stretch.start] = stretch
            change[stretch.start] = change.get(stretch.start, 0) + (1 if will else -1)
    for start, stretch in affected.items():
        held = stretch.live + change.get(start, 0) > 0 or stretch is loop.stretches[-1]
        for thinking in stretch.thinking:
            if held != (thinking.id in here):
                wants[view.place_of[thinking.id]] = Want(thinking, thinking if held else None)
