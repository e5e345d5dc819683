"""The summaries of a run → their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.replay.drift import generations
from ctxbudget.report.summaries import DriftRow, SummaryRow
from ctxbudget.view import SummaryNote

if TYPE_CHECKING:
    from ctxbudget.replay import Run
    from ctxbudget.trace import Trace


def summary_rows(run: Run) -> list[SummaryRow]:
    """Every firing, in order."""
    notes = ((row.turn, note) for row in run.turns for note in row.notes if isinstance(note, SummaryNote))
    return [
        SummaryRow(
            turn=turn,
            step=note.step or None,
            by=note.by,
            generation=note.generation,
            simulated=note.simulated,
            calls=note.calls,
            tokens_in=note.tokens_in,
            tokens_out=note.tokens_out,
            summarised=note.summarised,
            summary=note.summary,
            freed=note.tokens or 0,
            tail=note.tail,
            kept=note.kept,
            total=note.total,
            lost=list(note.lost),
            failures=list(note.failures),
        )
        for turn, note in notes
    ]


def drift_rows(trace: Trace, run: Run) -> list[DriftRow]:
    """Every summary that stood, the recorded ones of ``as-recorded`` too, in order."""
    return [
        DriftRow(one.turn, one.id, one.number, one.tokens, one.entities, one.recall)
        for one in generations(trace.fragments, run.turns)
    ]
