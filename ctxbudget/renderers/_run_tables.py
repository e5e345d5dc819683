"""The tables of a run in full (``--table``, ``--turn``): turns, layers, edits, lives, fragments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.renderers._numbers import NOTHING, gain, percent, tokens
from ctxbudget.renderers._run_sections import kinds
from ctxbudget.renderers._sections import Column, Row, Section
from ctxbudget.report.run_events import outcome

if TYPE_CHECKING:
    from ctxbudget.report.run import RunContext, RunReport, RunTurnRow, ShownFragment


def layers(report: RunReport) -> Section:
    """What is left of each layer at every turn."""
    return Section(
        "Layers",
        (
            Column("turn"),
            Column("layer", text=True),
            Column("sent"),
            Column("whole"),
            Column("stand-in"),
            Column("lost"),
        ),
        tuple(
            Row(
                (
                    str(row.turn),
                    layer,
                    tokens(row.layers.get(layer, 0)),
                    tokens(born.whole),
                    tokens(born.short),
                    tokens(born.lost),
                )
            )
            for row in report.turns
            for layer, born in row.born.items()
        ),
        "sent: in the prompt; the others in tokens of the originals",
    )


def turns(report: RunReport) -> Section:
    """Every turn: before and after, what stood unchanged, who changed something."""
    return Section(
        "Turns",
        (
            Column("turn"),
            Column("before", drop=1),
            Column("sent"),
            Column("used"),
            Column("freed", drop=2),
            Column("prefix kept", drop=3),
            *(Column(layer, drop=5) for layer in report.layers),
            Column("changed by", text=True, drop=4),
            Column("", drop=6),
        ),
        tuple(_turn(row, report) for row in report.turns),
    )


def _turn(row: RunTurnRow, report: RunReport) -> Row:
    remarks = [
        *(["over"] if row.overflow else []),
        *(["peak"] if report.peak is not None and report.peak.turn == row.turn else []),
    ]
    cells = (
        str(row.turn),
        tokens(row.before, estimated=True),
        tokens(row.tokens, estimated=True),
        percent(row.utilization),
        gain(row.before - row.tokens),
        percent(row.prefix / row.tokens) if row.tokens else NOTHING,
        *(tokens(row.layers.get(layer, 0)) for layer in report.layers),
        ", ".join(dict.fromkeys(edit.by for edit in row.edits)) or NOTHING,
        ", ".join(remarks),
    )
    return Row(cells, "over" if row.overflow else "")


def edits(report: RunReport) -> Section:
    """Every edit."""
    return Section(
        "Edits",
        (
            Column("turn"),
            Column("by", text=True, drop=1),
            Column("what", text=True),
            Column("became", text=True),
            Column("before", drop=3),
            Column("after", drop=3),
            Column("freed"),
            Column("removed", text=True, drop=5),
            Column("put in", text=True, drop=5),
            Column("why", text=True, drop=2),
        ),
        tuple(
            Row(
                (
                    str(row.turn),
                    edit.by,
                    kinds(edit.kinds),
                    outcome(edit),
                    tokens(edit.before),
                    tokens(edit.after),
                    gain(edit.before - edit.after),
                    " ".join(edit.removed) or NOTHING,
                    " ".join(edit.inserted) or NOTHING,
                    edit.reason,
                ),
                "warning" if outcome(edit) == "lost" else "",
            )
            for row in report.turns
            for edit in row.edits
        ),
    )


def lives(report: RunReport) -> Section:
    """Every stretch of every fragment's life."""
    return Section(
        "Lives",
        (
            Column("id", text=True),
            Column("from turn"),
            Column("to turn"),
            Column("form", text=True),
            Column("by", text=True, drop=1),
        ),
        tuple(
            Row(
                (each.id, str(each.since), str(each.until), each.form, each.by or NOTHING),
                "warning" if each.form in {"lost", "noticed"} else "",
            )
            for each in report.lives
        ),
    )


def context(shown: RunContext) -> Section:
    """Every fragment born by a turn in its form, with the text of what stands in its place."""
    edited = any(one.by or one.text for one in shown.fragments)
    columns: tuple[Column, ...] = (
        Column("id"),
        Column("form", text=True, room=9),
        Column("tokens", drop=2),
        Column("now", drop=1),
        Column("layer", text=True, drop=8),
        Column("kind", text=True, drop=3),
        Column("tool", text=True, drop=5),
        Column("what", text=True, cut="middle", room=30),
        Column("since", drop=7),
        Column("by", text=True, drop=6),
        Column("in its place", text=True, drop=2, room=36),
    )
    shared = "; what stands for several fragments has a row of its own" if _shared(shown) else ""
    rows = tuple(_shown(one) for one in shown.fragments)
    if not edited:
        columns, rows = columns[:-3], tuple(Row(row.cells[:-3], row.tone, row.layer) for row in rows)
    return Section(f"Fragments at turn {shown.turn}", columns, rows, f"in the order of the context{shared}")


def _shared(shown: RunContext) -> bool:
    return any(one.stand_in is not None and one.text is None for one in shown.fragments)


def _shown(one: ShownFragment) -> Row:
    gone = one.form in {"lost", "noticed"} and not one.now
    place = one.text if one.text is not None else f"in {one.stand_in}" if one.stand_in is not None else NOTHING
    cells = (
        one.id,
        one.form,
        tokens(one.tokens),
        tokens(one.now) if one.now else NOTHING,
        one.layer,
        one.kind,
        one.tool or NOTHING,
        one.what.removeprefix(f"{one.tool} ") if one.tool else one.what,
        str(one.since),
        one.by or NOTHING,
        place,
    )
    return Row(cells, "warning" if gone else "", layer=one.layer)
