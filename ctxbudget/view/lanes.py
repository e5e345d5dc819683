"""The log by layer, as a pass sees it that divides the window anew at every turn.

A lane holds what a layer would show if nothing were short: recorded fragments, or what *other* passes left of them.
Running sums answer "from where on does everything fit" in logarithmic time, so that dividing costs what changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.trace import Form, Kind
from ctxbudget.view.lane import Lane
from ctxbudget.view.placing import STRIDE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from ctxbudget.trace import Fragment
    from ctxbudget.view.view import View


class Lanes:
    """The layers that a pass divides, kept up to date by the view."""

    def __init__(
        self,
        view: View,
        by: str,
        layers: Collection[str],
        literal: Collection[str],
        *,
        loops: bool,
        least: Callable[[Fragment], int],
    ) -> None:
        """``by`` is the pass whose edits do not count, ``layers`` those it divides, ``literal`` those of them that it
        keeps whole; with ``loops`` the thinking of an unfinished loop is kept apart until the loop is finished.
        ``least`` is what must stay of a fragment at least, in tokens, where a plan keeps its unit: the plan pays it.
        """
        self.view, self.by = view, by
        self._literal, self._loops, self._least = frozenset(literal), loops, least
        self.lanes = {layer: Lane() for layer in layers}
        self.thinking = Lane()
        """Thinking of the unfinished loop."""
        self.fixed = 0
        """Tokens that no quota divides: the fixed overhead, and layers without a quota."""
        self.units: dict[str, dict[int, tuple[str, Fragment]]] = {}
        """Each unit's items by place, with their layers."""
        self._where: dict[str, tuple[Lane | None, int]] = {}
        self._ours: dict[str, str] = {}
        for place in view.places:
            self.enter(place, view.live[place], finished=False)

    def enter(self, place: int, fragment: Fragment, *, finished: bool) -> None:
        """A recorded fragment entered, or another pass left this stand-in."""
        if finished:
            loop, self.thinking = self.thinking, Lane()
            for where in loop.places:
                self._join(where, loop.items[where])
        if self._loops and fragment.id in self.view.loop.holder:
            self._where[fragment.id] = self.thinking, place
            self.thinking.join(place, fragment, fragment.tokens, alive=True)
        else:
            self._join(place, fragment)

    def _join(self, place: int, fragment: Fragment) -> None:
        layer = self._layer(place, fragment)
        lane = self.lanes.get(layer)
        self._where[fragment.id] = lane, place
        weight = fragment.tokens
        if fragment.call is not None:
            weight += self._pair(place, layer, fragment)
        if lane is None:
            self.fixed += fragment.tokens
        elif layer in self._literal or fragment.id in self.view.pins.ids:
            lane.held += fragment.tokens
        else:
            lane.join(place, fragment, weight, alive=fragment.id in self.view)

    def _pair(self, place: int, layer: str, fragment: Fragment) -> int:
        """Make it a member of its unit. What a plan among its members pays for it; as a plan, what it pays itself."""
        members = self.units.setdefault(fragment.unit, {})
        extra = 0
        if fragment.asks and fragment.kind is Kind.PLAN:
            extra = sum(self._least(other) for _, other in members.values())
        elif any(other.kind is Kind.PLAN for _, other in members.values()):
            self._charge(members, self._least(fragment))
        members[place] = layer, fragment
        return extra

    def _charge(self, members: dict[int, tuple[str, Fragment]], tokens: int) -> None:
        for place, (layer, fragment) in members.items():
            if fragment.asks and fragment.kind is Kind.PLAN and layer in self.lanes:
                self.lanes[layer].reweigh(place, tokens)

    def _layer(self, place: int, fragment: Fragment) -> str:
        """Its layer; text injected after the overhead counts with the message it came in."""
        scheme = self.view.scheme
        if fragment.kind is not Kind.INJECTED or place < self.view.overhead * STRIDE:
            return scheme.layer(fragment)
        return scheme.kinds[Kind.USER if fragment.message in self.view.spoken else Kind.RESULT]

    def put(self, place: int, fragment: Fragment, by: str) -> None:
        """An edit put a fragment in."""
        if fragment.id in self._where:
            lane, where = self._where[fragment.id]
            if lane is not None:
                lane.show(where, short=False)
        elif by != self.by:
            if fragment.form is not Form.NOTICED:
                self.enter(place, fragment, finished=False)
        elif len(fragment.stands_for) == 1 and fragment.stands_for[0] in self._where:
            self._ours[fragment.id] = fragment.stands_for[0]
            lane, where = self._where[fragment.stands_for[0]]
            if lane is not None and fragment.form is Form.DIGEST:
                lane.show(where, short=True)

    def drop(self, fragment: Fragment, by: str) -> None:
        """An edit took a fragment out; one by another pass takes the item away for good."""
        item = self._ours.get(fragment.id, fragment.id)
        if item not in self._where:
            return
        lane, place = self._where[item]
        if by == self.by:
            if lane is not None:
                lane.hide(place)
            return
        del self._where[item]
        whole = self.view.known[item]
        if lane is None:
            self.fixed -= whole.tokens
        elif place in lane.items:
            lane.leave(place)
        else:
            lane.held -= whole.tokens
        if whole.call is not None:
            members = self.units[whole.unit]
            del members[place]
            self._charge(members, -self._least(whole))
