"""The tables of a run as rows of text, the same for every renderer that makes pages for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.renderers._numbers import NOTHING, counted, gain, percent, tokens
from ctxbudget.renderers._run_sentences import fate
from ctxbudget.renderers._sections import Column, Row, Section
from ctxbudget.report.run_events import events, foremost, outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ctxbudget.report.run import BornRow, FateRow, RunContext, RunReport, RunTurnRow, ShownFragment
    from ctxbudget.report.run_events import Event

MOST = 16
"""Events in the usual answer; ``--table edits`` shows every edit."""
SENTENCES = 16
"""Constraints in the usual answer: those that were lost come first."""


def what_it_did(report: RunReport) -> Section:
    """The events, those in which something was lost marked as such."""
    found = events(report)
    shown = foremost(found, MOST)
    more = len(found) - len(shown)
    mixed = not all(one.lossy for one in found)
    return Section(
        "What it did",
        (
            Column("turn"),
            Column("by", text=True, drop=3, room=12),
            Column("what", text=True, room=34),
            Column("became", text=True, room=24),
            Column("freed"),
            Column("prefix kept", drop=2),
            Column("why", text=True, drop=4, room=20),
        ),
        tuple(_event(one, mixed=mixed) for one in shown),
        f"the largest; {counted(more, 'more event')}: --table edits" if more else "",
    )


def _event(one: Event, *, mixed: bool) -> Row:
    """Where everything is lost, what stands out is the constraints."""
    became = one.outcome
    if one.gone:
        also = "too" if one.lossy else "lost"
        became = f"{became}, {counted(len(one.gone), 'constraint')} {also}"
    cells = (
        str(one.turn),
        one.by,
        kinds(one.kinds),
        became,
        gain(one.freed),
        percent(one.prefix),
        "; ".join(one.reasons),
    )
    return Row(cells, "error" if one.gone else "warning" if one.lossy and mixed else "")


def kinds(found: Mapping[str, int]) -> str:
    """``3 results, 1 call``, the most first."""
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(counted(number, _singular(kind), _plural(kind)) for kind, number in ranked) or NOTHING


def _singular(kind: str) -> str:
    return kind.replace("_", " ")


def _plural(kind: str) -> str:
    """Names of kinds that are no countable noun stay as they are."""
    name = _singular(kind)
    if name in {"reasoning", "thinking", "retrieval", "media", "unseen", "injected", "other", "tool definitions"}:
        return name
    return name[:-1] + "ies" if name.endswith("y") else f"{name}s"


def at_the_end(report: RunReport) -> Section:
    """What is left of each layer at the last turn."""
    last = report.turns[-1]
    rows = [Row((layer, *_left(born)), layer=layer) for layer, born in last.born.items()]
    return Section(
        f"Survival by layer at the end, turn {last.turn}",
        (
            Column("layer", text=True),
            Column("recorded", drop=4),
            Column("whole"),
            Column("", drop=1),
            Column("stand-in"),
            Column("", drop=3),
            Column("lost"),
            Column("", drop=2),
        ),
        tuple(rows),
        "tokens of the originals; what stands in place of them costs less",
    )


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


def _left(born: BornRow) -> tuple[str, ...]:
    total = born.whole + born.short + born.lost
    parts = ((part, part / total if total else None) for part in (born.whole, born.short, born.lost))
    cells = (cell for part, share in parts for cell in ((tokens(part), percent(share)) if part else (NOTHING, "")))
    return tokens(total), *cells


def constraints(report: RunReport, most: int | None = SENTENCES) -> Section:
    """Every constraint and when it was gone, the lost ones first."""
    ranked = sorted(report.constraints, key=lambda one: one.kept or one.turn is None)
    shown = ranked if most is None else ranked[:most]
    more = len(ranked) - len(shown)
    return Section(
        "Constraints",
        (
            Column("said", drop=2),
            Column("source", text=True, drop=4),
            Column("visible", text=True, room=18),
            Column("by", text=True, drop=3, room=12),
            Column("sentence", text=True, room=16),
        ),
        tuple(_constraint(one, report.turns[-1].turn if report.turns else 0) for one in shown),
        f"and {more:,} more, kept: --format json" if more else "",
    )


def _constraint(one: FateRow, last: int) -> Row:
    said = NOTHING if one.turn is None else f"turn {one.turn}"
    return Row((said, one.source, fate(one, last), one.lost_by or NOTHING, one.text), "error" if one.lost_at else "")


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
    return Section(
        f"Fragments at turn {shown.turn}",
        (
            Column("id"),
            Column("form", text=True, room=9),
            Column("tokens", drop=2),
            Column("now", drop=1),
            Column("layer", text=True, drop=4),
            Column("kind", text=True, drop=3),
            Column("tool", text=True, drop=5),
            Column("what", text=True, cut="middle", room=18),
            Column("since", drop=7),
            Column("by", text=True, drop=6),
            Column("in its place", text=True, drop=2, room=36),
        ),
        tuple(_shown(one) for one in shown.fragments),
        "in the order of the context"
        + ("; what stands for several fragments has a row of its own" if _shared(shown) else ""),
    )


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
