"""What a summary replaces."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxbudget.trace import Form, Kind
from ctxbudget.view import cut

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.trace import Fragment
    from ctxbudget.view import View


def tail_start(view: View, tokens: int, turns: int) -> int:
    """The place from which on everything stays: the newest ``tokens``, the newest ``turns``, and what has arrived.

    It begins with a message, never between a call and its results. The end, so that nothing stays, where both are 0.
    """
    if not tokens and not turns:
        return view.end
    edge = view.turns[-1]
    if turns:
        edge = min(edge, view.turn_start(view.turn - turns + 1))
    left = tokens
    for place in reversed(view.places):
        left -= view.live[place].tokens
        if left < 0:
            break
        edge = min(edge, place)
    return _opening(view, edge)


def _opening(view: View, edge: int) -> int:
    """The start of the message that holds ``edge``; for results that of their calls."""
    at = bisect_left(view.places, edge)
    while 0 < at < len(view.places):
        first, before = view.live[view.places[at]], view.live[view.places[at - 1]]
        if not first.answers and first.message != before.message:
            break
        at -= 1
    return view.places[at] if at < len(view.places) else edge


@dataclass(frozen=True, slots=True)
class Open:
    """What may be replaced: the fragments before a place that are not pinned, less those that a pass leaves alone."""

    view: View
    edge: int
    first: int | None = None
    """A message that stays."""
    summaries: bool = True
    """Whether earlier summaries go too."""

    def __iter__(self) -> Iterator[Fragment]:
        """Oldest first."""
        every = self.view.editable(self.edge)
        if self.first is None and self.summaries:
            return every
        return (one for one in every if self._goes(one))

    def _goes(self, fragment: Fragment) -> bool:
        return fragment.message != self.first and (self.summaries or fragment.kind is not Kind.SUMMARY)

    def last(self, fragment: Fragment) -> int:
        """The place of the last fragment among them that is of the same unit."""
        place = self.view.place_of[fragment.id]
        if fragment.call is None:
            return place
        unit, pins = self.view.units.live[fragment.unit], self.view.pins.ids
        late = [at for at, one in unit.items() if place < at < self.edge and one.id not in pins and self._goes(one)]
        return max(late, default=place)


def oldest(view: View, candidates: Open, excess: int) -> list[Fragment]:
    """As many of the oldest as free ``excess`` tokens, or all that may go. A cut may leave more in place than was
    asked, so that more is asked of it then.
    """
    asked = excess
    while True:
        wanted, every = _first(view, candidates, asked)
        gone = cut(view, wanted)
        if every or sum([fragment.tokens for fragment in gone]) >= excess:
            return gone
        asked *= 2


def _first(view: View, candidates: Open, tokens: int) -> tuple[list[Fragment], bool]:
    """The first of the candidates that hold so many tokens, up to where no unit and no message is half in; and whether
    these are all. No more of a long view is looked at than that.
    """
    found: list[Fragment] = []
    freed, end = 0, -1
    for fragment in candidates:
        if freed >= tokens and found and fragment.message != found[-1].message and view.place_of[fragment.id] > end:
            return found, False
        if not found or fragment.unit != found[-1].unit:
            end = max(end, candidates.last(fragment))
        found.append(fragment)
        freed += fragment.tokens
    return found, True


def fresh(fragment: Fragment) -> bool:
    """Whether it is more than an earlier summary or notice."""
    return fragment.kind is not Kind.SUMMARY and fragment.form is not Form.NOTICED
