"""What is said of a check in words: the verdict, a trace and its peak, the place and the cause of a failure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget import sizes
from ctxbudget.renderers._numbers import NOTHING, percent, tokens
from ctxbudget.report.check import COULD_NOT, FAILED, UNCALIBRATED
from ctxbudget.sizes import counted

if TYPE_CHECKING:
    from ctxbudget.report.check import CheckedTrace, CheckReport, CheckTotals, Failure, PeakRow

_MEANS = {
    0: "nothing violates a limit (exit code 0)",
    FAILED: "a limit is violated (exit code 1)",
    COULD_NOT: "not everything could be checked (exit code 2)",
}


def verdict(report: CheckReport) -> str:
    """The answer in one line of our own words."""
    totals = report.totals
    apart = totals.unmeasured + totals.unreadable
    said = [f"{totals.violated} over a limit"] if totals.violated else []
    said += [f"{apart} not measured"] if apart else []
    said += ["see the warnings"] if report.exit_code == COULD_NOT and totals.traces and not apart else []
    word = {FAILED: "failed", COULD_NOT: "could not check"}.get(report.exit_code, "passed")
    checked = counted(totals.traces, "trace") if totals.traces else "nothing to check"
    return f"Context budget {word}: {checked}{', ' if said else ''}{', '.join(said)}"


def result(report: CheckReport) -> str:
    """What the exit code means."""
    return _MEANS[report.exit_code]


def unmeasured(trace: CheckedTrace) -> str:
    """The level of a trace without measurement: an error, unless such traces were allowed."""
    return "note" if trace.excused else "error"


def warned(report: CheckReport) -> str:
    """The level of a warning of the check as a whole: an error where it may be why not all could be done."""
    return "error" if report.exit_code == COULD_NOT else "warning"


def found(totals: CheckTotals) -> str:
    """How many traces and failures there were of each sort."""
    traces = [
        f"{number} {word}"
        for number, word in (
            (totals.clean, "clean"),
            (totals.violated, "violated"),
            (totals.unmeasured, "unmeasured"),
            (totals.unreadable, "unreadable"),
        )
        if number
    ]
    known = f", {totals.known} known to the baseline" if totals.known else ""
    levels = [counted(totals.errors, "error"), counted(totals.warnings, "warning"), counted(totals.notes, "note")]
    return f"{', '.join(traces) or 'no trace'}; {', '.join(levels)}{known}"


def named(trace: CheckedTrace) -> str:
    """A trace as the command line would take it; a sub-agent by its name, in the file that holds it."""
    if trace.child is not None:
        return f"{trace.path}, sub-agent {trace.child}"
    return trace.path if trace.select is None else f"{trace.path}#{trace.select}"


def identity(trace: CheckedTrace) -> tuple[str, ...]:
    """What it is, in parts of one line; nothing for a file that was not read."""
    if trace.turns is None:
        return ()
    known = "unknown" if trace.window is None else f"{trace.window:,} tokens"
    rule = f" ({trace.window_source})" if trace.window_source else ""
    reserve = f", {trace.reserve:,} of them reserved for the reply" if trace.reserve else ""
    model = trace.model or "model unknown"
    return (trace.format or "format unknown", model, counted(trace.turns, "turn"), f"window {known}{rule}{reserve}")


def share(trace: CheckedTrace) -> str:
    """The fullest turn's share of the window, on the side of the limit that it is on."""
    top = trace.peak
    if top is None or trace.window is None:
        return NOTHING
    return sizes.beside_limit(top.tokens, trace.window, top.limit)


def peak(trace: CheckedTrace, top: PeakRow) -> str:
    """The fullest turn, by what it is measured, and the limit that it is held against."""
    size = f"{tokens(top.tokens)} tokens reported ({tokens(top.estimated, estimated=True)} by our count)"
    if not top.reported:
        error = ", its error unknown" if top.error is None else f", give or take {percent(top.error)}"
        size = f"{tokens(top.tokens, estimated=True)} tokens, estimated{error}"
    of = "" if trace.window is None else f", {share(trace)} of the window"
    near = f"; {near_of(top.error)}" if top.near else ""
    line = "" if top.line is None else f" ({trace.path}:{top.line})"
    return f"turn {top.turn}{line}: {size}{of}; limit {top.limit:,} ({top.limit_text}, {top.limit_source}){near}"


def near_of(error: float | None) -> str:
    """How near the limit lies to an estimate that it cannot be told from."""
    if error is None:
        return f"the limit is within {100 * UNCALIBRATED:.0f} % of the estimate"
    return "the limit lies within the error of the estimate"


def where(failure: Failure) -> str:
    """The file, its line, and the turn."""
    trace = failure.path if failure.select is None else f"{failure.path}#{failure.select}"
    line = "" if failure.line is None else f":{failure.line}"
    turn = "" if failure.turn is None else f", turn {failure.turn}"
    return f"{trace}{line}{turn}"


def looked_at(failure: Failure) -> str:
    """The fragment that crossed the limit: what it is, of which tool and resource."""
    kind = failure.kind or "fragment"
    tool = f" of {failure.tool}" if failure.tool else ""
    resource = f", {failure.resource}" if failure.resource else ""
    layer = f" ({failure.layer})" if failure.layer else ""
    return f"{kind}{tool}{resource}{layer}, fragment {failure.fragment}"


def amount(failure: Failure) -> str:
    """The limit as it was asked for, and who asked."""
    source = f" ({failure.limit_source})" if failure.limit_source else ""
    said = failure.limit is None or failure.limit_text == f"{failure.limit:,}"
    limit = " tokens" if said and failure.limit is not None else "" if said else f" = {failure.limit:,} tokens"
    return f"{failure.limit_text}{limit}{source}"


def whole(failure: Failure) -> list[str]:
    """A failure in full, line by line, for outputs that have no columns."""
    lines = [failure.message, f"at {where(failure)}"]
    lines += [looked_at(failure)] if failure.fragment is not None else []
    lines += [f"limit {amount(failure)}"] if failure.limit_text is not None else []
    for way in failure.ways:
        lines += [f"way down: {way.text}", f"  {way.command}"]
    return lines
