"""Logs of gateways, LiteLLM's and Helicone's: any provider's words, sessions, caches, failures, counts alone."""

import json
from pathlib import Path

import pytest

from ctxbudget.ledger import unpaired
from ctxbudget.loaders import Options, helicone, litellm, load, sniff
from ctxbudget.records import read
from ctxbudget.trace import Kind

FORMATS = Path(__file__).resolve().parents[2] / "sample_traces" / "formats"
SAMPLES = {"litellm": FORMATS / "litellm.jsonl", "helicone": FORMATS / "helicone.json"}
REAL = Path(__file__).resolve().parents[3] / "shared" / "real_traces" / "chat_completions_log"
PLAIN = Options(calibrate=False)

ASK = {"role": "user", "content": "one"}
CHOICE = {"choices": [{"message": {"role": "assistant", "content": "yes"}}], "model": "m"}
INCLUSIVE = {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
BLOCKS = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "yes"}], "model": "m"}
EXCLUSIVE = {"input_tokens": 5, "cache_read_input_tokens": 4, "output_tokens": 2}
ITEMS = {
    "object": "response",
    "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "yes"}]}],
}
DETAILS = {"input_tokens": 9, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}}
GEMINI = {"candidates": [{"content": {"role": "model", "parts": [{"text": "yes"}]}}]}
METADATA = {"promptTokenCount": 9, "candidatesTokenCount": 2, "cachedContentTokenCount": 4}


def logged(asked, response, at=1, **more):
    row = {"call_type": "acompletion", "startTime": at, "response_cost": 0, "model_parameters": {}, "model": "m"}
    return row | {"id": f"call-{at}", "messages": asked, "response": response} | more


def requested(body, response, at=1, **more):
    row = {"request_id": f"r{at}", "request_created_at": f"2026-01-01T00:{at:02d}", "response_status": 200}
    return row | {"provider": "X", "request_body": body, "response_body": response} | more


def loaded(tmp_path, document, format_name):
    path = tmp_path / "log.json"
    path.write_text(json.dumps(document))
    assert max(sniff(read(str(path))).items(), key=lambda item: item[1])[0] == format_name
    return load(str(path), PLAIN)


def told(trace):
    return [(fragment.role, fragment.text) for fragment in trace.fragments]


# ── the samples ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_litellm_sample():
    hunt, name, night = load(str(SAMPLES["litellm"]), PLAIN)
    assert (hunt.source.label, name.source.label, night.source.label) == ("leak-hunt", "6", "night")
    # the failed call is no turn; the one from the gateway's cache is one without counts
    assert [turn.reported for turn in hunt.turns] == [374, 432, 468, None]
    assert [call.usage.cache_read for call in hunt.billed] == [0, 256, 384]
    assert hunt.billed[0].usage.reasoning == 9
    assert unpaired(hunt) == ([], [])
    kinds = [fragment.kind.value for fragment in hunt.entering(hunt.turns[0])]
    assert kinds == ["tool_definitions", "tool_definitions", "system_prompt", "user", "media"]
    assert [fragment.text for fragment in name.fragments] == ["You name things.", "Name the leak.", "Midnight Drip"]
    assert (name.billed[0].usage.input, name.billed[0].usage.cache_read) == (21, 20)
    assert (len(night.turns), night.fragments) == (2, ())
    assert dict(hunt.parse.skipped) == {
        "answered from the gateway's cache, not billed": 1,
        "call of type aembedding, skipped": 1,
    }


def test_helicone_sample():
    harbour, wish, counts = load(str(SAMPLES["helicone"]), PLAIN)
    assert [trace.source.label for trace in (harbour, wish, counts)] == ["harbour-2", "2", "1"]
    assert [turn.reported for turn in harbour.turns] == [213, 275, 322]
    assert [(call.usage.cache_read, call.usage.cache_write) for call in harbour.billed] == [
        (0, 180),
        (180, 0),
        (180, 0),
    ]
    assert [fragment.error for fragment in harbour.fragments if fragment.answers] == [False, True, False]
    assert [fragment.text for fragment in harbour.fragments if fragment.kind is Kind.THINKING] == [
        "Two hours, two readings."
    ]
    assert unpaired(harbour) == ([], [])
    assert told(wish) == [("user", "Wish us well."), ("assistant", "Fair wind.")]
    assert (counts.turns[0].reported, counts.billed[0].usage.cache_read, counts.fragments) == (400, 100, ())


@pytest.mark.parametrize("name", SAMPLES)
def test_the_owner_is_surest_of_its_sample(name):
    scores = sniff(read(str(SAMPLES[name])))
    assert scores.pop(name) >= 0.9 > max(scores.values())


# ── any provider ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("body", "response"),
    [
        ({"messages": [ASK]}, {**CHOICE, "usage": INCLUSIVE}),
        ({"messages": [ASK]}, {**BLOCKS, "usage": EXCLUSIVE}),
        ({"input": "one"}, {**ITEMS, "usage": DETAILS}),
        ({"contents": [{"parts": [{"text": "one"}]}]}, {**GEMINI, "usageMetadata": METADATA}),
        (json.dumps({"messages": [ASK]}), json.dumps({**CHOICE, "usage": INCLUSIVE})),
    ],
    ids=["chat", "anthropic", "responses", "gemini", "text"],
)
def test_helicone_reads_every_provider_the_same(tmp_path, body, response):
    [trace] = loaded(tmp_path, [requested(body, response)], "helicone")
    assert told(trace) == [("user", "one"), ("assistant", "yes")]
    usage = trace.billed[0].usage
    assert (usage.input, usage.cache_read, usage.output) == (5, 4, 2)


@pytest.mark.parametrize(
    ("row", "answered"),
    [
        (logged([ASK], {**CHOICE, "usage": INCLUSIVE}), True),
        (logged(json.dumps([ASK]), json.dumps({**CHOICE, "usage": INCLUSIVE})), True),
        (logged("one", {**BLOCKS, "usage": EXCLUSIVE}), True),
        (logged([ASK], "redacted-by-litellm", **INCLUSIVE), False),
        ({"standard_logging_object": logged([ASK], {**ITEMS, "usage": DETAILS})}, True),
    ],
    ids=["payload", "spend log", "anthropic", "redacted", "callback"],
)
def test_litellm_reads_every_record_the_same(tmp_path, row, answered):
    [trace] = loaded(tmp_path, [row], "litellm")
    assert told(trace) == [("user", "one"), *([("assistant", "yes")] if answered else [])]
    usage = trace.billed[0].usage
    assert (usage.input, usage.cache_read, usage.output) == (5, 4, 2)


@pytest.mark.parametrize("newest_first", [True, False])
@pytest.mark.parametrize("make", [logged, lambda asked, reply, at: requested({"messages": asked}, reply, at)])
def test_requests_that_continue_one_another_are_one_conversation_in_any_order(tmp_path, make, newest_first):
    answer = CHOICE["choices"][0]["message"]
    rows = [make([ASK], CHOICE, 1), make([ASK, answer, {"role": "user", "content": "two"}], CHOICE, 2)]
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in (rows[::-1] if newest_first else rows)))
    [trace] = load(str(path), PLAIN)
    assert [text for _, text in told(trace)] == ["one", "yes", "two", "yes"]
    assert len(trace.turns) == 2


def test_a_failed_call_is_no_turn(tmp_path):
    failed = requested({"messages": [ASK]}, {"error": "busy"}, response_status=500)
    [trace] = loaded(tmp_path, [failed], "helicone")
    assert [(turn.pending, turn.usage) for turn in trace.turns] == [(True, None)]


@pytest.mark.parametrize(
    "head", [b"", b"{}", b'{"request_id": 1}', b'{"call_type": "a", "model": "b"}', b'{"messages": []}']
)
def test_nothing_else_is_claimed(head):
    assert helicone.sniff(head, "x") == litellm.sniff(head, "x") == 0.0


@pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real traces is not beside the checkout")
def test_completion_logs_of_an_agent_stay_chat_messages():
    for path in sorted(REAL.rglob("*.json")):
        scores = sniff(read(str(path)))
        assert max(scores, key=scores.__getitem__) == "openai-chat"
        assert scores["litellm"] == scores["helicone"] == 0.0
