"""TraceBuilder: ids, turns, units, pairs, pending turns and recorded edits, from what a loader says in order."""

from __future__ import annotations

import pytest

from ctxbudget.builder import TraceBuilder
from ctxbudget.layers import AGENT
from ctxbudget.ledger import context, entries, live_at_end, lives, unpaired
from ctxbudget.trace import Form, Kind, Usage


@pytest.fixture
def build():
    return TraceBuilder("x.jsonl", "native")


def say(build, role, *texts, kind=Kind.USER, line=1):
    build.message(role, line)
    return [build.add(kind if role == "user" else None, text) for text in texts]


def ask(build, *calls, line=1):
    """A reply of calls, given as (tool, id)."""
    build.turn(line=line)
    build.message("assistant", line)
    return [build.call(tool, {"path": "a.py"}, id=name) for tool, name in calls]


def answer(build, *results):
    build.message("user", 1)
    return [build.result(text, call=call) for text, call in results]


def test_ids_name_the_turn_at_which_a_fragment_enters(build):
    say(build, "user", "One.", "Two.")
    ask(build, ("read", "c1"))
    answer(build, ("x = 1", "c1"))
    trace = build.finish()
    assert [f.id for f in trace.fragments] == ["t1.0", "t1.1", "t2.0", "t2.1"]
    assert [(t.index, t.start, t.stop, t.pending) for t in trace.turns] == [(1, 0, 2, False), (2, 2, 4, True)]


def test_assistant_text_is_reasoning_with_calls_and_an_answer_without(build):
    say(build, "user", "Go.")
    build.turn()
    build.message("assistant", 2)
    build.add(None, "I will look.")
    build.call("read", {"path": "a"}, id="c")
    answer(build, ("x", "c"))
    build.turn()
    say(build, "assistant", "Done.")
    assert [f.kind for f in build.finish().fragments] == [
        Kind.USER, Kind.REASONING, Kind.CALL, Kind.RESULT, Kind.ANSWER
    ]  # fmt: skip


def test_results_without_ids_answer_the_calls_of_the_last_reply_in_order(build):
    say(build, "user", "Go.")
    ask(build, ("read", None), ("grep", None))
    answer(build, ("first", None), ("second", None), ("third", None))
    trace = build.finish()
    assert [f.tool for f in trace.fragments if f.role == "user"][1:] == ["read", "grep", None]
    assert [f.call for f in trace.fragments if f.text in {"first", "second"}] == ["#0", "#1"]


def test_a_repeated_id_belongs_to_its_latest_call(build):
    say(build, "user", "Go.")
    for tool in ("read", "grep"):
        ask(build, (tool, "c"))
        answer(build, ("x", "c"))
    assert [f.tool for f in build.finish().fragments if f.answers] == ["read", "grep"]


def test_a_plan_call_is_state_and_still_a_call(build):
    say(build, "user", "Go.")
    build.turn()
    build.message("assistant", 2)
    build.call("TodoWrite", {"todos": []}, id="c")
    answer(build, ("ok", "c"))
    plan = build.finish().fragments[1]
    assert (plan.kind, plan.asks) == (Kind.PLAN, True)


def test_what_a_search_brings_is_retrieval(build):
    say(build, "user", "Go.")
    build.turn()
    build.message("assistant", 2)
    build.call("WebSearch", {"query": "boats"}, id="c")
    answer(build, ("boats", "c"))
    assert build.finish().fragments[2].kind is Kind.RETRIEVAL


@pytest.mark.parametrize("after,pending", [("nothing", False), ("answer", False), ("call", True), ("user", True)])
def test_a_last_turn_holds_what_no_call_has_seen(build, after, pending):
    say(build, "user", "Go.")
    build.turn()
    say(build, "assistant", "Done.")
    match after:
        case "answer":
            say(build, "assistant", "Really.")
        case "call":
            build.call("read", {}, id="c")
        case "user":
            say(build, "user", "More.")
    assert build.finish().turns[-1].pending is pending


def test_orphans_and_unanswered_calls(build):
    say(build, "user", "Go.")
    ask(build, ("read", "c1"), ("read", "c2"))
    answer(build, ("x", "c1"), ("y", "nobody"))
    dangling, orphans = unpaired(build.finish())
    assert ([f.call for f in dangling], [f.call for f in orphans]) == (["c2"], ["nobody"])


def test_a_compaction_takes_everything_but_system_messages(build):
    build.message("system", 1)
    build.add(Kind.SYSTEM_PROMPT, "Be brief.")
    say(build, "user", "Go.")
    build.turn()
    say(build, "assistant", "Done.")
    with build.compaction(9, trigger="auto", pre_tokens=900):
        build.message("user", 9)
        build.add(Kind.SUMMARY, "It went.")
    say(build, "user", "More.")
    trace = build.finish()
    assert [f.text for f in context(trace, 2)] == ["Be brief.", "It went.", "More."]
    assert {f.text for f in live_at_end(trace)} == {"Be brief.", "It went.", "More."}
    assert {life.fragment.text: life.turns for life in lives(trace)} == {
        "Be brief.": 2, "Go.": 1, "Done.": 0, "It went.": 1, "More.": 1
    }  # fmt: skip


def test_a_second_compaction_takes_the_first_one_s_summary(build):
    say(build, "user", "Go.")
    for words in ("One.", "Two."):
        build.turn()
        say(build, "assistant", "Done.")
        with build.compaction(9):
            build.message("user", 9)
            build.add(Kind.SUMMARY, words)
    assert [f.text for f in context(build.finish(), 3)] == ["Two."]


def test_an_elided_result_keeps_its_place_its_call_and_its_message(build):
    say(build, "user", "Go.")
    ask(build, ("read", "c"))
    (old,) = answer(build, ("long " * 100, "c"))
    build.turn()
    say(build, "assistant", "Next.")
    say(build, "user", "More.")
    with build.compaction(9, trigger="elision", form=Form.CLEARED, removed=[old]):
        build.stand_in(old, "(100 words omitted)")
    trace = build.finish()
    stand_in = trace.recorded[0].edit.inserted[0]
    assert (stand_in.call, stand_in.kind, stand_in.unit) == ("c", Kind.RESULT, "u1")
    assert [f.text for f in context(trace, 3)][2] == "(100 words omitted)"


def test_the_layers_of_a_turn_add_up(build):
    say(build, "user", "Go.")
    ask(build, ("read", "c"))
    answer(build, ("x = 1", "c"))
    for entry in entries(build.finish(), AGENT):
        assert sum(entry.layers.values()) == sum(entry.kinds.values()) == entry.tokens


def test_an_image_and_an_opaque_signature_are_estimates(build):
    say(build, "user", "Look.")
    build.add(Kind.MEDIA, "", size=(120, 100))
    build.turn(model="claude-sonnet-4-5", usage=Usage(input=9, total=9))
    build.message("assistant", 2)
    build.add(Kind.THINKING, "", opaque=4_000)
    build.model = "claude-sonnet-4-5"
    image, opaque = build.finish().fragments[1:]
    assert (image.tokens, image.counted, image.estimated) == (16, 0, True)
    assert (opaque.tokens, opaque.counted, opaque.estimated) == (750, 0, True)


@pytest.mark.parametrize("arguments", [None, {}, {"a": 1}, '{"a": 1}', "not json", [1, 2], 7, float("nan"), {1: 2}])
def test_any_arguments_make_a_call(build, arguments):
    say(build, "user", "Go.")
    build.turn()
    build.message("assistant", 2)
    build.call("tool", arguments, id="c")
    assert build.finish().fragments[1].text.startswith("tool ")


def test_what_is_gone_or_named_twice_goes_once(build):
    first, second = say(build, "user", "One.", "Two.")
    build.turn()
    for removed in ([second, second], [first, second]):
        with build.compaction(9, removed=removed):
            pass
    assert [one.edit.removed for one in build.finish().recorded] == [("t1.1",), ("t1.0",)]


def test_many_compactions_of_a_long_context_take_no_time(build):
    from time import process_time

    pieces = say(build, "user", *["x"] * 50_000)
    build.turn()
    begun = process_time()
    for piece in pieces:
        with build.compaction(9, trigger="elision", form=Form.CLEARED, removed=[piece]):
            build.stand_in(piece, "(gone)")
    for _ in range(50_000):
        with build.compaction(9):
            build.add(Kind.SUMMARY, "It went.")
    assert process_time() - begun < 10


def test_a_reply_goes_on_behind_a_tool_that_ran_at_the_provider_s(build):
    say(build, "user", "Go.")
    build.turn(usage=Usage(input=9, output=2, total=11), line=2, key="r")
    build.message("system", 2)
    build.add(Kind.TOOL_DEFINITIONS, '{"name": "f"}')
    build.was_sent()
    build.message("assistant", 2)
    build.call("f", {}, id="c")
    answer(build, ("x", "c"))
    build.go_on(2)
    say(build, "assistant", "Done.")
    trace = build.finish()
    assert [[part.text for part in trace.entering(turn)] for turn in trace.turns] == [
        ["Go.", '{"name": "f"}'],
        ["f {}", "x"],
    ]
    assert [turn.reported for turn in trace.turns] == [None, 9]
    assert [(call.key, call.turn) for call in trace.billed] == [("r", 2)]
    assert [part.kind for part in trace.reply] == [Kind.ANSWER]


def test_what_a_compaction_retells_begins_no_turn(build):
    say(build, "user", "Go.")
    build.turn()
    with build.compaction(9):
        say(build, "assistant", "Done.")
        build.go_on(9)
        build.was_sent()
    assert [turn.pending for turn in build.finish().turns] == [False, True]
