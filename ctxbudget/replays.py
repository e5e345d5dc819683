"""Path or trace, and a strategy → RunReport: the work of ``ctxbudget replay``, for programs too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget.prepared import prepare
from ctxbudget.report import run_turn
from ctxbudget.report.run_build import Told, run_report
from ctxbudget.trace import Warning as TraceWarning
from ctxbudget.view.pins import overhead

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ctxbudget.prepared import Prepared
    from ctxbudget.replay import Run
    from ctxbudget.report.run import RunReport, Story
    from ctxbudget.strategy import Strategy
    from ctxbudget.survival import Fate
    from ctxbudget.trace import Trace


def replay(
    path_or_trace: str | Path | Trace,
    strategy: str | Strategy,
    *,
    turn: int | None = None,
    fragment: str | None = None,
    children: bool = False,
    **options: Any,
) -> RunReport:
    """What a strategy would have kept and lost of a recorded run.

    ``turn`` adds that turn fragment by fragment, ``fragment`` the life of one, ``children`` each sub-agent under its
    own window. The other options are those of ``ctxbudget.prepare``, which also gives the run itself. Raises
    UsageError for what cannot be used, TraceError for a file that cannot be read.
    """
    return report_of(prepare(path_or_trace, strategy, **options), turn=turn, fragment=fragment, children=children)


def report_of(
    prepared: Prepared, *, turn: int | None = None, fragment: str | None = None, children: bool = False
) -> RunReport:
    """The report of what was prepared."""
    shown = None if turn is None else prepared.view(turn)
    if fragment is not None:
        run_turn.found(prepared.trace, fragment)
    run = prepared.run()
    fates = prepared.fates(run)
    told = Told(
        description=prepared.strategy.description,
        sought=prepared.finder.sentences,
        fates=fates,
        pinned=prepared.pinned,
        shown_turn=None if shown is None else run_turn.shown_turn(run, shown, prepared.scheme),
        story=None if fragment is None else _story(prepared, run, fragment),
        children=[report_of(prepared.child(one), children=True) for one in prepared.trace.children if children],
        warnings=list(_unsaid(prepared, fates)),
    )
    return run_report(prepared.trace, run, prepared.scheme, prepared.window, told)


def _story(prepared: Prepared, run: Run, name: str) -> Story:
    trace, finder = prepared.trace, prepared.finder
    fragment = run_turn.found(trace, name)
    first = trace.entering(trace.turns[0]) if trace.turns else ()
    pinned = fragment in first[: overhead(first)] or prepared.pinned(fragment)
    holds = [finder.sentences[one].text for one in finder(fragment)]
    return run_turn.story(trace, run, name, prepared.scheme, pinned=pinned, holds=holds)


def _unsaid(prepared: Prepared, fates: list[Fate]) -> Iterator[TraceWarning]:
    """Facts that nothing in the trace holds: there is nothing to keep."""
    for fact, fate in zip(prepared.facts, fates, strict=False):
        if fate.said is None:
            yield TraceWarning("must-keep-unseen", f"no prompt of this trace holds the must-keep fact {fact.raw!r}")
