"""Comparisons: order, pooling, sweeps, the contract, and the command in a process of its own."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from functools import cache
from io import BytesIO
from pathlib import Path

import forked
import jsonschema
import pytest
from rich.cells import cell_len

from ctxbudget.comparing import compare, read_sweep
from ctxbudget.comparing.front import ordered
from ctxbudget.comparing.knee import knee
from ctxbudget.errors import TraceError, UnknownFormat, UnknownName, UsageError
from ctxbudget.renderers import Look, render
from ctxbudget.renderers.json import dumped
from ctxbudget.report.loading import from_json
from ctxbudget.report.schema import json_schema
from ctxbudget.strategy.naming import find
from ctxbudget.summaries.summary import Refused

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "sample_traces"
TWO = [str(SAMPLES / name) for name in ("refund_support.json", "order_supplies.json")]


@cache
def two(**more):
    return compare(TWO, ["none", "sliding-window"], **more)


def test_the_same_bytes_each_time_and_whatever_the_number_of_processes():
    assert dumped(two()) == dumped(compare(TWO, ["none", "sliding-window"])) == dumped(two(jobs=2))


def test_it_loads_again_and_is_what_the_schema_says():
    data = dumped(two())
    assert from_json(data) == two()
    jsonschema.validate(json.loads(data), json_schema())


@pytest.mark.parametrize("placebo", [True, False])
def test_what_is_done_is_told_and_only_grows(placebo):
    told = []
    compare(TWO, ["none", "window"], placebo=placebo, on_step=lambda *step: told.append(step))
    shares = [done for _, done, _ in told]
    assert shares == sorted(shares)
    assert {path for path, *_ in told} == set(TWO)
    assert len(told) == 2 * (22 if placebo else 2)
    assert all(of == 2 and 0 <= done < 2 for _, done, of in told)


def test_pooled_is_the_sum_and_the_fullest():
    found = two()
    for row in found.pooled:
        parts = [each for trace in found.compared for each in trace.rows if each.strategy == row.strategy]
        assert row.sent == sum(each.sent for each in parts)
        assert row.evidence == sum(each.evidence for each in parts)
        assert row.price == pytest.approx(sum(each.price for each in parts))
        assert row.peak_share == max(each.peak_share for each in parts)


def test_what_costs_no_more_and_keeps_no_less_stands_before():
    plain = two().pooled[0]

    def row(name, price, kept, over=0):
        sums = {"constraints": 0, "constraints_kept": 0, "evidence": 10, "evidence_kept": kept}
        return replace(plain, strategy=name, price=price, recall_price=0.0, over=over, **sums)

    rows = [row("dear", 9.0, 9), row("full", 8.0, 10, over=3), row("cheap", 2.0, 5), row("good", 4.0, 9)]
    found = ordered(rows, "price")
    assert [(each.strategy, each.dominated_by) for each in found] == [
        ("good", None),
        ("cheap", None),
        ("dear", "good"),
        ("full", None),
    ]


def test_the_knee_is_where_more_cost_stops_to_buy_much():
    plain = two().pooled[0]
    points = [(1, 1.0, 0), (2, 2.0, 7), (3, 6.0, 9), (4, 10.0, 10)]
    rows = [
        replace(plain, value=value, price=price, constraints=0, constraints_kept=0, evidence=10, evidence_kept=kept)
        for value, price, kept in points
    ]
    assert knee(rows, "price") == 2
    assert knee(rows[:1], "price") is None


def test_a_sweep_takes_ranges_and_lists():
    assert read_sweep("window=64k..1M").values[::7] == (64_000, 1_000_000)
    assert read_sweep("sliding-window.keep=1..20").values == (1, 2, 4, 6, 8, 13, 20)
    assert read_sweep("a.b=3,1.5").values == (3, 1.5)
    for wrong in ("window", "keep=1..2", "window=9..3", "window=x..y"):
        with pytest.raises(UsageError):
            read_sweep(wrong)


def test_a_sweep_has_a_row_for_each_value():
    found = compare(TWO[0], sweep=read_sweep("sliding-window.keep=2,6,30"), placebo=False)
    assert [(row.strategy, row.value) for row in found.pooled] == [("sliding-window", each) for each in (2, 6, 30)]
    kept = [row.evidence_kept for row in found.pooled]
    assert kept == sorted(kept)
    assert set(found.sweep.knees) == {"sliding-window"}
    with pytest.raises(UnknownName):
        compare(TWO[0], sweep=read_sweep("sliding-window.kep=2,6"), placebo=False)


def test_each_strategy_has_rows_of_its_own_name():
    given = ["window", "sliding-window", "sliding-window:keep=2", "clear+window"]
    same = [replace(find("sliding-window:keep=3"), name="mine"), replace(find("sliding-window:keep=4"), name="mine")]
    found = compare(TWO, [*given, *same], placebo=False)
    names = ["sliding-window", "sliding-window:keep=2", "tool-result-clearing+sliding-window", "mine", "mine (2)"]
    assert sorted(row.strategy for row in found.pooled) == sorted(names)
    for row in found.pooled:
        assert row.turns == sum(trace.turns for trace in found.compared)


@pytest.mark.parametrize("width", [40, 60, 80, 110])
def test_no_line_is_wider_than_the_terminal(width):
    sweep = compare(TWO[0], sweep="sliding-window.keep=2,6,30", placebo=False)
    for report in (two(), sweep, compare(TWO[0], ["none", "clear"], placebo=False)):
        out = BytesIO()
        render(report, "terminal", out, Look(width=width))
        assert [line for line in out.getvalue().decode().splitlines() if cell_len(line) > width] == []


@pytest.mark.parametrize(
    "error",
    [
        UnknownName("format", "codx", ["codex"]),
        UnknownFormat("a.bin", {"codex": 0.2, "pi": 0.0}),
        TraceError("nothing in it", hint="look elsewhere"),
        Refused("drops", "#8842", dropped=("#8842",)),
    ],
)
def test_an_error_crosses_from_one_process_to_another_whole(error):
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))
    assert again.hint == error.hint


def test_words_never_say_that_a_task_would_have_failed():
    found = compare(TWO, options=(), placebo=False)
    text = dumped(found).decode()
    assert "would have failed" not in text
    assert "last seen at turn" in text


def run(*arguments):
    return forked.run("compare", *arguments)


def test_the_command():
    done = run(TWO[0], "-s", "none", "-s", "window", "--no-placebo")
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b""
    text = done.stdout.decode()
    assert "sliding-window" in text
    assert "Cost against constraints and evidence kept" in text
    assert "\x1b" not in text
    asked = run(TWO[0], "--strategy", "windw")
    assert (asked.returncode, b"did you mean 'window'?" in asked.stderr) == (2, True)
