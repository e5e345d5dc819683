"""Calibrated traces: every fragment scaled once, the unseen put in where it was billed, and honesty about doubt."""

from __future__ import annotations

import pytest

from ctxbudget.builder import TraceBuilder
from ctxbudget.calibrate import calibrate, points
from ctxbudget.layers import AGENT
from ctxbudget.ledger import context, entries
from ctxbudget.tokens import counter
from ctxbudget.trace import Calibration, Kind, Usage

MODEL = "claude-sonnet-4-5-20250929"
COUNT = counter("o200k_base").count
WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu "


def session(factor=1.25, overhead=18_000, calls=12, *, final=True, hidden=0, surplus=None, late=None, size=100):
    """A session whose provider counts ``overhead + factor × text``; ``surplus`` comes with a compaction at turn 7,
    ``late`` is (turn, tokens) of text the file does not hold, ``hidden`` tokens of each reply are not shown."""
    build = TraceBuilder("x.jsonl", "native")
    build.agent, build.model = "claude-code", MODEL
    text, fixed = 0.0, overhead
    for turn in range(1, calls + 1):
        if surplus is not None and turn == 7:
            with build.compaction(turn, trigger="auto"):
                build.message("user", turn)
                build.add(Kind.SUMMARY, WORDS * 20)
            text, fixed = factor * COUNT(WORDS * 20), overhead + surplus
        said = WORDS * (size + turn)
        build.message("user", turn)
        build.add(Kind.USER, said)
        text += factor * COUNT(said)
        if late is not None and turn == late[0]:
            fixed += late[1]
        reply = WORDS * 5
        visible = round(factor * COUNT(reply))
        output = visible + hidden if final else 1
        prompt = round(text) + fixed
        usage = Usage(input=prompt, output=output, total=prompt + output, final=final)
        build.turn(model=MODEL, usage=usage, line=turn)
        build.message("assistant", turn)
        build.add(None, reply)
        text += visible + (hidden if final else 0)
    return build.finish()


def drifts(trace):
    return [abs(entry.tokens / entry.turn.reported - 1) for entry in entries(trace, AGENT) if entry.turn.reported]


@pytest.mark.parametrize("factor", [0.8, 1.0, 1.25, 1.9])
@pytest.mark.parametrize("final", [True, False])
def test_the_fit_finds_what_the_provider_does(factor, final):
    trace = calibrate(session(factor, final=final))
    found = trace.calibration
    assert found.trusted
    assert found.factor == pytest.approx(factor, abs=0.01)
    assert found.overhead == pytest.approx(18_000, abs=60)
    assert max(drifts(trace)) < 0.003


def test_the_overhead_is_one_unseen_fragment_in_front():
    first = calibrate(session()).fragments[0]
    assert (first.kind, first.id, first.turn, first.estimated, first.hidden) == (Kind.UNSEEN, "unseen", 1, True, True)


def test_what_a_reply_hides_is_one_textless_thinking_fragment():
    trace = calibrate(session(hidden=700))
    hidden = [f for f in trace.fragments if f.kind is Kind.THINKING]
    assert {(f.text, f.hidden, f.estimated) for f in hidden} == {("", True, True)}
    assert all(f.tokens == pytest.approx(700, abs=15) for f in hidden)
    assert len(hidden) == 12


def test_what_a_compaction_brings_back_is_in_its_edit_only():
    trace = calibrate(session(calls=16, surplus=3_000))
    inserted = trace.recorded[0].edit.inserted
    assert [f.kind for f in inserted] == [Kind.SUMMARY, Kind.UNSEEN]
    assert inserted[1].tokens == pytest.approx(3_000, abs=100)
    assert max(drifts(trace)) < 0.01
    assert all(f.kind is not Kind.UNSEEN for f in trace.fragments[1:])


def test_text_that_came_late_and_unseen_enters_where_it_was_billed():
    trace = calibrate(session(late=(6, 2_500)))
    (late,) = [f for f in trace.fragments if f.id == "t6.unseen"]
    assert late.tokens == pytest.approx(2_500, abs=60)
    assert late.message == next(f.message for f in trace.fragments if f.turn == 6 and f.role == "user")
    assert trace.calibration.factor == pytest.approx(1.25, abs=0.01)


def test_a_compaction_takes_the_hidden_and_the_late_with_it():
    trace = calibrate(session(calls=16, hidden=700, surplus=0, late=(5, 2_500)))
    left = {f.id for f in context(trace, 7) if f.hidden}
    assert left == {"unseen"}


@pytest.mark.parametrize(
    "trace,words",
    [
        (session(calls=5), "5 calls with usage, 6 are needed"),
        (session(size=1), "5,000 are needed"),
        (session(factor=3.0), "outside 0.7 to 2.2"),
    ],
)
def test_a_fit_that_cannot_be_trusted_gives_way_to_the_prior_with_a_reason(trace, words):
    found = calibrate(trace)
    assert not found.calibration.trusted
    assert words in found.calibration.reason
    assert [w.code for w in found.warnings] == ["not-calibrated"]
    assert 1.0 < found.calibration.factor < 1.5


def test_without_usage_there_is_nothing_to_fit():
    build = TraceBuilder("x.jsonl", "native")
    build.message("user", 1)
    build.add(Kind.USER, WORDS)
    trace = calibrate(build.finish())
    assert trace.calibration is None
    assert [f.kind for f in trace.fragments] == [Kind.USER]


def test_a_child_with_few_calls_takes_its_parent_s_factor():
    parent = Calibration(1.31, 18_000, 40, 0.004, trusted=True)
    found = calibrate(session(factor=1.31, calls=3), parent).calibration
    assert (found.factor, found.trusted) == (1.31, True)
    assert "parent" in found.reason


def test_calls_of_another_tokenizer_are_not_fitted():
    trace = session()
    build = TraceBuilder("x.jsonl", "native")
    build.model = "gpt-4o"
    build.message("user", 1)
    build.add(Kind.USER, WORDS)
    build.turn(model=MODEL, usage=Usage(input=500, total=500))
    assert points(build.finish()) == []
    assert len(points(trace)) == 12
