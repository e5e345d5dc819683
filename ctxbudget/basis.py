"""What any number of runs of one trace are measured against, made once: evidence, files touched, placebo.

basis = basis_of(trace, chance=True)
measured = basis.measured(run)
print(measured.kept, measured.regret.tokens, measured.cost.price)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxbudget.cost import Cost, cost
from ctxbudget.evidence import index
from ctxbudget.placebo import placebo
from ctxbudget.regret import COUNTED, Regret, Sight, regret, touched

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ctxbudget.evidence import Evidence, Signal
    from ctxbudget.placebo import Placebo, Spread
    from ctxbudget.replay import Run
    from ctxbudget.trace import Fragment, Trace


@dataclass(frozen=True, slots=True)
class Measured:
    """One run: what it would have taken away, and what it costs."""

    regret: Regret
    cost: Cost
    uses: int
    """Uses of the evidence, of the signals that may be added up."""
    by_chance: Spread | None
    """How many of a placebo's uses the same run loses; None without a placebo."""

    @property
    def kept(self) -> int:
        """Those of the uses that had a source in view, or in an external store."""
        return self.uses - len(self.regret.losses)


@dataclass(frozen=True, slots=True)
class Basis:
    """Make it with ``basis_of``."""

    trace: Trace
    evidence: Evidence
    files: Mapping[str, Fragment]
    """What the trace touched, with the last call that did."""
    known: Mapping[str, Fragment]
    """The fragments of the trace by id."""
    placebo: Placebo | None
    counted: tuple[Signal, ...]
    """Signals that make up the evidence: those of D1 and D2 that stand out from the placebo."""

    def measured(self, run: Run) -> Measured:
        """A run of the trace against it."""
        sight = Sight(self.trace, run)
        found = regret(self.trace, run, self.evidence, self.files, sight, self.counted)
        uses = sum(len(self.evidence.of(kind)) for kind in self.counted)
        chance = None if self.placebo is None else self.placebo.missed(len(found.losses), sight, *self.counted).worst
        return Measured(found, cost(self.trace, run, found), uses, chance)

    def full(self, run: Run) -> Cost:
        """What ``run``, one that edits nothing, costs: the yardstick of savings. Nothing is missing in it."""
        return cost(self.trace, run, Regret())


def basis_of(trace: Trace, *, chance: bool, told: Callable[[int], None] | None = None) -> Basis:
    """The basis of a trace. Without ``chance`` there is no placebo, and D1 and D2 count as they are; ``told`` learns
    each round of the placebo.
    """
    evidence = index(trace)
    by_chance = placebo(trace, evidence, told=told) if chance else None
    return Basis(
        trace=trace,
        evidence=evidence,
        files=touched(trace),
        known={fragment.id: fragment for fragment in trace.fragments},
        placebo=by_chance,
        counted=COUNTED if by_chance is None else by_chance.counted,
    )
