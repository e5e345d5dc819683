"""How waste is shown."""

import io
import json

import pytest
from story import Story, file

import ctxbudget
from ctxbudget.layers import AGENT
from ctxbudget.models import Window
from ctxbudget.report import Report, Totals
from ctxbudget.report.build import TOOL, trace_report, usage_of
from ctxbudget.report.loading import from_json

A = file("a")


@pytest.fixture
def report():
    story = Story()
    for number in range(12):
        story.read(f"{number}.py", A)
    for number in range(10):
        story.edit(f"{number}.py", A[3], "x y z")
    one = trace_report(story.trace(), AGENT, Window(10_000, "flag", known=True))
    usage = usage_of(())
    return Report(1, TOOL, [one], Totals(1, usage, usage, {}), [])


def shown(report, format_name, **look):
    out = io.BytesIO()
    ctxbudget.render(report, format_name, out, ctxbudget.Look(**look))
    return out.getvalue().decode()


@pytest.mark.parametrize("format_name", ["terminal", "markdown"])
def test_the_sentence_stands_on_top(report, format_name):
    text = shown(report, format_name)
    waste = report.traces[0].waste
    assert (waste.tokens, waste.fragments) == (1_080, 10)
    sentence = f"1,080 tokens ({waste.share * 100:.1f} % of the peak) could go with nothing true lost: 10 observations"
    assert sentence in text
    assert text.index(sentence) < text.index("Layers at the peak")


def test_the_worst_eight_are_a_table_and_no_notes(report):
    text = shown(report, "terminal")
    assert text.count("CB303") == 8
    assert "and 2 more: --table findings" in text
    assert "note" not in text
    assert shown(report, "terminal", table="findings").count("CB303") == 10


def test_nothing_to_tell():
    story = Story()
    story.read("a.py", A)
    one = trace_report(story.trace(), AGENT, Window(10_000, "flag", known=True))
    usage = usage_of(())
    text = shown(Report(1, TOOL, [one], Totals(1, usage, usage, {}), []), "terminal")
    assert "nothing of the peak is repeated, read again or out of date" in text
    assert "Waste by" not in text


def test_json_and_back(report):
    data = shown(report, "json")
    read = json.loads(data)
    assert read["waste"]["rules"] == [
        {
            "id": "CB303",
            "name": "stale copy still in context",
            "findings": 10,
            "tokens": 1080,
            "token_turns": 1080 * 11 // 2,
        }
    ]
    assert read["findings"][0]["token_turns"] == 1080
    assert from_json(data) == report.traces[0]


def test_frames_carry_the_rent(report):
    from ctxbudget import frames

    frame = frames.findings(report)
    assert list(frame["token_turns"]) == sorted(frame["token_turns"], reverse=True)
