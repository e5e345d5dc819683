"""What holds of the pass for every trace, whatever its options."""

import os

from arbitrary import AMOUNTS, WINDOWS, traces
from checking import faults, steps
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sketch import until, words

from ctxbudget.passes.summarize import Summarize
from ctxbudget.replay import generations, replay
from ctxbudget.strategy import Stage, Strategy
from ctxbudget.summaries import STEPS

some = settings(
    max_examples=int(os.environ.get("CTXBUDGET_EXAMPLES", "120")) // 2,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)

PASSES = st.builds(
    Summarize,
    to=st.sampled_from((15.0, 60.0, 4_000.0)),
    to_share=st.sampled_from((0.1, 0.2, 1.0)),
    keep_tail=st.sampled_from((0.0, 0.1, 50.0)),
    keep_turns=st.integers(0, 2),
    keep_first=st.booleans(),
    least=st.sampled_from((0.0, 0.05)),
    down_to=st.sampled_from((0.0, 0.3)),
    fold_earlier=st.booleans(),
    steps=st.sampled_from((STEPS, ("full",), ("notice",), ("partial", "noted"))),
    must_fit=st.booleans(),
    repair=st.booleans(),
    must_show=st.sampled_from(((), ("w3", "/w1\\d/"))),
)


@st.composite
def strategies(draw):
    stage = st.builds(
        Stage,
        at=st.sampled_from(("call", "call", "reply", "entry", "overflow")),
        passes=st.lists(PASSES, min_size=1, max_size=2).map(tuple),
        when=st.one_of(st.none(), AMOUNTS),
        until=st.sampled_from((None, 0.5)),
    )
    pin = draw(st.sampled_from(((), ("task",), ("plan",))))
    return Strategy("own", tuple(draw(st.lists(stage, min_size=1, max_size=2))), pin, draw(st.booleans()))


@some
@given(traces(), strategies(), WINDOWS)
def test_every_view_is_valid_and_every_edit_frees_something(trace, strategy, window):
    for view, row in steps(trace, strategy, window):
        assert not list(faults(view, view.log)), row.turn
        asked = [note for note in row.notes if note.code == "summary"]
        edits = [change for change in row.edits if change.by == "summarize"]
        assert [(note.tokens, note.message) for note in asked] == [(edit.freed, edit.reason) for edit in edits]
        for note, edit in zip(asked, edits, strict=True):
            assert edit.freed > 0
            assert (note.summarised, note.summary) == (edit.before, edit.after)
            assert note.kept + len(note.lost) == note.total
            assert view.pins.ids.isdisjoint(edit.removed)


@some
@given(traces(), strategies(), WINDOWS, st.data())
def test_nothing_looks_ahead_and_twice_is_the_same(trace, strategy, window, data):
    turn = data.draw(st.integers(1, len(trace.turns)))
    whole = replay(trace, strategy, window=window, count=words)
    part = replay(until(trace, turn), strategy, window=window, count=words)
    assert part.turns == whole.turns[:turn]
    drift = generations(trace.fragments, whole.turns)
    assert generations(trace.fragments, part.turns) == tuple(one for one in drift if one.turn <= turn)
    assert replay(trace, strategy, window=window, count=words) == whole
