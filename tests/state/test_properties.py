"""What the engine promises holds with the passes that keep state, alone and among others."""

import os

from arbitrary import BUDGETS, SHRINKING, WINDOWS, traces
from checking import faults, steps
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sketch import shown, until, words

from ctxbudget.passes.collapse_subgoal import CollapseSubgoal
from ctxbudget.passes.compress_at_entry import CompressAtEntry
from ctxbudget.passes.keep_state import KeepState
from ctxbudget.passes.offload_results import OffloadResults
from ctxbudget.passes.sliding_window import SlidingWindow
from ctxbudget.passes.strip_artifacts import StripArtifacts
from ctxbudget.replay import replay
from ctxbudget.strategy import Stage, Strategy, compose
from ctxbudget.strategy.stage import MOMENTS
from ctxbudget.view import ENGINE, STRIDE, is_state

EXAMPLES = int(os.environ.get("CTXBUDGET_EXAMPLES", "60"))
many = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))

OWN = st.one_of(
    st.builds(OffloadResults, over=st.sampled_from((20.0, 100.0, 0.1)), line=st.sampled_from((12, 20, 60))),
    st.builds(CompressAtEntry, cap=st.sampled_from((10.0, 40.0, 200.0, 0.1)), classes=st.sampled_from(((), ("read",)))),
    st.builds(
        StripArtifacts, pages=st.integers(0, 2), page=st.sampled_from((10.0, 100.0)), minimal=st.sampled_from((5, 20)),
        screenshots=st.integers(0, 2), screenshot=st.sampled_from((0.0, 10.0)),
    ),
    st.builds(CollapseSubgoal, lines=st.integers(1, 5), least=st.sampled_from((1.0, 50.0))),
)  # fmt: skip
STATE = st.builds(KeepState, quota=st.sampled_from((0.05, 0.2, 30.0, 200.0)), line=st.sampled_from((10, 40)))


@st.composite
def strategies(draw):
    """One to three stages of these passes and others, and perhaps a block of state before every call."""
    stages = [
        Stage(
            at=draw(st.sampled_from(MOMENTS)),
            passes=tuple(draw(st.lists(st.one_of(OWN, OWN, *SHRINKING.values(), BUDGETS), min_size=1, max_size=2))),
            when=draw(st.sampled_from((None, None, 0.3, 0.7))),
            until=draw(st.sampled_from((None, None, 0.2))),
        )
        for _ in range(draw(st.integers(1, 3)))
    ]
    kept = [Stage(passes=(draw(STATE),))] if draw(st.booleans()) else []
    pin = draw(st.sampled_from(((), ("task",), ("plan",))))
    return compose([Strategy("own", tuple(stages), pin=pin), Strategy("kept", tuple(kept))])


@many
@given(traces(), strategies(), WINDOWS)
def test_every_view_is_valid_and_its_totals_are_sums(trace, strategy, window):
    for view, row in steps(trace, strategy, window):
        found = list(faults(view, view.log))
        assert not found, (row.turn, found, shown(view.fragments()))
        live = list(view.fragments())
        assert row.tokens == sum(one.tokens for one in live) == sum(row.layers.values())
        assert view.pins.tokens == sum(one.tokens for one in live if one.id in view.pins.ids)
        assert row.tokens == row.before - sum(change.before - change.after for change in row.edits)


@many
@given(traces(), strategies(), WINDOWS)
def test_edits_shrink_their_place_and_leave_alone_what_is_pinned(trace, strategy, window):
    for view, row in steps(trace, strategy, window):
        recorded = {one.id for one in view.log}
        for change in row.edits:
            state = all(map(is_state, change.inserted)) and all(is_state(view.known[one]) for one in change.removed)
            if change.by == ENGINE or state:
                continue
            if any(one.id not in recorded for one in change.inserted) and change.by != "budget-per-layer":
                assert change.after < change.before, change
            assert not any(is_state(view.known[one]) for one in change.removed), change
            assert recorded.intersection(view.pins.ids).isdisjoint(change.removed), change


@many
@given(traces(), strategies(), WINDOWS, st.data())
def test_nothing_looks_ahead_and_twice_is_the_same(trace, strategy, window, data):
    turn = data.draw(st.integers(1, len(trace.turns)))
    whole = replay(trace, strategy, window=window, count=words)
    part = replay(until(trace, turn), strategy, window=window, count=words)
    assert part.turns == whole.turns[:turn]
    assert whole == replay(trace, strategy, window=window, count=words)


@many
@given(traces(), st.one_of(OWN, STATE), WINDOWS)
def test_planning_again_plans_nothing(trace, one, window):
    for view, row in steps(trace, Strategy("own", (Stage(passes=(one,)),)), window):
        assert not [edit for edit in one.plan(view) if hasattr(edit, "removed")], row.turn


@many
@given(traces(), strategies(), WINDOWS)
def test_lives_tell_what_stands(trace, strategy, window):
    run = replay(trace, strategy, window=window, count=words)
    forms = {(life.id, turn): life.form for life in run.lives for turn in range(life.since, life.until + 1)}
    for view, row in steps(trace, strategy, window):
        for one in view.log:
            standing, form = view.stand_for(one.id), forms[one.id, row.turn]
            if form == "whole":
                assert standing == one
            elif form == "lost":
                assert standing is None
            else:
                assert standing is not None


@many
@given(traces(), STATE, st.integers(0, 3), st.sampled_from((300, 3_000)))
def test_the_block_stands_at_the_tail_within_its_quota(trace, kept, keep, window):
    strategy = Strategy("own", (Stage(passes=(SlidingWindow(keep=keep), kept)),))
    for view, row in steps(trace, strategy, window):
        blocks = [one for one in view.fragments() if is_state(one)]
        assert len(blocks) <= 1
        if blocks:
            (block,) = blocks
            assert list(view.fragments())[-1] is block
            assert block.tokens <= view.share(kept.quota)
            assert view.scheme.layer(block) == "state"
            assert block.id in view.pins.ids
        assert {one for one in view.pins.ids if one.startswith("keep-state@")} == {one.id for one in blocks}
        late = [one for one in view.log[view.turns[-1] // STRIDE :] if one.answers]
        assert late or not row.repairs
