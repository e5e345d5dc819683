"""ShareGPT conversations: calls and results by their order, images by their places, chosen answers."""

import json
from pathlib import Path

import pytest

from ctxbudget.ledger import unpaired
from ctxbudget.loaders import Options, load, sharegpt, sniff
from ctxbudget.records import read
from ctxbudget.trace import Kind

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "sample_traces" / "formats" / "sharegpt.json"
REAL = ROOT.parent / "shared" / "real_traces" / "sharegpt" / "glaive-toolcall-first80.json"
PLAIN = Options(calibrate=False)


def loaded(tmp_path, *turns, **more):
    path = tmp_path / "set.json"
    conversation = [{"from": who, "value": value} for who, value in turns]
    path.write_text(json.dumps([{"conversations": conversation, **more}]))
    [trace] = load(str(path), PLAIN)
    return trace


def kinds(trace):
    return [fragment.kind.value for fragment in trace.fragments]


def test_the_sample_is_three_conversations_named_by_their_numbers():
    night, written, chosen = load(str(SAMPLE), PLAIN)
    assert [trace.source.label for trace in (night, written, chosen)] == ["1", "2", "3"]
    assert [len(trace.turns) for trace in (night, written, chosen)] == [4, 2, 1]
    assert night.source.session == "night-1"
    assert kinds(night)[:5] == ["tool_definitions", "tool_definitions", "system_prompt", "media", "user"]
    assert [fragment.text for fragment in chosen.reply] == ["Mars, Venus, Saturn."]


def test_results_find_their_calls_by_order():
    night, written, _ = load(str(SAMPLE), PLAIN)
    for trace in (night, written):
        assert unpaired(trace) == ([], [])
    answered = [(fragment.tool, fragment.text) for fragment in night.fragments if fragment.answers]
    assert answered == [
        ("look_up_star", '{"distance":"25 light years"}'),
        ("moon_phase", '{"phase":"new"}'),
        ("look_up_star", "error: catalogue offline"),
    ]
    assert [fragment.tool for fragment in written.fragments if fragment.answers] == ["look_up_star", "moon_phase"]


def test_no_other_format_claims_the_sample():
    scores = sniff(read(str(SAMPLE)))
    assert scores.pop("sharegpt") >= 0.8
    assert max(scores.values()) < 0.5


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ([("human", "a"), ("gpt", "b")], ["user", "answer"]),
        ([("user", "a"), ("assistant", "b")], ["user", "answer"]),
        ([("function_call", "no json"), ("observation", "r")], ["call", "result"]),
        ([("function_call", '{"name": "look"}'), ("function_response", "r")], ["call", "result"]),
        ([("human", "a"), ("narrator", "b")], ["user", "other"]),
    ],
)
def test_speakers(tmp_path, turns, expected):
    assert kinds(loaded(tmp_path, *turns)) == expected


def test_equal_beginnings_are_not_one_conversation(tmp_path):
    path = tmp_path / "set.jsonl"
    rows = [
        {"conversations": [{"from": "human", "value": "a"}]},
        {"conversations": [{"from": "human", "value": "a"}] * 2},
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    assert [len(trace.fragments) for trace in load(str(path), PLAIN)] == [1, 2]


@pytest.mark.parametrize("head", [b"", b"{}", b'{"conversations": []}', b'[{"conversations": [{"role": "user"}]}]'])
def test_nothing_else_is_claimed(head):
    assert sharegpt.sniff(head, "x") == 0.0


@pytest.mark.skipif(not REAL.is_file(), reason="the folder of real traces is not beside the checkout")
def test_the_real_file_loads_by_itself():
    traces = load(str(REAL), PLAIN)
    rows = json.loads(REAL.read_text())
    assert {trace.source.format for trace in traces} == {"sharegpt"}
    assert (len(traces), sum(len(trace.turns) for trace in traces)) == (80, 269)
    assert all(not unpaired(trace)[1] for trace in traces)
    said = sum(turn["from"] == "human" for row in rows for turn in row["conversations"])
    assert sum(fragment.kind is Kind.USER for trace in traces for fragment in trace.fragments) == said
