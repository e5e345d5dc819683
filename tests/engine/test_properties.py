"""What holds for every trace, strategy, window and threshold."""

import os
from dataclasses import dataclass

from arbitrary import BUDGETS, STRATEGY, WINDOWS, own_strategies, traces
from checking import faults, steps
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sketch import shown, sketch, until, words

from ctxbudget.passes.clear_tool_results import ClearToolResults
from ctxbudget.passes.hard_limit import HardLimit
from ctxbudget.passes.prune_middle import PruneMiddle
from ctxbudget.replay import replay
from ctxbudget.replay.harness import Harness
from ctxbudget.strategy import Stage, Strategy
from ctxbudget.strategy.naming import find
from ctxbudget.trace import Edit, Form
from ctxbudget.view import ENGINE, RECORDED, is_state, stand_in

EXAMPLES = int(os.environ.get("CTXBUDGET_EXAMPLES", "120"))
"""More of them where the engine itself is being worked on."""
many = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
some = settings(many, max_examples=max(1, EXAMPLES // 2))


def removed_by_recording(trace, turn, strategy):
    if RECORDED not in strategy.passes:
        return frozenset()
    return frozenset(one for each in trace.recorded if each.turn <= turn for one in each.edit.removed)


@many
@given(traces(), STRATEGY, WINDOWS)
def test_every_view_is_valid(trace, strategy, window):
    for view, row in steps(trace, strategy, window):
        found = list(faults(view, view.log, facts=removed_by_recording(trace, row.turn, strategy)))
        assert not found, (row.turn, found, shown(view.fragments()))


@many
@given(traces(), STRATEGY, WINDOWS)
def test_totals_are_sums(trace, strategy, window):
    before = []
    for view, row in steps(trace, strategy, window):
        live = list(view.fragments())
        assert row.tokens == sum(one.tokens for one in live) == sum(row.layers.values()) == sum(row.kinds.values())
        seen = view.follower("harness", Harness)
        assert seen.counted == sum(one.counted for one in live)
        assert seen.chars == sum(len(one.text) for one in live)
        assert view.pins.tokens == sum(one.tokens for one in live if one.id in view.pins.ids)
        assert row.prefix == common(before, live)
        assert row.overflow == (row.tokens > window)
        assert row.tokens == row.before - sum(change.before - change.after for change in row.edits)
        before = live


def common(before, after):
    """Tokens of the fragments at the start that are the same."""
    tokens = 0
    for old, new in zip(before, after, strict=False):
        if old is not new and old != new:
            break
        tokens += new.tokens
    return tokens


@many
@given(traces(), own_strategies(), WINDOWS)
def test_edits_shrink_their_place_and_leave_alone_what_is_pinned(trace, strategy, window):
    """A new stand-in is smaller than what it stands for: a budget that divides anew may replace its own by a larger."""
    for view, row in steps(trace, strategy, window):
        for change in row.edits:
            new = [one for one in change.inserted if one.form is not None and not is_state(one)]
            replaced = {*change.removed, *(old for one in new for old in one.stands_for)}
            if change.by not in (ENGINE, RECORDED) and new:
                assert change.after < sum(view.known[old].tokens for old in replaced), change
            rewritten = {one.id for one in change.inserted if is_state(one)}
            if change.by not in (ENGINE, RECORDED):
                assert view.pins.ids.isdisjoint({*change.removed} - rewritten), change
            assert change.removed or change.inserted


@some
@given(traces(), STRATEGY, WINDOWS)
def test_edits_of_one_plan_do_not_overlap(trace, strategy, window):
    for view, _ in steps(trace, strategy, window):
        for stage in strategy.stages:
            for one in stage.passes:
                edits = [edit for edit in one.plan(view) if hasattr(edit, "removed")]
                removed = [old for edit in edits for old in edit.removed]
                assert len(removed) == len(set(removed))
                assert all(old in view for old in removed)


@many
@given(traces(), STRATEGY, WINDOWS)
def test_passes_ask_before_they_cut(trace, strategy, window):
    """Repairs are the fallback: only a late result of a unit that is gone, or a recorded edit, may need one."""
    for view, row in steps(trace, strategy, window):
        if row.repairs and RECORDED not in strategy.passes:
            late = [one for one in view.log[view.turns[-1] // (1 << 20) :] if one.answers]
            assert late, row.edits


TWO_RESULTS = sketch("S10 U1 | c3:10 r3:12&m3:20 U1")
"""A call with a text and a picture."""


@many
@given(traces(), STRATEGY, WINDOWS)
@example(TWO_RESULTS, Strategy("own", (Stage(passes=(ClearToolResults(keep=0, clear_inputs=True),)),)), 60)
@example(
    sketch("S10 U1 | A1 U1 | A1 U1 | A1 U1 | c1:1 r1:1 U16"),
    Strategy("own", (Stage(passes=(PruneMiddle(limit=0.5, keep_first=False, keep_last=1),)),)),
    60,
)
@example(
    sketch("S10 U1 | A1 U4&I15 | A1 U1 | A1 U1 | c1:1 r1:1 U1"),
    Strategy("own", (Stage(passes=(PruneMiddle(limit=0.5, keep_first=False, keep_last=1),)),)),
    60,
)
@example(
    sketch("U108 | c1=Grep:95 v1!:79&I3 | H366 R100 c2:366 r2!:476"),
    Strategy("own", (Stage(passes=(HardLimit(limit=0.5, notice="[{messages} gone]"),)),)),
    95,
)
def test_planning_again_plans_nothing(trace, strategy, window):
    """Where no late result of a unit that is gone had to be taken out after the passes had planned with it."""
    from ctxbudget.layers import AGENT
    from ctxbudget.replay import _arrive, _row, _view, mend
    from ctxbudget.replay.stages import Runner

    view = _view(trace, strategy, window, words, 0, AGENT, None)
    runner = Runner(view, strategy)
    for turn in trace.turns:
        edits = tuple(one.edit for one in trace.recorded if one.turn == turn.index)
        runner.begin()
        view.begin(turn.index, edits)
        if RECORDED in strategy.passes:
            for edit in edits:
                view.unpin(edit.removed)
        _arrive(view, runner, turn, trace.entering(turn))
        runner.run("call")
        runner.run("overflow")
        row = _row(view, runner, 0, mend(view))
        runner.sent()
        if (
            not row.repairs
            and len(strategy.stages) == 1
            and len(strategy.stages[0].passes) == 1
            and strategy.stages[0].at in ("call", "overflow")
        ):
            runner.begin()
            runner.run(strategy.stages[0].at)
            assert not runner.changes, (turn.index, runner.changes)


@some
@given(traces(), STRATEGY, WINDOWS)
def test_replay_twice_is_the_same(trace, strategy, window):
    assert replay(trace, strategy, window=window, count=words) == replay(trace, strategy, window=window, count=words)


@some
@given(traces(), STRATEGY, WINDOWS, st.data())
def test_nothing_looks_ahead(trace, strategy, window, data):
    turn = data.draw(st.integers(1, len(trace.turns)))
    strategy = Strategy(strategy.name, strategy.stages, (), strategy.atomic_loops)
    whole = replay(trace, strategy, window=window, count=words)
    part = replay(until(trace, turn), strategy, window=window, count=words)
    assert part.turns == whole.turns[:turn]


@some
@given(traces(), WINDOWS)
def test_none_equals_the_log(trace, window):
    for view, row in steps(trace, find("none"), window):
        assert list(view.fragments()) == list(trace.fragments[: trace.turns[row.turn - 1].stop])
        assert not row.edits
        assert row.survival == {"whole": len(view.log)}
        assert row.prefix == row.before - sum(one.tokens for one in trace.entering(trace.turns[row.turn - 1]))


@many
@given(traces(), STRATEGY, WINDOWS)
def test_survival_and_lives_tell_the_same_story(trace, strategy, window):
    run = replay(trace, strategy, window=window, count=words)
    forms = {}
    for life in run.lives:
        assert life.since <= life.until
        for turn in range(life.since, life.until + 1):
            assert (life.id, turn) not in forms
            forms[life.id, turn] = life.form
    for (view, row), expected in zip(steps(trace, strategy, window), run.turns, strict=True):
        assert row == expected
        counts = {}
        for one in view.log:
            form = forms[one.id, row.turn]
            counts[form] = counts.get(form, 0) + 1
            standing = view.stand_for(one.id)
            if form == "whole":
                assert standing == one
            elif form == "lost":
                assert standing is None, (one.id, standing)
            else:
                assert standing is not None
                assert standing.form is None or standing.form.value == form
        assert counts == row.survival
    assert len(forms) == sum(len(trace.turns) - one.turn + 1 for one in trace.fragments[: trace.turns[-1].stop])


@many
@given(traces(), BUDGETS, WINDOWS)
def test_a_budget_fits_or_says_that_it_cannot_and_needs_no_repair(trace, budget, window):
    strategy = Strategy("own", (Stage(passes=(budget,)),))
    for _, row in steps(trace, strategy, window):
        assert not row.repairs
        assert row.tokens <= window or any(note.code == "cannot-fit" for note in row.notes)


@dataclass(frozen=True, slots=True)
class Careless:
    """Removes and shortens what it likes, and asks nobody: the kind of plug-in the rules are checked for."""

    every: int
    shorten: int

    def plan(self, view):
        for at, one in enumerate(view.fragments()):
            if at % self.every == 0:
                yield Edit("careless", (one.id,))
            elif at % self.shorten == 0 and (new := stand_in(view, one, "short", Form.TRUNCATED)) is not None:
                yield Edit("careless", (one.id,), (new,), Form.TRUNCATED)


@many
@given(traces(compactions=False), st.integers(1, 5), st.integers(1, 5), st.sampled_from(((), ("task",))), WINDOWS)
def test_a_careless_pass_is_mended(trace, every, shorten, pin, window):
    strategy = Strategy("own", (Stage(passes=(Careless(every, shorten),)),), pin=pin)
    for view, row in steps(trace, strategy, window):
        live = list(view.fragments())
        assert not list(faults(view, view.log)), shown(live)
        assert row.tokens == sum(one.tokens for one in live)
        assert view.pins.tokens == sum(one.tokens for one in live if one.id in view.pins.ids)
        assert sum(row.survival.values()) == len(view.log)
