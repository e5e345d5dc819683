"""What was carried in vain in a recording: every spent observation once, with the turns that carried it so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxbudget.digests import label
from ctxbudget.evidence.sources import is_observed
from ctxbudget.waste.copies import Copies, Why
from ctxbudget.waste.piece import Piece

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.trace import Trace
    from ctxbudget.waste.copies import Spent

_SAID = {
    Why.REPEATED: "the same text came again as",
    Why.REREAD: "the same lines stand in",
    Why.STALE: "out of date since",
}


@dataclass(frozen=True, slots=True)
class Carried:
    """A spent observation, and the last turn whose prompt held it while it was that."""

    spent: Spent
    until: int

    @property
    def turns(self) -> int:
        """How many prompts carried it in vain."""
        return self.until - self.spent.turn + 1

    @property
    def token_turns(self) -> int:
        """Tokens × those turns."""
        return self.spent.fragment.tokens * self.turns

    def at(self, turn: int) -> bool:
        """Whether the prompt of that turn carried it in vain."""
        return self.spent.turn <= turn <= self.until

    @property
    def piece(self) -> Piece:
        """It as a piece of waste."""
        fragment = self.spent.fragment
        text = f"{label(fragment)}: {_SAID[self.spent.why]} {label(self.spent.by)}"
        return Piece(fragment, fragment.tokens, self.token_turns, text)


class Until(dict[str, int]):
    """The last turn that carried each fragment: the last of all where no recorded compaction removed it."""

    def __init__(self, trace: Trace) -> None:
        """What the recording removed, and when."""
        super().__init__((gone, each.turn - 1) for each in trace.recorded for gone in each.edit.removed)
        self._last = trace.turns[-1].index if trace.turns else 0

    def __missing__(self, id: str) -> int:
        return self._last


def carried(trace: Trace, until: Until) -> Iterator[Carried]:
    """The spent observations of a trace, by the verdict that came first.

    What a recorded compaction removed is no waste from then on, nor does it make a later copy redundant.
    """
    copies = Copies()
    told: set[str] = set()
    now = 0

    def stands(id: str) -> bool:
        return until[id] >= now

    for fragment in trace.fragments[: trace.turns[-1].stop] if trace.turns else ():
        if fragment.call is None and not is_observed(fragment):
            continue
        now = fragment.turn
        for spent in copies.enter(fragment, stands):
            one = spent.fragment.id
            last = until[one] if spent.why is Why.STALE else min(until[one], until[spent.by.id])
            if one not in told and last >= now:
                told.add(one)
                yield Carried(spent, last)
