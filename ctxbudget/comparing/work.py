"""The work of a comparison: one file at a time, here or in processes of its own, always in the order given."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING

from ctxbudget import loaders, sources
from ctxbudget.comparing.basis import basis_of
from ctxbudget.comparing.rows import row_of
from ctxbudget.errors import TraceError
from ctxbudget.prepared import prepare
from ctxbudget.report.build import source_row
from ctxbudget.report.compare import ComparedTrace
from ctxbudget.strategy import Strategy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ctxbudget.comparing.variants import Variant
    from ctxbudget.config import Settings
    from ctxbudget.report.compare import ComparedRow
    from ctxbudget.sources import Place
    from ctxbudget.trace import Trace


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


def compared(trace: Trace, plan: Plan, told: Callable[[float], object] | None = None) -> ComparedTrace:
    """One trace under every strategy. Evidence, constraints and placebo are made once."""
    prepared = prepare(
        trace, Strategy("none"), window=plan.window, reserve=plan.reserve, scheme=plan.scheme, settings=plan.settings
    )
    basis = basis_of(prepared, with_placebo=plan.placebo)
    unedited = basis.unedited()
    rows: list[ComparedRow] = []
    for number, variant in enumerate(plan.variants, 1):
        if told is not None:
            told(number / (len(plan.variants) + 1))
        rows.append(row_of(basis, variant, unedited))
    return ComparedTrace(
        source=source_row(trace),
        turns=len(trace.turns),
        window=prepared.window.tokens,
        window_source=prepared.window.rule,
        window_known=prepared.window.known,
        reserve=prepared.reserve,
        signals=basis.signals(),
        rows=rows,
        warnings=list(trace.warnings),
    )


def _file(plan: Plan, place: Place, told: Callable[[float], object] | None = None) -> Done:
    """The main traces of one file."""
    try:
        traces = loaders.load(place.path, plan.how)
    except TraceError as error:
        return Done(place.path, (), _plain(error))
    chosen = sources.selected(traces, place.select or plan.select, place.path)
    found = []
    for number, trace in enumerate(chosen):
        within = _within(told, number, len(chosen))
        found.append(compared(trace, plan, within))
    return Done(place.path, tuple(found))


def _here(
    told: Callable[[str, float, int], None] | None, path: str, number: int, many: int
) -> Callable[[float], object] | None:
    """The share of one file as files done."""
    return None if told is None else lambda share: told(path, number + share, many)


def _within(told: Callable[[float], object] | None, number: int, of: int) -> Callable[[float], object] | None:
    """The share of one trace as a share of its file."""
    return None if told is None else lambda share: told((number + share) / of)


def _plain(error: TraceError) -> TraceError:
    """An error that can cross from one process to another: some of ours take more than their message to be made."""
    return TraceError(error.message, hint=error.hint)
