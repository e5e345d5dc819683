"""A run → its report: what ``replay`` has to say, ready to be rendered."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ctxbudget.findings import run as findings
from ctxbudget.passes import PASSES, options
from ctxbudget.report import SCHEMA, Peak
from ctxbudget.report.build import TOOL, source_row
from ctxbudget.report.run import (
    BornRow,
    EditRow,
    FateRow,
    GapRow,
    LifeRow,
    NoteRow,
    RunReport,
    RunTotals,
    RunTurnRow,
    StandInRow,
)
from ctxbudget.report.summaries_build import drift_rows, summary_rows
from ctxbudget.report.tables import describe
from ctxbudget.tokens import encoding_for
from ctxbudget.view import RECORDED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ctxbudget.layers import Scheme
    from ctxbudget.models import Window
    from ctxbudget.replay import Run, RunTurn
    from ctxbudget.report.regret import CostRow, RegretRow
    from ctxbudget.report.run import RunContext, Story
    from ctxbudget.report.summaries import SummaryRow
    from ctxbudget.survival import Fate, Gap, Sought
    from ctxbudget.trace import Fragment, Trace, Warning

WHOLE = frozenset({"whole", "duplicate"})
LOST = frozenset({"lost", "noticed"})
"""Forms that count as kept and as lost; the others are stand-ins."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a report of a run says beside the run itself."""

    description: str
    sought: Sequence[Sought]
    fates: Sequence[Fate]
    pinned: Callable[[Fragment], bool]
    regret: RegretRow
    cost: CostRow
    shown_turn: RunContext | None = None
    story: Story | None = None
    children: Sequence[RunReport] = ()
    warnings: Sequence[Warning] = ()


def run_report(trace: Trace, run: Run, scheme: Scheme, window: Window, told: Told) -> RunReport:
    """The report of a run of ``trace`` under a window that some rule gave."""
    known = {fragment.id: fragment for fragment in trace.fragments}
    known |= {new.id: new for row in run.turns for change in row.edits for new in change.inserted}
    totals, peak, summaries = run.totals, run.totals.peak, summary_rows(run)
    return RunReport(
        schema=SCHEMA,
        tool=TOOL,
        source=source_row(trace),
        window=run.window,
        window_source=window.rule,
        window_known=window.known,
        reserve=run.reserve,
        scheme=run.scheme,
        encoding=trace.encoding,
        encoding_exact=encoding_for(trace.model).exact,
        calibration=trace.calibration,
        layers=list(scheme.layers),
        strategy=run.strategy,
        description=told.description,
        options=dict(run.options),
        stages=[stage_row(stage) for stage in run.stages],
        pin=list(run.pin),
        turns=list(_turns(trace, run, scheme, known)),
        peak=Peak(totals.peak_turn, peak, peak, peak / run.window) if run.turns else None,
        totals=_totals(trace, run, summaries),
        constraints=[fate_row(trace, one, fate) for one, fate in zip(told.sought, told.fates, strict=True)],
        regret=told.regret,
        cost=told.cost,
        summaries=summaries,
        drift=drift_rows(trace, run),
        lives=[LifeRow(life.id, life.since, life.until, life.form, life.by) for life in run.lives],
        stand_ins=list(_stand_ins(trace, run, scheme)),
        excepted=list(run.excepted),
        shown_turn=told.shown_turn,
        story=told.story,
        children=list(told.children),
        findings=list(findings.find(trace, run, told.pinned)),
        warnings=[*trace.warnings, *told.warnings, *run.warnings],
    )


def stage_row(stage: Mapping[str, Any]) -> dict[str, Any]:
    """A stage without the options of its passes that are off, and are so by default."""
    return {**stage, "passes": [_told(one) for one in stage["passes"]]}


def _told(one: Mapping[str, Any]) -> dict[str, Any]:
    name = one["name"]
    default = {option.name: option.default for option in options(PASSES.get(name))} if name in PASSES.names() else {}
    return {key: value for key, value in one.items() if value or default.get(key)}


def _turns(trace: Trace, run: Run, scheme: Scheme, known: dict[str, Fragment]) -> Iterator[RunTurnRow]:
    for row, born in zip(run.turns, _born(trace, run, scheme), strict=True):
        yield RunTurnRow(
            turn=row.turn,
            before=row.before,
            tokens=row.tokens,
            utilization=row.tokens / run.window,
            layers=dict(row.layers),
            prefix=row.prefix,
            edits=list(_edits(row, known)),
            repairs=row.repairs,
            overflow=row.overflow,
            survival=dict(row.survival),
            born=born,
            fired=list(row.fired),
            notes=[NoteRow(note.code, note.message, note.layer, note.tokens) for note in row.notes],
        )


def _edits(row: RunTurn, known: dict[str, Fragment]) -> Iterator[EditRow]:
    for change in row.edits:
        yield EditRow(
            by=change.by,
            form=None if change.form is None else change.form.value,
            removed=list(change.removed),
            inserted=[new.id for new in change.inserted],
            kinds=dict(Counter(known[one].kind.value for one in change.removed or (new.id for new in change.inserted))),
            before=change.before,
            after=change.after,
            reason=change.reason,
        )


def _born(trace: Trace, run: Run, scheme: Scheme) -> Iterator[dict[str, BornRow]]:
    """For each turn what became of each layer so far. Lives are walked once: each stretch adds where it begins, and
    takes away behind its end.
    """
    known = {fragment.id: fragment for fragment in trace.fragments}
    moves: dict[int, Counter[tuple[str, int]]] = {}
    for life in run.lives:
        fragment = known[life.id]
        key = scheme.layer(fragment), 0 if life.form in WHOLE else 2 if life.form in LOST else 1
        moves.setdefault(life.since, Counter())[key] += fragment.tokens
        moves.setdefault(life.until + 1, Counter())[key] -= fragment.tokens
    now: Counter[tuple[str, int]] = Counter()
    for row in run.turns:
        for key, tokens in moves.get(row.turn, {}).items():
            now[key] += tokens
        yield {layer: BornRow(now[layer, 0], now[layer, 1], now[layer, 2]) for layer in scheme.layers}


def _totals(trace: Trace, run: Run, summaries: Sequence[SummaryRow]) -> RunTotals:
    sums, log, unedited = run.totals, 0, 0
    for turn in trace.turns:
        log += sum(fragment.tokens for fragment in trace.entering(turn))
        unedited += log
    return RunTotals(
        over=sums.over,
        changed=sum(bool(row.edits) for row in run.turns),
        firings=sums.firings,
        thrash=list(sums.thrash),
        starved=dict(sums.starved),
        sent=sums.sent,
        unedited=unedited,
        prefix=sums.prefix,
        repairs=sums.repairs,
        summaries=sums.summaries,
        summaries_refused=len(summaries) - sums.summaries,
        summary_steps=dict(Counter(one.step for one in summaries if one.step is not None)),
        summary_calls=sums.summary_calls,
        summary_tokens_in=sums.summary_tokens_in,
        summary_tokens_out=sums.summary_tokens_out,
        summary_simulated=sums.summary_simulated,
    )


def fate_row(trace: Trace, one: Sought, fate: Fate) -> FateRow:
    """What became of one constraint."""
    gaps = [GapRow(gap.since, gap.until, _who(trace, gap)) for gap in fate.gaps]
    return FateRow(
        text=one.text,
        turn=fate.said,
        line=one.line,
        source=one.source,
        kept=fate.kept,
        lost_at=fate.lost_at,
        lost_by=gaps[0].by if gaps else None,
        gaps=gaps,
    )


def _who(trace: Trace, gap: Gap) -> str:
    """The pass that removed it; of what was recorded, which compaction."""
    if gap.by == RECORDED:
        made = [one for one in trace.recorded if one.trigger != "elision"]
        number = next((at for at, one in enumerate(made, 1) if one.turn == gap.since), None)
        if number is not None:
            return f"compaction {number}"
    return gap.by


def _stand_ins(trace: Trace, run: Run, scheme: Scheme) -> Iterator[StandInRow]:
    """Every fragment that was put in, each once, where it was put in first."""
    seen = {fragment.id for fragment in trace.fragments}
    for row in run.turns:
        for change in row.edits:
            for new in change.inserted:
                if new.id not in seen:
                    seen.add(new.id)
                    form = new.form or change.form
                    stands_for = list(new.stands_for or change.removed)
                    yield StandInRow(
                        new.id, new.kind.value, scheme.layer(new), form and form.value, row.turn, new.tokens,
                        stands_for, describe(new),
                    )  # fmt: skip
