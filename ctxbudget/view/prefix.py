"""How much of the start of a view stands unchanged: what a prompt cache can reuse."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from ctxbudget.view.placing import STRIDE
from ctxbudget.view.sums import Sums

if TYPE_CHECKING:
    from ctxbudget.view.view import View


_FEW = 64
"""Fragments that are summed up one by one."""


class Prefix:
    """Follows what changes in a turn. Mostly the first change is near an end of the view; for where it is not, running
    sums give the tokens before it, however long the view. They are brought up to date only then.
    """

    __slots__ = ("_seen", "_stale", "_summed", "_sums", "_was")

    def __init__(self) -> None:
        """Nothing there."""
        self._was: dict[int, str | None] = {}
        """What stood at each place that an edit of this turn touched, when the turn began."""
        self._sums = Sums()
        """Tokens by recorded place, as of the last time that they were needed."""
        self._summed: dict[int, int] = {}
        self._seen = 0
        """The place after the last recorded fragment that they hold."""
        self._stale: dict[int, str | None] = {}
        """Places that edits of earlier turns have touched since."""

    def touch(self, place: int, id: str | None) -> None:
        """An edit puts something at a place where ``id`` stands, or nothing."""
        self._was.setdefault(place, id)

    def begin(self) -> None:
        """A turn begins; its arrivals enter next."""
        self._stale.update(self._was)
        self._was.clear()

    def tokens(self, view: View) -> int:
        """Tokens at the start that stand as they stood when the turn began; asked when all its edits are made."""
        edge = view.turns[-1]
        for place, was in self._was.items():
            found = view.live.get(place)
            if place < edge and (None if found is None else found.id) != was:
                edge = place
        at = bisect_left(view.places, edge)
        if len(view.places) - at <= _FEW:
            return view.tokens - sum([view.live[place].tokens for place in view.places[at:]])
        if at <= _FEW:
            return sum([view.live[place].tokens for place in view.places[:at]])
        self._sum(view)
        near = bisect_left(view.places, edge // STRIDE * STRIDE)
        beside = sum(view.live[place].tokens for place in view.places[near:at])
        return self._sums.total - self._sums.since(edge // STRIDE + 1) + beside

    def _sum(self, view: View) -> None:
        """Bring the sums up to date with what came and went."""
        for place in dict.fromkeys((*range(self._seen, view.end, STRIDE), *self._stale, *self._was)):
            found = view.live.get(place)
            tokens = found.tokens if found is not None else 0
            if tokens != self._summed.get(place, 0):
                self._sums.add(place // STRIDE + 1, tokens - self._summed.get(place, 0))
                self._summed[place] = tokens
        self._seen = view.end
        self._stale.clear()
