"""The summaries of a run for people: each firing, what it left, and what was refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.renderers._numbers import NOTHING, percent, tokens
from ctxbudget.renderers._pages import Facts
from ctxbudget.renderers._sections import Column, Row, Section
from ctxbudget.sizes import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.report.run import RunReport
    from ctxbudget.report.summaries import DriftRow, SummaryRow

MOST = 8
"""Firings, and refused steps, in the usual answer; ``--table summaries`` shows every one."""
STEPS = {
    "full": "of everything",
    "partial": "without oversized messages",
    "noted": "with a note of what was left out",
    "notice": "a bare notice",
}
"""The steps of the ladder, in words."""


def summaries(report: RunReport, most: int | None = MOST) -> Section:
    """A row per summary: of the firings, and in ``as-recorded`` of the recording."""
    rows = [_fired(one, _drift(report, one)) for one in report.summaries]
    if not rows:
        rows = [_recorded(one) for one in report.drift]
    shown = rows if most is None else rows[-most:]
    notes = ["of originals: what it still names of all that it and the summaries before it stand for"]
    if len(shown) < len(rows):
        notes.append(f"the last {len(shown)}; {len(rows) - len(shown):,} more: --table summaries")
    return Section(
        "Summaries",
        (
            Column("turn"),
            Column("step", text=True, room=8),
            Column("generation", drop=3),
            Column("by", text=True, drop=4, room=10),
            Column("replaced"),
            Column("became"),
            Column("names", drop=2),
            Column("of originals"),
            Column("not named", text=True, drop=1, room=16),
        ),
        tuple(shown),
        "; ".join(notes),
    )


def _drift(report: RunReport, fired: SummaryRow) -> DriftRow | None:
    """The summary that stood there, held against its originals."""
    if fired.step in {None, "notice"}:
        return None
    return next((one for one in report.drift if one.turn == fired.turn and one.tokens == fired.summary), None)


def _fired(one: SummaryRow, drift: DriftRow | None) -> Row:
    by = f"{one.by}, simulated" if one.by and one.simulated else one.by
    cells = (
        str(one.turn),
        one.step or "refused",
        str(one.generation),
        by or NOTHING,
        tokens(one.summarised),
        tokens(one.summary) if one.step else NOTHING,
        f"{one.kept:,}/{one.total:,}" if one.total else NOTHING,
        percent(drift.recall) if drift is not None and drift.entities else NOTHING,
        ", ".join(one.lost) or NOTHING,
    )
    return Row(cells, "error" if one.step is None else "warning" if one.step == "notice" else "")


def _recorded(one: DriftRow) -> Row:
    recall = percent(one.recall) if one.entities else NOTHING
    cells = (str(one.turn), "recorded", str(one.generation), NOTHING, NOTHING, tokens(one.tokens), NOTHING, recall)
    return Row((*cells, NOTHING))


def refused(report: RunReport) -> Facts | None:
    """Which steps failed and why: a refused summary names what it dropped. None where none did."""
    failed = [(f"turn {one.turn}", reason) for one in report.summaries for reason in one.failures]
    rows = failed[:MOST]
    if len(failed) > MOST:
        rows.append(("", f"and {len(failed) - MOST:,} more: --format json"))
    return Facts(tuple(rows), "Refused summaries") if rows else None


def total(report: RunReport) -> Iterator[tuple[str, str]]:
    """How many stand, from which step, and what they cost."""
    sums = report.totals
    if not report.summaries:
        return
    steps = ", ".join(f"{number:,} {STEPS.get(step, step)}" for step, number in sums.summary_steps.items())
    stand = f"{sums.summaries:,} stand{f' ({steps})' if steps else ''}"
    more = f", {sums.summaries_refused:,} refused" if sums.summaries_refused else ""
    would = "would read" if sums.summary_simulated else "read"
    write = "write" if sums.summary_simulated else "wrote"
    calls = counted(sums.summary_calls, "model call")
    cost = f"{calls} {would} {tokens(sums.summary_tokens_in)} tokens and {write} {tokens(sums.summary_tokens_out)}"
    yield "Summaries", f"{stand}{more}; {cost}" if sums.summary_calls else f"{stand}{more}"
