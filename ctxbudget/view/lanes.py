"""The log by layer, as a pass sees it that divides the window anew at every turn.

A lane holds what a layer would show if nothing were short: recorded fragments, or what *other* passes left of them.
From where on everything fits is known from the turn before and moves as far as the log has grown, so that dividing
costs what changes.
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


class Members:
    """A unit: its items by place with their layers."""

    __slots__ = ("dues", "items")

    def __init__(self) -> None:
        """None yet."""
        self.items: dict[int, tuple[str, Fragment]] = {}
        self.dues: dict[str, tuple[int, int]] = {}
        """What a layer pays for the members in other layers where it keeps the unit: the place it is charged to, and
        the tokens."""

    def due(self, layer: str) -> int:
        """What the layer pays for the members in other layers, in tokens, where it keeps the unit."""
        return self.dues[layer][1] if layer in self.dues else 0


class Lanes:
    """The layers that a pass divides, kept up to date by the view."""

    def __init__(
        self,
        view: View,
        by: str,
        layers: Collection[str],
        literal: Collection[str],
        *,
        pairs: bool,
        least: Callable[[Fragment], int],
    ) -> None:
        """``by`` is the pass whose edits do not count, ``layers`` those it divides, ``literal`` those of them that it
        keeps whole. With ``pairs`` it keeps track of units, and the thinking of an unfinished loop is kept apart until
        the loop is finished. ``least`` is what must stay of a fragment, in tokens, where its unit stays.
        """
        self.view, self.by = view, by
        self._literal, self._pairs, self._least = frozenset(literal), pairs, least
        self.lanes = {layer: Lane() for layer in layers}
        self.thinking = Lane()
        """Thinking of the unfinished loop, in view or not."""
        self.fixed = 0
        """Tokens that no quota divides: the fixed overhead, and layers without a quota."""
        self.units: dict[str, Members] = {}
        self._unsettled: dict[str, None] = {}
        """Units whose members have changed since their dues were last charged."""
        self._where: dict[str, tuple[Lane | None, int]] = {}
        self._ours: dict[str, str] = {}
        for place in view.places:
            self.enter(place, view.live[place], False)

    def enter(self, place: int, fragment: Fragment, finished: bool) -> None:
        """A recorded fragment entered, or another pass left this stand-in."""
        if finished:
            loop, self.thinking = self.thinking, Lane()
            for where in loop.places:
                self._join(where, loop.items[where])
        if self._pairs and fragment.id in self.view.loop.holder:
            self._where[fragment.id] = self.thinking, place
            self.thinking.join(place, fragment, fragment.tokens, True)
        else:
            self._join(place, fragment)

    def _join(self, place: int, fragment: Fragment) -> None:
        layer = self._layer(place, fragment)
        lane = self.lanes.get(layer)
        self._where[fragment.id] = lane, place
        if self._pairs and fragment.call is not None:
            unit = self.units.get(fragment.unit)
            if unit is None:
                unit = self.units[fragment.unit] = Members()
            unit.items[place] = layer, fragment
            self._unsettled[fragment.unit] = None
        if lane is None:
            self.fixed += fragment.tokens
        elif layer in self._literal or fragment.id in self.view.pins.ids:
            lane.held += fragment.tokens
        else:
            lane.join(place, fragment, fragment.tokens, fragment.id in self.view.here)

    def _layer(self, place: int, fragment: Fragment) -> str:
        """Its layer; text injected after the overhead counts with the message it came in."""
        scheme = self.view.scheme
        if fragment.kind is not Kind.INJECTED or place < self.view.overhead * STRIDE:
            return scheme.layer(fragment)
        return scheme.kinds[Kind.USER if fragment.message in self.view.spoken else Kind.RESULT]

    def settle(self) -> None:
        """Charge the layers for the units that have changed: who keeps a unit pays for what must stay of its members
        in other layers, so that it fits whatever these keep.
        """
        for name in self._unsettled:
            unit = self.units[name]
            dues = self._dues(unit)
            if dues or unit.dues:
                self._charge(unit, -1)
                unit.dues = dues
                self._charge(unit, 1)
        self._unsettled.clear()

    def _charge(self, unit: Members, sign: int) -> None:
        for layer, (place, tokens) in unit.dues.items():
            self.lanes[layer].reweigh(place, sign * tokens)

    def _dues(self, unit: Members) -> dict[str, tuple[int, int]]:
        if len({layer for layer, _ in unit.items.values()}) < 2:  # true of most
            return {}
        divided = {place: one for place, one in unit.items.items() if self.divides(place, one[0])}
        first = {layer: place for place, (layer, _) in sorted(divided.items(), reverse=True)}
        if len(first) < 2:
            return {}
        least = dict.fromkeys(first, 0)
        for layer, fragment in divided.values():
            least[layer] += self._least(fragment)
        return {layer: (place, sum(least.values()) - least[layer]) for layer, place in first.items()}

    def divides(self, place: int, layer: str) -> bool:
        """Whether the item at ``place`` is one that the quota of its layer divides."""
        return layer in self.lanes and place in self.lanes[layer].items

    def put(self, place: int, fragment: Fragment, by: str) -> None:
        """An edit put a fragment in."""
        if fragment.id in self._where:
            lane, where = self._where[fragment.id]
            if lane is not None:
                lane.show(where, False)
        elif by != self.by:
            if fragment.form is not Form.NOTICED:
                self.enter(place, fragment, False)
        elif len(fragment.stands_for) == 1 and fragment.stands_for[0] in self._where:
            self._ours[fragment.id] = fragment.stands_for[0]
            lane, where = self._where[fragment.stands_for[0]]
            if lane is not None and fragment.form is Form.DIGEST:
                lane.show(where, True)

    def drop(self, fragment: Fragment, by: str) -> None:
        """An edit took a fragment out; one by another pass takes the item away for good."""
        item = self._ours.get(fragment.id, fragment.id) if fragment.form is not None else fragment.id
        known = self._where.get(item)
        if known is None:
            return
        lane, place = known
        if by == self.by:
            if lane is not None and lane is not self.thinking:
                lane.hide(place)
            return
        del self._where[item]
        whole = self.view.known[item]
        if whole.call is not None and whole.unit in self.units:
            self._parted(self.units[whole.unit], place)
            self._unsettled[whole.unit] = None
        if lane is None:
            self.fixed -= whole.tokens
        elif place in lane.items:
            lane.leave(place)
        else:
            lane.held -= whole.tokens

    def _parted(self, unit: Members, place: int) -> None:
        self._charge(unit, -1)
        unit.dues = {}
        del unit.items[place]
