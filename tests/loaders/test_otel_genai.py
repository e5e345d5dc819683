"""OpenTelemetry GenAI spans: sessions, sub-agents, older words, cut attributes, spans without content."""

import json
import runpy
from pathlib import Path

import pytest

from ctxbudget.errors import TraceError
from ctxbudget.ledger import unpaired
from ctxbudget.loaders import Options, load, otel_genai, sniff
from ctxbudget.records import read
from ctxbudget.trace import Kind

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "sample_traces" / "formats" / "otel_genai.jsonl"
REAL = ROOT.parent / "shared" / "real_traces" / "otel_genai"
PLAIN = Options(calibrate=False)


def value(raw):
    if isinstance(raw, bool):
        return {"boolValue": raw}
    return {"intValue": str(raw)} if isinstance(raw, int) else {"stringValue": raw}


def span(name, at, *, parent=None, trace="t1", status=0, events=(), **given):
    attributes = {key.replace("__", "."): raw for key, raw in given.items()}
    return {
        "traceId": trace,
        "spanId": name,
        "parentSpanId": parent or "",
        "startTimeUnixNano": str(at),
        "status": {"code": status},
        "attributes": [{"key": f"gen_ai.{key}", "value": value(raw)} for key, raw in attributes.items()],
        "events": [
            {"name": kind, "attributes": [{"key": key, "value": value(raw)} for key, raw in body.items()]}
            for kind, body in events
        ],
    }


def chat(name, at, asked, said, counts=(100, 10), **more):
    given = {"operation__name": "chat", "request__model": "gpt-4o", "usage__input_tokens": counts[0]}
    given |= {"usage__output_tokens": counts[1]}
    if asked is not None:
        given |= {"input__messages": json.dumps(asked), "output__messages": json.dumps([said])}
    return span(name, at, **given, **more)


def agent(name, at, **more):
    return span(name, at, operation__name="invoke_agent", **more)


def text(role, words):
    return {"role": role, "parts": [{"type": "text", "content": words}]}


def exported(*spans):
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def loaded(tmp_path, *records):
    path = tmp_path / "spans.json"
    path.write_text("\n".join(json.dumps(record) for record in records))
    assert max(sniff(read(str(path))).items(), key=lambda item: item[1])[0] == "otel-genai"
    return load(str(path), PLAIN)


def texts(trace, kind):
    return [fragment.text for fragment in trace.fragments if fragment.kind is kind]


ASK, YES, MORE, NO = text("user", "one"), text("assistant", "yes"), text("user", "two"), text("assistant", "no")

# ── the sample ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_sample_has_a_session_over_two_traces_a_silent_one_and_one_of_events():
    session, silent, old = load(str(SAMPLE), PLAIN)
    assert [trace.source.label == trace.source.session for trace in (session, silent, old)] == [True] * 3
    assert session.source.label == "apiary-7"
    assert [len(trace.turns) for trace in (session, silent, old)] == [5, 2, 1]
    assert [turn.reported for turn in session.turns] == [602, 671, 704, 763, 808]
    assert [turn.reported for turn in silent.turns] == [210, 260]
    assert not silent.fragments
    assert texts(old, Kind.SYSTEM_PROMPT) == ["Answer in one word."]
    assert [fragment.text for fragment in old.reply] == ["Yes."]


def test_the_sample_keeps_meaning():
    session = load(str(SAMPLE), PLAIN)[0]
    kinds = [fragment.kind.value for fragment in session.entering(session.turns[0])]
    assert kinds == ["tool_definitions", "tool_definitions", "system_prompt", "user", "media"]
    assert unpaired(session) == ([], [])
    calls = [fragment for fragment in session.fragments if fragment.kind is Kind.CALL]
    assert [call.tool for call in calls] == ["weigh_hive", "weigh_hive", "ask_mite_counter", "weigh_hive"]
    assert calls[0].unit == calls[1].unit != calls[2].unit
    assert [fragment.error for fragment in session.fragments if fragment.answers] == [False, False, False, True]
    assert texts(session, Kind.THINKING) == ["The picture shows few bees, so weight first, and mites."]
    first, second = session.billed[0].usage, session.billed[1].usage
    assert (first.input, first.cache_read, first.output, first.reasoning) == (602, 0, 88, 31)
    assert (second.input, second.cache_read, second.output) == (159, 512, 21)


def test_an_agent_started_by_an_agent_is_a_child_with_its_own_calls():
    [child] = load(str(SAMPLE), PLAIN)[0].children
    assert texts(child, Kind.SYSTEM_PROMPT) == [
        "You count mites on pictures of boards. Answer with a number and one sentence."
    ]
    assert [turn.reported for turn in child.turns] == [118, 147]
    assert (child.source.label, child.source.agent) == ("mite-counter", "mite-counter")
    assert [part.text for part in child.fragments if part.answers] == ['{"mites":31,"hours":24}']


def told_of(trace):
    """What a trace says, wherever it was read."""
    said = [(f.kind, f.text, f.turn, f.call, f.error, f.role) for f in trace.fragments]
    return said, [(turn.usage, turn.model) for turn in trace.turns], [told_of(child) for child in trace.children]


def test_the_span_store_of_an_editor_says_what_its_export_says(tmp_path):
    store = SAMPLE.with_name("otel_genai-store.db")
    export = tmp_path / "first.jsonl"
    export.write_text(SAMPLE.read_text().splitlines()[0])
    [stored], [told] = load(str(store), PLAIN), load(str(export), PLAIN)
    assert told_of(stored) == told_of(told)
    assert stored.parse.records_ok == 10
    scores = sniff(read(str(store)))
    assert scores.pop("otel-genai") >= 0.8 > max(scores.values())


def test_the_databases_are_what_their_generator_makes(tmp_path):
    runpy.run_path(str(ROOT / "sample_traces" / "make" / "databases.py"))["make"](tmp_path)
    for name in ("otel_genai-store.db", "openinference-store.db"):
        assert (tmp_path / name).read_bytes() == SAMPLE.with_name(name).read_bytes()


def test_no_other_format_claims_the_sample():
    scores = sniff(read(str(SAMPLE)))
    assert scores.pop("otel-genai") >= 0.8
    assert max(scores.values()) < 0.5


# ── spans of all sorts ─────────────────────────────────────────────────────────────────────────────────────────────


def test_sums_on_agent_spans_are_not_added(tmp_path):
    root = agent("a", 1, usage__input_tokens=300)
    [trace] = loaded(tmp_path, exported(root, chat("b", 2, [ASK], YES, parent="a")))
    assert [call.usage.total for call in trace.billed] == [110]


def test_spans_are_put_in_the_order_of_their_beginnings(tmp_path):
    later, first = chat("b", 20, [ASK, YES, MORE], NO), chat("a", 3, [ASK], YES)
    [trace] = loaded(tmp_path, exported(later), exported(first))
    assert [fragment.text for fragment in trace.fragments] == ["one", "yes", "two", "no"]
    assert len(trace.turns) == 2


def test_traces_that_go_on_from_one_another_are_one_conversation_and_equal_questions_are_not(tmp_path):
    spans = [
        chat("a", 1, [ASK], YES, trace="t1"),
        chat("b", 2, [ASK], YES, trace="t2"),
        chat("c", 3, [ASK, YES, MORE], NO, trace="t3"),
    ]
    one, two = loaded(tmp_path, exported(*spans))
    assert sorted([len(one.turns), len(two.turns)]) == [1, 2]
    assert {one.source.label, two.source.label} == {"t1", "t2"}


def test_a_compacted_history_is_a_recorded_edit(tmp_path):
    asked = [text("user", word) if at % 2 == 0 else text("assistant", word) for at, word in enumerate("abcdefg")]
    short = [text("user", "summary of a to d"), *asked[4:], text("assistant", "h"), text("user", "i")]
    [trace] = loaded(tmp_path, exported(chat("a", 1, asked, text("assistant", "h")), chat("b", 2, short, NO)))
    [compaction] = trace.recorded
    assert [fragment.text for fragment in compaction.edit.inserted] == ["summary of a to d"]
    assert len(compaction.edit.removed) == 4
    assert [turn.reported for turn in trace.turns][-2:] == [100, 100]


def test_a_tool_that_calls_a_model_is_a_sub_agent_of_the_run(tmp_path):
    tool = span("t", 2, operation__name="execute_tool", tool__name="ask")
    spans = [chat("a", 1, [ASK], YES), tool, chat("b", 3, [MORE], NO, parent="t")]
    [trace] = loaded(tmp_path, exported(*spans))
    assert len(trace.turns) == 1
    assert [len(child.turns) for child in trace.children] == [1]


def test_names_that_somebody_chose_make_plain_labels(tmp_path):
    spans = [
        chat("a", 1, [ASK], YES, conversation__id="x\x1b[31m #1/../é", trace="t1"),
        chat("b", 2, [MORE], NO, trace="t2"),
    ]
    one, two = loaded(tmp_path, exported(*spans))
    assert (one.source.label, two.source.label) == ("x-31m-1/../é", "t2")


def test_calls_without_content_are_one_conversation_though_their_agent_s_question_is_known(tmp_path):
    root = agent("a", 1, input__messages=json.dumps([ASK]))
    spans = [chat("b", 2, None, None, parent="a"), chat("c", 3, None, None, parent="a")]
    [trace] = loaded(tmp_path, exported(root, *spans))
    assert [turn.reported for turn in trace.turns] == [100, 100]


def test_a_call_recorded_by_two_instruments_counts_once(tmp_path):
    outer = chat("a", 1, [ASK], YES)
    [trace] = loaded(tmp_path, exported(outer, chat("b", 2, [ASK], YES, parent="a")))
    assert len(trace.turns) == len(trace.billed) == 1
    assert trace.parse.skipped == (("second recording of a model call, skipped", 1),)


def test_a_span_that_sums_its_steps_gives_way_to_them(tmp_path):
    steps = [chat("b", 2, [ASK], YES, parent="a"), chat("c", 3, [ASK, YES, MORE], NO, parent="a")]
    [trace] = loaded(tmp_path, exported(chat("a", 1, [ASK], NO, counts=(200, 20)), *steps))
    assert [call.usage.total for call in trace.billed] == [110, 110]


def test_ids_that_traces_share_are_those_of_each_trace(tmp_path):
    spans = [agent("1", 1, trace="t1"), chat("2", 2, [ASK], YES, parent="1", trace="t1")]
    spans += [chat("1", 3, [MORE], NO, trace="t2"), chat("2", 4, [MORE, NO, ASK], YES, trace="t2")]
    one, two = loaded(tmp_path, exported(*spans))
    assert [len(one.turns), len(two.turns)] == [1, 2]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"usage__input_tokens": 10, "usage__output_tokens": 3}, (10, 0, 0, 3, None)),
        ({"usage__input_tokens": 10, "usage__cache_read__input_tokens": 4}, (6, 4, 0, 0, None)),
        ({"usage__input_tokens": 10, "usage__cache_creation__input_tokens": 4}, (6, 0, 4, 0, None)),
        ({"usage__input_tokens": 2, "usage__cache_read__input_tokens": 9}, (2, 9, 0, 0, None)),
        ({"usage__prompt_tokens": 7, "usage__completion_tokens": 2}, (7, 0, 0, 2, None)),
        ({"usage__input_tokens": 5, "usage__output_tokens": 9, "usage__reasoning__output_tokens": 8}, (5, 0, 0, 9, 8)),
    ],
)
def test_counts_are_normalised(tmp_path, given, expected):
    [trace] = loaded(tmp_path, exported(span("a", 1, operation__name="chat", **given)))
    usage = trace.billed[0].usage
    assert (usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning) == expected


def numbered():
    given = {
        "prompt.0.role": "system", "prompt.0.content": "S", "prompt.10.role": "user", "prompt.10.content": "last",
        "prompt.2.role": "assistant", "prompt.2.tool_calls.0.id": "c", "prompt.2.tool_calls.0.name": "look",
        "prompt.2.tool_calls.0.arguments": "{}", "prompt.3.role": "tool", "prompt.3.tool_call_id": "c",
        "prompt.3.content": "seen", "completion.0.role": "assistant", "completion.0.content": "R",
    }  # fmt: skip
    return span("a", 1, **given)


def events():
    body = {"role": "assistant", "content": "R"}
    return span(
        "a",
        1,
        operation__name="chat",
        events=[
            ("gen_ai.system.message", {"content": "S"}),
            ("gen_ai.assistant.message", {"tool_calls": json.dumps([{"id": "c", "function": {"name": "look"}}])}),
            ("gen_ai.tool.message", {"id": "c", "tool_call_id": "c", "content": "seen"}),
            ("gen_ai.user.message", {"content": "last"}),
            ("gen_ai.choice", {"index": 0, "message": json.dumps(body)}),
        ],
    )


def bodies():
    """Pydantic AI keeps the events in an attribute."""
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    listed = [
        {"event.name": "gen_ai.system.message", "role": "system", "content": "S"},
        {"event.name": "gen_ai.assistant.message", "role": "assistant", "tool_calls": [call]},
        {"event.name": "gen_ai.tool.message", "role": "tool", "id": "c", "tool_call_id": "c", "content": "seen"},
        {"event.name": "gen_ai.user.message", "role": "user", "content": "last"},
        {"event.name": "gen_ai.choice", "index": 0, "message": {"role": "assistant", "content": "R"}},
    ]
    found = span("a", 1, operation__name="chat")
    found["attributes"].append({"key": "events", "value": {"stringValue": json.dumps(listed)}})
    return found


def vercel():
    """The inner span of a call of the Vercel AI SDK."""
    call = {"type": "tool-call", "toolCallId": "c", "toolName": "look", "args": {}}
    result = {"type": "tool-result", "toolCallId": "c", "toolName": "look", "result": "seen"}
    asked = [
        {"role": "system", "content": "S"},
        {"role": "assistant", "content": [call]},
        {"role": "tool", "content": [result]},
        {"role": "user", "content": [{"type": "text", "text": "last"}]},
    ]
    given = {"ai.operationId": "ai.generateText.doGenerate", "ai.prompt.messages": json.dumps(asked)}
    given["ai.response.text"] = "R"
    found = span("a", 1, request__model="gpt-4o")
    found["attributes"] += [{"key": key, "value": {"stringValue": raw}} for key, raw in given.items()]
    return found


@pytest.mark.parametrize(
    "given", [numbered(), events(), bodies(), vercel()], ids=["numbered", "events", "attribute", "vercel"]
)
def test_older_words_say_the_same(tmp_path, given):
    [trace] = loaded(tmp_path, exported(given))
    kinds = [fragment.kind.value for fragment in trace.fragments]
    assert kinds == ["system_prompt", "call", "result", "user", "answer"]
    assert [fragment.text for fragment in trace.fragments][2:] == ["seen", "last", "R"]


def test_an_attribute_cut_by_a_length_limit_gives_what_is_whole(tmp_path):
    cut = chat("a", 1, [ASK, YES, MORE], NO)
    for attribute in cut["attributes"]:
        if attribute["key"] == "gen_ai.input.messages":
            attribute["value"]["stringValue"] = attribute["value"]["stringValue"][:-30]
    [trace] = loaded(tmp_path, exported(cut))
    assert texts(trace, Kind.USER)[0] == "one"
    assert any("length limit" in name for name, _ in trace.parse.skipped)


def test_console_exports_and_bare_attributes_are_spans_too(tmp_path):
    flat = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps([ASK]),
        "gen_ai.output.messages": json.dumps([YES]),
        "gen_ai.usage.input_tokens": 9,
    }
    context = {"trace_id": "0x1", "span_id": "0x2"}
    printed = {"name": "chat", "context": context, "parent_id": None, "start_time": "2026-01-01", "attributes": flat}
    for record in (flat, printed):
        [trace] = loaded(tmp_path, record)
        assert [fragment.text for fragment in trace.fragments] == ["one", "yes"]
        assert trace.turns[0].reported == 9


def test_parents_in_a_circle_do_not_hang(tmp_path):
    spans = [agent("a", 1, parent="b"), agent("b", 2, parent="a"), chat("c", 3, [ASK], YES, parent="b")]
    assert sum(len(member.turns) for trace in loaded(tmp_path, exported(*spans)) for member in trace.family()) == 1


def test_spans_without_a_model_call_are_an_error(tmp_path):
    path = tmp_path / "web.json"
    path.write_text(json.dumps(exported(agent("a", 1))))
    with pytest.raises(TraceError):
        load(str(path), PLAIN)


@pytest.mark.parametrize(
    "head", [b"", b"{}", b'{"resourceSpans": 3}', b'[{"attributes": 1}]', b'{"attributes": {"x": 1}}']
)
def test_nothing_else_is_claimed(head):
    assert otel_genai.sniff(head, "x") < 0.5


# ── real files ─────────────────────────────────────────────────────────────────────────────────────────────────────

TURNS = {
    "copilot-chat.otlp.json": 9,
    # the index counts recorded responses; the history of this one holds a reply from before
    "openinference-genai-client-span.json": 2,
}


@pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real traces is not beside the checkout")
@pytest.mark.parametrize("name", TURNS)
def test_real_files_load_by_themselves_and_report_what_they_say(name):
    traces = load(str(REAL / name), PLAIN)
    members = [member for trace in traces for member in trace.family()]
    assert {trace.source.format for trace in traces} == {"otel-genai"}
    assert sum(len(member.turns) for member in members) == TURNS[name]
    assert all(unpaired(member) == ([], []) for member in members)
    data = json.loads((REAL / name).read_text())
    assert sorted(told(data)) == sorted(
        (call.usage.prompt, call.usage.cache_read, call.usage.output) for member in members for call in member.billed
    )


def told(data):
    """Input, cached and output of every chat span, read in another way."""
    if "resourceSpans" not in data:
        return [(data["gen_ai.usage.input_tokens"], 0, data["gen_ai.usage.output_tokens"])]
    found = []
    for one in data["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        given = {item["key"]: next(iter(item["value"].values())) for item in one["attributes"]}
        if given.get("gen_ai.operation.name") == "chat":
            names = ("input_tokens", "cache_read.input_tokens", "output_tokens")
            found.append(tuple(int(given.get(f"gen_ai.usage.{name}", 0)) for name in names))
    return found
