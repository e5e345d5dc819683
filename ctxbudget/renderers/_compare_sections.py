"""The tables of a comparison as rows of text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ctxbudget.renderers._money import dollars
from ctxbudget.renderers._numbers import NOTHING, percent, tokens
from ctxbudget.renderers._sections import Column, Row, Section
from ctxbudget.sizes import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ctxbudget.report.compare import ComparedRow, OutcomeRow
    from ctxbudget.report.regret import SpreadRow

COLUMNS = (
    Column("strategy", text=True, room=30),
    Column("peak", drop=3),
    Column("over", drop=2),
    Column("fired", drop=9),
    Column("sent", drop=5),
    Column("price", drop=4),
    Column("prefix", drop=7),
    Column("constraints"),
    Column("evidence"),
    Column("by chance", drop=8),
    Column("to re-read", drop=6),
    Column("recalls", drop=10),
    Column("repairs", drop=11),
    Column("trade-off", text=True, drop=1, room=12),
)
BEST, KNEE = "best", "knee"
UNDER = (
    "over: turns above the window; evidence: later uses with a source in view; by chance: how many of those without "
    "one a placebo loses too; to re-read: tokens to fetch again what was gone, at least"
)

RECORDED = (
    "outcomes are those of the recorded runs (open: the file does not say); how one would have ended under a strategy "
    "is not known"
)


def strategies(
    title: str, rows: Sequence[ComparedRow], knees: Mapping[str, float | None] | None = None, *, noted: bool = True
) -> Section:
    """A row per strategy, the best trade-off first; of a sweep (``knees``) in the order of its values."""
    made = tuple(_row(row, _verdict(at, row, knees)) for at, row in enumerate(rows))
    return Section(title, COLUMNS, made, UNDER if noted else "")


def ended(group: OutcomeRow, knees: Mapping[str, float | None] | None, *, last: bool) -> Section:
    """The same over the recorded runs that ended in one way."""
    title = f"Outcome {group.outcome}: {counted(group.traces, 'trace')}"
    if group.untold:
        title += f", {group.untold:,} without an outcome in the file"
    made = strategies(title, group.rows, knees, noted=False)
    return replace(made, note=RECORDED) if last else made


def _row(row: ComparedRow, verdict: str) -> Row:
    cells = (
        named(row),
        percent(row.peak_share),
        tokens(row.over),
        tokens(row.firings),
        tokens(row.sent),
        dollars(row.price),
        percent(row.prefix / row.sent) if row.sent else NOTHING,
        _share(row.constraints_kept, row.constraints),
        _share(row.evidence_kept, row.evidence),
        _mean(row.chance_missed),
        tokens(row.fetch_tokens),
        tokens(row.recalls),
        tokens(row.repairs),
        verdict,
    )
    return Row(cells, "over" if row.over else "total" if verdict in {BEST, KNEE} else "" if row.front else "note")


def named(row: ComparedRow) -> str:
    """The strategy with what a sweep set, in short: ``clear-tool-results keep=5``."""
    option, _, value = (row.setting or "").partition("=")
    return row.strategy if row.setting is None else f"{row.strategy} {option.rpartition('.')[2]}={value}"


def _mean(row: SpreadRow | None) -> str:
    return NOTHING if row is None else f"{row.mean:.1f}"


def _share(kept: int, known: int) -> str:
    return f"{kept}/{known}" if known else NOTHING


def _verdict(at: int, row: ComparedRow, knees: Mapping[str, float | None] | None) -> str:
    if knees is not None and row.value is not None and knees.get(row.strategy) == row.value:
        return KNEE
    if row.over:
        return "does not fit"
    if row.dominated_by is not None:
        return "dominated"
    return BEST if at == 0 and knees is None else "on the front"
