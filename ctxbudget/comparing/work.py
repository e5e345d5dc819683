"""The work of a comparison: one file at a time, here or in processes of its own, always in the order given."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING

from ctxbudget import loaders, sources
from ctxbudget.basis import basis_of
from ctxbudget.comparing.rows import row_of
from ctxbudget.errors import TraceError
from ctxbudget.placebo import ROUNDS
from ctxbudget.prepared import prepare
from ctxbudget.report.build import source_row
from ctxbudget.report.compare import ComparedTrace
from ctxbudget.report.regret_build import signal_rows
from ctxbudget.strategy import Strategy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ctxbudget.comparing.variants import Variant
    from ctxbudget.config import Settings
    from ctxbudget.prepared import Prepared
    from ctxbudget.report.compare import ComparedRow
    from ctxbudget.sources import Place
    from ctxbudget.summaries import Summariser
    from ctxbudget.trace import Outcome, Trace


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do with every trace; plain data, so that a process can be given it. ``window``, ``reserve`` in tokens."""

    variants: tuple[Variant, ...]
    how: loaders.Options
    settings: Settings
    scheme: str | None
    window: int | None
    reserve: int
    select: str | None
    placebo: bool
    must_keep: tuple[str, ...] = ()
    children: bool = False
    summariser: str | Summariser = "extractive"
    fail_summary: int = 0


@dataclass(frozen=True, slots=True)
class Done:
    """What came of one file: its traces, or why it cannot be read."""

    path: str
    traces: tuple[ComparedTrace, ...]
    failure: TraceError | None = None


def files(
    plan: Plan, places: Sequence[Place], jobs: int, told: Callable[[str, float, int], None] | None
) -> Iterator[Done]:
    """Every file in turn. ``told`` learns the file, how many are done (parts of one count here), and of how many."""
    many = len(places)
    if jobs <= 1 or many <= 1:
        for number, place in enumerate(places):
            yield _file(plan, place, _here(told, place.path, number, many))
        return
    with ProcessPoolExecutor(min(jobs, many), mp_context=get_context("spawn")) as pool:
        waiting = [pool.submit(_file, plan, place) for place in places]
        for number, one in enumerate(waiting):
            done = one.result()
            if told is not None:
                told(done.path, number + 1, many)
            yield done


def compared(trace: Trace, plan: Plan, told: Callable[[float], object] | None = None) -> list[ComparedTrace]:
    """One trace under every strategy, and after it its sub-agents where the plan wants them."""
    ready = prepare(
        trace, Strategy("none"), window=plan.window, reserve=plan.reserve, scheme=plan.scheme, settings=plan.settings,
        must_keep=plan.must_keep, summariser=plan.summariser, fail_summary=plan.fail_summary,
    )  # fmt: skip
    every = list(_family(ready)) if plan.children else [ready]
    return [_compared(one, plan, trace.outcome, _within(told, number, len(every))) for number, one in enumerate(every)]


def _family(ready: Prepared) -> Iterator[Prepared]:
    """The trace and all below it, each sub-agent under its own window."""
    yield ready
    for child in ready.trace.children:
        yield from _family(ready.child(child))


def _compared(
    ready: Prepared, plan: Plan, root: Outcome | None, told: Callable[[float], object] | None
) -> ComparedTrace:
    """Evidence, constraints and placebo are made once; each strategy then costs its replay."""
    rounds = ROUNDS if plan.placebo else 0
    of = rounds + len(plan.variants)

    def step(done: int) -> None:
        if told is not None:
            told(done / of)

    basis = basis_of(ready.trace, chance=plan.placebo, told=step)
    full = ready.run()
    unedited = basis.full(full)
    rows: list[ComparedRow] = []
    for done, variant in enumerate(plan.variants, rounds):
        step(done)
        rows.append(row_of(basis, ready, variant, unedited))
    return ComparedTrace(
        source=source_row(ready.trace),
        outcome=ready.trace.outcome or root,
        turns=len(ready.trace.turns),
        window=ready.window.tokens,
        window_source=ready.window.rule,
        window_known=ready.window.known,
        reserve=ready.reserve,
        signals=signal_rows(basis),
        rows=rows,
        warnings=[*ready.trace.warnings, *ready.unsaid(ready.fates(full))],
    )


def _file(plan: Plan, place: Place, told: Callable[[float], object] | None = None) -> Done:
    """The main traces of one file."""
    try:
        traces = loaders.load(place.path, plan.how, place.select or plan.select)
    except TraceError as error:
        return Done(place.path, (), error)
    chosen = sources.selected(traces, place.select or plan.select, place.path)
    found: list[ComparedTrace] = []
    for number, trace in enumerate(chosen):
        found += compared(trace, plan, _within(told, number, len(chosen)))
    return Done(place.path, tuple(found))


def _here(
    told: Callable[[str, float, int], None] | None, path: str, number: int, many: int
) -> Callable[[float], object] | None:
    """The share of one file as files done."""
    return None if told is None else lambda share: told(path, number + share, many)


def _within(told: Callable[[float], object] | None, number: int, of: int) -> Callable[[float], object] | None:
    """The share of one trace as a share of its file."""
    return None if told is None else lambda share: told((number + share) / of)
