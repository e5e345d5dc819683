"""How much of the start of a view stands unchanged: what a prompt cache can reuse."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from ctxbudget.view.placing import STRIDE

if TYPE_CHECKING:
    from collections.abc import Callable

    from ctxbudget.view.view import View


_FEW = 64
"""Fragments that are summed up one by one."""
_BLOCK = 64 * STRIDE
"""Places of a block: so many recorded fragments, and the stand-ins between them."""


class Prefix:
    """Follows what changes in a turn. Mostly the first change is near an end of the view; for where it is not, the
    tokens of each block of places are remembered. A block is summed up again where something in it has changed, and
    only once it lies before a first change.
    """

    __slots__ = ("_blocks", "_known", "_stale", "_was", "touch")

    def __init__(self) -> None:
        """Nothing there."""
        self._was: dict[int, str | None] = {}
        """What stood at each place that an edit of this turn touched, when the turn began."""
        self.touch: Callable[[int, str | None], object] = self._was.setdefault
        """An edit puts something at a place where this id stands, or nothing."""
        self._blocks: dict[int, int] = {}
        """Tokens of the blocks with anything in them, as far as they were ever needed: no more than the view holds."""
        self._known = 0
        """How many of the first blocks were."""
        self._stale: set[int] = set()
        """Those of them that edits of earlier turns have touched since."""

    def begin(self) -> None:
        """A turn begins; its arrivals enter next."""
        known = self._known * _BLOCK
        if self._was and min(self._was) < known:
            self._stale.update([place // _BLOCK for place in self._was if place < known])
        self._was.clear()

    def tokens(self, view: View) -> int:
        """Tokens at the start that stand as they stood when the turn began; asked when all its edits are made."""
        edge = self._edge(view)
        at = bisect_left(view.places, edge)
        if len(view.places) - at <= _FEW:
            return view.tokens - _sum(view, at, len(view.places))
        if at <= _FEW:
            return _sum(view, 0, at)
        number = max(0, edge // _BLOCK)
        self._bring_up(view, number)
        known = sum([tokens for one, tokens in self._blocks.items() if one < number])
        return known + _sum(view, _start(view, number), at)

    def _edge(self, view: View) -> int:
        """The first place where something else stands than when the turn began."""
        start = view.turns[-1]
        for place in sorted(self._was):
            if place >= start:
                break
            found = view.live.get(place)
            if (None if found is None else found.id) != self._was[place]:
                return place
        return start

    def _bring_up(self, view: View, number: int) -> None:
        """Sum up the blocks before ``number`` that are not known as they stand now. Nothing in them has changed in
        this turn, and nothing will enter there.
        """
        changed = [one for one in self._stale if one < number]
        self._stale.difference_update(changed)
        new = range(self._known, number)
        self._known = max(self._known, number)
        for one in {max(0, one) for one in (*changed, *new)}:  # what stands in front of all is in the first
            self._blocks.pop(one, None)
            if tokens := _sum(view, _start(view, one), _start(view, one + 1)):
                self._blocks[one] = tokens


def _start(view: View, number: int) -> int:
    """Where in the view a block begins."""
    return bisect_left(view.places, number * _BLOCK) if number else 0


def _sum(view: View, start: int, stop: int) -> int:
    live = view.live
    return sum([live[place].tokens for place in view.places[start:stop]])
