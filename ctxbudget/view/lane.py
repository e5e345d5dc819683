"""One layer of the log: its items in order of place, and what the newest of them cost together."""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxbudget.trace import Fragment


END = 1 << 62
"""A place after everything."""


class Lane:
    """One layer: its ``items`` by place with their ``weights``, and how each stands in the view.

    The cost of its newest items is known from one place on. From turn to turn that edge moves as far as the log has
    grown, so that it costs little to ask for another one.
    """

    __slots__ = ("_edge", "_newer", "alive", "held", "items", "lacking", "places", "spared", "weights")

    def __init__(self) -> None:
        """Empty."""
        self.items: dict[int, Fragment] = {}
        self.weights: dict[int, int] = {}
        self.places: list[int] = []
        self.alive: list[int] = []
        """Places of the items that are in view, whole or as the dividing pass's own digest."""
        self.lacking: list[int] = []
        """Places of the items that are not in view whole."""
        self.spared: set[int] = set()
        """Items that stay whole though they find no room: their unit stays, and nothing smaller could stand for them.
        A memory, so that they are not looked at again at every turn."""
        self.held = 0
        """Tokens of the layer that are not to be divided: pinned, or literal."""
        self._edge = self._newer = 0
        """A place, and what the items from there on cost."""

    def join(self, place: int, item: Fragment, weight: int, alive: bool) -> None:
        """An item belongs to the layer now."""
        self.items[place] = item
        self.weights[place] = weight
        if place >= self._edge:
            self._newer += weight
        standing = self.alive if alive else self.lacking
        if not self.places or place > self.places[-1]:  # true of all that arrive
            self.places.append(place)
            standing.append(place)
        else:
            _insert(self.places, place)
            _insert(standing, place)

    def reweigh(self, place: int, amount: int) -> None:
        """An item costs ``amount`` tokens more."""
        if place in self.weights:
            self.weights[place] += amount
            if place >= self._edge:
                self._newer += amount

    def leave(self, place: int) -> None:
        """An item does not belong to it any longer."""
        self.reweigh(place, -self.weights[place])
        del self.items[place], self.weights[place]
        for places in (self.places, self.alive, self.lacking):
            _remove(places, place)

    def fitting(self, room: int) -> tuple[int, int]:
        """The first index from which on everything fits in ``room``, and the tokens from there on."""
        places, weights, newer = self.places, self.weights, self._newer
        at = bisect_left(places, self._edge)
        while newer > room and at < len(places):
            newer -= weights[places[at]]
            at += 1
        while at and newer + weights[places[at - 1]] <= room:
            at -= 1
            newer += weights[places[at]]
        self._edge, self._newer = places[at] if at < len(places) else END, newer
        return at, newer

    def since(self, place: int) -> int:
        """Tokens of the items from ``place`` on."""
        places, weights = self.places, self.weights
        old, new = bisect_left(places, self._edge), bisect_left(places, place)
        if new < old:
            self._newer += sum([weights[one] for one in places[new:old]])
        elif old < new:
            self._newer -= sum([weights[one] for one in places[old:new]])
        self._edge = place
        return self._newer

    def show(self, place: int, short: bool) -> None:
        """An item came into view, whole or as a digest."""
        if place in self.items:
            _insert(self.alive, place)
            (_insert if short else _remove)(self.lacking, place)

    def hide(self, place: int) -> None:
        """An item, or its digest, left the view."""
        if place in self.items:
            _remove(self.alive, place)
            _insert(self.lacking, place)


def _insert(places: list[int], place: int) -> None:
    """Put a place among others that are in order, once; mostly it comes last."""
    if not places or place > places[-1]:
        places.append(place)
    elif places[bisect_left(places, place)] != place:
        insort(places, place)


def _remove(places: list[int], place: int) -> None:
    at = bisect_left(places, place)
    if at < len(places) and places[at] == place:
        del places[at]
