"""Where inserted fragments stand."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from typing import TYPE_CHECKING

from ctxbudget.trace import Form
from ctxbudget.view.parts import is_state

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxbudget.trace import Fragment
    from ctxbudget.view import View

STRIDE = (1 << 20) + 3
"""Places between two recorded fragments: room for every stand-in that may ever come between. Odd, for places are keys:
the low bits of multiples of a power of two are all the same, so that each would be looked for behind the others.
"""


def insert(places: list[int], place: int) -> None:
    """Put a place among others that are in order; mostly it comes last."""
    if not places or place > places[-1]:
        places.append(place)
    else:
        insort(places, place)


def places(view: View, removed: Sequence[Fragment], inserted: Sequence[Fragment]) -> list[int]:
    """A free place for each inserted fragment.

    What was in view before goes back to its own place; the stand-in of a call or result to the place of what it
    replaces; a block of state at the tail; the rest where the first removed fragment stood. Where nothing was removed
    it is the place of what the fragment stands for, the front for a notice, else before this turn's arrivals. A new
    message never splits another one, nor a call from its results.
    """
    if not inserted:
        return []
    if len(removed) == len(inserted) == 1 and _swaps(view, removed[0], inserted[0]):
        return [_beside_one(view, view.place_of[removed[0].id])]
    taken: set[int] = set()
    gone = {view.place_of[fragment.id] for fragment in removed}
    spots = []
    for fragment in inserted:
        spot = None if is_state(fragment) else view.place_of.get(fragment.id)
        if spot is None:
            spot = _beside(view, fragment, removed)
        while spot in taken or (spot in view.live and spot not in gone):
            spot += 1
        taken.add(spot)
        spots.append(spot)
    return spots


def _swaps(view: View, old: Fragment, new: Fragment) -> bool:
    """Whether a new fragment takes the place of another in its message: true of most edits."""
    return new.message == old.message and new.id not in view.place_of and not is_state(new)


def _beside_one(view: View, old: int) -> int:
    spot = old + (old % STRIDE == 0)
    while spot != old and spot in view.live:
        spot += 1
    return spot


def _beside(view: View, fragment: Fragment, removed: Sequence[Fragment]) -> int:
    if is_state(fragment):
        return view.end - STRIDE // 2
    if not removed:
        lost = next((view.place_of[old] for old in fragment.stands_for if old in view.place_of), None)
        if lost is not None:
            return lost + (lost % STRIDE == 0)
        front = fragment.form is Form.NOTICED
        return view.overhead * STRIDE - 1 if front else view.turns[-1] - STRIDE // 2
    pair = fragment.unit, fragment.call, fragment.role
    same = (old for old in removed if (old.unit, old.call, old.role) == pair)
    old = next(same, None) if fragment.call is not None else None
    first = old or min(removed, key=lambda one: view.place_of[one.id])
    spot = view.place_of[first.id]
    if fragment.message != first.message:
        spot = opening(view, spot, {view.place_of[one.id] for one in removed})
    return spot + (spot % STRIDE == 0)


def opening(view: View, spot: int, gone: set[int]) -> int:
    """The nearest place at or before ``spot`` where a message may begin, once the fragments at ``gone`` are gone."""
    at = bisect_right(view.places, spot)
    place = next((place for place in view.places[at:] if place not in gone), None)
    if place is None:
        return spot
    following, start = view.live[place], place
    for place in reversed(view.places[: bisect_left(view.places, spot)]):
        if place in gone:
            continue
        if not following.answers and view.live[place].message != following.message:
            return spot if start > spot else (place + start) // 2
        following, start = view.live[place], place
    return spot if start > spot else start - STRIDE // 2
