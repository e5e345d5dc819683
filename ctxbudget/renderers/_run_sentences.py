"""What is said of a run in words: what ran, how full it got, what it cost, what was kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget.renderers._evidence import kept
from ctxbudget.renderers._numbers import listed, percent, tokens
from ctxbudget.renderers._sentences import calibration, counting, window
from ctxbudget.report.run_events import said
from ctxbudget.sizes import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ctxbudget.report.run import FateRow, RunReport

MOMENTS = {
    "entry": "as a fragment enters",
    "subgoal": "after a plan item was completed",
    "reply": "after a reply, before its results",
    "call": "before each call",
    "overflow": "before a call that would not fit",
}
"""The moments of stages, in words."""


def identity(report: RunReport) -> list[str]:
    """What was replayed, in parts of one line."""
    source = report.source
    return [
        source.agent or source.format,
        source.model or "model unknown",
        counted(len(report.turns), "turn"),
        window(report),
        counting(report),
        calibration(report),
    ]


def what_ran(report: RunReport) -> Iterator[tuple[str, str]]:
    """The strategy, its stages with their options, and what it pins."""
    words = f": {report.description}" if report.description else ""
    yield "Strategy", f"{report.strategy}{words}"
    many = len(report.stages) > 1
    for number, stage in enumerate(report.stages, 1):
        yield (f"Stage {number}" if many else "Runs"), stage_text(stage)
    if report.pin:
        yield "Pinned", ", ".join(report.pin)


def stage_text(stage: Mapping[str, Any]) -> str:
    """A stage in words: when, under which conditions, which passes with which options."""
    conditions = [
        text
        for name, text in (
            ("when", "from {} on"),
            ("when_layer", "where {}"),
            ("when_incoming", "where {} or more arrive"),
            ("every", "every {} turns"),
            ("until", "until {}"),
            ("estimator", "as seen by {}"),
        )
        if name in stage
        for text in [text.format(_value(stage[name], amount=name in AMOUNTS))]
    ]
    passes = "; then ".join(pass_text(one) for one in stage["passes"])
    return f"{', '.join([MOMENTS[stage['at']], *conditions])}: {passes}"


AMOUNTS = frozenset({"when", "when_layer", "when_incoming", "until"})


def pass_text(one: Mapping[str, Any]) -> str:
    """A pass with its options."""
    options = ", ".join(_option(name, value) for name, value in one.items() if name != "name")
    return f"{one['name']} ({options})" if options else str(one["name"])


def _option(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return name if value else f"no {name}"
    return f'{name}="{value}"' if isinstance(value, str) and " " in value else f"{name}={_value(value)}"


def _value(value: Any, *, amount: bool = False) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name} {_value(each, amount=amount)}" for name, each in value.items())
    if isinstance(value, list):
        return ",".join(map(str, value))
    if amount:
        return f"{value * 100:g} %" if value <= 1 else f"{value:,.0f} tokens"
    if isinstance(value, int | float):
        return f"{value:,.0f}" if value % 1 == 0 else f"{value:.3g}"
    return str(value)


def fullness(report: RunReport) -> Iterator[tuple[str, str]]:
    """The fullest turn, and whether every turn fits."""
    peak, over = report.peak, report.totals.over
    if peak is None:
        yield "Nothing", "no model call in it, and nothing waiting for one"
        return
    used = peak.utilization
    left = f"{percent(1 - used)} left" if used <= 1 else f"{percent(used - 1)} over"
    yield "Peak", f"turn {peak.turn}: {tokens(peak.tokens, estimated=True)} tokens, {percent(used)} used / {left}"
    limit = f"the {report.window:,}-token window" + (f" less {report.reserve:,} in reserve" if report.reserve else "")
    if over:
        yield "Over", f"{over} of {counted(len(report.turns), 'turn')} would not fit {limit}"
    else:
        yield "Fits", f"every turn fits {limit}"


def survival(report: RunReport) -> Iterator[tuple[str, str]]:
    """How many constraints every turn still showed, and how many later uses had what they needed."""
    known = [one for one in report.constraints if one.turn is not None]
    if not known:
        yield "Kept", "no normative sentence in it, and no must-keep fact given"
    else:
        sentences = f"{sum(one.kept for one in known)} of {counted(len(known), 'constraint')}"
        yield "Kept", f"{sentences} visible word by word at every turn since they were said"
    yield "Evidence", kept(report.regret)


def totals(report: RunReport) -> Iterator[tuple[str, str]]:
    """What was sent, what a prompt cache could reuse, how often and how well it fired."""
    sums, count = report.totals, len(report.turns)
    saved = f", {percent(1 - sums.sent / sums.unedited)} less than the full log" if sums.sent < sums.unedited else ""
    yield "Sent", f"{tokens(sums.sent, estimated=True)} tokens in {counted(count, 'prompt')}{saved}"
    share = percent(sums.prefix / sums.sent) if sums.sent else "0 %"
    kept = f"{tokens(sums.prefix, estimated=True)} of them ({share}) as in the prompt before"
    yield "Prefix", f"{kept}: what a prompt cache can reuse"
    fired = f"; stages that wait for a size fired {counted(sums.firings, 'time')}" if sums.firings else ""
    yield "Changed", f"{counted(sums.changed, 'turn')} of {count}{fired}"
    if sums.thrash:
        yield "Thrash", f"fired three times in a row by {listed(sums.thrash)}, with no net progress"
    if sums.starved:
        layers = ", ".join(f"{layer} at {counted(number, 'turn')}" for layer, number in sums.starved.items())
        yield "Starved", f"{layers}, while another layer's quota had room"
    if sums.repairs:
        yield "Repairs", f"{counted(sums.repairs, 'edit')} by the engine to keep calls, results and pins valid"


def remarks(report: RunReport) -> Iterator[tuple[str, str, str]]:
    """Level, label and sentence of what passes and engine said, each kind once."""
    for one in said(report):
        more = f", and at {counted(one.turns - 1, 'more turn')}" if one.turns > 1 else ""
        level = "warning" if one.code == "cannot-fit" else "note"
        yield level, one.code, f"{one.message} (turn {one.turn}{more})"


def fate(one: FateRow, last: int) -> str:
    """When a constraint was gone, and until when; ``last`` is the last turn."""
    if one.turn is None:
        return "not in this trace"
    if one.kept:
        return "kept"
    gaps = [_gap(gap.since, gap.until, last) for gap in one.gaps[:3]]
    more = f" and {counted(len(one.gaps) - 3, 'more time')}" if len(one.gaps) > 3 else ""
    return f"lost at {', '.join(gaps)}{more}"


def _gap(since: int, until: int, last: int) -> str:
    return f"turn {since}" if since == until or until >= last else f"turns {since}-{until}"
