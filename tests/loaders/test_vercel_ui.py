"""Vercel UI messages: steps, states of calls, older versions, model messages, streams."""

import json
from pathlib import Path

import pytest

from ctxbudget.ledger import unpaired
from ctxbudget.loaders import Options, load, sniff, vercel_ui
from ctxbudget.records import read
from ctxbudget.trace import Kind

ROOT = Path(__file__).resolve().parents[2]
FORMATS = ROOT / "sample_traces" / "formats"
REAL = ROOT.parent / "shared" / "real_traces" / "langchain_messages" / "react-agent-tool-calling-stream.json"
PLAIN = Options(calibrate=False)

ASK = {"id": "u", "role": "user", "parts": [{"type": "text", "text": "one"}]}
STEP = {"type": "step-start"}
YES = {"type": "text", "text": "yes"}
LOOK = {"type": "tool-look", "toolCallId": "c", "state": "output-available", "input": {"at": 1}, "output": "seen"}


def loaded(tmp_path, *records):
    path = tmp_path / "chat.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in records))
    assert max(sniff(read(str(path))).items(), key=lambda item: item[1])[0] == "vercel-ui"
    return load(str(path), PLAIN)


def reply(*parts, **more):
    return {"id": "a", "role": "assistant", "parts": list(parts), **more}


def told(trace):
    return [(fragment.kind.value, fragment.text) for fragment in trace.fragments]


# ── the samples ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_sample_has_a_turn_for_every_step():
    [trace] = load(str(FORMATS / "vercel_ui.json"), PLAIN)
    # three steps, two, and one; a call that waits for approval leaves a pending turn
    assert [turn.pending for turn in trace.turns] == [False] * 6 + [True]
    assert trace.source.session == "chat-wheel"
    answers = [(fragment.tool, fragment.error) for fragment in trace.fragments if fragment.answers]
    assert answers == [("stock", False), ("calendar", True), ("calendar", False), ("book", True)]
    assert unpaired(trace)[1] == []
    assert [fragment.call for fragment in unpaired(trace)[0]] == ["call_5"]
    usage = trace.turns[5].usage
    assert (usage.input, usage.cache_read, usage.output, usage.reasoning) == (84, 896, 31, 9)
    assert trace.turns[5].model == "gpt-5-mini"
    assert dict(trace.parse.skipped) == {
        "counts of several model calls in one, not used": 1,
        "part of type data, not sent": 1,
        "part of type source-url, not sent": 1,
    }
    assert sum(fragment.kind is Kind.MEDIA for fragment in trace.fragments) == 1


def test_the_stream_is_put_together():
    [trace] = load(str(FORMATS / "vercel_ui-stream.jsonl"), PLAIN)
    assert told(trace) == [
        ("thinking", "Price list first."),
        ("call", 'price {"of":"spoke"}'),
        ("call", 'price {"of":"labour"}'),
        ("result", "1.20"),
        ("result", "no such price"),
        ("answer", "A spoke costs 1.20."),
    ]
    assert [fragment.error for fragment in trace.fragments if fragment.answers] == [False, True]
    assert unpaired(trace) == ([], [])


@pytest.mark.parametrize("name", ["vercel_ui.json", "vercel_ui-stream.jsonl"])
def test_no_other_format_claims_the_samples(name):
    scores = sniff(read(str(FORMATS / name)))
    assert scores.pop("vercel-ui") >= 0.8
    assert max(scores.values()) < 0.5


# ── forms ──────────────────────────────────────────────────────────────────────────────────────────────────────────

INVOCATION = {"state": "result", "toolCallId": "c", "toolName": "look", "args": {"at": 1}, "result": "seen"}
FORMS = {
    "steps": [ASK, reply(STEP, LOOK, STEP, YES)],
    "without marks": [ASK, reply(LOOK, YES)],
    "dynamic": [ASK, reply({**LOOK, "type": "dynamic-tool", "toolName": "look"}, YES)],
    "version 4 parts": [ASK, reply({"type": "tool-invocation", "toolInvocation": INVOCATION}, YES)],
    "version 4": [
        {"role": "user", "content": "one", "parts": [{"type": "text", "text": "one"}]},
        {"role": "assistant", "content": "yes", "toolInvocations": [INVOCATION]},
    ],
    "model messages": [
        {"role": "user", "content": "one"},
        {
            "role": "assistant",
            "content": [{"type": "tool-call", "toolCallId": "c", "toolName": "look", "input": {"at": 1}}],
        },
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "c",
                    "toolName": "look",
                    "output": {"type": "text", "value": "seen"},
                }
            ],
        },
        {"role": "assistant", "content": [YES]},
    ],
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_says_the_same(tmp_path, form):
    [trace] = loaded(tmp_path, *FORMS[form])
    assert told(trace) == [("user", "one"), ("call", 'look {"at":1}'), ("result", "seen"), ("answer", "yes")]
    assert unpaired(trace) == ([], [])
    assert len(trace.turns) == 2


def test_rows_that_name_their_chats_are_a_trace_each(tmp_path):
    rows = [{**ASK, "chatId": "x"}, {**ASK, "chatId": "y"}, {**reply(STEP, YES), "chatId": "x"}]
    first, second = loaded(tmp_path, *rows)
    assert [(trace.source.label, len(trace.fragments)) for trace in (first, second)] == [("x", 2), ("y", 1)]


def test_a_call_without_an_answer_stays_open(tmp_path):
    [trace] = loaded(tmp_path, ASK, reply(STEP, {**LOOK, "state": "input-available", "output": None}))
    assert [fragment.kind for fragment in trace.fragments] == [Kind.USER, Kind.CALL]


OTHERS = (
    b"",
    b"{}",
    b'[{"role": "user", "parts": [{"text": "x"}]}]',
    b'[{"role": "user", "content": "x"}]',
    b'{"type": "text"}',
)


@pytest.mark.parametrize("head", OTHERS)
def test_nothing_else_is_claimed(head):
    assert vercel_ui.sniff(head, "x") == 0.0


@pytest.mark.skipif(not REAL.is_file(), reason="the folder of real traces is not beside the checkout")
def test_the_real_stream_is_one_reply_of_two_calls():
    # the index counts no turns in it: it is the stream of one UI message, of which two steps called the model
    [trace] = load(str(REAL), PLAIN)
    assert (trace.source.format, len(trace.turns)) == ("vercel-ui", 2)
    assert unpaired(trace) == ([], [])
    chunks = json.loads(REAL.read_text())
    said = "".join(chunk["delta"] for chunk in chunks if chunk["type"] == "text-delta")
    assert [fragment.text for fragment in trace.reply] == [said]
