"""Comparisons by how the recorded runs ended."""

import json
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import jsonschema
import pytest

from ctxbudget import analyze, frames, load
from ctxbudget.comparing import compare
from ctxbudget.errors import UnknownName
from ctxbudget.renderers import Look, render
from ctxbudget.renderers.json import dumped
from ctxbudget.report.loading import from_json
from ctxbudget.report.outcomes import ending, endings
from ctxbudget.report.schema import json_schema
from ctxbudget.trace import Outcome

SAMPLES = Path(__file__).parents[2] / "sample_traces"
FILES = [str(SAMPLES / "formats" / name) for name in ("tau_bench.json", "inspect.json", "langsmith.jsonl")]
NATIVE = str(SAMPLES / "refund_support.json")
STRATEGIES = ["none", "sliding-window:keep=1"]


@pytest.fixture(scope="module")
def grouped():
    return compare(FILES, STRATEGIES, by="outcome", placebo=False)


@pytest.mark.parametrize(
    "outcome, group",
    [
        (None, "open"),
        (Outcome(None, None, "exit_status"), "open"),
        (Outcome(None, 1.0, "feedback"), "open"),
        (Outcome(True, None, "report"), "success"),
        (Outcome(False, 0.9, "reward"), "failure"),
    ],
)
def test_the_group_is_what_the_file_says_and_no_more(outcome, group):
    assert ending(outcome) == group
    assert endings([outcome]) == {"success": 0, "failure": 0, "open": 0, group: 1}


def test_each_trace_is_in_one_group(grouped):
    assert [(one.outcome, one.traces, one.untold) for one in grouped.by_outcome] == [
        ("success", 2, 0),
        ("failure", 3, 0),
        ("open", 2, 1),
    ]
    for strategy in {row.strategy for row in grouped.pooled}:
        whole = next(row for row in grouped.pooled if row.strategy == strategy)
        parts = [next(row for row in one.rows if row.strategy == strategy) for one in grouped.by_outcome]
        for name in ("turns", "sent", "prefix", "constraints", "constraints_kept", "evidence_kept", "repairs"):
            assert sum(getattr(part, name) for part in parts) == getattr(whole, name)


def test_a_group_is_the_comparison_of_its_traces(grouped):
    failed = [trace for path in FILES[:2] for trace in load(path) if trace.outcome.success is False]
    alone = compare(failed, STRATEGIES, placebo=False)
    assert alone.axis == grouped.axis
    assert grouped.by_outcome[1].rows == alone.pooled


def test_a_native_trace_and_its_sub_agents():
    trace = replace(load(NATIVE)[0], outcome=Outcome(True, 1.0, "tests"))
    trace = replace(trace, children=(replace(trace, outcome=None, children=()),))
    (group,) = compare(trace, ["none"], by="outcome", children=True, placebo=False).by_outcome
    assert (group.outcome, group.traces, group.untold) == ("success", 2, 0)


def test_nothing_is_grouped_unasked_and_nothing_by_another_name():
    assert compare(FILES[0], ["none"], placebo=False).by_outcome == []
    with pytest.raises(UnknownName, match="model"):
        compare(FILES[0], ["none"], by="model")


def test_it_loads_again_and_is_what_the_schema_says(grouped):
    data = dumped(grouped)
    assert from_json(data) == grouped
    jsonschema.validate(json.loads(data), json_schema())
    assert dumped(compare(FILES, STRATEGIES, by="outcome", placebo=False, jobs=2)) == data


def test_the_table_of_rows_names_the_outcome(grouped):
    frame = frames.compared(grouped)
    pooled = frame[frame["trace"] == ""]
    assert list(pooled["outcome"]) == ["success"] * 2 + ["failure"] * 2 + ["open"] * 2 + [""] * 2
    assert set(frame[frame["trace"].str.endswith("tau_bench.json#0.0")]["outcome"]) == {"success"}
    assert len(frame) == 2 * (7 + 3 + 1)


@pytest.mark.parametrize("renderer", ["terminal", "markdown"])
@pytest.mark.parametrize("width", [None, 40, 100])
def test_the_pages_tell_recorded_outcomes_and_foretell_none(grouped, renderer, width):
    out = BytesIO()
    render(grouped, renderer, out, Look(width=width))
    text = " ".join(out.getvalue().decode().split())
    assert "Outcome success: 2 traces" in text
    assert "Outcome open: 2 traces, 1 without an outcome in the file" in text
    assert "how one would have ended under a strategy is not known" in text
    assert "would have failed" not in text
    assert "would have succeeded" not in text


def test_analyze_shows_the_outcome_of_one_and_of_several():
    one = shown(analyze(FILES[0], select="0.0"))
    assert "Outcome success, score 1 (by reward)" in one
    report = analyze(FILES)
    assert report.totals.outcomes == {"success": 2, "failure": 3, "open": 2}
    several = shown(report)
    assert "2 success, 3 failure, 2 open" in several
    assert "outcome" not in shown(analyze([NATIVE, str(SAMPLES / "order_supplies.json")]))


def shown(report):
    out = BytesIO()
    render(report, "terminal", out, Look())
    return " ".join(out.getvalue().decode().split())
