"""The replay cases of ``shared/cases``, on the same shapes sketched small: batches, open calls, mixed messages,
nothing removable, inflation, endless loops. The files themselves are read in ``tests/test_cases.py``.
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from checking import faults, steps
from sketch import compaction, shown, sketch, words

from ctxbudget.loaders import load
from ctxbudget.replay import replay, view_at
from ctxbudget.strategy import Stage, Strategy
from ctxbudget.strategy.naming import find
from ctxbudget.trace import Edit, Form
from ctxbudget.view import stand_in

CASES = Path("/work/shared/cases") if Path("/work/shared/cases").is_dir() else Path(__file__).parents[1] / "cases"


def kept(view):
    return {one.message for one in view.fragments() if one.form is None and one.message >= 0}


def test_c37_the_last_messages_never_cut_a_batch():
    trace = sketch("S4 U5 | c1:3 r1:3 | A4 U5 | c2:3 c3:3 c4:3 r2:1 r3:1 r4:1 | A3 U1")
    for keep in range(1, 12):
        for view, row in steps(trace, find(f"sliding-window:unit=messages,keep={keep}"), 1_000):
            assert not list(faults(view, view.log)), (keep, row.turn, shown(view.fragments()))
            batch = {6, 7, 8, 9} & kept(view)
            assert batch in (set(), {6, 7, 8, 9})
    view = view_at(trace, find("sliding-window:unit=messages,keep=3"), 4, window=1_000, count=words)
    assert kept(view) == {0, 6, 7, 8, 9}


def test_c39_forgetting_one_result_of_a_batch_forgets_the_batch():
    text = "S5 U3 | c1:3 c2:3 r1:2 r2:2 | c3:3 r3:2"
    trace = sketch(text, recorded=(compaction(3, "t2.2", "k1 was echoed."),))
    run = replay(trace, "as-recorded", window=1_000, count=words)
    view = view_at(trace, "as-recorded", 3, window=1_000, count=words)
    assert shown(view.fragments()) == "S5 U3 Y3 c3:3 r3:2"
    assert run.totals.repairs == 1
    assert len(list(view.fragments())) == 5


LOOP = "S5 U3 | H3 c0:3 r0:2 | c1:3 r1:2 | c2:3 r2:2 | c3:3 r3:2 | c4:3 r4:2 | c5:3 r5:2"


def test_c41_an_atomic_loop_leaves_nothing_removable():
    strategy = replace(find("sliding-window:keep=2,when=10"), atomic_loops=True, pin=("user",))
    run = replay(sketch(LOOP), strategy, window=1_000, count=words)
    assert not any(row.edits for row in run.turns)
    assert "nothing-removable" in {note.code for note in run.turns[-1].notes}
    assert run.turns[-1].tokens == run.turns[-1].before


def test_c41_by_default_only_the_thinking_of_the_loop_stays():
    view = view_at(sketch(LOOP), find("sliding-window:keep=2"), 7, window=1_000, count=words)
    assert shown(view.fragments()) == "S5 I~noticed H3 c4:3 r4:2 c5:3 r5:2"


def test_c41_an_empty_condensation_saves_nothing():
    trace = sketch(LOOP, recorded=(compaction(7, "", "nothing was forgotten here"),))
    run = replay(trace, "as-recorded", window=1_000, count=words)
    assert run.turns[-1].tokens > run.turns[-1].before
    assert [change.freed for change in run.turns[-1].edits] == [-4]


@dataclass(frozen=True, slots=True)
class Inflating:
    """A summariser gone wrong."""

    def plan(self, view):
        old = [one for one in view.editable(view.end) if one.message >= 0]
        put = replace(
            old[0],
            id="sum",
            text="blah " * 152,
            tokens=152,
            counted=152,
            stands_for=tuple(one.id for one in old),
            form=Form.SUMMARY,
        )
        yield Edit("inflating", tuple(one.id for one in old), (put,), Form.SUMMARY)


def test_c42_a_summary_larger_than_what_it_replaces_is_refused():
    trace = sketch("S3 U9 | A9 U9 | A9 U9")
    run = replay(trace, Strategy("own", (Stage(passes=(Inflating(),)),)), window=1_000, count=words)
    assert not any(row.edits for row in run.turns)
    assert all(row.tokens == row.before for row in run.turns)
    assert {note.code for note in run.turns[-1].notes} == {"not-smaller"}


def test_c42_a_stand_in_is_never_larger_than_its_fragment():
    view = view_at(sketch("S3 U9 | c1:3 r1:5"), "none", 2, window=1_000, count=words)
    assert stand_in(view, view.known["t2.1"], "one two three four five", Form.CLEARED) is None
    assert stand_in(view, view.known["t2.1"], "one two three four", Form.CLEARED).tokens == 4


@pytest.mark.parametrize(
    "strategy", ["priority", "sliding-window:keep=1,when=0.8", "hard-limit:when=0.8", "five-layer", "category-budget"]
)
def test_c43_what_can_never_fit_ends_and_says_so(strategy):
    trace = sketch("S1890 U5 | " + " | ".join("A5 U5" for _ in range(7)))
    run = replay(trace, strategy, window=1_000, count=words)
    assert len(run.turns) == 8
    assert all(row.overflow for row in run.turns)
    assert (
        "cannot fit: fixed part 1,890 > 1,000" in {note.message for note in run.turns[-1].notes}
        or strategy == "category-budget"
    )
    assert "cannot-fit" in {note.code for note in run.turns[-1].notes}
    assert run.totals.firings <= 8


def test_c47_a_mixed_user_message_keeps_its_text_and_no_orphan():
    trace = sketch("S4 U3 | R2 c1:5 r1:2&U6 | A2 U3 | A2 U1")
    for strategy in (
        "evict-by-priority:tail_turns=1",
        "sliding-window:keep=2",
        "category-budget",
        "hard-limit:limit=12",
    ):
        for view, _ in steps(trace, replace(find(strategy), pin=("user",)), 1_000):
            assert not list(faults(view, view.log))
            assert len(view.log) < 6 or "t2.3" in view
    view = view_at(trace, replace(find("evict-by-priority:tail_turns=1"), pin=("user",)), 4, window=1_000, count=words)
    assert shown(view.fragments()) == "S4 U3 U6 U3 A2 U1"


@pytest.mark.parametrize(
    "strategy",
    [
        "sliding-window:keep=1",
        "sliding-window:keep=1,unit=messages",
        "hard-limit:limit=5",
        "repair-pairs",
        "category-budget",
        "priority",
    ],
)
def test_c49_an_unanswered_call_at_the_end_stays_pending(strategy):
    run = replay(sketch("S9 U3 | R1 c1:4 c2:4 r1:1"), strategy, window=1_000, count=words)
    view = view_at(sketch("S9 U3 | R1 c1:4 c2:4 r1:1"), strategy, 2, window=1_000, count=words)
    assert {one.call for one in view.fragments() if one.asks} == {"1", "2"}
    assert run.excepted == ("call t2.2 (Read, turn 1) was not answered",)


def test_c51_results_out_of_order_stay_with_their_calls():
    trace = sketch("U4 | c1:5 c2:5 c3:5 r3:41 r1:2 r2:12 | A5 U1")
    for keep in range(1, 8):
        view = view_at(trace, find(f"sliding-window:unit=messages,keep={keep}"), 3, window=1_000, count=words)
        assert len([one for one in view.fragments() if one.call]) in (0, 6)
        assert not list(faults(view, view.log))


def test_c52_a_view_never_starts_with_a_result():
    trace = sketch("U3 | c1:6 c2:6 r1:3 r2:3 | A6 U3 | A1 U1")
    for limit in range(1, 32):
        for view, _ in steps(trace, find(f"hard-limit:limit={limit + 1}"), 1_000):
            first = next(view.fragments())
            assert first.role == "user"
            assert not first.answers
            assert not list(faults(view, view.log))


def test_c54_all_but_the_last_five_results_are_cleared():
    text = "U5 | " + " | ".join(f"c{number}:3 r{number}:124" for number in range(1, 8))
    trace = sketch(text)
    marker = "[old tool output removed]"
    run = replay(trace, find(f"clear-tool-results:keep=5,text={marker}"), window=10_000, count=words)
    view = view_at(trace, find(f"clear-tool-results:keep=5,text={marker}"), 8, window=10_000, count=words)
    assert [one.stands_for for one in view.fragments() if one.form is Form.CLEARED] == [("t2.1",), ("t3.1",)]
    assert (
        len([one for one in view.fragments() if one.asks]) == len([one for one in view.fragments() if one.answers]) == 7
    )
    total = sum(one.tokens for one in trace.fragments)
    assert run.turns[-1].tokens == total - 2 * 124 + 2 * words(marker)


@pytest.mark.parametrize("case", ["C37", "C39", "C41", "C43", "C47", "C49", "C51", "C54"])
def test_the_files_of_the_cases_replay_validly_under_every_preset(case):
    names = ("chat.json", "session.jsonl", "events.json")
    path = next(path for path in sorted((CASES / case).iterdir()) if path.name in names)
    trace = load(str(path))[0]
    for name in (
        "none",
        "sliding-window:keep=1",
        "category-budget",
        "tool-result-clearing:when=50",
        "five-layer",
        "priority",
    ):
        for view, row in steps(trace, find(name), 1_000, count=lambda text: len(text) // 4 + 1):
            assert not list(faults(view, view.log)), (name, row.turn, shown(view.fragments()))
    assert json.loads((path.parent / "expected.json").read_text())["kind"].startswith("compaction")
