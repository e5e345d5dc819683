"""OpenAI chat messages: conversations, training sets, logs, calls written as text, and anything else as a list."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxbudget.builder import TraceBuilder
from ctxbudget.errors import EmptyTrace
from ctxbudget.ledger import unpaired
from ctxbudget.loaders import openai_chat
from ctxbudget.providers.openai.tags import Written, cut
from ctxbudget.providers.openai.usage import read_usage
from ctxbudget.records import read
from ctxbudget.trace import Kind, Usage

REAL = Path(__file__).parents[3] / "shared" / "real_traces"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="  # 1 x 1

SYSTEM = {"role": "system", "content": "You keep bees."}
ASK = {"role": "user", "content": "How is hive four?"}
CALL = {"id": "c1", "type": "function", "function": {"name": "inspect", "arguments": '{"hive": 4}'}}
CALLS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "calm, eleven frames"}
DONE = {"role": "assistant", "content": "Hive four is calm."}
TOOL = {"type": "function", "function": {"name": "inspect", "parameters": {"type": "object", "properties": {}}}}
LOOP = [SYSTEM, ASK, CALLS, RESULT, DONE]


def reading(*records, document=None):
    data = json.dumps(document) if document is not None else "\n".join(json.dumps(record) for record in records)
    return read("chat.json", data.encode())


def start(label=None, path=None):
    return TraceBuilder(path or "chat.json", "openai-chat", label=label)


def load_all(*records, document=None):
    return list(openai_chat.load(reading(*records, document=document), start))


def load(*records, document=None):
    traces = load_all(*records, document=document)
    assert len(traces) == 1
    return traces[0]


def kinds(trace):
    return [fragment.kind.value for fragment in trace.fragments]


def texts(trace, kind):
    return [fragment.text for fragment in trace.fragments if fragment.kind is kind]


def response(message, usage=None, name="r1"):
    choices = [{"index": 0, "message": message}]
    return {"id": name, "object": "chat.completion", "model": "gpt-4o-2024", "choices": choices, "usage": usage}


def usage(prompt, output, cached=0):
    details = {"cached_tokens": cached}
    return {"prompt_tokens": prompt, "completion_tokens": output, "prompt_tokens_details": details}


def without(record, name):
    return {key: value for key, value in record.items() if key != name}


# ── one conversation ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "trace",
    [
        load(document=LOOP),
        load(document={"model": "gpt-4o", "messages": LOOP}),
        load(*LOOP),
        load({"messages": LOOP}),
        load(document=[{"messages": LOOP}]),
        load({"input": {"messages": LOOP[:-1]}, "preferred_output": [DONE], "non_preferred_output": []}),
    ],
    ids=["list", "request", "lines", "training line", "list of conversations", "preference line"],
)
def test_a_conversation_reads_the_same_in_every_wrapping(trace):
    assert kinds(trace) == ["system_prompt", "user", "call", "result", "answer"]
    assert [turn.stop - turn.start for turn in trace.turns] == [2, 2]
    assert [fragment.kind.value for fragment in trace.reply] == ["answer"]
    assert unpaired(trace) == ([], [])
    assert trace.fragments[3].tool == "inspect"


def test_lines_number_the_records_and_a_document_its_messages():
    assert [fragment.origin.line for fragment in load(*LOOP).fragments] == [1, 2, 3, 4, 5]
    assert [fragment.origin.line for fragment in load({"messages": LOOP}).fragments] == [1, 2, 3, 4, 5]
    two = load_all({"messages": LOOP}, {"messages": LOOP})
    assert [fragment.origin.line for fragment in two[1].fragments] == [2] * 5


def test_every_training_line_is_a_trace_with_its_line_as_label():
    traces = load_all({"messages": LOOP, "tools": [TOOL]}, {"messages": LOOP[:1] + LOOP[-1:], "weight": 0})
    assert [trace.source.label for trace in traces] == ["1", "2"]
    assert kinds(traces[0])[0] == "tool_definitions"


def test_text_and_a_text_part_count_the_same():
    one, other = (
        load({"role": "user", "content": "x y"}),
        load({"role": "user", "content": [{"type": "text", "text": "x y"}]}),
    )
    assert one.fragments[0].tokens == other.fragments[0].tokens > 0


def test_no_messages_is_a_trace_without_turns_and_says_so():
    trace = load(document={"model": "gpt-4o", "messages": []})
    assert (trace.turns, trace.fragments) == ((), ())
    assert [warning.code for warning in trace.warnings] == ["no-messages"]


def test_a_message_without_parts_keeps_its_place():
    trace = load(
        {"role": "user", "content": ""}, {"role": "assistant", "content": []}, {"role": "user", "content": None}
    )
    assert [(fragment.message, fragment.tokens) for fragment in trace.fragments] == [(0, 0), (1, 0), (2, 0)]


def test_nothing_usable_is_an_error():
    with pytest.raises(EmptyTrace):
        load_all({"event": "start"})


# ── parts ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_media_is_never_text():
    parts = [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
        {"type": "image_url", "image_url": "https://example.org/bee.png"},
        {"type": "input_audio", "input_audio": {"data": PIXEL, "format": "wav"}},
        {"type": "file", "file": {"file_data": PIXEL}},
    ]
    trace = load({"role": "user", "content": parts})
    assert kinds(trace) == ["media"] * 4
    assert not any(fragment.text for fragment in trace.fragments)
    assert all(fragment.estimated for fragment in trace.fragments)


def test_an_image_in_a_result_belongs_to_it():
    content = [
        {"type": "text", "text": "the hive"},
        {"type": "image_url", "image_url": {"url": "https://example.org/a"}},
    ]
    trace = load(ASK, CALLS, {**RESULT, "content": content})
    text, image = trace.fragments[2:]
    assert (text.call, image.call, image.kind, image.unit) == ("c1", "c1", Kind.MEDIA, text.unit)


def test_a_result_may_be_an_image_alone():
    image = [{"type": "image_url", "image_url": {"url": "https://example.org/a"}}]
    nameless = {"role": "assistant", "tool_calls": [{"function": {"name": "inspect"}}]}
    written = {"role": "assistant", "content": "<function=inspect></function>"}
    for call, role in ((CALLS, "tool"), (nameless, "tool"), (written, "user")):
        trace = load(ASK, call, {"role": role, "content": image})
        assert kinds(trace) == ["user", "call", "media"]
    named = load(ASK, CALLS, {**RESULT, "content": image})
    assert unpaired(named) == unpaired(load(ASK, nameless, {"role": "tool", "content": image})) == ([], [])


@pytest.mark.parametrize(
    "extra",
    [
        {"content": [{"type": "thinking", "thinking": "a thought"}, {"type": "text", "text": "Calm."}]},
        {"reasoning_content": "a thought"},
        {"reasoning": "a thought", "reasoning_details": [{"type": "reasoning.text", "text": "a thought"}]},
        {"reasoning_details": [{"type": "reasoning.summary", "summary": "a thought"}]},
        {"thinking_blocks": [{"type": "thinking", "thinking": "a thought", "signature": "s"}]},
        {"content": [{"type": "reasoning", "value": "a thought"}, {"type": "text", "value": "Calm."}]},
    ],
)
def test_reasoning_counts_once_whatever_its_name(extra):
    trace = load(ASK, {"role": "assistant", "content": "Calm.", **extra})
    assert texts(trace, Kind.THINKING) == ["a thought"]
    assert texts(trace, Kind.ANSWER) == ["Calm."]


def test_encrypted_reasoning_is_an_estimate():
    details = [{"type": "reasoning.encrypted", "data": "x" * 1600}]
    hidden = load(ASK, {**DONE, "reasoning_details": details}).fragments[1]
    assert (hidden.kind, hidden.text, hidden.estimated, hidden.tokens) == (Kind.THINKING, "", True, 300)


def test_other_parts():
    refusal = load(ASK, {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]})
    assert texts(refusal, Kind.ANSWER) == ["No."]
    assert texts(load(ASK, {"role": "assistant", "content": None, "refusal": "No."}), Kind.ANSWER) == ["No."]
    spoken = load(ASK, {"role": "assistant", "content": None, "audio": {"id": "a", "transcript": "Buzz."}})
    assert texts(spoken, Kind.ANSWER) == ["Buzz."]
    drawn = load(ASK, {"role": "assistant", "content": [{"type": "image_url", "image_url": "x"}, {"type": "dance"}]})
    assert kinds(drawn) == ["user", "media", "other"]
    broken = load(ASK, {"role": "assistant", "content": "Hm.", "tool_calls": [{"id": "c1"}, 5]})
    assert broken.parse.skipped == (("call without a function, skipped", 2),)
    odd = load({"role": "user", "content": [{"type": "smell", "note": "honey", "data": PIXEL}, 7]})
    assert texts(odd, Kind.OTHER) == ['{"type":"smell","note":"honey"}', "7"]
    assert dict(odd.parse.skipped) == {
        "part of type 'int', kept as other text": 1,
        "part of type 'smell', kept as other text": 1,
    }
    assert [warning.code for warning in odd.warnings] == ["unknown-record"] * 2


def test_roles():
    trace = load({"role": "developer", "content": "Be brief."}, ASK, DONE, {"role": "system", "content": "It is noon."})
    assert kinds(trace) == ["system_prompt", "user", "answer", "injected"]
    odd = load(ASK, {"role": "narrator", "content": "Later."})
    assert texts(odd, Kind.OTHER) == ["Later."]
    assert odd.parse.skipped == (("role 'narrator', kept as other text", 1),)


def test_tagged_text_is_injected_and_the_rest_stays_the_users():
    trace = load({"role": "user", "content": "Look.\n<environment_context>noon</environment_context>"})
    assert [(fragment.kind.value, fragment.text) for fragment in trace.fragments] == [
        ("user", "Look.\n"),
        ("injected", "<environment_context>noon</environment_context>"),
    ]


def test_pinned_messages():
    trace = load(ASK, {**CALLS, "_pin": True}, {**RESULT, "_pin": True}, DONE)
    assert [fragment.pinned for fragment in trace.fragments] == [False, True, True, False]


# ── calls ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_calls_of_one_reply_and_their_results_are_one_unit():
    calls = [{**CALL, "id": name} for name in "abc"]
    results = [{**RESULT, "tool_call_id": name, "content": name} for name in "cab"]
    trace = load(ASK, {**CALLS, "tool_calls": calls}, *results, DONE)
    assert len({fragment.unit for fragment in trace.fragments[1:7]}) == 1
    assert unpaired(trace) == ([], [])


@pytest.mark.parametrize(
    "messages",
    [
        [
            {"role": "assistant", "function_call": {"name": "inspect", "arguments": "{}"}},
            {"role": "function", "name": "inspect", "content": "calm"},
        ],
        [
            {"role": "assistant", "tool_calls": [{"function": {"name": "inspect", "arguments": "{}"}}]},
            {"role": "tool", "content": "calm"},
        ],
        [CALLS, {"role": "tool", "content": "calm"}],
        [
            {"role": "assistant", "content": [{"type": "tool_call", "value": '{"name": "inspect", "arguments": {}}'}]},
            {"role": "tool", "content": [{"type": "text", "value": "calm"}]},
        ],
        [
            {"role": "assistant", "content": 'Sure.\n<tool_call>\n{"name": "inspect", "arguments": {}}\n</tool_call>'},
            {"role": "user", "content": "<tool_response>calm</tool_response>"},
        ],
        [
            {"role": "assistant", "content": "Sure.\n<function=inspect>\n<parameter=hive>4</parameter>\n</function>"},
            {"role": "user", "content": "OBSERVATION: calm"},
        ],
        [
            {"role": "assistant", "content": "<function=inspect>\n<parameter=hive>4</parameter>\n"},
            {"role": "user", "content": "calm"},
        ],
        [
            {
                "role": "assistant",
                "tool_calls": [{"id": "x", "type": "custom", "custom": {"name": "inspect", "input": "hive four"}}],
            },
            {"role": "tool", "tool_call_id": "x", "content": "calm"},
        ],
    ],
    ids=[
        "function_call",
        "no ids",
        "id only in the call",
        "value parts",
        "tool_call tag",
        "function tag",
        "cut-off tag",
        "custom",
    ],
)
def test_results_find_their_call(messages):
    trace = load(ASK, *messages, DONE)
    call, result = (fragment for fragment in trace.fragments if fragment.call is not None)
    assert (call.kind, result.kind, call.tool, result.tool) == (Kind.CALL, Kind.RESULT, "inspect", "inspect")
    assert call.unit == result.unit
    assert unpaired(trace) == ([], [])


def test_a_written_call_keeps_its_very_text():
    written = "<function=shell>\n<parameter=command>cat notes.md</parameter>\n</function>"
    trace = load(ASK, {"role": "assistant", "content": f"I look.\n\n{written}"}, {"role": "user", "content": "honey"})
    assert texts(trace, Kind.REASONING) == ["I look.\n\n"]
    assert texts(trace, Kind.CALL) == [written]
    assert trace.fragments[2].resource.target == "notes.md"


def test_tags_are_prose_where_calls_come_through_the_api():
    trace = load(*LOOP[:-1], {"role": "assistant", "content": "Write <function=f></function> then."}, ASK)
    assert kinds(trace)[-2:] == ["answer", "user"]


def test_a_result_that_answers_nothing_stays_an_orphan():
    trace = load(ASK, {**RESULT, "tool_call_id": "gone"}, DONE)
    assert [fragment.call for fragment in unpaired(trace)[1]] == ["gone"]


def test_one_message_with_the_results_of_several_calls():
    calls = [
        {"type": "tool_call", "value": json.dumps({"name": "inspect", "arguments": {"hive": hive}})} for hive in (4, 5)
    ]
    results = json.dumps([{"name": "inspect", "content": "calm"}, {"name": "inspect", "content": "wild"}])
    trace = load(ASK, {"role": "assistant", "content": calls}, {"role": "tool", "content": results})
    assert unpaired(trace) == ([], [])
    assert texts(trace, Kind.RESULT)[1] == '{"name":"inspect","content":"wild"}'


@pytest.mark.parametrize(
    "text, pieces",
    [
        ("", [""]),
        ("a < b", ["a < b"]),
        ("<tool_call>no json</tool_call>", ["<tool_call>no json</tool_call>"]),
        ("<tool_call>{}", ["<tool_call>{}"]),
        ('<tool_call>{"name": "f"}</tool_call> end', ["f", " end"]),
        ('<tool_call>oops</tool_call><tool_call>{"name": "f"}</tool_call>', ["<tool_call>oops</tool_call>", "f"]),
        ("see <tool_call> tags\n<function=f></function>", ["see <tool_call> tags\n", "f"]),
        ("<tool_call>\n<function=f>\n<parameter=a>1</parameter>\n</function>\n</tool_call>", ["f"]),
        (
            '<function_calls>\n<invoke name="f"><parameter name="a">1</parameter></invoke>\n',
            ["<function_calls>\n", "f"],
        ),
    ],
)
def test_calls_in_text(text, pieces):
    assert [piece.tool if isinstance(piece, Written) else piece for piece in cut(text)] == pieces


@pytest.mark.parametrize(
    "tag", ["<tool_call>", "<function=f>", '<invoke name="f">', "<tool_call></tool_call>", "<parameter=a>"]
)
def test_many_tags_cost_no_more_than_their_length(tag):
    assert list(cut(tag * 50_000))
    assert list(cut("<function=f>" + tag * 50_000))


# ── tools ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_tools_are_their_compact_json_and_nothing_else_changes():
    other = {"type": "function", "function": {"name": "feed", "description": "Sugar water."}}
    bare, full = load(document={"messages": LOOP}), load(document={"messages": LOOP, "tools": [TOOL, other]})
    assert texts(full, Kind.TOOL_DEFINITIONS)[0] == json.dumps(TOOL, separators=(",", ":"))
    tools = sum(fragment.tokens for fragment in full.fragments if fragment.kind is Kind.TOOL_DEFINITIONS)
    assert sum(fragment.tokens for fragment in full.fragments) - tools == sum(
        fragment.tokens for fragment in bare.fragments
    )


@pytest.mark.parametrize(
    "request_",
    [{"tools": json.dumps([TOOL])}, {"functions": [TOOL]}, {"optional_params": {"tools": [TOOL]}}, {"tools": TOOL}],
)
def test_tools_are_found_where_they_are(request_):
    assert len(texts(load({"messages": LOOP, **request_}), Kind.TOOL_DEFINITIONS)) == 1


def test_logged_tools_that_were_not_sent_do_not_count():
    record = {"messages": LOOP[:2], "tools": [TOOL], "kwargs": {"temperature": 0}, "response": response(DONE)}
    trace = load(record)
    assert not texts(trace, Kind.TOOL_DEFINITIONS)
    assert [warning.code for warning in trace.warnings] == ["tools-not-sent"]
    record["kwargs"]["tools"] = [TOOL]
    assert texts(load(record), Kind.TOOL_DEFINITIONS)


# ── logs ───────────────────────────────────────────────────────────────────────────────────────────────────────────

REQUESTS = [
    {"model": "gpt-4o", "messages": LOOP[:2], "tools": [TOOL], "response": response(CALLS, usage(90, 9), "r1")},
    {"model": "gpt-4o", "messages": LOOP[:4], "tools": [TOOL], "response": response(DONE, usage(120, 6, 64), "r2")},
]


def test_requests_that_grow_are_one_trace_with_a_turn_each():
    trace = load(*REQUESTS)
    assert kinds(trace) == ["tool_definitions", "system_prompt", "user", "call", "result", "answer"]
    assert [turn.usage for turn in trace.turns] == [Usage(90, 0, 0, 9, None, 99), Usage(56, 64, 0, 6, None, 126)]
    assert [call.key for call in trace.billed] == ["r1", "r2"]
    assert trace.model == "gpt-4o-2024"
    assert [fragment.text for fragment in trace.reply] == ["Hive four is calm."]


def test_a_log_of_bodies_reads_like_the_plain_one():
    logged = [
        {
            "request": {"url": "https://example.org/v1/chat/completions", "body": without(record, "response")},
            "response": {"status_code": 200, "body": record["response"]},
        }
        for record in REQUESTS
    ]
    assert kinds(load(*logged)) == kinds(load(*REQUESTS))
    flat = [
        {"request": json.dumps(entry["request"]["body"]), "response_body": entry["response"]["body"]}
        for entry in logged
    ]
    assert kinds(load(*flat)) == kinds(load(*REQUESTS))


def test_repeated_records_retries_and_lost_replies():
    assert load(*REQUESTS, REQUESTS[1]).parse.skipped == (("repeated record, skipped", 1),)
    retry = {**REQUESTS[0], "response": response(DONE, usage(90, 3), "r1b")}
    trace = load(REQUESTS[0], retry, REQUESTS[1])
    assert [turn.stop - turn.start for turn in trace.turns] == [3, 0, 2]
    scolded = {**REQUESTS[1], "messages": [*LOOP[:2], {"role": "user", "content": "Call a tool!"}]}
    assert kinds(load(REQUESTS[0], scolded)) == ["tool_definitions", "system_prompt", "user", "user", "answer"]


def test_a_request_that_begins_otherwise_is_another_trace():
    other = {
        "messages": [SYSTEM, {"role": "user", "content": "And five?"}],
        "response": response(DONE, usage(50, 2), "r9"),
    }
    traces = load_all(REQUESTS[0], other, REQUESTS[1])
    assert [(trace.source.label, len(trace.turns)) for trace in traces] == [("1", 2), ("2", 1)]


def test_requests_without_responses_and_failed_ones():
    trace = load(*[without(record, "response") for record in REQUESTS])
    assert [(turn.pending, turn.reported) for turn in trace.turns] == [(False, None), (True, None)]
    failed = {**REQUESTS[0], "response": {"error": {"message": "busy"}}}
    assert [turn.reported for turn in load(failed, *REQUESTS).turns] == [90, 120]


def test_a_response_alone_and_its_alternatives():
    trace = load(document={**response(DONE, usage(90, 9)), "choices": [{"message": DONE}, {"message": DONE}]})
    assert ([turn.reported for turn in trace.turns], kinds(trace)) == ([90], ["answer"])
    assert trace.parse.skipped == (("alternative answer, skipped", 1),)


def test_a_streamed_response():
    chunks = [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Let "}}], "id": "s1", "model": "gpt-4o"},
        {"choices": [{"index": 0, "delta": {"content": "me see."}}]},
        {
            "choices": [
                {
                    "index": 0,
                    "delta": {
                        "tool_calls": [
                            {"index": 0, "id": "c9", "function": {"name": "inspect", "arguments": '{"hive"'}}
                        ]
                    },
                }
            ]
        },
        {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": ": 4}"}}]}}]},
        {"choices": [], "usage": usage(80, 12)},
    ]
    stream = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n"
    trace = load({"request": {"messages": LOOP[:2]}, "response": {"body": stream}})
    assert texts(trace, Kind.REASONING) == ["Let me see."]
    assert texts(trace, Kind.CALL) == ['inspect {"hive":4}']
    assert trace.turns[0].reported == 80


def test_the_words_of_a_text_mode_model_count_not_the_calls_made_of_them():
    said = {"role": "assistant", "content": "<function=inspect>\n<parameter=hive>4</parameter>\n"}
    raw = {"choices": [{"message": {**said, "tool_calls": None}}]}
    trace = load(
        {"messages": LOOP[:2], "response": response(CALLS, usage(90, 9)), "raw_response": raw, "context_window": 8000}
    )
    assert texts(trace, Kind.CALL) == [said["content"]]
    assert trace.window == 8000


# ── compactions ────────────────────────────────────────────────────────────────────────────────────────────────────


def rounds(first, last):
    for number in range(first, last):
        call = {**CALL, "id": f"n{number}", "function": {"name": "inspect", "arguments": json.dumps({"hive": number})}}
        yield {"role": "assistant", "content": None, "tool_calls": [call]}
        yield {"role": "tool", "tool_call_id": f"n{number}", "content": f"hive {number} is calm"}


def test_a_summary_before_a_kept_tail_is_a_recorded_compaction():
    before = [SYSTEM, ASK, *rounds(0, 5)]
    summary = {"role": "user", "content": "Hives nought to two are calm."}
    after = [SYSTEM, summary, *rounds(3, 6)]
    trace = load(
        {"messages": before, "response": response(DONE, usage(400, 5), "r1")},
        {"messages": after, "response": response(DONE, usage(250, 5), "r2")},
    )
    (compaction,) = trace.recorded
    gone = [fragment for fragment in trace.fragments if fragment.id in compaction.edit.removed]
    assert [fragment.kind.value for fragment in gone] == ["user", *["call", "result"] * 3]
    assert [fragment.text for fragment in compaction.edit.inserted] == [summary["content"]]
    assert (compaction.turn, compaction.trigger) == (7, "unknown")
    assert unpaired(trace) == ([], [])


def test_a_sliding_window_is_a_recorded_compaction_too():
    trace = load(
        {"messages": [SYSTEM, *rounds(0, 5)], "response": response(DONE, usage(400, 5), "r1")},
        {"messages": [SYSTEM, *rounds(2, 6)], "response": response(DONE, usage(350, 5), "r2")},
    )
    (compaction,) = trace.recorded
    assert len(compaction.edit.removed) == 4
    assert (compaction.edit.inserted, compaction.edit.form) == ((), None)


def test_observations_shortened_where_they_stand():
    before = [SYSTEM, ASK, *rounds(0, 5)]
    after = [*before[:3], {**before[3], "content": "(elided)"}, *before[4:], *rounds(5, 6)]
    trace = load(
        {"messages": before, "response": response(DONE, usage(400, 5), "r1")},
        {"messages": after, "response": response(DONE, usage(400, 5), "r2")},
    )
    (edit,) = trace.recorded
    assert (edit.trigger, len(edit.edit.removed), edit.edit.inserted[0].text) == ("elision", 1, "(elided)")
    assert edit.edit.inserted[0].unit == trace.fragments[2].unit


def test_tools_that_change_between_requests_are_an_edit():
    later = {**REQUESTS[1], "tools": [{"type": "function", "function": {"name": "feed"}}]}
    trace = load(REQUESTS[0], later)
    (edit,) = trace.recorded
    assert (edit.edit.by, edit.trigger, edit.edit.removed) == ("request", "elision", ("t1.0",))
    grown = load(REQUESTS[0], {**REQUESTS[1], "tools": [TOOL, *later["tools"]]})
    assert not grown.recorded
    assert kinds(grown).count("tool_definitions") == 2


# ── usage ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "raw, expected",
    [
        (None, None),
        ({}, None),
        ("many", None),
        ({"prompt_tokens": 100, "completion_tokens": 10}, Usage(100, 0, 0, 10, None, 110)),
        (usage(100, 10, 64), Usage(36, 64, 0, 10, None, 110)),
        (
            {"prompt_tokens": 100, "completion_tokens": 10, "prompt_cache_hit_tokens": 64},
            Usage(36, 64, 0, 10, None, 110),
        ),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 1,
                "cache_read_input_tokens": 64,
                "cache_creation_input_tokens": 8,
            },
            Usage(10, 64, 8, 1, None, 83),
        ),
        (
            {"prompt_tokens": 5, "completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 4}},
            Usage(5, 0, 0, 9, 4, 14),
        ),
        (
            {
                "prompt_tokens": 5,
                "completion_tokens": 9,
                "total_tokens": 18,
                "completion_tokens_details": {"reasoning_tokens": 4},
            },
            Usage(5, 0, 0, 13, 4, 18),
        ),
        ({"total_tokens": 70}, Usage(total=70, split=False)),
        ({"prompt_tokens": -5, "completion_tokens": True, "total_tokens": "9"}, None),
        ({"prompt_tokens": 12.0, "completion_tokens": float("inf")}, Usage(12, 0, 0, 0, None, 12)),
    ],
)
def test_usage_becomes_disjoint(raw, expected):
    assert read_usage(raw) == expected


# ── telling it apart, and never failing ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "records, least, most",
    [
        (LOOP, 0.8, 1),
        ([{"messages": LOOP}], 0.8, 1),
        (REQUESTS, 0.8, 1),
        ([response(DONE)], 0.8, 1),
        ([ASK, DONE], 0.5, 0.7),
        ([{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]}], 0.0, 0.3),
        ([{"role": "user", "parts": [{"text": "hi"}]}], 0, 0),
        ([{"role": "_system_prompt", "content": "x"}, ASK], 0, 0),
        ([{"conversations": [{"from": "human", "value": "x"}]}], 0, 0),
        ([{"type": "human", "content": "x"}], 0, 0),
        ([{"type": "thread.started", "thread_id": "t"}], 0, 0),
        ([{"ctxbudget": 1}, {"kind": "user", "text": "x"}], 0, 0),
        ([{"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": "f", "arguments": {}}]}], 0, 0),
        ([{"trajectory": [], "history": [ASK]}], 0, 0),
        ([{"messages": [ASK], "info": {"mini_version": "1"}}], 0, 0),
    ],
)
def test_sniff(records, least, most):
    assert least <= openai_chat.sniff(reading(*records).head, "x") <= most


def test_sniff_reads_a_document_that_the_head_cuts_off():
    long = {"role": "user", "content": 'a "quoted" \\ tail ' * 9_000}
    for document in ([SYSTEM, CALLS, RESULT, long], {"model": "gpt-4o", "messages": [SYSTEM, CALLS, long]}):
        for shown in (json.dumps(document), json.dumps(document, indent=1)):
            assert openai_chat.sniff(read("x", shown.encode()).head, "x") > 0.8


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KEYS = (
    "role",
    "content",
    "type",
    "text",
    "tool_calls",
    "function",
    "name",
    "arguments",
    "id",
    "tool_call_id",
    "url",
    "image_url",
    "reasoning_details",
    "messages",
    "tools",
    "response",
    "choices",
    "message",
    "usage",
    "request",
    "body",
    "kwargs",
    "function_call",
    "prompt_tokens",
    "value",
    "input",
    "preferred_output",
)
WORDS = st.sampled_from(["user", "assistant", "tool", "system", "text", "image_url", "tool_call", "reasoning", "c1"])
SHAPED = st.recursive(
    VALUES | WORDS | st.just("<tool_call>{}</tool_call>"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=25,
)


@settings(max_examples=400, deadline=None)
@given(st.lists(SHAPED, min_size=1, max_size=5), st.booleans())
def test_any_json_is_a_trace_or_a_clean_error(records, wrapped):
    source = reading(document={"messages": records}) if wrapped else reading(*records)
    openai_chat.sniff(source.head, "x")
    try:
        traces = list(openai_chat.load(source, start))
    except EmptyTrace:
        return
    for trace in traces:
        assert [turn.start for turn in trace.turns] == [0, *[turn.stop for turn in trace.turns]][: len(trace.turns)]


# ── real files ─────────────────────────────────────────────────────────────────────────────────────────────────────


def real(name):
    folder = REAL / name
    if not folder.is_dir():
        pytest.skip("the real traces are not here")
    return sorted(path for path in folder.rglob("*.json*"))


def test_real_completion_logs():
    for path in real("chat_completions_log"):
        source = read(str(path))
        assert openai_chat.sniff(source.head, str(path)) > 0.8
        (trace,) = openai_chat.load(source, start)
        reported = [turn.reported for turn in trace.turns if turn.reported]
        assert len(reported) == len(trace.billed) == 1
        assert unpaired(trace)[1] == []
        assert texts(trace, Kind.TOOL_DEFINITIONS)
        assert trace.window in {200_000, 65_536}


def test_real_message_files():
    found = {path.name: list(openai_chat.load(read(str(path)), start)) for path in real("chat_messages_jsonl")}
    assert {name: len(traces) for name, traces in found.items()} == {
        "llamafactory-reason-tool-use.jsonl": 50,
        "swe-smith-ft-xml.jsonl": 3,
    }
    for traces in found.values():
        for trace in traces:
            dangling, orphans = unpaired(trace)
            assert not orphans
            assert all(fragment.turn == len(trace.turns) for fragment in dangling)
            assert not trace.warnings
