"""What stands in the usual answer of a run as tables: what it did, what is left, which constraints were lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.renderers._numbers import NOTHING, gain, listed, percent, tokens
from ctxbudget.renderers._run_sentences import fate
from ctxbudget.renderers._sections import Column, Row, Section
from ctxbudget.report.run_events import events, foremost
from ctxbudget.sizes import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ctxbudget.report.run import BornRow, FateRow, RunReport
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
    if one.needed:
        became = f"{became}, needed at {listed(one.needed, 4)}"
    cells = (
        str(one.turn),
        one.by,
        kinds(one.kinds),
        became,
        gain(one.freed),
        percent(one.prefix),
        "; ".join(one.reasons),
    )
    return Row(cells, "error" if one.gone or one.needed else "warning" if one.lossy and mixed else "")


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
    sentence = " ".join(one.text.split())
    return Row((said, one.source, fate(one, last), one.lost_by or NOTHING, sentence), "error" if one.lost_at else "")
