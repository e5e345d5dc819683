"""The samples by hand: what a strategy would have taken away, with the turn numbers."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from ctxbudget.comparing import compare
from ctxbudget.evidence import index
from ctxbudget.loaders import Options, load
from ctxbudget.regret import regret, touched
from ctxbudget.replay import replay
from ctxbudget.strategy.naming import find
from ctxbudget.trace import named_turn

SAMPLES = Path(__file__).parents[2] / "sample_traces"


@cache
def rows(name, *strategies, window=120_000, options=()):
    found = compare(SAMPLES / name, strategies, window=window, options=options, placebo=False, calibrate=False)
    return {row.strategy: row for row in found.pooled}


def told(row):
    return [(loss.signal, loss.turn, loss.seen, loss.gone) for loss in row.losses]


def test_the_last_twenty_turns_of_the_migration():
    # The window of 20 turns ends before turn 9 at turn 29: config.py as read at turn 8 is gone, and turn 32 edits it.
    # Turn 52 repeats an edit whose old text stood in the read of turn 8 and in the call of turn 22, gone at turn 43.
    row = rows("migrate_module.jsonl", "sliding-window")["sliding-window"]
    assert told(row) == [("D1", 32, 8, 29), ("D1", 52, 22, 43)]
    assert (row.evidence_kept, row.evidence) == (42, 44)
    assert (row.losses[1].tokens, row.fetch_turns) == (0, 1)
    first = f"turn 32 edits billing/config.py with text last seen at turn 8, removed at turn 29: {row.fetch_tokens:,}"
    assert row.losses[0].text == f"{first} tokens to read again"
    assert row.losses[1].text.endswith("removed at turn 43: read again already for an earlier use")
    assert row.regret == "would have removed the only visible source of 2 later edits"


LOST = [
    # A result of turn n enters at n + 1, and of k turns in view the first is t - k + 1: so it is gone at n + 1 + k.
    ("refund_support.json", 4, 18, "ST-077", 1, 6),  # the shop's number, with the user's first message
    ("refund_support.json", 4, 21, "rq-37a5c5492c", 5, 10),  # the request that timed out at turn 5
    ("refund_support.json", 4, 28, "RT-1184", 2, 7),  # the number of the return
    ("order_supplies.json", 3, 36, "SF-120", 32, 36),  # the cheaper cleaner: found at 26, named at 27 and 32
    ("forensic_review.jsonl", 10, 24, "http://portal.harbour.example/portal", 1, 12),  # in the README only
    ("forensic_review.jsonl", 10, 48, "23810", 33, 44),  # a payment: in the table of turn 15, last shown at turn 33
    ("migrate_module.jsonl", 5, 10, "/work/shop/billing/lines.py", 4, 10),  # the list of files of turn 4
    ("migrate_module.jsonl", 5, 19, "def is_exempt(market, kind):", 7, 13),  # rates.py was read at turn 7
    ("migrate_module.jsonl", 5, 26, "from billing import config", 15, 21),  # eight files show it, the last at 15
]


@cache
def losses(name, keep):
    (trace,) = load(str(SAMPLES / name), Options(calibrate=False))
    run = replay(trace, find("sliding-window", settings=[f"keep={keep}"]), window=120_000, count=len)
    found = regret(trace, run, index(trace), touched(trace))
    turns = {fragment.id: named_turn(fragment) for fragment in trace.fragments}
    return found, [(loss.use.turn, loss.use.text[0], turns[loss.last], loss.gone) for loss in found.losses]


@pytest.mark.parametrize("name, keep, turn, needed, seen, gone", LOST)
def test_what_was_out_of_view_and_since_when(name, keep, turn, needed, seen, gone):
    assert (turn, needed, seen, gone) in losses(name, keep)[1]


def test_what_one_read_shows_is_fetched_once():
    # Thirteen paths of the list of turn 4 are used from turn 10 to 16; the list is fetched for the first of them.
    found, _ = losses("migrate_module.jsonl", 5)
    listed = [loss for loss in found.losses if loss.use.text[0].startswith("/work/shop/")]
    assert [loss.tokens > 0 for loss in listed] == [True, *[False] * 12]


def test_a_repeated_read_without_the_first_in_view_is_no_waste():
    # clock.py at turns 8 and 12, test_planner.py at 4 and 20: with two turns in view both had to be asked for again.
    found, _ = losses("fix_failing_test.traj", 2)
    assert (found.repeats.again, found.repeats.unseen, found.losses) == (2, 2, ())
    whole, _ = losses("fix_failing_test.traj", 30)
    assert (whole.repeats.again, whole.repeats.unseen) == (2, 0)


@pytest.mark.parametrize("name", ["forensic_review.jsonl", "fix_failing_test.traj"])
def test_nothing_is_missed_in_the_full_log(name):
    row = rows(name, "none", window=1_000_000)["none"]
    assert (row.evidence_kept, row.fetch_tokens, row.losses, row.saving) == (row.evidence, 0, [], 0.0)
