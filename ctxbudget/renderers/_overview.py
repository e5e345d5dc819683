"""Tables over whole traces: several traces with their total, sub-agents, findings, estimators, compactions."""

from __future__ import annotations

from collections import Counter
from heapq import nlargest
from typing import TYPE_CHECKING

from ctxbudget.renderers._numbers import NOTHING, percent, signed, tokens
from ctxbudget.renderers._sections import TOP, Column, Row, Section
from ctxbudget.report.outcomes import ending
from ctxbudget.sizes import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxbudget.report import Report, TraceReport
    from ctxbudget.report.run import RunReport

MOST = 12
"""Rows of sub-agents and of compactions in the usual answer."""

_MEASURES = (
    Column("turns", drop=3),
    Column("peak"),
    Column("peak %"),
    Column("window", drop=4),
    Column("calls", drop=2),
    Column("billed"),
    Column("calibration", drop=5),
    Column("findings", drop=1),
    Column("warnings", drop=6),
)
_OUTCOME = Column("outcome", text=True, drop=1, room=12)


def title_of(report: TraceReport) -> str:
    """A trace's path as given, with ``#3`` where the file holds several."""
    source = report.source
    return source.path if source.select is None else f"{source.path}#{source.select}"


def traces(report: Report, shown: Sequence[TraceReport]) -> Section:
    """A row for each trace shown, one for each file that could not be read, and a total over all."""
    told = any(trace.outcome is not None for trace in shown)
    rows = [
        Row((title_of(trace), *_ended(trace, told=told), *_measures(trace)), "over" if _is_over(trace) else "")
        for trace in shown
    ]
    blank = [NOTHING] * (len(_MEASURES) - 2 + told)
    rows += [Row((each.path, *blank, "not read", NOTHING), "warning") for each in report.unreadable]
    usage = report.totals.usage
    ended = [f"{number:,} {name}" for name, number in report.totals.outcomes.items() if number] if told else []
    outcomes = (", ".join(ended),) if told else ()
    total = ("total", *outcomes, "", "", "", "", tokens(usage.calls), tokens(usage.total), "", "", "")
    return Section(
        counted(report.totals.traces, "trace"),
        (Column("trace", text=True, cut="start", room=30), *((_OUTCOME,) if told else ()), *_MEASURES),
        (*rows, Row(total, "total")),
        "billed with sub-agents, in the total each call once even where files share it; ~ our count; ? assumed window"
        + ("; open: the file does not say whether it was a success" if told else ""),
    )


def _ended(report: TraceReport, *, told: bool) -> tuple[str, ...]:
    """The cell of the outcome, where there is such a column: what the recording says of its own success."""
    outcome = report.outcome
    if not told or outcome is None:
        return (NOTHING,) if told else ()
    return (ending(outcome) if outcome.score is None else f"{ending(outcome)} {outcome.score:g}",)


def sub_agents(report: TraceReport) -> Section:
    """The sub-agents of a trace, each under its own window."""
    return Section(
        "Sub-agents",
        (Column("sub-agent", text=True), *_MEASURES),
        tuple(
            Row((name_of(child), *_measures(child)), "over" if _is_over(child) else "")
            for child in report.children[:MOST]
        ),
        _more(len(report.children), "beside the main context, never in it; --children shows each in full"),
    )


def _more(number: int, note: str) -> str:
    return f"and {number - MOST:,} more; {note}" if number > MOST else note


def name_of(child: TraceReport) -> str:
    """What tells a sub-agent apart: its label or session, else its file."""
    return child.source.select or child.source.session or child.source.path


def _measures(report: TraceReport) -> tuple[str, ...]:
    peak = report.peak
    estimated = peak is not None and report.turns[peak.turn - 1].reported is None
    return (
        tokens(len(report.turns)),
        tokens(peak.tokens, estimated=estimated) if peak else NOTHING,
        percent(peak.utilization) if peak else NOTHING,
        f"{report.window:,}" if report.window_known else f"{report.window:,}?",
        tokens(report.usage.calls),
        tokens(report.usage.total),
        _calibration(report),
        _levels(report),
        tokens(len(report.warnings)),
    )


def _is_over(report: TraceReport) -> bool:
    return report.peak is not None and report.peak.utilization > 1


def _calibration(report: TraceReport) -> str:
    fit = report.calibration
    if fit is None:
        return "none"
    error = "" if fit.median_error is None else f", error {percent(fit.median_error)}"
    return f"x{fit.factor:.2f}{error}" if fit.trusted else "not trusted"


def _levels(report: TraceReport) -> str:
    levels = Counter(finding.level for finding in report.findings)
    return ", ".join(counted(levels[level], level) for level in ("error", "warning", "note") if levels[level]) or "none"


def findings(report: TraceReport | RunReport) -> Section:
    """Every finding with the place to look at."""
    return Section(
        "Findings",
        (
            Column("id"),
            Column("level"),
            Column("turn"),
            Column("tokens", drop=1),
            Column("token-turns", drop=5),
            Column("line", drop=2),
            Column("layer", text=True, drop=4),
            Column("name", text=True, drop=3),
            Column("message", text=True),
        ),
        tuple(
            Row(
                (
                    each.id,
                    each.level,
                    tokens(each.turn),
                    tokens(each.tokens),
                    tokens(each.token_turns),
                    NOTHING if each.line is None else str(each.line),
                    each.layer or NOTHING,
                    each.name,
                    each.message,
                ),
                each.level,
            )
            for each in report.findings
        ),
    )


def waste(report: TraceReport) -> Section:
    """The worst pieces of waste, by what carrying them cost."""
    found = [each for each in report.findings if each.token_turns is not None]
    worst = nlargest(TOP, found, key=lambda each: each.token_turns or 0)
    return Section(
        "Waste by token-turns",
        (
            Column("id"),
            Column("tokens", drop=1),
            Column("token-turns"),
            Column("turn", drop=3),
            Column("line", drop=2),
            Column("what", text=True, room=40),
        ),
        tuple(
            Row(
                (
                    each.id,
                    tokens(each.tokens),
                    tokens(each.token_turns),
                    tokens(each.turn),
                    NOTHING if each.line is None else str(each.line),
                    each.message,
                )
            )
            for each in worst
        ),
        f"and {len(found) - TOP:,} more: --table findings" if len(found) > TOP else "",
    )


def estimators(report: TraceReport) -> Section:
    """How far each way of counting is from the provider's count on this trace."""
    return Section(
        "Estimators against the provider's count",
        (
            Column("estimator", text=True),
            Column("calls", drop=2),
            Column("median error"),
            Column("90th", drop=1),
            Column("bias"),
        ),
        tuple(
            Row(
                (
                    each.name,
                    tokens(each.calls),
                    percent(each.median_error),
                    percent(each.p90_error),
                    signed(each.bias),
                )
            )
            for each in report.estimators
        ),
    )


def compactions(report: TraceReport) -> Section:
    """The compactions that the recorded agent made."""
    return Section(
        "Recorded compactions",
        (
            Column("before turn"),
            Column("trigger", text=True, drop=3),
            Column("tokens before"),
            Column("after"),
            Column("estimated before", drop=1),
            Column("estimated after", drop=1),
            Column("line", drop=2),
        ),
        tuple(
            Row(
                (
                    str(each.turn),
                    each.trigger,
                    tokens(each.pre_tokens),
                    tokens(each.post_tokens),
                    tokens(each.estimated_before, estimated=True),
                    tokens(each.estimated_after, estimated=True),
                    NOTHING if each.line is None else str(each.line),
                )
            )
            for each in report.compactions[:MOST]
        ),
        _more(len(report.compactions), "--table turns marks them all"),
    )
