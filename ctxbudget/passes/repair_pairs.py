"""Repair what the recording left broken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ctxbudget.trace import Edit
from ctxbudget.view import cut

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.view import View

NAME: Final = "repair-pairs"


@dataclass(frozen=True, slots=True)
class RepairPairs:
    """Drop results whose call was never recorded, and units with a call that was never answered.

    Keeps: every whole unit, and the calls of the newest reply, which may still be answered.
    Costs: a few tokens of an interrupted session.
    Fails: the answered calls of an interrupted batch go with the one that was not answered.
    Use when: an interrupted session is to be sent to a provider that refuses half pairs.
    """

    orphans: bool = True
    """Drop results without a call."""
    dangling: bool = True
    """Drop units with a call that has no result, the newest reply's aside."""

    def plan(self, view: View) -> Iterator[Edit]:
        """One edit with all of it."""
        wanted = []
        if self.orphans:
            wanted += [view.known[one] for one in view.units.orphans if one in view]
        if self.dangling:
            for unit in view.units.waiting:
                wanted += view.units.live.get(unit, {}).values()
        gone = cut(view, wanted)
        if gone:
            yield Edit(NAME, tuple(fragment.id for fragment in gone), reason="broken in the recording")
