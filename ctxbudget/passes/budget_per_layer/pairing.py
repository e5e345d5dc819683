"""What the rule keeps of a unit must be valid: all of it in some form, or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.passes.budget_per_layer.walk import Want
from ctxbudget.trace import Form, Kind
from ctxbudget.view import message_of, shortened_call, stand_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.passes.budget_per_layer.walk import Walk
    from ctxbudget.trace import Fragment
    from ctxbudget.view import View
    from ctxbudget.view.lanes import Lanes

GONE = "[result no longer shown]"


def completed(view: View, lanes: Lanes, walks: dict[str, Walk], wants: dict[int, Want]) -> dict[int, Want]:
    """The wants, with every unit they touch made valid.

    A unit of which only a part is kept is completed where it must stay: for a plan that is kept (its layer has paid
    for the rest), for a call still open, for a pinned part. Otherwise all of it goes.
    """
    for unit in _units(view, wants):
        members = lanes.units.get(unit, {})
        short = [place for place, (layer, _) in members.items() if layer in walks and not walks[layer].keeps(place)]
        if not short:
            continue
        stays = unit == view.units.open or any(_holds(view, members[place][1]) for place in members.keys() - set(short))
        for place in short if stays else members:
            layer, item = members[place]
            form = least(view, item) if stays else None
            _want(view, wants, place, Want(item, form))
            (lanes.lanes[layer].spared.add if form is item else lanes.lanes[layer].spared.discard)(place)
    for place in [place for place, want in wants.items() if _alone(view, wants, want)]:
        del wants[place]
    return wants


def _want(view: View, wants: dict[int, Want], place: int, want: Want) -> None:
    """Want it, unless it is so already."""
    standing = view.stand_for(want.item.id)
    if (standing and standing.id) == (want.form and want.form.id):
        wants.pop(place, None)
    else:
        wants[place] = want


def _alone(view: View, wants: dict[int, Want], want: Want) -> bool:
    """Whether it is injected text that would come back without anything else of its message."""
    item = want.item
    if want.form is not item or item.kind is not Kind.INJECTED:
        return False
    others = [
        other for other in wants.values() if other.item.message == item.message and other.item.kind is not item.kind
    ]
    if any(other.form is not None for other in others):
        return False
    leaving = {other.item.id for other in others}
    return not any(one.kind is not item.kind and one.id not in leaving for one in message_of(view, item))


def _units(view: View, wants: dict[int, Want]) -> Iterator[str]:
    """Units with a change in them, and those whose results have only now arrived."""
    changed = (want.item for want in wants.values() if want.item.call is not None)
    late = (fragment for fragment in view.between(view.turns[-1], view.end) if fragment.answers)
    yield from dict.fromkeys(fragment.unit for fragments in (changed, late) for fragment in fragments)


def least(view: View, item: Fragment) -> Fragment:
    """The least that can stand for a fragment."""
    found = shortened_call(view, item) if item.asks else stand_in(view, item, GONE, Form.CLEARED)
    return found or item


def _holds(view: View, item: Fragment) -> bool:
    """Whether a part that is kept keeps its unit."""
    return item.id in view.pins.ids or (item.kind is Kind.PLAN and item.asks)
