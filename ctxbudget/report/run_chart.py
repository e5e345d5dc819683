"""The columns of a run's chart, and beside them what is left of each layer: thinned to a width like a trace's chart."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from ctxbudget.report import chart
from ctxbudget.report.chart import Column
from ctxbudget.report.run import RunReport
from ctxbudget.report.run_events import LOST, outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxbudget.report import TraceReport
    from ctxbudget.report.run import BornRow, RunTurnRow

LOSING = "×"
CHANGING = "·"
"""Marks over a column: something was lost at one of its turns; something was only shortened, or came back."""


@dataclass(frozen=True, slots=True)
class Strip:
    """What is left of one layer, column by column, as fractions of all that was recorded of it by then: ``whole``,
    and ``short`` (as a stand-in); both None while there is nothing yet."""

    layer: str
    whole: tuple[float | None, ...]
    short: tuple[float | None, ...]


def of(report: TraceReport | RunReport, width: int) -> list[Column]:
    """The columns of a trace's chart, or of a run's."""
    return columns(report, width) if isinstance(report, RunReport) else chart.columns(report, width)


def columns(report: RunReport, width: int) -> list[Column]:
    """At most ``width`` columns; each shows its fullest turn as sent, and above it what was removed before."""
    losing = {gap.since for fate in report.constraints for gap in fate.gaps}
    losing |= {row.turn for row in report.turns if any(outcome(edit) == LOST for edit in row.edits)}
    return [_column(turns, report, losing) for turns in _cut(report, width)]


def strips(report: RunReport, width: int) -> list[Strip]:
    """A strip for each layer that ever held anything, on the same columns."""
    last = [turns[-1] for turns in _cut(report, width)]
    layers = (layer for layer in report.layers if any(_all(row.born[layer]) for row in last))
    return [_strip(layer, [row.born[layer] for row in last]) for layer in layers]


def _cut(report: RunReport, width: int) -> list[list[RunTurnRow]]:
    turns = report.turns
    number = min(max(1, width), len(turns))
    cuts = [len(turns) * place // number for place in range(number + 1)] if turns else []
    return [turns[start:stop] for start, stop in pairwise(cuts)]


def _column(turns: Sequence[RunTurnRow], report: RunReport, losing: set[int]) -> Column:
    fullest = max(turns, key=lambda row: row.tokens)
    before = max(row.before for row in turns)
    return Column(
        first=turns[0].turn,
        last=turns[-1].turn,
        turn=fullest.turn,
        utilization=fullest.utilization,
        parts=tuple(fullest.layers.get(layer, 0) / report.window for layer in report.layers),
        rest=0.0,
        compacted=any(row.edits for row in turns),
        freed=max(0, before - fullest.tokens) / report.window,
        mark=CHANGING if losing.isdisjoint(row.turn for row in turns) else LOSING,
    )


def _all(born: BornRow) -> int:
    return born.whole + born.short + born.lost


def _strip(layer: str, rows: Sequence[BornRow]) -> Strip:
    sums = [_all(born) for born in rows]
    return Strip(
        layer,
        tuple(born.whole / total if total else None for born, total in zip(rows, sums, strict=True)),
        tuple(born.short / total if total else None for born, total in zip(rows, sums, strict=True)),
    )
