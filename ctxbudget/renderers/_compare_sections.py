"""The tables of a comparison as rows of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.renderers._numbers import NOTHING, percent, tokens
from ctxbudget.renderers._sections import Column, Row, Section

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ctxbudget.report.compare import ComparedRow, SignalRow, SpreadRow

COLUMNS = (
    Column("strategy", text=True, room=30),
    Column("peak"),
    Column("over"),
    Column("fired", drop=6),
    Column("sent", drop=2),
    Column("price", drop=1),
    Column("prefix", drop=4),
    Column("constraints"),
    Column("evidence"),
    Column("by chance", drop=5),
    Column("to re-read", drop=3),
    Column("recalls", drop=7),
    Column("repairs", drop=8),
    Column("trade-off", text=True, room=12),
)
BEST, KNEE = "best", "knee"
UNDER = (
    "over: turns above the window; evidence: later uses with a source in view; by chance: how many of those without "
    "one a placebo loses too; to re-read: tokens to fetch again what was gone, at least"
)


def strategies(
    title: str, rows: Sequence[ComparedRow], knees: Mapping[str, float | None] | None = None, *, noted: bool = True
) -> Section:
    """A row per strategy, the best trade-off first; of a sweep (``knees``) in the order of its values."""
    made = tuple(_row(row, _verdict(at, row, knees)) for at, row in enumerate(rows))
    return Section(title, COLUMNS, made, UNDER if noted else "")


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


def dollars(amount: float | None) -> str:
    """``$3.49``; ``<$0.01`` rather than nothing."""
    if amount is None:
        return NOTHING
    if 0 < abs(amount) < 0.005:
        return "<$0.01"
    return f"-${-amount:,.2f}" if amount < 0 else f"${amount:,.2f}"


def signals(rows: Sequence[SignalRow]) -> Section:
    """What the evidence of a trace consists of, beside what chance finds."""
    return Section(
        "Evidence beside chance",
        (
            Column("signal", text=True, room=8),
            Column("what", text=True, room=24),
            Column("uses"),
            Column("other projects"),
            Column("other resources"),
            Column("beyond chance"),
            Column("", text=True, room=8),
        ),
        tuple(
            Row(
                (
                    row.signal,
                    row.name,
                    tokens(row.uses),
                    spread(row.project),
                    spread(row.resource),
                    NOTHING if row.excess is None else f"{row.excess:.1f}",
                    "counted" if row.counted else "shown only",
                ),
                "" if row.counted else "note",
            )
            for row in rows
            if row.uses
        ),
        "mean of 20 rounds (least-most); a signal of which chance finds more than a tenth is not counted",
    )


def spread(row: SpreadRow | None) -> str:
    """``0.2 (0-1)``."""
    return NOTHING if row is None else f"{row.mean:.1f} ({row.low}-{row.high})"


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
