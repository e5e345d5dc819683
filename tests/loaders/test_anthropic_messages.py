"""Anthropic messages: blocks, mixed messages, requests, streamed bodies, and logs in which most calls are helpers."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxbudget.builder import TraceBuilder
from ctxbudget.errors import EmptyTrace
from ctxbudget.ledger import unpaired
from ctxbudget.loaders import anthropic_messages
from ctxbudget.providers.anthropic.stream import joined
from ctxbudget.records import read
from ctxbudget.trace import Kind, Usage

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="  # 1 x 1
CACHE = {"cache_control": {"type": "ephemeral"}}

ASK = {"role": "user", "content": "Plan the beds."}
CALL = {
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "The soil first.", "signature": "s" * 64},
        {"type": "text", "text": "I look at the soil."},
        {"type": "tool_use", "id": "u1", "name": "probe", "input": {"bed": 2}},
    ],
}
ANSWER = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "u1", "content": "loam, pH 6"}]}
DONE = {"role": "assistant", "content": [{"type": "text", "text": "Beans in bed two."}]}
LOOP = [ASK, CALL, ANSWER, DONE]
TOOL = {"name": "probe", "description": "Soil of a bed.", "input_schema": {"type": "object"}}
REQUEST = {"model": "claude-sonnet-4-5", "max_tokens": 900, "system": "You garden.", "tools": [TOOL], "messages": LOOP}


def reading(*records, document=None):
    data = json.dumps(document) if document is not None else "\n".join(json.dumps(record) for record in records)
    return read("chat.json", data.encode())


def start(label=None, path=None):
    return TraceBuilder(path or "chat.json", "anthropic-messages", label=label)


def load_all(*records, document=None):
    return list(anthropic_messages.load(reading(*records, document=document), start))


def load(*records, document=None):
    traces = load_all(*records, document=document)
    assert len(traces) == 1
    return traces[0]


def kinds(trace):
    return [fragment.kind.value for fragment in trace.fragments]


def texts(trace, kind):
    return [fragment.text for fragment in trace.fragments if fragment.kind is kind]


def usage(given, output, read_=0, write=0):
    return {
        "input_tokens": given,
        "output_tokens": output,
        "cache_read_input_tokens": read_,
        "cache_creation_input_tokens": write,
    }


def response(message, counts, name="m1", stop="end_turn"):
    return {"id": name, "type": "message", "model": "claude-x", "stop_reason": stop, "usage": counts, **message}


def exchange(messages, reply, counts, name="m1", **request):
    body = {**REQUEST, "messages": messages, **request}
    return {
        "request": {
            "url": "https://example.org/v1/messages?beta=true",
            "headers": {"x-api-key": "secret"},
            "body": body,
        },
        "response": {"status_code": 200, "headers": {}, "body": response(reply, counts, name)},
    }


# ── blocks ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "trace, before",
    [
        (load(document=LOOP), []),
        (load(*LOOP), []),
        (load(document=REQUEST), ["tool_definitions", "system_prompt"]),
        (load(REQUEST), ["tool_definitions", "system_prompt"]),
    ],
    ids=["list", "lines", "request", "request line"],
)
def test_a_conversation_reads_the_same_in_every_wrapping(trace, before):
    assert kinds(trace) == [*before, "user", "thinking", "reasoning", "call", "result", "answer"]
    assert len(trace.turns) == 2
    assert unpaired(trace) == ([], [])


def test_a_message_with_results_and_text():
    mixed = {"role": "user", "content": [*ANSWER["content"], {"type": "text", "text": "No leeks."}]}
    trace = load(ASK, CALL, mixed, DONE)
    result, text = trace.fragments[4:6]
    assert (result.kind, text.kind, result.message) == (Kind.RESULT, Kind.USER, text.message)
    assert (result.unit == trace.fragments[3].unit, text.unit) == (True, text.id)


def test_parallel_results_in_any_order_and_number_of_messages():
    calls = [{"type": "tool_use", "id": name, "name": f"probe_{name}", "input": {}} for name in "abc"]
    results = [
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": name, "content": name * 9}]}
        for name in "cab"
    ]
    trace = load(ASK, {"role": "assistant", "content": calls}, *results, DONE)
    assert [fragment.tool for fragment in trace.fragments[4:7]] == ["probe_c", "probe_a", "probe_b"]
    assert len({fragment.unit for fragment in trace.fragments[1:7]}) == 1
    assert unpaired(trace) == ([], [])


def test_a_result_with_blocks_images_and_an_error():
    content = [
        {"type": "text", "text": "one"},
        {"type": "image", "source": {"type": "base64", "data": PIXEL}},
        {"type": "text", "text": "two"},
    ]
    block = {"type": "tool_result", "tool_use_id": "u1", "is_error": True, "content": content}
    text, image = load(ASK, CALL, {"role": "user", "content": [block]}).fragments[4:]
    assert (text.text, text.error, text.kind) == ("one\ntwo", True, Kind.RESULT)
    assert (image.kind, image.call, image.text) == (Kind.MEDIA, "u1", "")


def test_results_without_content_or_id():
    empty = load(ASK, CALL, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "u1"}]})
    assert (texts(empty, Kind.RESULT), unpaired(empty)) == ([""], ([], []))
    nameless = load(ASK, CALL, {"role": "user", "content": [{"type": "tool_result", "content": "loam"}]})
    assert unpaired(nameless) == ([], [])


def test_hidden_thinking_is_an_estimate():
    hidden = [
        {"type": "thinking", "thinking": "", "signature": "s" * 1600},
        {"type": "redacted_thinking", "data": "d" * 160},
    ]
    trace = load(ASK, {"role": "assistant", "content": [*hidden, *DONE["content"]]})
    assert [(fragment.tokens, fragment.estimated) for fragment in trace.fragments[1:3]] == [(300, True), (30, True)]


def test_files():
    content = [
        {"type": "document", "source": {"type": "text", "data": "Seeds: beans."}},
        {"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "Seeds: peas."}]}},
        {"type": "document", "source": {"type": "base64", "data": PIXEL}},
        {"type": "image", "source": {"type": "url", "url": "https://example.org/bed.png"}},
        {
            "type": "search_result",
            "source": "x",
            "title": "t",
            "content": [{"type": "text", "text": "Leeks like sun."}],
        },
    ]
    trace = load({"role": "user", "content": content})
    assert kinds(trace) == ["result", "result", "media", "media", "retrieval"]
    assert [fragment.text for fragment in trace.fragments] == [
        "Seeds: beans.",
        "Seeds: peas.",
        "",
        "",
        "Leeks like sun.",
    ]


def test_a_tool_that_ran_at_the_providers():
    found = [
        {"type": "web_search_result", "url": "https://example.org", "title": "Leeks", "encrypted_content": "e" * 320}
    ]
    content = [
        {"type": "server_tool_use", "id": "w1", "name": "web_search", "input": {"query": "leeks"}},
        {"type": "web_search_tool_result", "tool_use_id": "w1", "content": found},
        {"type": "text", "text": "They like sun."},
    ]
    trace = load(ASK, {"role": "assistant", "content": content}, ASK)
    call, result, hidden, text = trace.fragments[1:5]
    assert (call.asks, result.answers, hidden.answers, text.role) == (True, True, True, "assistant")
    assert (result.text, hidden.tokens) == ('{"type":"web_search_result","title":"Leeks"}', 60)
    assert unpaired(trace) == ([], [])
    assert [[part.text for part in trace.entering(turn)][-1] for turn in trace.turns] == [
        trace.fragments[0].text, "", trace.fragments[-1].text
    ]  # fmt: skip
    failed = {"type": "web_fetch_tool_result", "tool_use_id": "w1", "content": {"error_code": "too_many"}}
    assert load(ASK, {"role": "assistant", "content": [content[0], failed]}).fragments[2].error


def test_reminders_are_injected():
    text = "Hello.<system-reminder>Mind the frost.</system-reminder>"
    trace = load({"role": "user", "content": [{"type": "text", "text": text}]}, DONE)
    assert [fragment.kind.value for fragment in trace.fragments] == ["user", "injected", "answer"]


def test_what_is_unknown_is_kept_and_counted():
    trace = load(
        {"role": "user", "content": [{"type": "smell", "of": "rain", "data": PIXEL}, 4]},
        {"role": "robot", "content": "hum"},
    )
    assert texts(trace, Kind.OTHER) == ['{"type":"smell","of":"rain"}', "4", "hum"]
    assert [count for _, count in trace.parse.skipped] == [1, 1, 1]
    assert {warning.code for warning in trace.warnings} == {"unknown-record"}


def test_a_compaction_by_the_provider():
    block = {"type": "compaction", "content": "Bed two has loam."}
    trace = load(*LOOP, ASK, {"role": "assistant", "content": [block, *DONE["content"]]}, ASK)
    (compaction,) = trace.recorded
    assert [fragment.text for fragment in compaction.edit.inserted] == ["Bed two has loam."]
    assert len(compaction.edit.removed) == 7


def test_pins_and_empty_messages():
    trace = load({**ASK, "_pin": True}, {"role": "assistant", "content": []}, {"role": "user", "content": ""})
    assert [(fragment.pinned, fragment.message) for fragment in trace.fragments] == [(True, 0), (False, 1), (False, 2)]


# ── requests, responses, logs ──────────────────────────────────────────────────────────────────────────────────────


def test_system_blocks_and_tools_without_their_cache_marks():
    system = [
        {"type": "text", "text": "x-anthropic-billing-header: a=1"},
        {"type": "text", "text": "You are Claude Code.", **CACHE},
    ]
    trace = load(document={**REQUEST, "system": system, "tools": [{**TOOL, **CACHE}]})
    assert texts(trace, Kind.SYSTEM_PROMPT) == ["You are Claude Code."]
    assert texts(trace, Kind.TOOL_DEFINITIONS) == [json.dumps(TOOL, separators=(",", ":"))]
    assert trace.source.agent == "claude-code"


def test_a_response_alone():
    trace = load(document=response(DONE, usage(10, 4, 30, 5)))
    assert [turn.reported for turn in trace.turns] == [45]
    assert trace.billed[0].key == "m1"
    assert trace.billed[0].usage == Usage(10, 30, 5, 4, None, 49)
    assert not load(document=response(DONE, usage(10, 1), stop=None)).billed[0].usage.final


def marked(message):
    return {**message, "content": [{**block, **CACHE} for block in message["content"]]}


def test_a_log_is_one_trace_though_cache_marks_wander_and_thinking_vanishes():
    spoken = {**CALL, "content": CALL["content"][1:]}
    asked = {"role": "user", "content": [{"type": "text", "text": "Plan the beds.", **CACHE}]}
    reminder = {"type": "text", "text": "<system-reminder>No list yet.</system-reminder>"}
    trace = load(
        exchange([asked], CALL, usage(100, 30), "m1"),
        exchange(
            [{**ASK, "content": [reminder, *asked["content"]]}, CALL, marked(ANSWER)], DONE, usage(4, 9, 140), "m2"
        ),
        exchange([ASK, spoken, ANSWER, DONE, ASK], DONE, usage(6, 9, 150), "m3"),
    )
    assert [turn.reported for turn in trace.turns] == [100, 144, 156]
    assert kinds(trace)[2:] == ["user", "thinking", "reasoning", "call", "result", "answer", "user", "answer"]


def test_helpers_are_traces_of_their_own_and_the_main_loop_comes_first():
    quota = exchange([{"role": "user", "content": "quota"}], DONE, usage(8, 1), "h1", tools=[], system=[])
    title = exchange([ASK], DONE, usage(30, 5), "h2", tools=[], system="Name the topic.")
    counting = {
        "request": {"url": "https://example.org/v1/messages/count_tokens", "body": REQUEST},
        "response": {"body": {"input_tokens": 9}},
    }
    other = {"request": {"url": "https://example.org/api/event", "body": {"events": []}}, "response": {"body": {}}}
    traces = load_all(
        quota,
        title,
        exchange([ASK], CALL, usage(100, 30), "m1"),
        title | {},
        counting,
        other,
        exchange([ASK, CALL, ANSWER], DONE, usage(150, 9), "m2"),
    )
    assert [(trace.source.label, len(trace.turns)) for trace in traces] == [("3", 2), ("1", 1), ("2", 1)]
    assert dict(traces[0].parse.skipped) == {
        "record that is no message, request or response, skipped": 1,
        "repeated record, skipped": 1,
        "request that only counts tokens, skipped": 1,
    }


def test_two_helpers_that_ask_different_things_of_the_same_text():
    topic = exchange([ASK], DONE, usage(30, 5), "h1", tools=[], system="Name the topic.")
    title = exchange([ASK], DONE, usage(31, 5), "h2", tools=[], system="Give it a title.")
    assert len(load_all(topic, title)) == 2


def test_headers_are_never_kept():
    trace = load(exchange([ASK], CALL, usage(100, 30)))
    assert "secret" not in repr(trace)


def test_a_failed_request_and_its_retry():
    failed = exchange([ASK], CALL, {}, "m0")
    failed["response"] = {"status_code": 529, "body": {"type": "error", "error": {"type": "overloaded_error"}}}
    trace = load(failed, exchange([ASK], CALL, usage(100, 30)))
    assert (trace.turns[0].reported, len(trace.billed)) == (100, 1)


def test_the_session_of_a_request():
    name = "0a1b2c3d-1111-4222-8333-444455556666"
    assert load(document={**REQUEST, "metadata": {"user_id": f"user_x_account__session_{name}"}}).source.session == name


EVENTS = [
    {"type": "message_start", "message": response({"role": "assistant", "content": []}, usage(50, 1, 700), stop=None)},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "The soil "}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "first."}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "s" * 64}},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "I look at the soil."}},
    {"type": "ping"},
    {
        "type": "content_block_start",
        "index": 2,
        "content_block": {"type": "tool_use", "id": "u1", "name": "probe", "input": {}},
    },
    {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": '{"be'}},
    {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": 'd": 2}'}},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 30, "input_tokens": 0}},
    {"type": "message_stop"},
]


def stream(events):
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


def test_a_streamed_response_is_the_message_it_gives():
    whole = joined(stream(EVENTS))
    assert whole["content"] == CALL["content"]
    logged = exchange([ASK], CALL, {})
    logged["response"] = {"status_code": 200, "body_raw": stream(EVENTS)}
    trace = load(logged)
    assert trace.billed[0].usage == Usage(50, 700, 0, 30, None, 780)
    assert kinds(trace)[2:] == ["user", "thinking", "reasoning", "call"]


def test_a_stream_that_breaks_off():
    logged = exchange([ASK], CALL, {})
    logged["response"] = {"body_raw": stream(EVENTS[:10])[:-30]}
    trace = load(logged)
    assert not trace.billed[0].usage.final
    assert texts(trace, Kind.CALL) == ["probe {}"]
    assert joined("event: error\ndata: {}\n") == {}


# ── telling it apart, and never failing ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "records, least, most",
    [
        (LOOP, 0.8, 1),
        ([REQUEST], 0.8, 1),
        ([exchange([ASK], DONE, {})], 0.8, 1),
        ([{"request": {"body": {"messages": [ASK]}}, "response": {"body_raw": stream(EVENTS)}}], 0.8, 1),
        ([response(DONE, {})], 0.8, 1),
        ([ASK, {"role": "assistant", "content": "x"}], 0.3, 0.5),
        ([{"role": "system", "content": "x"}, ASK], 0, 0.3),
        ([{"type": "assistant", "uuid": "u", "sessionId": "s", "parentUuid": None, "message": CALL}], 0, 0),
        ([{"type": "assistant", "session_id": "s", "parent_tool_use_id": None, "message": CALL}], 0, 0),
        ([{**ASK, "ts": 1}, CALL], 0, 0),
        ([{"version": 1, "sessionId": "s", "messages": LOOP}], 0, 0),
        ([{"role": "assistant", "content": [{"type": "toolRequest", "id": "1"}]}], 0, 0),
        ([{"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "1"}]}], 0, 0),
    ],
)
def test_sniff(records, least, most):
    assert least <= anthropic_messages.sniff(reading(*records).head, "x") <= most


KEYS = (
    "role",
    "content",
    "type",
    "text",
    "id",
    "name",
    "input",
    "tool_use_id",
    "source",
    "data",
    "thinking",
    "signature",
    "messages",
    "system",
    "tools",
    "request",
    "response",
    "body",
    "body_raw",
    "usage",
    "input_tokens",
    "message",
    "url",
    "encrypted_content",
    "stop_reason",
)
WORDS = st.sampled_from(
    [
        "user",
        "assistant",
        "system",
        "text",
        "tool_use",
        "tool_result",
        "thinking",
        "redacted_thinking",
        "image",
        "document",
        "search_result",
        "compaction",
        "server_tool_use",
        "web_search_tool_result",
        "message",
        "u1",
        stream(EVENTS[:6]),
        "",
    ]
)
SHAPED = st.recursive(
    WORDS | st.none() | st.booleans() | st.integers(-2, 5) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=30,
)


@settings(max_examples=400, deadline=None)
@given(st.lists(SHAPED, min_size=1, max_size=5), st.booleans())
def test_any_json_is_a_trace_or_a_clean_error(records, wrapped):
    source = reading(document={"messages": records}) if wrapped else reading(*records)
    anthropic_messages.sniff(source.head, "x")
    try:
        traces = list(anthropic_messages.load(source, start))
    except EmptyTrace:
        return
    for trace in traces:
        assert [turn.start for turn in trace.turns] == [0, *[turn.stop for turn in trace.turns]][: len(trace.turns)]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(EVENTS) | SHAPED, max_size=12))
def test_any_stream_gives_a_message_or_none(events):
    text = "".join(f"data: {json.dumps(event)}\n" for event in events)
    assert isinstance(joined(text), dict)
