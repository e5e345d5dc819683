"""The samples, three uses or more of each, looked up by hand: turn, what was needed, where it had been seen."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from ctxbudget.evidence import Signal, index
from ctxbudget.loaders import Options, load
from ctxbudget.trace import named_turn

SAMPLES = Path(__file__).parents[2] / "sample_traces"

FOUND = [
    # Turn 8 read config.py as it was, the grep of turn 37 and the read of turn 38 show the setting, and 39 edits it.
    ("migrate_module.jsonl", "D1", 39, 'ROUNDING = "half_even"', "config.py", (8, 37, 38)),
    # The read of turn 7 is the only place with the rates' function.
    ("migrate_module.jsonl", "D1", 19, "def is_exempt(market, kind):", "rates.py", (7,)),
    # The edit of turn 22 once more: its old text stands in the read of turn 8 and in the call of turn 22 itself.
    ("migrate_module.jsonl", "D1", 52, 'AMOUNTS = "float"', "config.py", (8, 22)),
    # That copy is of turn 8; turns 22, 32 and 39 changed the file.
    ("migrate_module.jsonl", "D4", 52, 'AMOUNTS = "float"', "config.py", (8,)),
    ("migrate_module.jsonl", "D4", 32, "TOLERANCE = 0.02", "config.py", (8,)),
    # Only the list of files of turn 4 has the absolute path.
    ("migrate_module.jsonl", "D2", 8, "/work/shop/billing/config.py", "config.py", (4,)),
    ("migrate_module.jsonl", "D5", 53, None, "config.py", (8, 38)),
    ("migrate_module.jsonl", "D5", 50, None, "MIGRATION.md", (1,)),
    ("migrate_module.jsonl", "D5", 36, None, "pricing_v1.py", (16,)),
    # The request id of the time-out of turn 5.
    ("refund_support.json", "D2", 21, "rq-37a5c5492c", "get_refund_status", (5,)),
    # The customer's number: on the invoice (turn 1) and on the parcel (turn 8).
    ("refund_support.json", "D2", 12, "C-2071", "update_address", (1, 8)),
    # The number of the return, seen at turn 2, for the summary of turn 28.
    ("refund_support.json", "D2", 28, "RT-1184", "send_summary", (2,)),
    # The amount of the quote of turn 39, ordered at turn 40.
    ("order_supplies.json", "D2", 40, "4944.00", "place_order", (39,)),
    # The cheaper cleaner: found at turn 26, named in two other articles.
    ("order_supplies.json", "D2", 36, "SF-120", "get_article", (26, 27, 32)),
    ("order_supplies.json", "D2", 43, "SF-510", "set_line", (42,)),
    ("order_supplies.json", "D5", 39, None, "get_quote", (35,)),
    # The address of the portal stands in the README of turn 1 and nowhere else.
    ("forensic_review.jsonl", "D2", 24, "http://portal.harbour.example/portal", "portal", (1,)),
    # An amount of the table of turn 15, sorted out at turn 37.
    ("forensic_review.jsonl", "D2", 38, "313.64", "313.64", (15, 37)),
    # Payment ids: the whole table, then the rows of V08.
    ("forensic_review.jsonl", "D2", 40, "20232", "20232", (15, 37)),
    ("forensic_review.jsonl", "D5", 49, None, "policy.md", (2,)),
    # clock.py at turns 8, 12 and 17; the edit of turn 14 names no file, the file it changed is the open one.
    ("fix_failing_test.traj", "D5", 12, None, "clock.py", (8,)),
    ("fix_failing_test.traj", "D5", 17, None, "clock.py", (8, 12)),
    ("fix_failing_test.traj", "D5", 20, None, "test_planner.py", (4,)),
]

CHANGED = {
    ("migrate_module.jsonl", "D4", 52): 39,
    ("migrate_module.jsonl", "D4", 32): 22,
    ("migrate_module.jsonl", "D5", 53): 39,
    ("migrate_module.jsonl", "D5", 50): None,
    ("migrate_module.jsonl", "D5", 36): None,
    ("order_supplies.json", "D5", 39): 39,
    ("forensic_review.jsonl", "D5", 49): None,
    ("fix_failing_test.traj", "D5", 12): None,
    ("fix_failing_test.traj", "D5", 17): 14,
    ("fix_failing_test.traj", "D5", 20): None,
}

COUNTS = {
    "migrate_module.jsonl": {"D1": 26, "D2": 18, "D4": 5, "D5": 5, "D6": 0},
    "refund_support.json": {"D1": 0, "D2": 6, "D4": 0, "D5": 1, "D6": 0},
    "order_supplies.json": {"D1": 0, "D2": 21, "D4": 0, "D5": 2, "D6": 0},
    "forensic_review.jsonl": {"D1": 0, "D2": 21, "D4": 0, "D5": 1, "D6": 0},
    "fix_failing_test.traj": {"D1": 0, "D2": 0, "D4": 0, "D5": 3, "D6": 0},
}


@cache
def sample(name):
    (trace,) = load(str(SAMPLES / name), Options(calibrate=False))
    return index(trace), {fragment.id: named_turn(fragment) for fragment in trace.fragments}


@pytest.mark.parametrize("name, kind, turn, needed, target, seen", FOUND)
def test_what_was_needed_and_where_it_had_been_seen(name, kind, turn, needed, target, seen):
    evidence, turns = sample(name)
    (use,) = [
        use
        for use in evidence.of(Signal(kind))
        if use.turn == turn and target in (use.target or "") and (needed is None or needed in use.text)
    ]
    assert tuple(turns[id] for id in use.sources) == seen
    assert turns[use.newest] == seen[-1]
    assert (use.changed and turns[use.changed]) == CHANGED.get((name, kind, turn))


@pytest.mark.parametrize("name", COUNTS)
def test_how_many_there_are(name):
    evidence, _ = sample(name)
    assert {kind: len(evidence.of(Signal(kind))) for kind in COUNTS[name]} == COUNTS[name]
    assert evidence.partly == ()


def test_the_edit_that_was_refused_is_marked():
    evidence, _ = sample("migrate_module.jsonl")
    assert [(use.kind, use.turn) for use in evidence.uses if use.failed] == [(Signal.EDIT, 52), (Signal.STALE, 52)]
