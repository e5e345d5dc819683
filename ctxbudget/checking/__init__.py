"""Traces against budgets: the work of ``ctxbudget check``, for programs too.

``limits.py`` makes limits of flags and a budget, ``measured.py`` sizes of a trace, ``breaches.py`` holds the one
against the other, ``recorded.py`` adds what is wrong whatever the budget, ``ways.py`` how to get down, ``baseline.py``
what is known already, ``rows.py`` a row for each trace.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ctxbudget import constraints, loaders, sizes
from ctxbudget.checking import baseline as baselines
from ctxbudget.checking.files import all_of
from ctxbudget.checking.limits import Asked, wishes
from ctxbudget.checking.subject import Plan
from ctxbudget.checking.totals import exit_code, totals
from ctxbudget.config import Settings
from ctxbudget.config.rules import Rules
from ctxbudget.errors import UsageError
from ctxbudget.report import SCHEMA
from ctxbudget.report.build import TOOL
from ctxbudget.report.check import CheckReport
from ctxbudget.strategy.naming import find
from ctxbudget.trace import Trace
from ctxbudget.trace import Warning as TraceWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ctxbudget.checking.rows import Done
    from ctxbudget.layers import Scheme

__all__ = ["Asked", "Plan", "Rules", "check", "planned"]


def check(
    path_or_traces: str | Path | Trace | Iterable[str | Path | Trace],
    *,
    max: str | None = None,  # noqa: A002 - the name of the flag
    max_layer: Mapping[str, str] | None = None,
    max_result: str | None = None,
    growth: str | None = None,
    must_keep: Sequence[str] = (),
    must_keep_files: Iterable[str | Path] = (),
    strategy: str | None = None,
    window: int | None = None,
    reserve: int = 0,
    scheme: str | None = None,
    model: str | None = None,
    format_name: str | None = None,
    select: str | None = None,
    calibrate: bool = True,
    children: bool = False,
    allow_empty: bool = False,
    settings: Settings | None = None,
    rules: Rules | None = None,
    baseline: str | None = None,
    update_baseline: bool = False,
    anywhere: bool = False,
    on_file: Callable[[str, int, int], None] | None = None,
) -> CheckReport:
    """Whether contexts stay within their limits, at every turn.

    Takes a path (file, folder, pattern, ``-``, ``file#3``), a trace, or several of either. ``max`` limits the fullest
    turn (``75%`` of the window, ``0.75``, ``150k`` tokens), ``max_layer`` layers by name, ``max_result`` one result,
    ``growth`` what one turn adds; without any the fullest turn may hold 75 % of the window. ``must_keep`` are facts
    that must stay in view; under a ``strategy`` the replay is checked, else the recorded contexts. ``window`` and
    ``reserve`` are tokens. ``settings`` are a project's own, below every argument (``config.discover`` finds them,
    nothing is looked for by itself); ``rules`` which rules count. ``baseline`` is a file of known failures, written
    anew with ``update_baseline``; ``children`` checks sub-agents too, ``allow_empty`` lets empty files pass.

    Raises UsageError for arguments that cannot be used and ConfigError for a bad baseline. A file that cannot be read
    is a row of the report, which then has exit code 2.
    """
    asked = Asked(
        whole=None if max is None else sizes.amount(max, "--max"),
        layers={name: sizes.amount(amount, f"--max-layer {name}") for name, amount in (max_layer or {}).items()},
        result=None if max_result is None else sizes.amount(max_result, "--max-result"),
        growth=None if growth is None else sizes.amount(growth, "--growth"),
    )
    settings = settings or Settings()
    plan = Plan(
        asked=asked,
        settings=settings,
        rules=rules or Rules(),
        how=loaders.Options(format_name, settings.tool_classes, calibrate=calibrate, model=model),
        strategy=strategy,
        anywhere=anywhere,
        window=window,
        reserve=reserve,
        scheme=scheme,
        select=select,
        facts=constraints.must_keep(must_keep, must_keep_files),
        children=children,
        allow_empty=allow_empty,
        baseline=None if baseline is None else baselines.read(baseline, updating=update_baseline),
        flags=() if window is None else ("--window", str(window)),
    )
    if update_baseline and baseline is None:
        raise UsageError("there is no baseline to update", hint="name its file with --baseline FILE")
    given = [path_or_traces] if isinstance(path_or_traces, str | Path | Trace) else list(path_or_traces)
    return planned(plan, given, on_file)


def planned(
    plan: Plan, given: Sequence[str | Path | Trace], on_file: Callable[[str, int, int], None] | None = None
) -> CheckReport:
    """The report of a plan. Nothing of a trace is kept but its row."""
    _refuse(plan)
    done = list(all_of(plan, given, on_file or (lambda _path, _number, _of: None)))
    rows = [one.row for one in done]
    unseen = _unseen(plan, done)
    row = plan.baseline.row(rows) if plan.baseline is not None else None
    if plan.baseline is not None and plan.baseline.updating:
        plan.baseline.write(rows)
    budget = plan.settings.budget

    def holding(names: Sequence[str]) -> Scheme:
        return plan.settings.scheme_holding(names, plan.scheme)

    return CheckReport(
        schema=SCHEMA,
        tool=TOOL,
        strategy=plan.strategy,
        config=None if plan.settings.source is None else Path(plan.settings.source).name,
        limits=[wish.sentence(budget.max_input_tokens) for wish in wishes(plan.asked, budget, holding)],
        checked=rows,
        totals=totals(rows),
        baseline=row,
        warnings=unseen,
        exit_code=exit_code(rows, allow_empty=plan.allow_empty, unseen=bool(unseen)),
    )


def _unseen(plan: Plan, done: Sequence[Done]) -> list[TraceWarning]:
    """Facts that no prompt of any trace held: nothing was there to keep, so nothing was checked. Those that a budget
    names for some paths only are not asked for here."""
    if not any(one.row.turns is not None for one in done):
        return []
    said = {raw for one in done for raw in one.said}
    facts = (*plan.facts, *constraints.must_keep(plan.settings.budget.must_keep or ()))
    return [
        TraceWarning("must-keep-unseen", f"no prompt of any trace holds the must-keep fact {raw!r}")
        for raw in dict.fromkeys(fact.raw for fact in facts)
        if raw not in said
    ]


def _refuse(plan: Plan) -> None:
    """What cannot be used is told before any file is read."""
    if plan.how.format is not None:
        loaders.LOADERS.get(plan.how.format, anywhere=True)
    if plan.strategy is not None:
        find(plan.strategy, anywhere=plan.anywhere)
    if plan.window is not None and not 0 <= plan.reserve < plan.window:
        raise UsageError(
            f"a reserve of {plan.reserve:,} tokens leaves nothing of the window of {plan.window:,}",
            hint="the reserve is what stays free for the reply; it must be smaller than the window",
        )
    if plan.asked.layers:
        plan.settings.scheme_holding(tuple(plan.asked.layers), plan.scheme)
    plan.settings.laid_out(plan.scheme)
