"""The report of a check with everything in it that a report may hold."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace

import jsonschema
import pytest

from ctxbudget.report.check import (
    STATUSES,
    BaselineRow,
    CheckedTrace,
    CheckReport,
    CheckTotals,
    Failure,
    PeakRow,
    StaleRow,
    WayDown,
)
from ctxbudget.trace import Warning as TraceWarning

OURS = {"status", "level", "id", "schema", "format", "kind"}
"""Fields that hold words of ours, whatever a trace says."""


FAILURE = Failure(
    id="CB102", name="over the budget", level="error", message="turn 24 holds 118,204 tokens, 28,204 over 90,000",
    path="logs/a.jsonl", select=None, line=48, turn=24, fragment="f120", kind="result", layer="observation",
    tool="Read", resource="src/app.py", measured=118_204, limit=90_000, limit_text="75 % of the window",
    limit_source="--max", reported=True, error=None, near=False, key="0123456789abcdef", known=False, worse=False,
    ways=[],
)  # fmt: skip
NOWHERE = dict.fromkeys(("line", "fragment", "tool", "resource", "measured", "limit", "limit_text", "limit_source"))
TRACE = CheckedTrace(
    path="logs/a.jsonl", select=None, child=None, format="claude-code", session="s", model="m", status="clean",
    reason="", hint="", excused=False, turns=30, window=200_000, window_source="the harness's default", reserve=0,
    peak=PeakRow(24, 48, 118_204, 117_000, True, None, 0.591, 90_000, "75 %", "--max", False), failures=[],
    warnings=[],
)  # fmt: skip
UNREAD = dict.fromkeys(("format", "session", "model", "turns", "window", "window_source", "peak"))  # fmt: skip


def failure(**given):
    return replace(FAILURE, **given)


def traced(path="logs/a.jsonl", status="clean", **given):
    return replace(TRACE, path=path, status=status, **given)


def unread(path, status, reason, hint, *, excused=False):
    return traced(path, status, reason=reason, hint=hint, excused=excused, **UNREAD)


def way(name="collect-garbage", tokens=70_000):
    command = f"ctxbudget replay logs/a.jsonl --strategy {name}"
    return WayDown(name, tokens, tokens <= 90_000, command, f"{name} would have brought it to ~{tokens:,}")


def whole(checked, exit_code=1, **given):
    failures = [each for trace in checked for each in trace.failures]
    statuses = [trace.status for trace in checked]
    by_status = {status: statuses.count(status) for status in STATUSES}
    levels = {f"{level}s": sum(each.level == level for each in failures) for level in ("error", "warning", "note")}
    totals = CheckTotals(len(checked), **by_status, **levels, known=sum(each.known for each in failures))
    report = CheckReport(
        schema=1, tool="ctxbudget 0.1.0", strategy=None, config=None, limits=["the fullest turn: 75 % of the window"],
        checked=list(checked), totals=totals, baseline=None, warnings=[], exit_code=exit_code,
    )  # fmt: skip
    return replace(report, **given)


@pytest.fixture(scope="session")
def make():
    """The parts of a report: ``make.failure(id="CB103")``, ``make.trace("b.jsonl")``, ``make.report([...])``."""

    class Make:
        failure = staticmethod(failure)
        trace = staticmethod(traced)
        way = staticmethod(way)
        report = staticmethod(whole)
        unread = staticmethod(unread)

    return Make


@pytest.fixture(scope="session")
def check_report():
    failures = [
        failure(ways=[way(), way("clear-tool-results", 95_000)]),
        failure(id="CB103", name="layer over its budget", key="b", worse=True, reported=False, near=True, error=0.013),
        failure(id="CB102", level="warning", line=40, turn=20, key="c"),
        failure(id="CB103", name="layer over its budget", key="d", turn=26, known=True),
        failure(id="CB104", name="one turn grew too much", level="warning", key="e", resource=None, known=True),
        failure(id="CB205", name="context shrank without a compaction", level="note", key="f", **NOWHERE),
    ]
    checked = [
        traced(status="violated", failures=failures, warnings=[TraceWarning("damaged-line", "a line is cut", 7)]),
        traced("logs/b.jsonl", child="a1", peak=replace(traced().peak, reported=False, error=0.02, near=True)),
        traced("logs/c.jsonl", select="3", reserve=8000),
        unread("logs/d.jsonl", "unmeasured", "no model call in it: nothing to measure", ""),
        unread("logs/e.bin", "unreadable", "not a format ctxbudget knows", "force one with --from FORMAT"),
    ]
    stale = [StaleRow("logs/z.jsonl", "CB102", "z", 12_345)]
    return whole(
        checked, 2, config="ctxbudget.yaml", strategy="clear", baseline=BaselineRow("base.json", 2, 3, 1, False, stale),
        warnings=[TraceWarning("must-keep-unseen", "no prompt holds 'x'")],
    )  # fmt: skip


@pytest.fixture(scope="session")
def hostile():
    """A report with a text in place of every text that a trace, a path or a configuration may bring."""

    def changed(value, text):
        if is_dataclass(value):
            given = {each.name: getattr(value, each.name) for each in fields(value)}
            ours = OURS | ({"tool"} if isinstance(value, CheckReport) else set())
            return replace(value, **{key: v if key in ours else changed(v, text) for key, v in given.items()})
        if isinstance(value, str):
            return text if value else value
        return [changed(each, text) for each in value] if isinstance(value, list) else value

    return changed


@pytest.fixture(scope="session")
def sarif_valid(published):
    """Validate by the schema of the standard."""
    schema = published("sarif-2.1.0")
    assert schema["$id"].endswith("sarif-schema-2.1.0.json")
    return jsonschema.Draft7Validator(schema).validate
