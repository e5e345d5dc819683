"""Divide the window among the layers, anew before every call."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - options are read from the types at run time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ctxbudget.errors import UnknownName
from ctxbudget.passes.budget_per_layer.least import least_tokens
from ctxbudget.passes.budget_per_layer.pairing import completed, rested, resting, unsettled
from ctxbudget.passes.budget_per_layer.walk import Walk, Want, walk
from ctxbudget.trace import Edit, Kind
from ctxbudget.view import COMPANIONS, Note, cut
from ctxbudget.view.lanes import Lanes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.trace import Fragment
    from ctxbudget.view import View

NAME: Final = "budget-per-layer"
BACK: Final = "it fits its layer's quota again"
SHORT: Final = "only its short form fits its layer's quota"
QUOTAS: Final = (("task", 0.05), ("state", 0.15), ("reasoning", 0.20), ("observation", 0.45))
"""Fractions of the useful window; the .15 that is missing is room for the reply."""


@dataclass(frozen=True, slots=True)
class BudgetPerLayer:
    """Give each layer a quota of the useful window and fill it from newest to oldest: whole, else digest, else nothing.

    Keeps: the task literally, and of every other layer the newest that fits its quota.
    Costs: nothing is asked of a model; the cached prefix breaks wherever the oldest kept fragment changes.
    Fails: when the task alone outgrows its quota and what it may borrow; a digest is all that is left of old results.
    Use when: one kind of text (one huge log) must never push out the others.
    """

    quotas: Mapping[str, float] = field(default_factory=lambda: dict(QUOTAS))
    """Fraction of the useful window for each layer; the useful window is the window without its fixed overhead."""
    literal: tuple[str, ...] = ("task",)
    """Layers kept whole whatever they cost; beyond their quota they borrow."""
    lender: str = "observation"
    """The layer that lends."""
    digest_cost: int = 60
    """Most tokens of a digest; a layer's walk ends when less is left of its quota."""
    pairs: bool = True
    """Keep calls with their results, and thinking with the calls of its unfinished loop."""

    def plan(self, view: View) -> list[Edit | Note]:
        """The differences between what the view shows and what the quotas allow."""
        lanes = view.follower((NAME, self.literal, self.pairs, tuple(self.quotas)), self._lanes)
        lanes.settle()
        useful, by_layer = max(0, view.limit - lanes.fixed), lanes.lanes
        rooms = {layer: int(share * useful) - by_layer[layer].held for layer, share in self.quotas.items()}
        notes = list(self._borrow(rooms)) if rooms and min(rooms.values()) < 0 else []
        walks = self._walks(view, lanes, rooms)
        notes += _starved(rooms, walks)
        wants: dict[int, Want] = {}
        for one in walks.values():
            wants.update(one.wants(view))
        if self.pairs:
            rested(view, wants, completed(view, lanes, walks, wants, unsettled(view, wants)))
        return [*notes, *self._edits(view, wants)]

    def _lanes(self, view: View) -> Lanes:
        for layer in (*self.quotas, *self.literal, self.lender):
            if layer not in view.scheme.layers:
                raise UnknownName(f"layer of scheme {view.scheme.name!r}", layer, view.scheme.layers)

        def paid(item: Fragment) -> int:
            return least_tokens(view, item)

        return Lanes(view, NAME, self.quotas, self.literal, pairs=self.pairs, least=paid)

    def _borrow(self, rooms: dict[str, int]) -> Iterator[Note]:
        """What is held beyond its quota is lent by one layer."""
        for layer, room in rooms.items():
            if room >= 0 or layer == self.lender:
                continue
            lent = rooms.get(self.lender, 0)
            rooms[layer] = 0
            if self.lender in rooms:
                rooms[self.lender] = lent + room
            yield Note(
                "borrowed", f"{layer} needs {-room:,} tokens beyond its quota: {self.lender} lends them", layer, -room
            )
            if -room > lent:
                short = f"{layer} needs {-room:,} tokens beyond its quota, {self.lender} has {max(0, lent):,}"
                yield Note("cannot-fit", f"cannot fit: {short}", layer, -room)

    def _walks(self, view: View, lanes: Lanes, rooms: dict[str, int]) -> dict[str, Walk]:
        """The walk of every layer that has anything. The thinking that must stay with what these keep is paid by its
        own layer, and beyond that by the lender.
        """
        home, lender, cost = view.scheme.kinds[Kind.THINKING], self.lender, self.digest_cost
        walks: dict[str, Walk] = {}
        for layer, room in rooms.items():
            if lanes.lanes[layer].places and (layer != home or layer == lender):
                walks[layer] = walk(view, lanes, layer, room, cost)
        thinking = resting(view, lanes, walks, lender) if self.pairs else 0
        own = rooms.get(home, 0) if home != lender else 0
        if thinking > own and lender in rooms:
            rooms[lender] -= thinking - own
            if lender in walks:
                walks[lender] = walk(view, lanes, lender, rooms[lender], cost)
                thinking = resting(view, lanes, walks, lender)
        if home in rooms and home != lender:
            rooms[home] = max(0, own - thinking)
            if lanes.lanes[home].places:
                walks[home] = walk(view, lanes, home, rooms[home], cost)
        return walks

    def _edits(self, view: View, wants: dict[int, Want]) -> list[Edit]:
        edits: list[Edit] = []
        drops: list[Fragment] = []
        for place in sorted(wants):
            item, form = wants[place]
            old = view.stand_for(item.id)
            if form is not None:
                reason = BACK if form is item else SHORT
                edits.append(Edit(NAME, (old.id,) if old else (), (form,), form.form, reason))
            elif old is not None:
                drops.append(old)
        gone = cut(view, drops, COMPANIONS) if self.pairs else drops
        if gone:
            edits.append(Edit(NAME, tuple([one.id for one in gone]), (), None, "no room in the quota of its layer"))
        return edits


def _starved(rooms: Mapping[str, int], walks: Mapping[str, Walk]) -> list[Note]:
    """Layers that dropped something while another kept all it had and left room enough for it (CB106)."""
    spare = 0
    for layer, room in rooms.items():
        if layer not in walks:
            spare = max(spare, room)
        elif walks[layer].dropped is None:
            spare = max(spare, walks[layer].left)
    found: list[Note] = []
    for layer, one in walks.items():
        if one.dropped is not None and spare >= one.dropped:
            text = f"{layer} dropped {one.dropped:,} tokens that another layer's quota had room for"
            found.append(Note("starved", text, layer, one.dropped))
    return found
