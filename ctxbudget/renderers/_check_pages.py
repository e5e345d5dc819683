"""What an answer about a check consists of, block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.renderers._check_sentences import (
    amount,
    found,
    identity,
    looked_at,
    named,
    near_of,
    peak,
    result,
    share,
    unmeasured,
    verdict,
    where,
)
from ctxbudget.renderers._numbers import NOTHING, tokens
from ctxbudget.renderers._pages import Facts, Failed, Line, Notes, Title, Verdict
from ctxbudget.renderers._sections import Column, Row, Section
from ctxbudget.sizes import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.renderers._pages import Block
    from ctxbudget.report.check import BaselineRow, CheckedTrace, CheckReport, Failure

_TONES = {"violated": "error", "unmeasured": "warning", "unreadable": "warning"}
"""How the row of a trace stands out, by its status."""
NEAR = "*"
"""Before a peak that may lie on either side of its limit."""


def blocks(report: CheckReport) -> Iterator[Block]:
    """The verdict, one trace in full or a row for each of several, every failure, and what was asked for."""
    yield Verdict(verdict(report), ("total", "error", "error")[report.exit_code])
    if len(report.checked) == 1:
        yield from _alone(report.checked[0])
    elif report.checked:
        yield _traces(report.checked)
    for trace in report.checked:
        yield from _unmeasured(trace)
        yield from (_failed(failure) for failure in trace.failures)
    if report.baseline is not None:
        yield from _baseline(report.baseline)
    yield from _warned(report)
    yield Facts(tuple(_sums(report)))


def _alone(trace: CheckedTrace) -> Iterator[Block]:
    yield Title(named(trace))
    parts = identity(trace)
    if parts:
        yield Line(parts)
    if trace.peak is not None:
        yield Facts((("Peak", peak(trace, trace.peak)),))


def _traces(checked: list[CheckedTrace]) -> Section:
    columns = (
        Column("status", text=True, room=10),
        Column("trace", text=True, cut="start"),
        Column("turns", drop=3),
        Column("at turn", drop=4),
        Column("peak"),
        Column("of window", drop=1),
        Column("limit", drop=2),
        Column("findings"),
    )
    return Section("Traces", columns, tuple(_row(trace) for trace in checked), _near(checked))


def _near(checked: list[CheckedTrace]) -> str:
    """What the mark at a peak means, where there is one."""
    errors = {trace.peak.error is None for trace in checked if trace.peak is not None and trace.peak.near}
    said = [near_of(None if unknown else 0.0) for unknown in sorted(errors)]
    return f"{NEAR} {', or '.join(said)}" if said else ""


def _row(trace: CheckedTrace) -> Row:
    top = trace.peak
    numbers = (NOTHING,) * 4
    if top is not None:
        size = f"{NEAR if top.near else ''}{tokens(top.tokens, estimated=not top.reported)}"
        numbers = (tokens(top.turn), size, share(trace), tokens(top.limit))
    found = tokens(len(trace.failures))
    return Row((trace.status, named(trace), tokens(trace.turns), *numbers, found), _TONES.get(trace.status, ""))


def _unmeasured(trace: CheckedTrace) -> Iterator[Block]:
    """Why a trace has no measurement."""
    if trace.reason:
        hint = (("hint", trace.hint),) if trace.hint else ()
        yield Failed(unmeasured(trace), trace.status, f"{named(trace)}: {trace.reason}", hint)


def _failed(failure: Failure) -> Failed:
    known = " (known)" if failure.known else " (worse)" if failure.worse else ""
    return Failed(failure.level, f"{failure.id} {failure.name}{known}", failure.message, tuple(_details(failure)))


def _details(failure: Failure) -> Iterator[tuple[str, str]]:
    """Where it is, what crossed the limit, which limit, and the ways down."""
    yield "at", where(failure)
    if failure.fragment is not None:
        yield "what", looked_at(failure)
    if failure.limit_text is not None:
        yield "limit", amount(failure)
    for way in failure.ways:
        yield "way down", way.text
        yield "", way.command


def _baseline(baseline: BaselineRow) -> Iterator[Block]:
    if baseline.stale:
        columns = (Column("trace", text=True, cut="start"), Column("rule", text=True), Column("was"))
        rows = tuple(Row((row.path, row.id, tokens(row.measured))) for row in baseline.stale)
        note = "nothing matches these any longer: --update-baseline drops them"
        yield Section("Stale entries of the baseline", columns, rows, note)


def _warned(report: CheckReport) -> Iterator[Block]:
    """The warnings of the check, and those of its trace where there is only one: of many they would drown the rest."""
    warnings = list(report.warnings)
    if len(report.checked) == 1:
        warnings += report.checked[0].warnings
    rows = tuple(
        ("warning", each.code, each.message if each.line is None else f"{each.message} (line {each.line})")
        for each in warnings
    )
    if rows:
        yield Notes(rows)


def _sums(report: CheckReport) -> Iterator[tuple[str, str]]:
    for number, limit in enumerate(report.limits):
        yield "" if number else "Limits", limit
    if report.config is not None:
        yield "Budget", report.config
    if report.strategy is not None:
        yield "Strategy", f"{report.strategy}: the contexts that it would have sent, not the recorded ones"
    known = report.baseline
    if known is not None:
        written = ", written anew" if known.updated else ""
        stale = f", {counted(len(known.stale), 'entry', 'entries')} stale" if known.stale else ""
        yield "Baseline", f"{known.path}: {known.known} known, {known.new} new, {known.worse} worse{stale}{written}"
    yield "Found", found(report.totals)
    yield "Result", result(report)
