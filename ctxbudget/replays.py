"""Path or trace, and a strategy → RunReport: the work of ``ctxbudget replay``, for programs too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget.basis import basis_of
from ctxbudget.placebo import ROUNDS
from ctxbudget.prepared import prepare
from ctxbudget.report import run_turn
from ctxbudget.report.regret_build import cost_row, regret_row
from ctxbudget.report.run_build import Told, run_report
from ctxbudget.strategy import Strategy
from ctxbudget.view.pins import overhead

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ctxbudget.prepared import Prepared
    from ctxbudget.replay import Run
    from ctxbudget.report.regret import CostRow, RegretRow
    from ctxbudget.report.run import RunReport, Story
    from ctxbudget.trace import Trace


def replay(
    path_or_trace: str | Path | Trace,
    strategy: str | Strategy,
    *,
    turn: int | None = None,
    fragment: str | None = None,
    children: bool = False,
    placebo: bool = True,
    **options: Any,
) -> RunReport:
    """What a strategy would have kept and lost of a recorded run.

    ``turn`` adds that turn fragment by fragment, ``fragment`` the life of one, ``children`` each sub-agent under its
    own window. ``placebo=False`` leaves out the count of chance, which takes longer than all else, and with it the
    test which signals of evidence count. The other options are those of ``ctxbudget.prepare``, which also gives the
    run itself. Raises UsageError for what cannot be used, TraceError for a file that cannot be read.
    """
    ready = prepare(path_or_trace, strategy, **options)
    return report_of(ready, turn=turn, fragment=fragment, children=children, placebo=placebo)


def report_of(
    prepared: Prepared,
    *,
    turn: int | None = None,
    fragment: str | None = None,
    children: bool = False,
    placebo: bool = True,
    told: Callable[[int, int], None] | None = None,
) -> RunReport:
    """The report of what was prepared. ``told`` learns how many rounds of its placebo are done, and of how many."""
    shown = None if turn is None else prepared.view(turn)
    if fragment is not None:
        run_turn.found(prepared.trace, fragment)
    run = prepared.run()
    fates = prepared.fates(run)
    regret, cost = _measured(prepared, run, told, placebo=placebo)
    said = Told(
        description=prepared.strategy.description,
        sought=prepared.finder.sentences,
        fates=fates,
        pinned=prepared.pinned,
        regret=regret,
        cost=cost,
        shown_turn=None if shown is None else run_turn.shown_turn(run, shown, prepared.scheme),
        story=None if fragment is None else _story(prepared, run, fragment),
        children=[
            report_of(prepared.child(one), children=True, placebo=placebo)
            for one in prepared.trace.children
            if children
        ],
        warnings=list(prepared.unsaid(fates)),
    )
    return run_report(prepared.trace, run, prepared.scheme, prepared.window, said)


def _measured(
    prepared: Prepared, run: Run, told: Callable[[int, int], None] | None, *, placebo: bool
) -> tuple[RegretRow, CostRow]:
    """What the run would have taken away before it was needed, and what it costs against the full log."""
    after = None if told is None else lambda done: told(done, ROUNDS)
    basis = basis_of(prepared.trace, chance=placebo, told=after)
    measured = basis.measured(run)
    full = basis.full(prepared.under(Strategy("none")).run())
    return regret_row(basis, measured), cost_row(measured.cost, full)


def _story(prepared: Prepared, run: Run, name: str) -> Story:
    trace, finder = prepared.trace, prepared.finder
    fragment = run_turn.found(trace, name)
    first = trace.entering(trace.turns[0]) if trace.turns else ()
    pinned = fragment in first[: overhead(first)] or prepared.pinned(fragment)
    holds = [finder.sentences[one].text for one in finder(fragment)]
    return run_turn.story(trace, run, name, prepared.scheme, pinned=pinned, holds=holds)
