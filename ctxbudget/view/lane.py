"""One layer of the log: its items in order of place, with running sums."""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import TYPE_CHECKING

from ctxbudget.view.placing import STRIDE

if TYPE_CHECKING:
    from ctxbudget.trace import Fragment


class Sums:
    """Sums of numbered amounts that change (a Fenwick tree)."""

    __slots__ = ("_amounts", "_first", "_tree", "total")

    def __init__(self, first: int = 0) -> None:
        """All zero; no number is below ``first``."""
        self._first = first
        self._tree = [0]
        self._amounts: list[int] = []
        self.total = 0

    def add(self, number: int, amount: int) -> None:
        """Change the amount at ``number``."""
        self.total += amount
        number -= self._first
        while number > len(self._amounts):
            self._append(0)
        if number == len(self._amounts):
            self._append(amount)
            return
        self._amounts[number] += amount
        at, tree = number + 1, self._tree
        while at < len(tree):
            tree[at] += amount
            at += at & -at

    def _append(self, amount: int) -> None:
        """A new last amount, with the sum of as many before it as its place in the tree stands for."""
        self._amounts.append(amount)
        at, step = len(self._amounts), 1
        while not at & step:
            amount += self._tree[at - step]
            step *= 2
        self._tree.append(amount)

    def since(self, number: int) -> int:
        """The sum from ``number`` on."""
        at, before = min(number - self._first, len(self._amounts)), 0
        while at > 0:
            before += self._tree[at]
            at -= at & -at
        return self.total - before

    def fitting(self, room: int) -> tuple[int, int]:
        """The smallest number from which on everything fits in ``room``, and the sum from there on."""
        excess = self.total - room
        if excess <= 0:
            return self._first, self.total
        at, left, step = 0, excess, 1 << len(self._amounts).bit_length()
        while step:
            if at + step < len(self._tree) and self._tree[at + step] < left:
                at += step
                left -= self._tree[at]
            step //= 2
        return self._first + at + 1, room + left - self._amounts[at]


class Lane:
    """One layer: its ``items`` by place with their ``weights``, and how each stands in the view."""

    __slots__ = ("alive", "held", "items", "places", "short", "spared", "sums", "weights")

    def __init__(self, first: int = 0) -> None:
        """Empty; nothing will stand before place ``first``."""
        self.items: dict[int, Fragment] = {}
        self.weights: dict[int, int] = {}
        self.places: list[int] = []
        self.sums = Sums(first // STRIDE)
        self.alive: list[int] = []
        """Places of the items that are in view, whole or as the dividing pass's own digest."""
        self.short: list[int] = []
        """Those of them that are digests."""
        self.spared: set[int] = set()
        """Items that stay whole though they find no room: their unit stays, and nothing smaller could stand for them.
        A memory, so that they are not looked at again at every turn."""
        self.held = 0
        """Tokens of the layer that are not to be divided: pinned, or literal."""

    def join(self, place: int, item: Fragment, weight: int, *, alive: bool) -> None:
        """An item belongs to the layer now."""
        self.items[place] = item
        self.weights[place] = weight
        _insert(self.places, place)
        self.sums.add(place // STRIDE, weight)
        if alive:
            _insert(self.alive, place)

    def reweigh(self, place: int, amount: int) -> None:
        """An item costs ``amount`` tokens more."""
        if place in self.weights:
            self.weights[place] += amount
            self.sums.add(place // STRIDE, amount)

    def leave(self, place: int) -> None:
        """An item does not belong to it any longer."""
        del self.items[place]
        self.sums.add(place // STRIDE, -self.weights.pop(place))
        for places in (self.places, self.alive, self.short):
            _remove(places, place)

    def show(self, place: int, *, short: bool) -> None:
        """An item came into view, whole or as a digest."""
        if place in self.items:
            _insert(self.alive, place)
            (_insert if short else _remove)(self.short, place)

    def hide(self, place: int) -> None:
        """An item, or its digest, left the view."""
        _remove(self.alive, place)
        _remove(self.short, place)

    def whole(self, place: int) -> bool:
        """Whether the item at ``place`` is in view whole."""
        return _has(self.alive, place) and not _has(self.short, place)

    def missing(self, start: int) -> int:
        """How many items from index ``start`` of ``places`` on are not in view whole."""
        if start >= len(self.places):
            return 0
        place = self.places[start]
        alive = len(self.alive) - bisect_left(self.alive, place)
        short = len(self.short) - bisect_left(self.short, place)
        return len(self.places) - start - alive + short


def _has(places: list[int], place: int) -> bool:
    at = bisect_left(places, place)
    return at < len(places) and places[at] == place


def _insert(places: list[int], place: int) -> None:
    if not places or place > places[-1]:
        places.append(place)
    elif not _has(places, place):
        insort(places, place)


def _remove(places: list[int], place: int) -> None:
    at = bisect_left(places, place)
    if at < len(places) and places[at] == place:
        del places[at]
