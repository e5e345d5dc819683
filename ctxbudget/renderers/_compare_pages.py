"""What an answer about a comparison consists of, block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.renderers import _compare_plot
from ctxbudget.renderers._compare_sections import dollars, named, signals, strategies
from ctxbudget.renderers._numbers import counted, tokens
from ctxbudget.renderers._pages import Facts, Line, Notes, Plot, Title

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.renderers._pages import Block
    from ctxbudget.report.compare import ComparedRow, ComparedTrace, Comparison


def blocks(report: Comparison) -> Iterator[Block]:
    """One trace in full, or all of them pooled and then each."""
    if not report.compared:
        yield Facts((("Nothing", "no trace to compare"),))
    elif len(report.compared) == 1:
        (trace,) = report.compared
        yield Title(_title(trace))
        yield Line(_identity(trace))
        yield from _pooled(report, "Strategies")
        yield signals(trace.signals)
    else:
        yield Title(counted(len(report.compared), "trace"))
        yield from _pooled(report, "All together")
        for trace in report.compared:
            yield Title(_title(trace))
            yield Line(_identity(trace))
            knees = report.sweep.knees if report.sweep is not None else None
            yield strategies("Strategies", trace.rows, knees, noted=False)
            yield signals(trace.signals)
    if report.unreadable:
        yield Notes(tuple(("warning", "not read", f"{each.path}: {each.reason}") for each in report.unreadable))


def _pooled(report: Comparison, title: str) -> Iterator[Block]:
    rows = report.pooled
    yield Facts(tuple(_best(report, rows[0])) if report.sweep is None else tuple(_knees(report)))
    yield strategies(title, rows, report.sweep.knees if report.sweep is not None else None)
    yield Plot("Cost against constraints and evidence kept", tuple(_compare_plot.lines(report)))
    if report.sweep is None:
        yield Title("What each would have taken away")
        yield Facts(tuple(fact for row in rows for fact in _losses(row)))


def _best(report: Comparison, row: ComparedRow) -> Iterator[tuple[str, str]]:
    sent = f"{tokens(row.sent, estimated=True)} tokens sent"
    price = f", {dollars(row.price)} at list prices" if row.price is not None else ""
    yield "Best", f"{named(row)}: {sent}{price}{_kept(row)}"
    if row.saving is not None:
        yield "Saves", _saving(row, row.saving)
    yield "Order", report.rule


def _kept(row: ComparedRow) -> str:
    """How much of what there was to keep."""
    parts = [f"{row.constraints_kept} of {counted(row.constraints, 'constraint')}"] if row.constraints else []
    parts += [f"a source of {row.evidence_kept} of {counted(row.evidence, 'later use')}"] if row.evidence else []
    return f"; keeps {' and '.join(parts)}" if parts else ""


def _saving(row: ComparedRow, saving: float) -> str:
    """What is left after the fetches, and how often they may be needed."""
    least = f", fetches ({dollars(row.fetch_price)} at least) and recalls paid" if row.fetch_price else ""
    pays = f"; it pays until each is needed {row.break_even:,.1f} times" if row.break_even is not None else ""
    if saving < 0:
        return f"nothing: it costs {dollars(-saving)} more than the full log{least}"
    return f"{dollars(saving)} against the full log{least}{pays}"


def _knees(report: Comparison) -> Iterator[tuple[str, str]]:
    sweep = report.sweep
    for name, value in sweep.knees.items() if sweep is not None else ():
        at = "none: cost buys no more than a straight line would" if value is None else f"{value:,.10g}"
        yield "Knee", f"{name}, {sweep.option if sweep else ''}: {at}"
    yield "Rule", sweep.rule if sweep is not None else ""


def _losses(row: ComparedRow) -> Iterator[tuple[str, str]]:
    yield named(row), row.regret
    for loss in row.losses:
        yield "", loss.text


def _title(trace: ComparedTrace) -> str:
    source = trace.source
    return source.path if source.select is None else f"{source.path}#{source.select}"


def _identity(trace: ComparedTrace) -> tuple[str, ...]:
    source = trace.source
    reserve = f", {trace.reserve:,} in reserve" if trace.reserve else ""
    return (
        source.agent or source.format,
        source.model or "model unknown",
        counted(trace.turns, "turn"),
        f"window {trace.window:,} ({trace.window_source}){reserve}",
    )
