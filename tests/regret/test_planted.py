"""Planted answers under every preset: what is missed is found, all of it and nothing else."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted import OPS, STORIES, Teller
from running import Swap, presets, regret_of, run_of, seen, swapping

from ctxbudget.evidence import Signal, holds, index
from ctxbudget.regret import Sight

SOME = settings(max_examples=15, deadline=None)
LONG = st.lists(OPS, min_size=20, max_size=40)
PRESETS = presets()


def told(ops):
    teller = Teller()
    return teller, teller.tell(ops)


@pytest.mark.parametrize("name", PRESETS)
@SOME
@given(LONG)
def test_losses_are_the_uses_that_no_fragment_of_the_view_holds(name, ops):
    teller, trace = told(ops)
    view = cache(lambda turn: seen(trace, PRESETS[name], turn))
    found = regret_of(trace, PRESETS[name])
    for kind, planted in ((Signal.EDIT, teller.d1), (Signal.ARGUMENT, teller.d2)):
        uses = index(trace).of(kind)
        assert len(uses) == len(planted)
        wanted = [
            use.fragment
            for use, (_, held, *_) in zip(uses, planted, strict=True)
            if not {one.id for one in held} & {one.id for one in view(use.turn)}
            and not any(holds(one.text, use) for one in view(use.turn))
        ]
        missing = (*found.of(kind), *(loss for loss in found.recalls if loss.use.kind is kind))
        assert sorted(loss.use.fragment for loss in missing) == sorted(wanted)
        assert name == "external-memory" or not found.recalls


@pytest.mark.parametrize("name", PRESETS)
@SOME
@given(LONG)
def test_stale_copies_and_loops_are_judged_by_what_stands_in_view(name, ops):
    teller, trace = told(ops)
    view = cache(lambda turn: {one.id for one in seen(trace, PRESETS[name], turn)})
    recorded = {one.id for one in trace.fragments}
    texts = cache(lambda turn: [one.text for one in seen(trace, PRESETS[name], turn) if one.id not in recorded])
    found = regret_of(trace, PRESETS[name])
    stale = [
        (call.id, changed.id)
        for (call, copies, changed), use in zip(teller.d4, index(trace).of(Signal.STALE), strict=True)
        if changed.id not in view(call.turn - 1)
        and ({one.id for one in copies} & view(call.turn - 1) or any(holds(text, use) for text in texts(call.turn - 1)))
    ]
    assert [(use.fragment, use.changed) for use in found.stale] == stale
    unseen = [call for call, before in teller.d6 if not {one.id for one in before} & view(call.turn - 1)]
    assert (found.repeats.loops, found.repeats.loops_unseen) == (len(teller.d6), len(unseen))


@SOME
@given(STORIES)
def test_nothing_is_missed_where_nothing_is_removed(ops):
    _, trace = told(ops)
    found = regret_of(trace)
    assert (found.losses, found.recalls, found.stale, found.tokens, found.turns) == ((), (), (), 0, 0)
    assert found.trail.lost == ()


@SOME
@given(STORIES)
def test_removing_a_source_costs_exactly_the_uses_that_had_no_other(ops):
    _, trace = told(ops)
    last = {fragment.id: fragment for fragment in trace.fragments}
    uses = [use for use in index(trace).uses if use.kind in {Signal.EDIT, Signal.ARGUMENT}]
    for source in {use.sources[0]: None for use in uses if len(use.sources) == 1 and last[use.sources[0]].answers}:
        at = last[source].turn
        found = regret_of(trace, swapping(Swap(source, at, ".")))
        alone = [use.fragment for use in uses if use.sources == (source,) and use.turn >= at]
        assert [loss.use.fragment for loss in found.losses] == alone
        assert {loss.last for loss in found.losses} <= {source}
        assert [loss.tokens for loss in found.losses] == [last[source].tokens, *[0] * (len(alone) - 1)]


@SOME
@given(STORIES)
def test_an_irrelevant_observation_changes_nothing(ops):
    _, trace = told(ops)
    noisy = Teller()
    for op, *rest in ops:
        getattr(noisy, op)(*rest)
        noisy.story.note("def step_9(order):\n    return order.total\nrq-9c5492, 77123, /w/shop/part9.py")
    other = noisy.story.end()
    plain, more = regret_of(trace, PRESETS["sliding-window"]), regret_of(other, PRESETS["sliding-window"])
    assert [_told(loss) for loss in plain.losses] == [_told(loss) for loss in more.losses]
    assert (plain.tokens, plain.turns, len(plain.stale)) == (more.tokens, more.turns, len(more.stale))
    assert (plain.repeats, plain.trail) == (more.repeats, more.trail)


def _told(loss):
    return loss.use.kind, loss.use.turn, loss.use.text, loss.gone, loss.form, loss.tokens


@SOME
@given(STORIES)
def test_lives_say_what_the_views_hold(ops):
    _, trace = told(ops)
    for strategy in (PRESETS["category-budget"], PRESETS["sliding-window"]):
        sight = Sight(trace, run_of(trace, strategy))
        for turn in trace.turns:
            whole = {one.id for one in trace.fragments if sight.whole(one.id, turn.index)}
            put = {
                one
                for one, spans in sight.inserted.spans.items()
                if any(since <= turn.index <= until for since, until in spans)
            }
            assert whole | put == {one.id for one in seen(trace, strategy, turn.index)}
