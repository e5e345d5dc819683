"""What an answer about a comparison consists of, block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.renderers import _compare_plot
from ctxbudget.renderers._compare_sections import ended, named, strategies
from ctxbudget.renderers._evidence import signals
from ctxbudget.renderers._money import dollars, saving
from ctxbudget.renderers._numbers import tokens
from ctxbudget.renderers._pages import Facts, Line, Notes, Plot, Title
from ctxbudget.renderers._sentences import of_run, with_line
from ctxbudget.sizes import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ctxbudget.renderers._pages import Block
    from ctxbudget.report.compare import ComparedRow, ComparedTrace, Comparison


def blocks(report: Comparison, width: int | None) -> Iterator[Block]:
    """One trace in full, or all of them pooled and then each; ``width`` is for the drawing."""
    if not report.compared:
        yield Facts((("Nothing", "no trace to compare"),))
    elif len(report.compared) == 1:
        (trace,) = report.compared
        yield Title(_title(trace))
        yield Line(_identity(trace))
        yield from _pooled(report, "Strategies", width)
        yield signals(trace.signals)
        yield from _warned(trace)
    else:
        yield Title(counted(len(report.compared), "trace"))
        yield from _pooled(report, "All together", width)
        for trace in report.compared:
            yield Title(_title(trace))
            yield Line(_identity(trace))
            knees = report.sweep.knees if report.sweep is not None else None
            yield strategies("Strategies", trace.rows, knees, noted=False)
            yield signals(trace.signals)
            yield from _warned(trace)
    if report.unreadable:
        yield Notes(tuple(("warning", "not read", f"{each.path}: {each.reason}") for each in report.unreadable))


def _warned(trace: ComparedTrace) -> Iterator[Block]:
    if trace.warnings:
        yield Notes(tuple(("warning", one.code, with_line(one.message, one.line)) for one in trace.warnings))


def _pooled(report: Comparison, title: str, width: int | None) -> Iterator[Block]:
    rows = report.pooled
    yield Facts(tuple(_best(report, rows[0])) if report.sweep is None else tuple(_knees(report)))
    yield strategies(title, rows, report.sweep.knees if report.sweep is not None else None)
    yield Plot("Cost against constraints and evidence kept", tuple(_compare_plot.lines(report, width)))
    if report.sweep is None:
        yield Facts(tuple(_taken(rows)), "What each would have taken away")
    for group in report.by_outcome:
        yield ended(
            group, report.sweep.knees if report.sweep is not None else None, last=group is report.by_outcome[-1]
        )


def _best(report: Comparison, row: ComparedRow) -> Iterator[tuple[str, str]]:
    sent = f"{tokens(row.sent, estimated=True)} tokens sent"
    price = f", {dollars(row.price)} at list prices" if row.price is not None else ""
    yield "Best", f"{named(row)}: {sent}{price}{_kept(row)}"
    if row.saving is not None:
        yield "Saves", saving(row.saving, row.fetch_price, row.recall_price, row.break_even)
    yield "Order", report.rule


def _kept(row: ComparedRow) -> str:
    """How much of what there was to keep."""
    parts = [f"{row.constraints_kept} of {counted(row.constraints, 'constraint')}"] if row.constraints else []
    parts += [f"a source of {row.evidence_kept} of {counted(row.evidence, 'later use')}"] if row.evidence else []
    return f"; keeps {' and '.join(parts)}" if parts else ""


def _knees(report: Comparison) -> Iterator[tuple[str, str]]:
    sweep = report.sweep
    for name, value in sweep.knees.items() if sweep is not None else ():
        at = "none: cost buys no more than a straight line would" if value is None else f"{value:,.10g}"
        yield "Knee", f"{name}, {sweep.option if sweep else ''}: {at}"
    yield "Rule", sweep.rule if sweep is not None else ""


def _taken(rows: Sequence[ComparedRow]) -> Iterator[tuple[str, str]]:
    """What each strategy takes away; those that take nothing stand together at the end."""
    for row in rows:
        if row.losses or row.recalls or row.constraints_kept < row.constraints:
            yield from _losses(row)
    clean = [row for row in rows if not (row.losses or row.recalls or row.constraints_kept < row.constraints)]
    if clean:
        yield "nothing", ", ".join(map(named, clean))


def _losses(row: ComparedRow) -> Iterator[tuple[str, str]]:
    gone = row.constraints - row.constraints_kept
    told = f"; {gone:,} of {counted(row.constraints, 'constraint')} out of view at some turn" if gone else ""
    yield named(row), f"{row.regret}{told}"
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
        *((f"outcome {of_run(trace.outcome)}",) if trace.outcome is not None else ()),
    )
