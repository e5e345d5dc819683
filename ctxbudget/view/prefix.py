"""How much of the start of a view stands unchanged: what a prompt cache can reuse."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from ctxbudget.view.lane import Sums
from ctxbudget.view.placing import STRIDE

if TYPE_CHECKING:
    from ctxbudget.view.view import View


class Prefix:
    """Follows what changes in a turn. Running sums give the tokens before the first change, however long the view."""

    __slots__ = ("_asked", "_summed", "_sums", "_was")

    def __init__(self) -> None:
        """Nothing there."""
        self._was: dict[int, str | None] = {}
        """What stood at each place that an edit of this turn touched, when the turn began."""
        self._sums = Sums()
        """Tokens by recorded place, as of the last time that somebody asked or a turn began."""
        self._summed: dict[int, int] = {}
        self._asked = 0
        """The last turn whose prefix was asked for, at its end."""

    def touch(self, place: int, id: str | None) -> None:
        """An edit puts something at a place where ``id`` stands, or nothing."""
        self._was.setdefault(place, id)

    def begin(self, view: View) -> None:
        """A turn begins; its arrivals enter next."""
        if self._asked != view.turn:
            self._sum(view)
        self._was.clear()

    def tokens(self, view: View) -> int:
        """Tokens at the start that stand as they stood when the turn began; asked when all its edits are made."""
        self._sum(view)
        self._asked = view.turn
        edge = view.turns[-1]
        for place, was in self._was.items():
            found = view.live.get(place)
            if place < edge and (None if found is None else found.id) != was:
                edge = place
        near = bisect_left(view.places, edge // STRIDE * STRIDE)
        beside = sum(view.live[place].tokens for place in view.places[near : bisect_left(view.places, edge)])
        return self._sums.total - self._sums.since(edge // STRIDE + 1) + beside

    def _sum(self, view: View) -> None:
        """Bring the sums up to date with what came and went."""
        born = range(view.turns[-1] if view.turns else 0, view.end, STRIDE)
        for place in dict.fromkeys((*born, *self._was)):
            found = view.live.get(place)
            tokens = found.tokens if found is not None else 0
            if tokens != self._summed.get(place, 0):
                self._sums.add(place // STRIDE + 1, tokens - self._summed.get(place, 0))
                self._summed[place] = tokens
