"""What is the same for every strategy on one trace, made once: evidence, constraints, files touched, placebo."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ctxbudget.cost import Cost, cost
from ctxbudget.errors import UsageError
from ctxbudget.evidence import Signal, index
from ctxbudget.models import Window
from ctxbudget.placebo import TESTED, placebo
from ctxbudget.regret import COUNTED, regret, touched
from ctxbudget.report.compare import SignalRow, SpreadRow
from ctxbudget.strategy import Strategy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ctxbudget.evidence import Evidence
    from ctxbudget.placebo import Placebo, Spread
    from ctxbudget.prepared import Prepared
    from ctxbudget.trace import Fragment, Trace

NAMES = {
    Signal.EDIT: "old text of edits",
    Signal.ARGUMENT: "ids, numbers, paths, URLs in arguments",
    Signal.RARE: "rare names",
    Signal.STALE: "edits on an outdated copy",
    Signal.AGAIN: "repeated requests",
    Signal.LOOP: "repeated calls",
}


@dataclass(frozen=True, slots=True)
class Basis:
    """One trace, ready for any number of strategies. Make it with ``basis_of``."""

    prepared: Prepared
    evidence: Evidence
    files: Mapping[str, Fragment]
    known: Mapping[str, Fragment]
    placebo: Placebo | None
    counted: tuple[Signal, ...]
    """Signals that make up the evidence: those of D1 and D2 that stand out from the placebo."""

    @property
    def trace(self) -> Trace:
        """The trace itself."""
        return self.prepared.trace

    def under(self, strategy: Strategy, window: int | None = None) -> Prepared:
        """The trace under one strategy, in a window of its own if one is given (a sweep's).

        Raises UsageError where the reserve leaves nothing of it.
        """
        limit = self.prepared.window if window is None else Window(window, "--sweep")
        if self.prepared.reserve >= limit.tokens:
            left = f"a reserve of {self.prepared.reserve:,} tokens leaves nothing of a window of {limit.tokens:,}"
            raise UsageError(left, hint="begin the sweep above the reserve")
        return replace(self.prepared, strategy=strategy, window=limit)

    def unedited(self) -> Cost:
        """What the full log costs, whatever the window: the yardstick of savings."""
        run = self.under(Strategy("none")).run()
        return cost(self.trace, run, regret(self.trace, run, self.evidence, self.files))

    def signals(self) -> list[SignalRow]:
        """Every signal beside what chance finds."""
        return [self._signal(kind) for kind in Signal]

    def _signal(self, kind: Signal) -> SignalRow:
        uses = len(self.evidence.of(kind))
        if self.placebo is None or kind not in TESTED:
            return SignalRow(kind.value, NAMES[kind], uses, None, None, None, kind in self.counted)
        chance = self.placebo.of(kind)
        project = None if chance.project is None else spread_row(chance.project)
        resource = spread_row(chance.resource)
        return SignalRow(kind.value, NAMES[kind], uses, project, resource, chance.excess, kind in self.counted)


def basis_of(prepared: Prepared, *, with_placebo: bool) -> Basis:
    """The basis of a trace that is prepared under any strategy. Without a placebo D1 and D2 count as they are."""
    trace = prepared.trace
    evidence = index(trace)
    chance = placebo(trace, evidence) if with_placebo else None
    return Basis(
        prepared=prepared,
        evidence=evidence,
        files=touched(trace),
        known={fragment.id: fragment for fragment in trace.fragments},
        placebo=chance,
        counted=COUNTED if chance is None else chance.counted,
    )


def spread_row(spread: Spread) -> SpreadRow:
    """The spread as a report has it."""
    return SpreadRow(spread.mean, spread.low, spread.high)
