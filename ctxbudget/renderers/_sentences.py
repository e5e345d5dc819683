"""What is said of a trace in words: what it is, how full it got, what was billed, what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.renderers._numbers import percent, tokens
from ctxbudget.report.outcomes import ending
from ctxbudget.sizes import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.report import TraceReport, TurnRow, UsageRow
    from ctxbudget.report.run import RunReport
    from ctxbudget.trace import Outcome

_APART = {
    "CB304": "of tool definitions never called: {}",
    "CB305": "of heavy artifacts carried on: {}",
    "CB306": "in loops: {}",
    "CB307": "not used again in this trace: {}",
}
"""Waste that is a matter of opinion: by rule, what its tokens are."""


def identity(report: TraceReport) -> list[str]:
    """What it is, in parts of one line: agent, model, turns, window and its rule, how tokens were counted."""
    source = report.source
    return [
        source.agent or source.format,
        source.model or "model unknown",
        counted(len(report.turns), "turn"),
        window(report),
        counting(report),
        calibration(report),
    ]


def window(report: TraceReport | RunReport) -> str:
    """The window and the rule that gave it; an assumption is called one."""
    known = "" if report.window_known else "unknown, "
    usable = f", {report.reserve:,} of them reserved for the reply" if report.reserve else ""
    return f"window {known}{report.window:,} tokens ({report.window_source}){usable}"


def counting(report: TraceReport | RunReport) -> str:
    """The tokenizer, and whether it is the model's own."""
    own = "" if report.encoding_exact else ", not the model's own"
    return f"counted with {report.encoding}{own}"


def calibration(report: TraceReport | RunReport) -> str:
    """How our counts were made the provider's, and how well."""
    fit = report.calibration
    if fit is None:
        return "not calibrated"
    error = "" if fit.median_error is None else f", median error {percent(fit.median_error)}"
    line = f"{fit.overhead:,} + {fit.factor:.3f} x counted"
    trust = "calibrated" if fit.trusted else "not calibrated"
    why = f", {fit.reason}" if fit.reason else ""
    return f"{trust} on {counted(fit.calls, 'call')}: {line}{error}{why}"


def fullness(report: TraceReport) -> Iterator[tuple[str, str]]:
    """Label and sentence for the fullest and the last turn, with the base they are measured by."""
    if report.peak is None:
        yield "Nothing", "no model call in it, and nothing waiting for one"
        return
    peak, last = report.turns[report.peak.turn - 1], report.turns[-1]
    yield "Peak", _filled(peak, report)
    if last.turn != peak.turn:
        yield "Last", _filled(last, report)


def _filled(row: TurnRow, report: TraceReport) -> str:
    size = tokens(row.tokens, estimated=True) if row.reported is None else tokens(row.reported)
    used = row.utilization
    left = f"{percent(1 - used)} left" if used <= 1 else f"{percent(used - 1)} over"
    assumed = "" if report.window_known else "assumed "
    pending = ", not sent yet" if row.pending else ""
    return (
        f"turn {row.turn}: {size} tokens, {percent(used)} used / {left}, "
        f"of the {assumed}{report.window:,}-token window{pending}"
    )


def waste(report: TraceReport) -> Iterator[tuple[str, str]]:
    """What could go with nothing true lost; what other rules of waste found stands apart."""
    found = report.waste
    if report.peak is None:
        return
    if found.tokens:
        kept = f"{found.tokens:,} tokens ({percent(found.share)} of the peak) could go with nothing true lost"
        yield "Waste", f"{kept}: {counted(found.fragments, 'observation')} repeated, read again or out of date"
    else:
        yield "Waste", "nothing of the peak is repeated, read again or out of date"
    others = [_APART[row.id].format(f"{row.tokens:,}") for row in found.rules if row.id in _APART]
    if others:
        yield "Apart", f"tokens {', '.join(others)}"


def facts(report: TraceReport) -> Iterator[tuple[str, str]]:
    """Label and sentence for what was billed and how the reading went."""
    yield "Billed", _billed(report.usage)
    if report.children and report.usage.calls is not None:
        yield "Main only", _billed(report.usage_main)
    context = report.context
    if context.last_prompt is not None:
        reply = f", {context.last_with_reply:,} with its reply" if context.last_with_reply is not None else ""
        yield "Context", f"last prompt {context.last_prompt:,}{reply}, largest {tokens(context.peak_prompt)}"
    yield "Messages", _messages(report)
    parse = report.parse
    skipped = ", ".join(f"{number:,} {kind}" for kind, number in parse.skipped.items())
    yield (
        "Records",
        f"{parse.records_ok:,} read, {parse.records_bad:,} bad, {counted(parse.damaged_places, 'damaged place')}"
        + (", the last one cut off" if parse.partial_tail else "")
        + (f"; not used: {skipped}" if skipped else ""),
    )
    if report.constraints:
        yield "Constraints", f"{counted(len(report.constraints), 'normative sentence')}: --format json lists them"
    if report.outcome is not None:
        yield "Outcome", of_run(report.outcome)


def _billed(usage: UsageRow) -> str:
    if usage.calls is None:
        return "the file reports no usage"
    if not usage.split_known:
        return f"{counted(usage.calls, 'call')}, total {tokens(usage.total)}, not all of it split into kinds"
    thought = "" if usage.reasoning is None else f" (reasoning {usage.reasoning:,})"
    return (
        f"{counted(usage.calls, 'call')}: input {tokens(usage.input)}, cache read {tokens(usage.cache_read)}, "
        f"cache write {tokens(usage.cache_write)}, output {tokens(usage.output)}{thought}, total {tokens(usage.total)}"
    )


def _messages(report: TraceReport) -> str:
    messages, pairs = report.messages, report.pairs
    return (
        f"{messages.active:,} in the context at the end, {messages.abandoned:,} on rewound branches, "
        f"{messages.all:,} in all; {counted(pairs.dangling_calls, 'call')} without result, "
        f"{counted(pairs.orphan_results, 'result')} without call"
    )


def of_run(outcome: Outcome) -> str:
    """What the recording says of its own success, and where."""
    score = "" if outcome.score is None else f", score {outcome.score:g}"
    return f"{ending(outcome)}{score} (by {outcome.source})"


def notes(report: TraceReport | RunReport) -> Iterator[tuple[str, str, str]]:
    """Level, label and sentence of every finding, then of every warning. Waste has a table of its own."""
    for finding in (each for each in report.findings if each.token_turns is None):
        yield finding.level, f"{finding.id} {finding.name}", with_line(finding.message, finding.line)
    for warning in report.warnings:
        yield "warning", warning.code, with_line(warning.message, warning.line)


def with_line(message: str, line: int | None) -> str:
    """The message with the line of the file that it is about."""
    return message if line is None else f"{message} (line {line})"
