"""Tidy frames, CSV and Parquet."""

from dataclasses import replace
from io import BytesIO

import pandas as pd
import pytest

from ctxbudget import frames
from ctxbudget.analysis import analyze
from ctxbudget.builder import TraceBuilder
from ctxbudget.errors import MissingExtra, UnknownName
from ctxbudget.renderers import TABLES, Look, render
from ctxbudget.trace import Kind, Usage


@pytest.fixture(scope="module")
def report():
    def conversation(path):
        builder = TraceBuilder(path, "native")
        builder.message("user", 1)
        builder.add(Kind.USER, "read it")
        for turn in (1, 2, 3):
            builder.turn(usage=Usage(input=100 * turn, output=5, total=100 * turn + 5) if turn < 3 else None, line=turn)
            builder.message("assistant", turn)
            builder.call("=cmd", {"path": "=1+1"}, id=str(turn))
            builder.message("tool", turn)
            builder.result("text \ud800\x1b", call=str(turn))
        return builder

    parent = conversation("a.jsonl")
    parent.child(conversation("a/child.jsonl").finish())
    return analyze(parent.finish(), window=150, fragments=True)


def test_turns(report):
    frame = frames.turns(report)
    assert list(frame["turn"]) == [1, 2, 3, 4]
    assert list(frame["pending"]) == [False, False, False, True]
    assert frame["reported"].isna().tolist() == [False, False, True, True]
    assert frame["trace"].unique().tolist() == ["a.jsonl"]
    assert str(frame.dtypes["reported"]) == "Int64"


def test_layers_are_long_and_add_up(report):
    frame = frames.layers(report)
    assert list(frame.columns) == ["trace", "turn", "layer", "tokens"]
    sums = frame.groupby("turn")["tokens"].sum()
    assert sums.tolist() == frames.turns(report)["tokens"].tolist()


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_a_frame_and_takes_one_trace_too(report, name):
    frame = frames.table(report, name)
    assert frame.columns[0] == "trace"
    pd.testing.assert_frame_equal(frame, frames.table(report.traces[0], name))


def test_sub_agents_only_when_asked(report):
    assert set(frames.turns(report)["trace"]) == {"a.jsonl"}
    assert set(frames.turns(report, children=True)["trace"]) == {"a.jsonl", "a/child.jsonl"}


def test_a_table_without_rows_keeps_its_columns(report):
    empty = replace(report, traces=[replace(report.traces[0], findings=[], turns=[])])
    assert list(frames.findings(empty).columns) == [
        "trace",
        "id",
        "name",
        "level",
        "turn",
        "layer",
        "message",
        "tokens",
        "line",
        "token_turns",
    ]
    assert len(frames.layers(empty)) == 0


def test_an_unknown_table_is_refused(report):
    with pytest.raises(UnknownName, match="unknown table 'turn'"):
        frames.table(report, "turn")


@pytest.mark.parametrize("name", TABLES)
def test_csv_holds_the_frame_and_no_formula(report, name):
    out = BytesIO()
    render(report, "csv", out, Look(table=name))
    text = out.getvalue().decode()
    assert "\x1b" not in text
    read = pd.read_csv(BytesIO(out.getvalue()))
    frame = frames.table(report, name)
    assert list(read.columns) == list(frame.columns)
    assert len(read) == len(frame)
    assert not any(
        cell.startswith(("=", "+", "@")) for line in text.splitlines() for cell in line.replace('"', "").split(",")
    )


@pytest.mark.parametrize("name", TABLES)
def test_parquet_holds_the_frame(report, name):
    out = BytesIO()
    render(report, "parquet", out, Look(table=name))
    read = pd.read_parquet(BytesIO(out.getvalue()))
    frame = frames.table(report, name)
    assert list(read.columns) == list(frame.columns)
    assert read.to_dict("list") == frame.to_dict("list") or read.isna().equals(frame.isna())


def test_parquet_without_its_package_names_the_extra(report, monkeypatch):
    monkeypatch.setattr("ctxbudget.renderers.parquet.find_spec", lambda _: None)
    with pytest.raises(MissingExtra) as caught:
        render(report, "parquet", BytesIO())
    assert caught.value.hint == "pip install 'ctxbudget[parquet]'"
