"""Paths or traces, and strategies → Comparison: the work of ``ctxbudget compare``, for programs too.

    found = compare(["a.jsonl", "b.jsonl"], ["sliding-window", "clear"], window=200_000)
    for row in found.pooled:
        print(row.strategy, row.sent, row.evidence_kept, row.evidence)

Each trace is loaded once, and so are its evidence, its constraints and its placebo made once; every strategy then only
costs its replay. ``front.py`` says how the rows are ordered, ``knee.py`` what a knee is.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ctxbudget import constraints, loaders, sources
from ctxbudget.comparing.front import RULE, axis_of, in_order, ordered
from ctxbudget.comparing.knee import RULE as KNEE
from ctxbudget.comparing.knee import knee
from ctxbudget.comparing.outcomes import GROUPINGS, by_outcome
from ctxbudget.comparing.pooling import pooled
from ctxbudget.comparing.variants import Sweep, chosen, read_sweep, variants
from ctxbudget.comparing.work import Plan, compared, files
from ctxbudget.config import Settings
from ctxbudget.errors import TraceError, UnknownName, UsageError
from ctxbudget.report import SCHEMA, UnreadableRow
from ctxbudget.report.build import TOOL
from ctxbudget.report.compare import Comparison, SweepRow
from ctxbudget.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ctxbudget.report.compare import ComparedRow, ComparedTrace
    from ctxbudget.sources import Place
    from ctxbudget.strategy import Strategy
    from ctxbudget.summaries import Summariser

__all__ = ["Sweep", "chosen", "compare", "read_sweep"]


def compare(
    path_or_traces: str | Path | Trace | Iterable[str | Path | Trace],
    strategies: Sequence[str | Strategy] = (),
    *,
    window: int | None = None,
    reserve: int = 0,
    scheme: str | None = None,
    options: Sequence[str] = (),
    model: str | None = None,
    format_name: str | None = None,
    select: str | None = None,
    calibrate: bool = True,
    must_keep: Sequence[str] = (),
    must_keep_files: Iterable[str | Path] = (),
    children: bool = False,
    summariser: str | Summariser = "extractive",
    fail_summary: int = 0,
    placebo: bool = True,
    sweep: Sweep | str | None = None,
    by: str | None = None,
    jobs: int = 1,
    settings: Settings | None = None,
    on_step: Callable[[str, float, int], None] | None = None,
) -> Comparison:
    """What each strategy costs and what it would have taken away, per trace and pooled.

    ``strategies`` are names, ``a+b``, files, or Strategy objects; all presets if none is given, or with a ``sweep`` of
    a pass that pass alone. ``options`` (``pass.option=value``) are set in every one. A ``sweep`` may be a text, such as
    ``window=64k..1M``. With ``children`` each sub-agent is a trace of its own, under its own window. ``placebo=False``
    leaves out the count of chance, and with it the test which signals count. ``by="outcome"`` adds each strategy pooled
    over the recorded runs that ended in success, in failure, and over those left open. ``jobs`` processes share the
    files. The rest is as for ``ctxbudget.prepare``. Raises UsageError for what cannot be used, TraceError where no file
    can be read.
    """
    settings = settings or Settings()
    if jobs < 1:
        raise UsageError(f"{jobs} jobs do nothing", hint="give --jobs 1 or more")
    if by is not None and by not in GROUPINGS:
        raise UnknownName("grouping", by, GROUPINGS)
    sweep = read_sweep(sweep) if isinstance(sweep, str) else sweep
    made = tuple(variants(strategies, options, sweep))
    how = loaders.Options(format_name, settings.tool_classes, calibrate=calibrate, model=model)
    facts = tuple(fact.raw for fact in constraints.must_keep(must_keep, must_keep_files))
    plan = Plan(
        made, how, settings, scheme, window, reserve, select, placebo, facts, children, summariser, fail_summary
    )  # fmt: skip
    given = [path_or_traces] if isinstance(path_or_traces, str | Path | Trace) else list(path_or_traces)
    places = sources.expand([str(each) for each in given if not isinstance(each, Trace)], format_name)
    found = [one for each in given if isinstance(each, Trace) for one in compared(each, plan)]
    unreadable = _read(plan, places, jobs, on_step, found)
    return _comparison(found, unreadable, sweep, placebo=placebo, grouped=by is not None)


def _read(
    plan: Plan,
    places: Sequence[Place],
    jobs: int,
    on_step: Callable[[str, float, int], None] | None,
    found: list[ComparedTrace],
) -> list[UnreadableRow]:
    """The traces of every file, put behind ``found``; what cannot be read where something else can."""
    unreadable: list[UnreadableRow] = []
    first: TraceError | None = None
    for done in files(plan, places, jobs, on_step):
        found += done.traces
        if done.failure is not None:
            first = first or done.failure
            unreadable.append(UnreadableRow(done.path, done.failure.message.removeprefix(f"{done.path}: ")))
    if first is not None and not found:
        raise first
    return unreadable


def _comparison(
    found: Sequence[ComparedTrace],
    unreadable: list[UnreadableRow],
    sweep: Sweep | None,
    *,
    placebo: bool,
    grouped: bool,
) -> Comparison:
    axis = axis_of([row for trace in found for row in trace.rows])
    together = pooled(found)
    order = in_order if sweep is not None else ordered
    return Comparison(
        schema=SCHEMA,
        tool=TOOL,
        placebo=placebo,
        axis=axis,
        rule=RULE,
        pooled=order(together, axis),
        by_outcome=by_outcome(found, order, axis) if grouped else [],
        compared=[replace(trace, rows=order(trace.rows, axis)) for trace in found],
        sweep=None if sweep is None else _swept(sweep, together, axis),
        unreadable=unreadable,
    )


def _swept(sweep: Sweep, rows: Sequence[ComparedRow], axis: str) -> SweepRow:
    groups: dict[str, list[ComparedRow]] = {}
    for row in rows:
        groups.setdefault(row.strategy, []).append(row)
    knees = {name: knee(group, axis) for name, group in groups.items()}
    return SweepRow(sweep.option, list(sweep.values), knees, KNEE)
