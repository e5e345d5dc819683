"""When stages run and what they see; warnings, notes and totals of a run."""

import pytest
from sketch import shown, sketch, words

from ctxbudget.errors import UnknownName, UsageError
from ctxbudget.replay import replay, view_at
from ctxbudget.strategy import Strategy
from ctxbudget.strategy.naming import find
from ctxbudget.trace import Calibration, Form, Kind, named_turn

FLOOD = "S10 U10 | c1:5 r1:40 | c2:5 r2:40 | c3:5 r3:400 | c4:5 r4:5"


def run(text, strategy, window=450, **more):
    return replay(sketch(text), strategy, window=window, count=words, **more)


def turns_that_fired(found):
    return [row.turn for row in found.turns if row.fired]


def test_at_call_sees_the_arrivals_and_at_reply_does_not():
    assert [row.overflow for row in run(FLOOD, "clear-tool-results:keep=0,when=0.9,at=call").turns] == [False] * 5
    late = run(FLOOD, "clear-tool-results:keep=0,when=0.9,at=reply")
    assert [row.turn for row in late.turns if row.overflow] == [4]
    assert turns_that_fired(late) == [5]


def test_at_reply_the_results_of_the_newest_calls_are_not_there_to_be_cleared():
    found = run("S10 U10 | c1:5 r1:400 | c2:5 r2:400 | c3:5 r3:5", "clear-tool-results:keep=0,at=reply", window=2_000)
    assert [change.removed for row in found.turns for change in row.edits] == [("t2.1",), ("t3.1",)]
    assert turns_that_fired(found) == [3, 4]


def test_at_overflow_only_what_would_not_fit():
    assert turns_that_fired(run(FLOOD, "clear-tool-results:keep=0,at=overflow")) == [4]
    assert turns_that_fired(run(FLOOD, "clear-tool-results:keep=0,at=overflow", window=1_000)) == []
    assert turns_that_fired(run(FLOOD, "clear-tool-results:keep=0,at=overflow", window=1_000, reserve=900)) == [3, 4]


def test_at_entry_each_part_as_it_enters():
    found = run(FLOOD, "truncate-results:over=100,at=entry", window=1_000)
    assert turns_that_fired(found) == [4]
    assert found.turns[3].survival == {"whole": 7, "truncated": 1}
    assert [(life.form, life.since) for life in found.lives if life.id == "t4.1"] == [("truncated", 4)]


@pytest.mark.parametrize(
    ("conditions", "fired"),
    [
        ("when=65", [2, 3, 4]),
        ("when=66", [3, 4]),
        ("when=0.2", [3, 4]),
        ("when_incoming=46", [4]),
        ("when_layer=observation:80", [3, 4]),
        ("when_layer=observation:80,when=1", [4]),
        ("when_layer=observation:80,when=600", []),
        ("every=2", [2, 4]),
        ("until=500", [4]),
        ("until=600", []),
    ],
)
def test_conditions(conditions, fired):
    conditions = conditions.replace("observation:80,", "observation:80;")
    settings = [f"clear-tool-results.{one}" for one in conditions.split(";")]
    strategy = find("clear-tool-results:keep=0", settings=settings)
    assert turns_that_fired(run(FLOOD, strategy)) == fired


def test_a_stage_sees_what_its_estimator_sees():
    """At turn 4 the counter sees 155 tokens, a quarter of the characters is 137."""
    text = "S10 U10 | c1:5 r1:40 | c2:5 r2:40 | c3:5 r3:40"

    def fired(conditions):
        return turns_that_fired(run(text, f"clear-tool-results:keep=0,{conditions}"))

    assert fired("when=150") == fired("when=150,estimator=bpe") == fired("when=150,estimator=anchored") == [4]
    assert fired("when=150,estimator=chars4") == []
    assert fired("when=130,estimator=chars4") == [4]


def test_an_estimator_is_told_the_count_of_the_view_that_was_sent():
    """``anchored`` is asked at turn t for the last sent view plus what is new, whatever was cleared in between."""
    text = "S10 U10 | c1:5 r1:90 | c2:5 r2:90 | c3:5 r3:9"
    found = run(text, "clear-tool-results:keep=0,when=110,estimator=anchored", window=1_000)
    assert turns_that_fired(found) == [2, 3]


def test_a_threshold_above_the_window_cannot_fire():
    found = run(FLOOD, "tool-result-clearing", window=60_000)
    assert [one.message for one in found.warnings] == [
        "stage 1 (call) cannot fire: it waits for 100,000 tokens, the window has 60,000"
    ]


def test_a_stage_that_never_fires_is_named():
    assert [one.code for one in run(FLOOD, "tool-result-clearing", window=200_000).warnings] == ["never-fires"]
    assert [one.code for one in run(FLOOD, "sliding-window", window=200_000).warnings] == []


def test_three_firings_in_a_row_are_thrash():
    text = "S10 U10 | " + " | ".join(f"c{number}:30 r{number}:30" for number in range(1, 12))
    found = run(text, "clear-tool-results:keep=0,when=100", window=1_000)
    assert found.totals.thrash == (5, 8, 11)
    assert found.totals.firings == 10
    assert run(text, "sliding-window:keep=2", window=1_000).totals.thrash == ()


def test_totals():
    found = run(FLOOD, "clear-tool-results:keep=0,when=0.9")
    assert found.totals.peak == max(row.tokens for row in found.turns)
    assert found.turns[found.totals.peak_turn - 1].tokens == found.totals.peak
    assert found.totals.sent == sum(row.tokens for row in found.turns)
    assert found.totals.prefix == sum(row.prefix for row in found.turns)
    assert (found.totals.over, found.totals.repairs, found.totals.firings) == (0, 0, 1)


def test_pins_and_must_keep():
    text = "S9 U5 | c1:3 r1:40 | c2:3 r2:40 | c3:3 r3:40"
    window = find("sliding-window:keep=1")

    def last(strategy, **more):
        return shown(view_at(sketch(text), strategy, 4, window=900, count=words, **more).fragments())

    assert last(window) == "S9 I~noticed c3:3 r3:40"
    assert last(Strategy("own", window.stages, pin=("task",))) == "S9 U5 c3:3 r3:40"
    assert last(Strategy("own", window.stages, pin=("user", "t3.1"))) == "S9 U5 c2:3 r2:40 c3:3 r3:40"
    assert last(window, must_keep=("t2.1",)) == "S9 I~noticed c1:3 r1:40 c3:3 r3:40"
    assert last(window, must_keep=lambda one: one.kind is Kind.USER) == "S9 U5 c3:3 r3:40"
    with pytest.raises(UnknownName) as caught:
        last(Strategy("own", window.stages, pin=("tsk",)))
    assert caught.value.hint == "did you mean 'task'?"


def test_stand_ins_cost_their_count_times_the_factor_of_the_trace():
    trace = sketch("S9 U5 | c1:3 r1:40 | c2:3 r2:40")
    scaled = type(trace)(
        trace.source, trace.fragments, trace.turns, calibration=Calibration(1.27, 0, 9, 0.01, trusted=True)
    )
    view = view_at(scaled, "clear-tool-results:keep=1,text=one two three four five", 3, window=900, count=words)
    cleared = next(one for one in view.fragments() if one.form is Form.CLEARED)
    assert (cleared.counted, cleared.tokens) == (5, 6)


def test_what_was_broken_in_the_recording_is_excepted_and_listed():
    found = run("S9 A5 U5 | c1:3 c2=Bash:3 r1:9 | A3 U5 r9:4", "none")
    assert found.excepted == (
        "result t3.2 (turn 2) answers a call that was not recorded",
        "call t2.1 (Bash, turn 1) was not answered",
        "the first message is not the user's: t1.1 (assistant)",
    )
    assert found.totals.repairs == 0


def test_turns_are_named_after_the_reply():
    trace = sketch("S9 U5 | R2 c1:3 r1:9 U4 | A3 U5")
    assert [named_turn(one) for one in trace.fragments] == [1, 1, 1, 1, 1, 2, 2, 3]


def test_a_window_without_room_and_a_turn_that_is_not_there():
    with pytest.raises(UsageError):
        run("S9 U5", "none", window=100, reserve=100)
    with pytest.raises(UsageError) as caught:
        view_at(sketch("S9 U5"), "none", 2, window=100, count=words)
    assert caught.value.hint == "the trace has turns 1 to 1"


def test_the_window_scheme():
    from ctxbudget.layers import WINDOW

    found = run(FLOOD, "clear-tool-results:keep=0,when_layer=working_memory:80", scheme=WINDOW)
    assert found.layers == WINDOW.layers
    assert turns_that_fired(found) == [3, 4]
    assert set(found.turns[0].layers) == set(WINDOW.layers)
