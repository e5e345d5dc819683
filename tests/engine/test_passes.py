"""What each pass leaves at the last turn, in sketch notation: readable documentation of its edges."""

import json

import pytest
from checking import steps
from sketch import compaction, shown, sketch, words

from ctxbudget.passes import PASSES, describe, name_of
from ctxbudget.replay import replay, view_at
from ctxbudget.strategy.naming import find
from ctxbudget.trace import Form

THREE = "S9 U5 | c1:3 r1:40 | c2:3 r2:40 | c3:3 r3:40"


def after(text, strategy, window=1_000, **more):
    """The last view, and the codes of the last turn's notes."""
    trace = sketch(text, **more)
    view, row = None, None
    for each in steps(trace, find(strategy), window):
        view, row = each
    return shown(view.fragments()), [note.code for note in row.notes]


CASES = [
    # ── sliding-window
    (THREE, "sliding-window:keep=2", "S9 I~noticed c2:3 r2:40 c3:3 r3:40"),
    (THREE, "sliding-window:keep=9", "S9 U5 c1:3 r1:40 c2:3 r2:40 c3:3 r3:40"),
    (THREE, "sliding-window:keep=1", "S9 I~noticed c3:3 r3:40"),
    (THREE, "sliding-window:keep=0", "S9 I~noticed"),
    # a unit that straddles the edge stays whole: its late result is of the last turn
    ("S9 U5 | c1:3 c2:3 r1:9 | c3:3 r3:9 r2:9", "sliding-window:keep=1", "S9 I~noticed c1:3 c2:3 r1:9 c3:3 r3:9 r2:9"),
    ("S9 U5 | c1:3 r1:9 | A3 U7 | c2:3 r2:9", "sliding-window:keep=2", "S9 I~noticed A3 U7 c2:3 r2:9"),
    # messages: the batch of the third last message is kept whole
    (
        "S9 U5 | c1:3 r1:9 | A3 U7 | c2:3 c3:3 r2:9 r3:9",
        "sliding-window:keep=2,unit=messages",
        "S9 I~noticed c2:3 c3:3 r2:9 r3:9",
    ),
    ("S9 U5 | c1:3 r1:9 | A3 U7 | c2:3 r2:9", "sliding-window:keep=3,unit=messages", "S9 U7 c2:3 r2:9"),
    # a pinned message stays, and what a harness put into a message leaves with it
    ("S9 U5* | c1:3 r1:9&I4 | c2:3 r2:9", "sliding-window:keep=1", "S9 U5 c2:3 r2:9"),
    # the calls of the newest reply may still be answered
    ("S9 U5 | c1:3 c2:3 r1:9 U4", "sliding-window:keep=0", "S9 I~noticed c1:3 c2:3 r1:9"),
    # thinking of the unfinished loop stays while calls rest on it
    ("S9 U5 | H8 c1:3 r1:9 | c2:3 r2:9 | c3:3 r3:9", "sliding-window:keep=1", "S9 I~noticed H8 c3:3 r3:9"),
    ("S9 U5 | H8 c1:3 r1:9 | H8 c2:3 r2:9 | c3:3 r3:9", "sliding-window:keep=1", "S9 I~noticed H8 c3:3 r3:9"),
    ("S9 U5 | H8 c1:3 r1:9 | A3 U5 | c3:3 r3:9", "sliding-window:keep=2", "S9 I~noticed A3 U5 c3:3 r3:9"),
    # ── clear-tool-results
    (THREE, "clear-tool-results:keep=1", "S9 U5 c1:3 r1~cleared c2:3 r2~cleared c3:3 r3:40"),
    (THREE, "clear-tool-results:keep=0", "S9 U5 c1:3 r1~cleared c2:3 r2~cleared c3:3 r3~cleared"),
    (THREE, "clear-tool-results:keep=0,keep_turns=1", "S9 U5 c1:3 r1~cleared c2:3 r2~cleared c3:3 r3:40"),
    (THREE, "clear-tool-results:keep=0,keep_tokens=80", "S9 U5 c1:3 r1~cleared c2:3 r2:40 c3:3 r3:40"),
    (THREE, "clear-tool-results:keep=0,keep_tokens=79", "S9 U5 c1:3 r1~cleared c2:3 r2~cleared c3:3 r3:40"),
    (
        "S9 U5 | c1:3 r1:40 | c2:3 c3:3 r3:40 r2:40",
        "clear-tool-results:keep=0,keep_batches=1",
        "S9 U5 c1:3 r1~cleared c2:3 c3:3 r3:40 r2:40",
    ),
    # results are counted, not messages; those of excluded tools count too
    (
        "S9 U5 | c1=Bash:3 c2:3 r1:40 r2:40 | A3 U9 | c3:3 r3:40",
        "clear-tool-results:keep=1,exclude_tools=Bash",
        "S9 U5 c1:3 c2:3 r1:40 r2~cleared A3 U9 c3:3 r3:40",
    ),
    (
        "S9 U5 | c1=Bash:3 c2:3 r1:40 r2:40 | c3:3 r3:40",
        "clear-tool-results:keep=1,only_tools=Bash",
        "S9 U5 c1:3 c2:3 r1~cleared r2:40 c3:3 r3:40",
    ),
    (
        "S9 U5 | c1=Write:3 c2:3 r1:40 r2:40 | c3:3 r3:40",
        "clear-tool-results:keep=1,classes=read",
        "S9 U5 c1:3 c2:3 r1:40 r2~cleared c3:3 r3:40",
    ),
    (
        "S9 U5 | c1:3 v1:40 c2:3 r2:40 | c3:3 r3:40",
        "clear-tool-results:keep=0,kinds=retrieval",
        "S9 U5 c1:3 v1~cleared c2:3 r2:40 c3:3 r3:40",
    ),
    (
        "S9 U5 | c1:3 r1!:40 c2:3 r2:40 | c3:3 r3:40",
        "clear-tool-results:keep=1,skip_errors=true",
        "S9 U5 c1:3 r1:40 c2:3 r2~cleared c3:3 r3:40",
    ),
    # nothing is replaced by something larger
    ("S9 U5 | c1:3 r1:9 | c2:3 r2:40", "clear-tool-results:keep=0", "S9 U5 c1:3 r1:9 c2:3 r2~cleared"),
    # 118 tokens could go: all of it or nothing, or as much as was asked for
    (
        THREE + " | c4:3 r4:40",
        "clear-tool-results:keep=1,clear_at_least=300",
        "S9 U5 c1:3 r1:40 c2:3 r2:40 c3:3 r3:40 c4:3 r4:40",
    ),
    (
        THREE + " | c4:3 r4:40",
        "clear-tool-results:keep=1,clear_at_least=60",
        "S9 U5 c1:3 r1~cleared c2:3 r2~cleared c3:3 r3~cleared c4:3 r4:40",
    ),
    (
        "S9 U5 | c1:3 c2:3 c3:3 r1:40 r2:40 r3:40",
        "clear-tool-results:keep=0,clear_at_least=29,stop_early=true",
        "S9 U5 c1:3 c2:3 c3:3 r1~cleared r2:40 r3:40",
    ),
    (
        "S9 U5 | c1:30 r1:40 | c2:30 r2:40",
        "clear-tool-results:keep=1,clear_inputs=true",
        "S9 U5 c1~cleared r1~cleared c2:30 r2:40",
    ),
    (THREE, "clear-tool-results:keep=0,arriving=true,at=overflow", "S9 U5 c1:3 r1:40 c2:3 r2:40 c3:3 r3:40"),
    # a stage stops as soon as the view is small enough: the oldest go first
    (
        "S9 U5 | c1:3 c2:3 c3:3 r1:40 r2:40 r3:40",
        "clear-tool-results:keep=0,when=100,until=120",
        "S9 U5 c1:3 c2:3 c3:3 r1~cleared r2:40 r3:40",
    ),
    # ── truncate-results
    ("S9 U5 | c1:3 r1:95", "truncate-results:over=50", "S9 U5 c1:3 r1~truncated"),
    ("S9 U5 | c1:3 r1:50", "truncate-results:over=50", "S9 U5 c1:3 r1:50"),
    ("S9 U95 | c1:3 r1:50", "truncate-results:over=50", "S9 U95 c1:3 r1:50"),
    # ── drop-thinking
    ("S9 U5 | H8 R2 c1:3 r1:9 | H8 A3 U5 | H8 c2:3 r2:9", "drop-thinking", "S9 U5 R2 c1:3 r1:9 A3 U5 H8 c2:3 r2:9"),
    ("S9 U5 | H8 c1:3 r1:9 | H8 c2:3 r2:9", "drop-thinking:keep_turns=0", "S9 U5 H8 c1:3 r1:9 H8 c2:3 r2:9"),
    ("S9 U5 | H8 A3 U5 | H8 A3 U5", "drop-thinking:keep_turns=1", "S9 U5 A3 U5 H8 A3 U5"),
    # ── prune-middle: eight messages, so that two and the newest stay
    (
        "S9 U5 | c1:3 r1:40 | c2:3 r2:40 | c3:3 r3:40 | A3 U9",
        "prune-middle:limit=100",
        "S9 U5 I~noticed c3:3 r3:40 A3 U9",
    ),
    ("S9 U5 | c1:3 r1:40", "prune-middle:limit=100", "S9 U5 c1:3 r1:40"),
    ("S9 U5 | c1:3 r1:40 | c2:3 r2:40 | c3:3 r3:40 | A3 U9", "prune-middle:limit=30", "S9 U5 I~noticed A3 U9"),
    ("S9 U5 | c1:3 r1:40 | A3 U9", "prune-middle:limit=30,keep_first=false", "S9 I~noticed A3 U9"),
    # ── hard-limit
    (THREE, "hard-limit:limit=100", "S9 I~noticed c2:3 r2:40 c3:3 r3:40"),
    (THREE, "hard-limit:limit=100,notice=gone", "S9 I~noticed c2:3 r2:40 c3:3 r3:40"),
    (THREE, "hard-limit:limit=20", "S9 I~noticed c3:3 r3:40"),
    # ── repair-pairs
    ("S9 U5 | c1:3 c2:3 r1:9 | A3 U5 | A3 U5", "repair-pairs", "S9 U5 A3 U5 A3 U5"),
    ("S9 U5 | c1:3 c2:3 r1:9", "repair-pairs", "S9 U5 c1:3 c2:3 r1:9"),
    ("S9 U5 | r7:9 A3 U5", "repair-pairs", "S9 U5 A3 U5"),
    # ── evict-by-priority
    ("S9 U5 | c1:3 v1:40 | A3 U9 | c2:3 r2:40", "evict-by-priority:tail_turns=1,below=40", "S9 U5 A3 U9 c2:3 r2:40"),
    (
        "S9 U5 | c1:3 r1:90 c2:3 r2:90 | A3 U9 | c3:3 r3:40",
        "evict-by-priority:tail_turns=1,below=60,ledger=true",
        "S9 U5 c1:3 r1~digest c2:3 r2~digest A3 U9 c3:3 r3:40",
    ),
    (
        "S9 U5 | c1:3 r1!:40 | A3 U9 | c2:3 r2:40 | c3:3 r3:40",
        "evict-by-priority:tail_turns=1,below=80",
        "S9 U5 c1:3 r1:40 U9 c3:3 r3:40",
    ),
    (
        "S9 U5 | c1:3 r1!:40 | A3 U9 | c2:3 r2:40 | c3:3 r3:40",
        "evict-by-priority:tail_turns=1,below=90",
        "S9 U5 U9 c3:3 r3:40",
    ),
    (
        "S9 U5 | p1:30 r1:4 | c2:3 r2:40 | c3:3 r3:40",
        "evict-by-priority:tail_turns=1,below=90",
        "S9 U5 p1:30 r1:4 c3:3 r3:40",
    ),
]


@pytest.mark.parametrize(("text", "strategy", "expected"), CASES)
def test_table(text, strategy, expected):
    assert after(text, strategy)[0] == expected


def test_every_pass_has_a_case():
    assert {name.split(":")[0] for _, name, _ in CASES} | {"budget-per-layer", "as-recorded"} >= set(
        PASSES.names()
    ) - LATER


LATER = {name for name in PASSES.names() if name not in {
    "as-recorded", "budget-per-layer", "clear-tool-results", "drop-thinking", "evict-by-priority", "hard-limit",
    "prune-middle", "repair-pairs", "sliding-window", "truncate-results"}}  # fmt: skip
"""These passes have their tables elsewhere."""


@pytest.mark.parametrize("name", sorted(set(PASSES.names()) - LATER))
def test_a_pass_documents_itself(name):
    found = describe(name)
    assert name_of(PASSES.get(name)) == name
    assert all((found.description, found.keeps, found.costs, found.fails, found.use_when))
    assert all(option.text for option in found.options), found.options


@pytest.mark.parametrize(
    ("keep", "first", "last"), [("head", "r1 w1", "cut]"), ("tail", "[truncated", "w94"), ("both", "r1 w1", "w94")]
)
def test_a_result_is_cut_at_line_ends(keep, first, last):
    view = view_at(
        sketch("S9 U5 | c1:3 r1:95"), find(f"truncate-results:over=50,to=40,keep={keep}"), 2, window=1_000, count=words
    )
    text = view.stand_for("t2.1").text
    assert text.startswith(first)
    assert text.endswith(last)
    assert "[truncated: 55 tokens of this result were cut]" in text.splitlines()
    assert all(len(line.split()) in (5, 8, 10) for line in text.splitlines())
    assert words(text) <= 40


def test_one_line_without_end_is_cut_between_characters():
    trace = sketch("S9 U5 | c1:3 r1:1", texts={"r1": "x" * 9_000})
    view = view_at(trace, find("truncate-results:over=500"), 2, window=5_000, count=lambda text: -(-len(text) // 4))
    assert view.stand_for("t2.1") == trace.fragments[-1]


def test_the_cleared_call_keeps_its_name_and_target():
    view = view_at(
        sketch("S9 U5 | c1=Edit:30 r1:40 | c2:3 r2:40"),
        find("clear-tool-results:keep=1,clear_inputs=true"),
        3,
        window=1_000,
        count=words,
    )
    call = view.stand_for("t2.0")
    assert (call.tool, call.kind, call.call, call.unit, call.resource.target) == (
        "Edit",
        "call",
        "1",
        "u2",
        "Edit-1.py",
    )
    assert "Edit" in call.text
    assert "30 tokens of arguments" in call.text
    assert "turn 1" in call.text


def test_notices_say_how_many_messages_are_missing():
    trace = sketch("S9 U5 | c1:3 r1:40 | c2:3 r2:40 | c3:3 r3:40 | A3 U9 | c4:3 r4:90 | c5:3 r5:40 | A3 U9")
    run = replay(trace, "prune-middle:limit=100", window=1_000, count=words)
    texts = [one.text for row in run.turns for change in row.edits for one in change.inserted]
    assert texts == [
        "[context compacted: 4 earlier messages removed]",
        "[context compacted: 8 earlier messages removed]",
        "[context compacted: 10 earlier messages removed]",
    ]


def test_recorded_edits_are_repeated():
    text = "S9 U5 | c1:3 r1:40 | c2:3 r2:40 | c3:3 r3:40"
    trace = sketch(text, recorded=(compaction(4, "t1.1 t2.0 t2.1 t3.0 t3.1", "what was done"),))
    assert after(text, "as-recorded", recorded=trace.recorded)[0] == "S9 Y3 c3:3 r3:40"
    run = replay(trace, "as-recorded", window=1_000, count=words)
    assert run.turns[-1].survival == {"whole": 3, "summary": 5}
    assert [(one.id, one.since, one.until, one.form) for one in run.lives if one.id == "t2.1"] == [
        ("t2.1", 2, 3, "whole"),
        ("t2.1", 4, 4, "summary"),
    ]
    assert "recorded-compactions" not in {one.code for one in run.warnings}
    other = replay(trace, "sliding-window", window=1_000, count=words)
    assert [one.message for one in other.warnings] == [
        "the recorded agent compacted at turns 4; later re-reads are its own"
    ]
    assert other.turns[-1].survival == {"whole": 8}


def test_a_recorded_elision_stands_in_its_result_s_place():
    text = "S9 U5 | c1:3 r1:40 | c2:3 r2:40"
    trace = sketch(text)
    result = trace.fragments[3]
    short = type(result)(
        "c1.0",
        result.kind,
        "elided",
        1,
        1,
        3,
        result.unit,
        result.message,
        result.role,
        result.origin,
        result.call,
        result.tool,
    )
    edit = compaction(3, "t2.1", form=Form.TRUNCATED)
    edit = type(edit)(3, type(edit.edit)("recorded", ("t2.1",), (short,), Form.TRUNCATED), "elision")
    assert after(text, "as-recorded", recorded=(edit,))[0] == "S9 U5 c1:3 r1:1 c2:3 r2:40"
    run = replay(sketch(text, recorded=(edit,)), "none", window=1_000, count=words)
    assert [one.code for one in run.warnings] == ["recorded-elisions"]


def test_sub_goals_are_completed_plan_items():
    def plan(*done):
        return json.dumps(
            {
                "todos": [
                    {"content": f"step {at}", "status": "completed" if at in done else "pending"} for at in range(3)
                ]
            }
        )

    text = "S9 U5 | p1:1 r1:3 | c2:3 r2:40 | p3:1 r3:3 | c4:3 r4:40 | p5:1 r5:3"
    trace = sketch(text, texts={"p1": plan(), "p3": plan(0), "p5": plan(0)})
    run = replay(trace, "clear-tool-results:keep=0,at=subgoal", window=1_000, count=words)
    assert [row.turn for row in run.turns if row.edits] == [4]
    assert (
        shown(view_at(trace, "clear-tool-results:keep=0,at=subgoal", 4, window=1_000, count=words).fragments()).count(
            "cleared"
        )
        == 1
    )
