"""Traces → Report: what ``analyze`` has to say, ready to be rendered."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from ctxbudget import constraints, estimators, findings, models
from ctxbudget.errors import UsageError
from ctxbudget.findings import waste
from ctxbudget.ledger import Entry, context, entries, lives, unpaired
from ctxbudget.report import (
    SCHEMA,
    CompactionRow,
    ConstraintRow,
    ContextRow,
    EstimatorRow,
    Messages,
    Pairs,
    ParseRow,
    Peak,
    Report,
    SourceRow,
    Totals,
    TraceReport,
    TurnContext,
    TurnRow,
    UnreadableRow,
    UsageRow,
)
from ctxbudget.report.outcomes import endings
from ctxbudget.report.tables import fragment_row, fragment_rows, growth_rows, total_rows, wasted
from ctxbudget.tokens import encoding_for
from ctxbudget.trace import Warning as TraceWarning

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ctxbudget.layers import Scheme
    from ctxbudget.ledger import Life
    from ctxbudget.models import Window
    from ctxbudget.trace import Billed, Trace

TOOL = f"ctxbudget {version('ctxbudget')}"


def build(
    traces: Iterable[Trace],
    scheme: Scheme,
    *,
    window: int | None = None,
    config_window: int | None = None,
    reserve: int = 0,
    turn: int | None = None,
    with_estimators: bool = False,
    with_fragments: bool = False,
    unreadable: Sequence[UnreadableRow] = (),
) -> Report:
    """The report of several traces; ``window`` and ``reserve`` in tokens, as a flag gives them.

    ``traces`` is walked once and nothing of a trace is kept but its row and its bills, so a folder of long sessions
    fits in memory. ``unreadable`` is looked at afterwards: the walk may add to it.
    """
    reports: list[TraceReport] = []
    everyone: dict[str, Billed] = {}
    main: dict[str, Billed] = {}
    for trace in traces:
        reports.append(
            trace_report(
                trace,
                scheme,
                models.window_of(trace, flag=window, config=config_window),
                reserve=reserve,
                turn=turn,
                with_estimators=with_estimators,
                with_fragments=with_fragments,
            )
        )
        main.update((call.key, call) for call in trace.billed)
        everyone.update((call.key, call) for member in trace.family() for call in member.billed)
    ended = endings(report.outcome for report in reports)
    totals = Totals(len(reports), usage_of(everyone.values()), usage_of(main.values()), ended)
    return Report(SCHEMA, TOOL, reports, totals, list(unreadable))


def trace_report(
    trace: Trace,
    scheme: Scheme,
    window: Window,
    *,
    reserve: int = 0,
    turn: int | None = None,
    with_estimators: bool = False,
    with_fragments: bool = False,
) -> TraceReport:
    """The report of one trace, its sub-agents inside it. A reserve that leaves nothing of the window is not kept
    free, and a warning says so."""
    usable = reserve < window.tokens
    ledger = list(entries(trace, scheme))
    dangling, orphans = unpaired(trace)
    carried = lives(trace)
    peak = max(ledger, key=lambda entry: entry.size, default=None)
    sums = total_rows(carried, peak, scheme)
    billed = usage_of(trace.billed)
    in_vain = waste.find(trace, carried)
    return TraceReport(
        schema=SCHEMA,
        tool=TOOL,
        source=source_row(trace),
        window=window.tokens,
        window_source=window.rule,
        window_known=window.known,
        reserve=reserve if usable else 0,
        scheme=scheme.name,
        encoding=trace.encoding,
        encoding_exact=encoding_for(trace.model).exact,
        calibration=trace.calibration,
        layers=list(scheme.layers),
        turns=[_turn(entry, window.tokens) for entry in ledger],
        peak=None if peak is None else Peak(peak.turn.index, peak.size, peak.tokens, peak.size / window.tokens),
        context=_context(trace),
        usage=usage_of(call for member in trace.family() for call in member.billed) if trace.children else billed,
        usage_main=billed,
        messages=_messages(trace, carried),
        pairs=Pairs(orphan_results=len(orphans), dangling_calls=len(dangling)),
        parse=_parse(trace),
        outcome=trace.outcome,
        compactions=_compactions(trace, ledger),
        constraints=[
            ConstraintRow(each.text, each.turn, each.line, each.source) for each in constraints.constraints(trace)
        ],
        by_layer=sums["layer"],
        by_kind=sums["kind"],
        by_tool=sums["tool"],
        by_resource=sums["resource"],
        growth=growth_rows(trace, ledger),
        waste=wasted(in_vain, peak),
        estimators=_estimators(trace) if with_estimators else [],
        fragments=fragment_rows(carried, scheme) if with_fragments else [],
        shown_turn=None if turn is None else _shown(trace, ledger, carried, scheme, turn, window.tokens),
        children=[
            trace_report(child, scheme, models.window_of(child), reserve=reserve, with_fragments=with_fragments)
            for child in trace.children
        ],
        findings=[*findings.find(trace, ledger, window), *in_vain.findings],
        warnings=[*trace.warnings, *([] if usable else [_nothing_usable(reserve, window)])],
    )


def usage_of(calls: Iterable[Billed]) -> UsageRow:
    """Billed tokens, each call counted once by its key; all None where nothing was billed."""
    once = {call.key: call.usage for call in calls}
    if not once:
        return UsageRow(None, None, None, None, None, None, None, split_known=False)
    usages = list(once.values())
    reasoning = [usage.reasoning for usage in usages if usage.reasoning is not None]
    return UsageRow(
        calls=len(usages),
        input=sum(usage.input for usage in usages),
        cache_read=sum(usage.cache_read for usage in usages),
        cache_write=sum(usage.cache_write for usage in usages),
        output=sum(usage.output for usage in usages),
        reasoning=sum(reasoning) if reasoning else None,
        total=sum(usage.total for usage in usages),
        split_known=all(usage.split for usage in usages),
    )


def source_row(trace: Trace) -> SourceRow:
    """Where a trace comes from."""
    source = trace.source
    return SourceRow(source.path, source.format, source.agent, source.session, trace.model, source.label)


def _turn(entry: Entry, window: int) -> TurnRow:
    turn, tokens = entry.turn, entry.tokens
    return TurnRow(
        turn=turn.index,
        model=turn.model,
        tokens=tokens,
        utilization=entry.size / window,
        layers=entry.layers,
        kinds=entry.kinds,
        added=entry.added,
        reported=turn.reported,
        drift=None if turn.reported is None else tokens / turn.reported - 1,
        line=turn.line,
        pending=turn.pending,
    )


def _context(trace: Trace) -> ContextRow:
    called = [turn for turn in trace.turns if not turn.pending]
    reported = [turn.reported for turn in called]
    last = called[-1] if called else None
    compacted = last is not None and any(each.turn > last.index for each in trace.recorded if each.trigger != "elision")
    prompt = None if last is None or compacted else last.reported
    known = prompt is not None and last is not None and last.usage is not None and last.usage.final
    return ContextRow(
        last_prompt=prompt,
        last_with_reply=prompt + last.usage.output if known and prompt is not None and last and last.usage else None,
        peak_prompt=max((each for each in reported if each is not None), default=None),
        by_call=reported,
    )


def _parse(trace: Trace) -> ParseRow:
    parse = trace.parse
    return ParseRow(parse.records_ok, parse.records_bad, parse.damaged_places, parse.partial_tail, dict(parse.skipped))


def _nothing_usable(reserve: int, window: Window) -> TraceWarning:
    message = (
        f"a reserve of {reserve:,} tokens leaves nothing of the window of {window.tokens:,} ({window.rule}): "
        f"the whole window is taken as the base"
    )
    return TraceWarning("reserve-ignored", message)


def _shown(
    trace: Trace, ledger: Sequence[Entry], carried: Sequence[Life], scheme: Scheme, turn: int, window: int
) -> TurnContext:
    if not 0 < turn <= len(ledger):
        raise UsageError(f"there is no turn {turn}", hint=f"{trace.source.path} has turns 1 to {len(ledger)}")
    entry = ledger[turn - 1]
    rows = {life.fragment.id: life for life in carried}
    held = [fragment_row(rows[fragment.id], scheme) for fragment in context(trace, turn)]
    return TurnContext(turn, entry.tokens, entry.turn.reported, entry.size / window, held)


def _messages(trace: Trace, carried: Sequence[Life]) -> Messages:
    last = trace.turns[-1].index if trace.turns else 0
    logged = {fragment.message for fragment in trace.fragments}
    put = {fragment.message for each in trace.recorded for fragment in each.edit.inserted}
    live = {life.fragment.message for life in carried if life.until >= last}
    live |= {fragment.message for fragment in trace.reply}
    everything = (logged | put) - {-1}
    return Messages(len(live - {-1}), trace.abandoned, len(everything) + trace.abandoned)


def _compactions(trace: Trace, ledger: Sequence[Entry]) -> list[CompactionRow]:
    rows = []
    for each in trace.recorded:
        if each.trigger == "elision" or not 0 < each.turn <= len(ledger):
            continue
        after = ledger[each.turn - 1]
        rows.append(
            CompactionRow(
                each.turn, each.trigger, each.pre_tokens, each.post_tokens, after.before, after.tokens, each.line
            )
        )
    return rows


def _estimators(trace: Trace) -> list[EstimatorRow]:
    return [
        EstimatorRow(each.name, each.calls, each.median_error, each.p90_error, each.bias)
        for each in estimators.accuracies(trace)
    ]
