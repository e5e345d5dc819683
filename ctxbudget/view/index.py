"""Some live fragments of a view in context order, kept up to date from its edits."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from ctxbudget.view.placing import insert

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ctxbudget.trace import Fragment


class Index:
    """The live fragments that ``admits`` lets in, by place.

    A pass that asks the same question at every turn gets its answer without looking at the whole view again.
    """

    __slots__ = ("admits", "held", "places")

    def __init__(self, admits: Callable[[Fragment], bool]) -> None:
        """Empty; the view fills it."""
        self.admits = admits
        self.places: list[int] = []
        self.held: dict[int, Fragment] = {}

    def __len__(self) -> int:
        return len(self.places)

    def add(self, place: int, fragment: Fragment) -> None:
        """A fragment that is admitted came into the view."""
        self.held[place] = fragment
        insert(self.places, place)

    def drop(self, place: int) -> None:
        """A fragment that it holds left the view."""
        del self.held[place]
        del self.places[bisect_left(self.places, place)]

    def oldest(self, below: int | None = None) -> Iterator[tuple[int, Fragment]]:
        """Place and fragment from the oldest on, up to the place ``below`` (not included)."""
        stop = len(self.places) if below is None else bisect_left(self.places, below)
        for place in self.places[:stop]:
            yield place, self.held[place]

    def since(self, start: int) -> Iterator[tuple[int, Fragment]]:
        """Place and fragment from the place ``start`` on."""
        for place in self.places[bisect_left(self.places, start) :]:
            yield place, self.held[place]

    def newest(self) -> Iterator[tuple[int, Fragment]]:
        """Place and fragment from the newest on."""
        for place in reversed(self.places):
            yield place, self.held[place]
