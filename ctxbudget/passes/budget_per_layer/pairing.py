"""What the rule keeps of a unit must be valid: all of it in some form, or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.passes.budget_per_layer.walk import Want
from ctxbudget.trace import Form, Kind
from ctxbudget.view import digested, message_of, shortened_call, stand_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.passes.budget_per_layer.walk import Walk
    from ctxbudget.trace import Fragment
    from ctxbudget.view import View
    from ctxbudget.view.lanes import Lanes

GONE = "[result no longer shown]"
_LEAST = -1
"""The key under which a view remembers the least form of a fragment, beside its digests by their cap."""


def completed(view: View, lanes: Lanes, walks: dict[str, Walk], wants: dict[int, Want], cost: int) -> dict[int, Want]:
    """The wants, with every unit they touch made valid.

    A unit of which only a part is kept is completed with the least forms of the rest: always where it must stay (a
    plan is kept, whose layer has paid for that; a call is still open; a part is pinned), else where that fits what
    its layers have left, if need be with digests of what was kept whole. Otherwise all of it goes.
    """
    for unit in _units(view, walks, wants):
        members = lanes.units.get(unit, {})
        short = [place for place, (layer, _) in members.items() if layer in walks and not walks[layer].keeps(place)]
        if not short:
            continue
        kept = {place: member for place, member in members.items() if place not in short}
        missing = {place: (members[place][0], least(view, members[place][1])) for place in short}
        stays = unit == view.units.open or any(_holds(view, item) for _, item in kept.values())
        forms = {at: one for at, (_, one) in missing.items()} if stays else _afforded(view, walks, kept, missing, cost)
        for place in members if forms is None else forms:
            layer, item = members[place]
            form = None if forms is None else forms[place]
            _want(view, wants, place, Want(item, form))
            (lanes.lanes[layer].spared.add if form is item else lanes.lanes[layer].spared.discard)(place)
    for place in [place for place, want in wants.items() if _alone(view, wants, want)]:
        del wants[place]
    return wants


def _afforded(
    view: View,
    walks: dict[str, Walk],
    kept: dict[int, tuple[str, Fragment]],
    missing: dict[int, tuple[str, Fragment]],
    cost: int,
) -> dict[int, Fragment] | None:
    """The forms that complete a unit within what its layers have left; None where there is no room."""
    left = {layer: one.left for layer, one in walks.items()}
    forms = {}
    for place, (layer, form) in missing.items():
        forms[place] = form
        left[layer] -= form.tokens
    for place, (layer, item) in sorted(kept.items(), key=lambda member: -member[1][1].tokens):
        if left.get(layer, 0) >= 0 or place in walks[layer].tail:
            continue
        short = digested(view, item, cost)
        if short is not None:
            forms[place] = short
            left[layer] += item.tokens - short.tokens
    if not kept or any(left[layer] < 0 for layer, _ in missing.values()):
        return None
    for layer, room in left.items():
        walks[layer].left = room
    return forms


def _want(view: View, wants: dict[int, Want], place: int, want: Want) -> None:
    """Want it, unless it is so already, or something smaller stands there."""
    standing = view.stand_for(want.item.id)
    if standing is None or want.form is None:
        fine = standing is None and want.form is None
    else:
        fine = standing.id == want.form.id or (standing.form is not None and standing.tokens <= want.form.tokens)
    if fine:
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


def _units(view: View, walks: dict[str, Walk], wants: dict[int, Want]) -> Iterator[str]:
    """Units with a change in them, those at the end of a walk, and those whose results have only now arrived."""
    changed = [want.item for want in wants.values()]
    oldest = [item for one in walks.values() for item in one.oldest()]
    late = [fragment for fragment in view.between(view.turns[-1], view.end) if fragment.answers]
    items = (item for part in (changed, oldest, late) for item in part if item.call is not None)
    yield from dict.fromkeys(item.unit for item in items)


def least(view: View, item: Fragment) -> Fragment:
    """The least that can stand for a fragment."""
    key = item.id, _LEAST
    if key not in view.digests:
        view.digests[key] = shortened_call(view, item) if item.asks else stand_in(view, item, GONE, Form.CLEARED)
    return view.digests[key] or item


def _holds(view: View, item: Fragment) -> bool:
    """Whether a part that is kept keeps its unit."""
    return item.id in view.pins.ids or (item.kind is Kind.PLAN and item.asks)
