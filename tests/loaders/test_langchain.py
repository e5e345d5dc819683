"""LangChain messages: three writings, states of a thread, streamed chunks, calls told twice."""

import json
from pathlib import Path

import pytest

from ctxbudget.ledger import unpaired
from ctxbudget.loaders import Options, langchain, load, sniff
from ctxbudget.records import read
from ctxbudget.trace import Kind

SAMPLE = Path(__file__).resolve().parents[2] / "sample_traces" / "formats" / "langchain.json"
PLAIN = Options(calibrate=False)

CLASSES = {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage", "system": "SystemMessage"}
CALL = {"id": "c", "name": "look", "args": {"at": 1}, "type": "tool_call"}
USAGE = {"input_tokens": 9, "output_tokens": 2, "input_token_details": {"cache_read": 4}}
FIELDS = [
    ("system", {"content": "S"}),
    ("human", {"content": "one"}),
    ("ai", {"content": "", "tool_calls": [CALL], "usage_metadata": USAGE}),
    ("tool", {"content": "seen", "tool_call_id": "c", "status": "error"}),
    (
        "ai",
        {
            "content": "yes",
            "response_metadata": {"model_name": "m", "token_usage": {"prompt_tokens": 12, "completion_tokens": 1}},
        },
    ),
]
WRITINGS = {
    "constructors": [
        {"lc": 1, "type": "constructor", "id": ["x", CLASSES[kind]], "kwargs": given} for kind, given in FIELDS
    ],
    "dicts": [{"type": kind, "data": given} for kind, given in FIELDS],
    "plain": [{"type": kind, **given} for kind, given in FIELDS],
}


def loaded(tmp_path, text):
    path = tmp_path / "messages.json"
    path.write_text(text)
    assert max(sniff(read(str(path))).items(), key=lambda item: item[1])[0] == "langchain"
    return load(str(path), PLAIN)


# ── the sample ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_sample_has_the_longest_state_of_a_thread_and_a_list():
    clock, oil = load(str(SAMPLE), PLAIN)
    assert [turn.reported for turn in clock.turns] == [212, 331, 371]
    assert [call.usage.cache_read for call in clock.billed] == [0, 200, 320]
    assert dict(clock.parse.skipped) == {"earlier state of a thread, skipped": 1}
    assert unpaired(clock) == unpaired(oil) == ([], [])
    assert [fragment.text for fragment in clock.fragments if fragment.kind is Kind.THINKING] == [
        "Noon: the strike train."
    ]
    assert sum(fragment.kind is Kind.CALL for fragment in clock.fragments) == 3
    assert [fragment.error for fragment in clock.fragments if fragment.answers] == [False, True, False]
    assert [turn.reported for turn in oil.turns] == [40, 66]
    assert [fragment.text for fragment in oil.reply] == ["Number three."]


def test_no_other_format_claims_the_sample():
    scores = sniff(read(str(SAMPLE)))
    assert scores.pop("langchain") >= 0.8
    assert max(scores.values()) < 0.5


# ── writings ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("wrap", ["list", "object", "state", "lines"])
@pytest.mark.parametrize("writing", WRITINGS)
def test_every_writing_says_the_same(tmp_path, writing, wrap):
    messages = WRITINGS[writing]
    text = {
        "list": json.dumps(messages),
        "object": json.dumps({"messages": messages}),
        "state": json.dumps({"values": {"messages": messages}}),
        "lines": "\n".join(json.dumps(message) for message in messages),
    }[wrap]
    [trace] = loaded(tmp_path, text)
    assert [fragment.kind.value for fragment in trace.fragments] == [
        "system_prompt",
        "user",
        "call",
        "result",
        "answer",
    ]
    assert [fragment.text for fragment in trace.fragments][2:] == ['look {"at":1}', "seen", "yes"]
    assert [(call.usage.input, call.usage.cache_read, call.usage.output) for call in trace.billed] == [
        (5, 4, 2),
        (12, 0, 1),
    ]
    assert trace.fragments[3].error
    assert unpaired(trace) == ([], [])


def test_chunks_of_a_reply_with_a_call_in_pieces(tmp_path):
    pieces = [
        {"content": "I ", "tool_call_chunks": [{"index": 0, "id": "c", "name": "look", "args": '{"a'}]},
        {"content": "look", "tool_call_chunks": [{"index": 0, "args": 't": 1}'}], "usage_metadata": USAGE},
    ]
    chunks = [{"type": "AIMessageChunk", "id": "r", **piece} for piece in pieces]
    other = {"type": "AIMessageChunk", "id": "s", "content": "end"}
    [trace] = loaded(
        tmp_path,
        json.dumps(
            [
                {"type": "human", "content": "one"},
                *chunks,
                {"type": "tool", "content": "seen", "tool_call_id": "c"},
                other,
            ]
        ),
    )
    assert [fragment.text for fragment in trace.fragments] == ["one", "I look", 'look {"at":1}', "seen", "end"]
    assert [turn.reported for turn in trace.turns] == [9, None]


OTHERS = (
    b"",
    b"{}",
    b'[{"type": "system", "subtype": "init"}]',
    b'[{"role": "user", "content": "x"}]',
    b'{"type": "user", "message": {}}',
)


@pytest.mark.parametrize("head", OTHERS)
def test_nothing_else_is_claimed(head):
    assert langchain.sniff(head, "x") == 0.0
