"""Losses one by one, with their turn numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from running import Swap, regret_of, run_of, swapping
from stories import Story, edit, numbered, read

from ctxbudget.cost import cost, saving
from ctxbudget.evidence import Signal

PRICE, TOTAL = "    return order.price_in_cents", "    return sum(map(price, orders))"
FILE = numbered("def price(order):", PRICE, "", "def total(orders):", TOTAL, *["# and so on, and so on"] * 40)


def session():
    """pay.py is read at turn 1 and edited at turns 4 and 5."""
    story = Story("Look at pay.py.")
    _, shown = story.do(*read("/w/pay.py"), FILE)
    story.do("Bash", {"command": "ls"}, "pay.py")
    story.do("Bash", {"command": "date"}, "Monday")
    story.do(*edit("/w/pay.py", PRICE, "    return order.cents"))
    story.do(*edit("/w/pay.py", TOTAL, "    return 0"))
    story.do("Bash", {"command": "pytest"}, "ok")
    return story.end(), shown


def told(loss):
    return loss.use.kind, loss.use.turn, loss.last, loss.gone, loss.form, loss.tokens


def test_a_source_is_fetched_once_per_gap():
    trace, shown = session()
    found = regret_of(trace, swapping(Swap(shown.id, 3, "[cleared]")))
    tokens = next(one.tokens for one in trace.fragments if one.id == shown.id)
    assert [told(loss) for loss in found.losses] == [
        (Signal.EDIT, 4, shown.id, 3, "cleared", tokens),
        (Signal.EDIT, 5, shown.id, 3, "cleared", 0),
    ]
    assert (found.tokens, found.turns) == (tokens, 1)


def test_a_stand_in_that_still_holds_the_string_is_a_source():
    trace, shown = session()
    found = regret_of(trace, swapping(Swap(shown.id, 3, f"[shortened]\n{PRICE}", "digest")))
    assert [told(loss)[1:5] for loss in found.losses] == [(5, shown.id, 3, "digest")]


def test_a_source_in_a_store_is_a_recall():
    trace, shown = session()
    found = regret_of(trace, swapping(Swap(shown.id, 3, "pay.py: in the store", "offloaded")))
    assert found.losses == ()
    assert [told(loss)[1:5] for loss in found.recalls] == [(4, shown.id, 3, "offloaded"), (5, shown.id, 3, "offloaded")]
    assert found.recalled == next(one.tokens for one in trace.fragments if one.id == shown.id)


def test_what_the_agent_read_again_is_in_the_log_already():
    story = Story("Look at pay.py.")
    _, shown = story.do(*read("/w/pay.py"), FILE)
    story.do("Bash", {"command": "ls"}, "pay.py")
    _, again = story.do(*read("/w/pay.py"), FILE)
    story.do(*edit("/w/pay.py", PRICE, "x"))
    trace = story.end()
    assert regret_of(trace, swapping(Swap(shown.id, 3, "[cleared]"))).losses == ()
    both = regret_of(trace, swapping(Swap(shown.id, 3, "[cleared]"), Swap(again.id, 4, "[cleared]")))
    assert [told(loss)[1:4] for loss in both.losses] == [(4, again.id, 4)]
    assert (both.repeats.again, both.repeats.unseen) == (1, 1)


def test_a_stale_copy_counts_where_the_change_is_gone_and_the_copy_is_not():
    story = Story("Look at pay.py.")
    story.do(*read("/w/pay.py"), FILE)
    changed, _ = story.do(*edit("/w/pay.py", PRICE, "    return order.cents"))
    story.do("Bash", {"command": "ls"}, "pay.py")
    story.do(*edit("/w/pay.py", TOTAL, "    return 0"))
    trace = story.end()
    assert regret_of(trace).stale == ()
    found = regret_of(trace, swapping(Swap(changed.id, 4)))
    assert [(use.turn, use.changed) for use in found.stale] == [(4, changed.id)]
    assert found.losses == ()


def test_the_trail_needs_the_last_call_or_something_later_that_names_the_path():
    trace, _ = session()
    last = next(one for one in trace.fragments if one.asks and one.turn == 6)
    assert regret_of(trace, swapping(Swap(last.id, 7))).trail.lost == ("/w/pay.py",)
    assert regret_of(trace, swapping(Swap(last.id, 7, "Edit /w/pay.py"))).trail.kept == 1


def test_the_price_is_that_of_the_list():
    trace, shown = session()
    priced = replace(trace, model="claude-opus-4-5")
    strategy = swapping(Swap(shown.id, 3, "[cleared]"))
    run, found = run_of(priced, strategy), regret_of(priced, strategy)
    one = cost(priced, run, found)
    fresh = one.sent - one.prefix
    assert one.price == pytest.approx((0.5 * one.prefix + 6.25 * fresh + 25 * one.output) / 1e6)
    assert one.fetches == pytest.approx((0.5 * run.turns[3].tokens + 6.25 * found.tokens) / 1e6)
    full = cost(priced, run_of(priced), regret_of(priced))
    saved = saving(one, full)
    assert saved.net == pytest.approx(full.price - one.price - one.fetches)
    assert cost(trace, run, found).price is None
    assert saving(cost(trace, run, found), full) is None
