"""The tables of a report as rows of text, the same for every renderer that makes pages for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxbudget.renderers._numbers import NOTHING, gain, percent, signed, tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxbudget.report import FragmentRow, TraceReport, TurnRow
    from ctxbudget.report.breakdowns import TotalRow

TOP = 8
"""Rows of a breakdown in the usual answer; ``--by`` shows all."""


@dataclass(frozen=True, slots=True)
class Column:
    """``text`` is words, from a trace perhaps: to be neutralised, left-aligned, and what a narrow terminal may cut,
    where ``cut`` says (``end``, ``start`` or ``middle``), but not below ``room`` while another column can go for it.
    Everything else is numbers of ours. The higher ``drop``, the sooner a column goes; 0 stays."""

    title: str
    text: bool = False
    drop: int = 0
    cut: str = "end"
    room: int = 16


@dataclass(frozen=True, slots=True)
class Row:
    """``tone`` is ``total``, ``over``, ``error``, ``warning``, ``note`` or nothing; with ``layer`` it bears a mark."""

    cells: tuple[str, ...]
    tone: str = ""
    layer: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A table with its title, and what to say below it."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str = ""


def by_layer(report: TraceReport) -> Section:
    """Tokens at the peak, share, growth and rent of each layer, calls and results apart."""
    peak = report.peak
    rows = [
        Row(
            (
                row.name,
                tokens(row.peak),
                percent(row.share),
                gain(row.growth),
                tokens(row.token_turns),
                tokens(row.entered),
                tokens(row.call_tokens),
                tokens(row.result_tokens),
            ),
            layer=row.name,
        )
        for row in report.by_layer
    ]
    if peak is not None:
        rows.append(Row(("total", tokens(peak.estimated), percent(1.0), *([""] * 5)), "total"))
    return Section(
        "Layers" if peak is None else f"Layers at the peak, turn {peak.turn}",
        (
            Column("layer", text=True),
            Column("tokens"),
            Column("share"),
            Column("growth/turn", drop=2),
            Column("token-turns", drop=1),
            Column("entered", drop=5),
            Column("as calls", drop=4),
            Column("as results", drop=3),
        ),
        tuple(rows),
        _against_reported(report),
    )


def _against_reported(report: TraceReport) -> str:
    peak = report.peak
    if peak is None:
        return ""
    row = report.turns[peak.turn - 1]
    if row.reported is None:
        return "the provider's count of this turn is not in the file: every number here is estimated"
    return f"our count; the provider reported {row.reported:,} for this turn (ours {signed(row.drift)})"


def breakdown(report: TraceReport, by: str, most: int | None = None) -> Section:
    """Totals by ``layer``, ``kind``, ``tool`` or ``resource``; at most ``most`` rows, and how many more there are."""
    if by == "layer":
        return by_layer(report)
    rows: list[TotalRow] = getattr(report, f"by_{by}")
    shown = rows if most is None else rows[:most]
    more = len(rows) - len(shown)
    return Section(
        f"{by.capitalize()}s by token-turns",
        (
            Column(by, text=True, cut="start" if by == "resource" else "end", room=30),
            Column("calls", drop=3),
            Column("at peak"),
            Column("share", drop=1),
            Column("token-turns"),
            Column("as calls", drop=5),
            Column("as results", drop=4),
            Column("entered", drop=2),
        ),
        tuple(Row(_total_cells(row)) for row in shown),
        f"and {more:,} more: --by {by}" if more else "",
    )


def _total_cells(row: TotalRow) -> tuple[str, ...]:
    return (
        row.name,
        tokens(row.calls),
        tokens(row.peak),
        percent(row.share),
        tokens(row.token_turns),
        tokens(row.call_tokens),
        tokens(row.result_tokens),
        tokens(row.entered),
    )


def growth(report: TraceReport) -> Section:
    """The turns that grew most, and the fragment and tool that did it."""
    return Section(
        "Turns that grew most",
        (
            Column("turn"),
            Column("added"),
            Column("largest", drop=1),
            Column("kind", text=True, drop=2),
            Column("tool", text=True),
            Column("what", text=True, cut="middle", room=40),
            Column("fragment", drop=5),
            Column("line", drop=4),
        ),
        tuple(
            Row(
                (
                    str(row.turn),
                    gain(row.added),
                    tokens(row.tokens),
                    row.kind,
                    row.tool or NOTHING,
                    _without_tool(row.what, row.tool),
                    row.fragment,
                    _line(row.line),
                )
            )
            for row in report.growth
        ),
    )


def turns(report: TraceReport) -> Section:
    """Every turn: what the provider reported, what we count, and its layers."""
    return Section(
        "Turns",
        (
            Column("turn"),
            Column("used"),
            Column("reported"),
            Column("estimated", drop=1),
            Column("drift", drop=3),
            Column("added", drop=2),
            *(Column(layer, drop=4) for layer in report.layers),
            Column("line", drop=5),
            Column("", drop=6),
        ),
        tuple(_turn_row(row, report) for row in report.turns),
    )


def _turn_row(row: TurnRow, report: TraceReport) -> Row:
    remarks = [
        *(["compacted"] if any(each.turn == row.turn for each in report.compactions) else []),
        *(["peak"] if report.peak is not None and report.peak.turn == row.turn else []),
        *(["pending"] if row.pending else []),
    ]
    cells = (
        str(row.turn),
        percent(row.utilization),
        tokens(row.reported),
        tokens(row.tokens, estimated=True),
        signed(row.drift),
        tokens(row.added),
        *(tokens(row.layers.get(layer, 0)) for layer in report.layers),
        _line(row.line),
        ", ".join(remarks),
    )
    return Row(cells, "over" if row.utilization > 1 else "")


def fragments(rows: Sequence[FragmentRow], title: str = "Fragments") -> Section:
    """Fragments with their lives, in the order given."""
    return Section(
        title,
        (
            Column("id"),
            Column("turns", drop=3),
            Column("tokens"),
            Column("token-turns", drop=5),
            Column("layer", text=True, drop=4),
            Column("kind", text=True, drop=2),
            Column("tool", text=True, drop=1),
            Column("what", text=True, cut="middle", room=40),
            Column("line", drop=6),
        ),
        tuple(
            Row(
                (
                    row.id,
                    f"{row.turn}-{row.until}" if row.until >= row.turn else "none",
                    tokens(row.tokens, estimated=row.estimated),
                    tokens(row.token_turns),
                    row.layer,
                    row.kind if row.form is None else f"{row.kind} ({row.form})",
                    row.tool or NOTHING,
                    _without_tool(row.what, row.tool),
                    _line(row.line),
                ),
                layer=row.layer,
            )
            for row in rows
        ),
    )


def _without_tool(what: str, tool: str | None) -> str:
    """What a fragment is, where its tool has a column of its own."""
    return what if tool is None else what.removeprefix(f"{tool} ")


def _line(number: int | None) -> str:
    return NOTHING if number is None else str(number)
