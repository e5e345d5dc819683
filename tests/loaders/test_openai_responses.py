"""OpenAI Responses: logs, chains of responses, lists of items, and what the Agents SDK stores."""

import json
import runpy
import sqlite3
from pathlib import Path

import pytest

from ctxbudget.builder import TraceBuilder
from ctxbudget.ledger import context, unpaired
from ctxbudget.loaders import Options, load, openai_responses, sniff
from ctxbudget.providers.openai.usage import read_items_usage
from ctxbudget.records import read
from ctxbudget.trace import Kind

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_traces" / "formats"
REAL = Path(__file__).parents[3] / "shared" / "real_traces" / "openai_responses"


def encoded(*records):
    return "\n".join(record if isinstance(record, str) else json.dumps(record) for record in records).encode()


def traces(*records):
    def start(label=None, path="log.jsonl"):
        return TraceBuilder(path, "openai-responses", label=label)

    return list(openai_responses.load(read("log.jsonl", encoded(*records)), start))


def one(*records):
    (trace,) = traces(*records)
    return trace


def said(text="done", role="assistant"):
    part = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": part, "text": text}]}


def called(call="c1", name="look", **more):
    return {"type": "function_call", "id": f"fc_{call}", "call_id": call, "name": name, "arguments": "{}", **more}


def answered(call="c1", output="found", kind="function_call_output"):
    return {"type": kind, "call_id": call, "output": output}


def response(*output, name="r1", tokens=(10, 5), before=None, **more):
    given, written = tokens
    usage = {"input_tokens": given, "output_tokens": written, "total_tokens": given + written}
    own = {"id": name, "object": "response", "model": "gpt-5", "output": list(output), "usage": usage}
    return own | {"previous_response_id": before} | more


def exchanged(given, answer, **more):
    return {"request": {"model": "gpt-5", "input": given, **more}, "response": answer}


def kinds(parts):
    return [str(part.kind) for part in parts]


def sample(name):
    return load(str(SAMPLES / f"openai_responses{name}"), Options(calibrate=False))


# ── the samples ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_log_whose_requests_hold_everything():
    (trace,) = sample(".jsonl")
    assert [kinds(trace.entering(turn)) for turn in trace.turns] == [
        ["tool_definitions", "tool_definitions", "system_prompt", "user", "media"],
        ["reasoning", "call", "call", "retrieval", "retrieval"],
        ["call", "result"],
    ]  # fmt: skip
    assert kinds(trace.reply) == ["answer"]
    assert unpaired(trace) == ([], [])
    assert [part.error for part in trace.fragments if part.answers] == [False, True, False]
    assert [turn.reported for turn in trace.turns] == [1212, 1326, 1351]
    assert [(c.usage.input, c.usage.cache_read, c.usage.output, c.usage.reasoning) for c in trace.billed] == [
        (1212, 0, 196, 128), (174, 1152, 84, 64), (71, 1280, 26, 0),
    ]  # fmt: skip
    assert next(part for part in trace.fragments if part.kind is Kind.MEDIA).tokens == 255  # one tile of 512 × 512
    assert trace.recorded == ()
    assert not trace.carries_reasoning


def test_a_chain_of_responses():
    (trace,) = sample("-chained.jsonl")
    assert [kinds(trace.entering(turn)) for turn in trace.turns] == [
        ["tool_definitions", "tool_definitions", "tool_definitions", "system_prompt", "user", "tool_definitions"],
        ["call", "retrieval", "call", "result"],
        ["answer", "user"],
        ["call", "answer", "user"],
        ["call", "result"],
    ]  # fmt: skip
    assert unpaired(trace) == ([], [])
    assert [turn.reported for turn in trace.turns] == [None, 2210, 8120, 2480, 2530]
    (compaction,) = trace.recorded
    assert (compaction.turn, compaction.trigger) == (4, "auto")
    assert [(part.kind, part.tokens) for part in compaction.edit.inserted] == [(Kind.SUMMARY, 75)]
    held = kinds(context(trace, 4))
    assert (held.count("user"), held.count("summary"), held.count("system_prompt")) == (1, 1, 1)
    assert not any("loans.example" in part.text or "not shown" in part.text for part in trace.fragments)


def test_a_list_of_items():
    (trace,) = sample("-items.json")
    assert kinds(trace.fragments) == [
        "user", "call", "retrieval", "call", "result", "call", "result", "call", "media", "answer", "user",
    ]  # fmt: skip
    assert unpaired(trace) == ([], [])
    assert [part.error for part in trace.fragments if part.kind is Kind.RESULT] == [False, True]
    assert [part.origin.line for part in trace.fragments] == [1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    assert trace.turns[-1].pending


def test_a_database_of_sessions():
    labels, hours = sample("-store.db")
    (items,) = sample("-items.json")
    assert [(t.source.label, t.source.session, t.source.agent) for t in (labels, hours)] == [
        ("labels", "labels", "openai-agents"), ("hours", "hours", "openai-agents"),
    ]  # fmt: skip
    assert [(part.kind, part.text) for part in labels.fragments] == [(part.kind, part.text) for part in items.fragments]
    assert kinds(hours.fragments) == ["user", "answer"]
    assert [part.origin.line for part in hours.fragments] == [3, 6]  # rows


def test_the_database_is_what_its_maker_makes(tmp_path):
    runpy.run_path(str(ROOT / "sample_traces" / "make" / "databases.py"))["make"](tmp_path)
    name = "openai_responses-store.db"
    assert (tmp_path / name).read_bytes() == (SAMPLES / name).read_bytes()


def test_the_state_of_a_run():
    (trace,) = sample("-run_state.json")
    assert kinds(trace.fragments) == ["user", "call", "retrieval", "call"]
    assert [call.text for call in unpaired(trace)[0]] == ['lend {"number":"M-0412","to":"school"}']
    assert [(turn.reported, turn.pending) for turn in trace.turns] == [(640, False), (700, False), (None, True)]
    assert trace.turns[0].usage.cache_read == 512


# ── records ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "records, reported",
    [
        pytest.param([response(said())], [10], id="response alone"),
        pytest.param([exchanged("hi", response(said()))], [10], id="request and response"),
        pytest.param([{"model": "gpt-5", "input": "hi", "instructions": "brief"}], [None], id="request alone"),
        pytest.param([{"type": "response.created", "response": response()}, {"type": "response.output_text.delta"},
                      {"type": "response.completed", "response": response(said())}], [10], id="events of a stream"),
        pytest.param([exchanged("hi", "event: x\ndata: " + json.dumps({"response": response(said())}))], [10],
                     id="a streamed body"),
        pytest.param([exchanged("hi", response(said())), exchanged("hi", response(said()))], [10], id="logged twice"),
    ],
)  # fmt: skip
def test_calls(records, reported):
    assert [turn.reported for turn in one(*records).turns] == reported


def test_requests_that_go_on_are_one_conversation():
    first, second = [said("go", "user")], [said("go", "user"), called(), answered()]
    records = [
        exchanged(first, response(called(status="completed", id="other"))),
        exchanged(second, response(said(), name="r2", tokens=(30, 5))),
        exchanged([*second, {"role": "assistant", "content": "done"}, {"role": "user", "content": "more"}],
                  response(said(), name="r3", tokens=(50, 5))),
    ]  # fmt: skip
    trace = one(*records)
    assert kinds(trace.fragments) == ["user", "call", "result", "answer", "user", "answer"]
    assert [turn.reported for turn in trace.turns] == [10, 30, 50]
    assert trace.recorded == ()


@pytest.mark.parametrize(
    "records, expected, codes",
    [
        pytest.param([("a", None), ("b", "a"), ("c", "b")], [3], [], id="chain"),
        pytest.param([("a", None), ("b", "a"), ("c", "a")], [2, 1], ["history-absent"], id="fork"),
        pytest.param([("b", "a")], [1], ["history-absent"], id="beginning is lost"),
        pytest.param([("a", None), ("b", None)], [1, 1], [], id="two calls"),
    ],
)
def test_responses_that_name_the_one_before(records, expected, codes):
    found = traces(*(response(said(), name=name, before=before) for name, before in records))
    assert [len(trace.turns) for trace in found] == expected
    assert [warning.code for trace in found for warning in trace.warnings] == codes


def test_instructions_that_change_are_an_edit():
    first = exchanged("a", response(said()), instructions="brief")
    second = exchanged("b", response(said(), name="r2", before="r1"), instructions="long")
    trace = one(first, second)
    assert [edit.edit.by for edit in trace.recorded] == ["request"]
    assert [part.text for part in context(trace, 2) if part.kind is Kind.SYSTEM_PROMPT] == ["long"]


@pytest.mark.parametrize(
    "item, expected, dangling",
    [
        pytest.param({"type": "web_search_call", "action": {"query": "x"}}, ["call"], 0, id="web search"),
        pytest.param({"type": "file_search_call", "queries": ["x"], "results": [{"text": "y"}]},
                     ["call", "retrieval"], 0, id="file search"),
        pytest.param({"type": "code_interpreter_call", "code": "1", "outputs": []}, ["call"], 1, id="code, no output"),
        pytest.param({"type": "mcp_call", "name": "f", "server_label": "s", "error": "down"}, ["call", "result"], 0,
                     id="MCP error"),
        pytest.param({"type": "image_generation_call", "result": "aGk="}, ["call", "media"], 0, id="image"),
        pytest.param({"type": "apply_patch_call", "call_id": "p", "operation": {"path": "a"}}, ["call"], 1, id="patch"),
        pytest.param({"type": "mcp_approval_request", "name": "f", "arguments": "{}"}, ["other"], 0, id="approval"),
        pytest.param({"type": "reasoning", "summary": [{"text": "hm"}]}, ["answer"], 0, id="reasoning alone"),
        pytest.param({"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]},
                     ["answer"], 0, id="refusal"),
        pytest.param({"type": "novel_item", "x": 1}, ["other"], 0, id="unknown"),
    ],
)  # fmt: skip
def test_items_of_a_reply(item, expected, dangling):
    trace = one(exchanged("go", response(item)))
    assert kinds(trace.fragments) == ["user", *expected]
    assert (len(unpaired(trace)[0]), unpaired(trace)[1]) == (dangling, [])


def test_names_of_tools_on_servers():
    trace = one(exchanged("go", response({"type": "mcp_call", "name": "f", "server_label": "s", "output": "x"})))
    assert [part.tool for part in trace.fragments if part.asks] == ["s__f"]
    offered = {"type": "mcp_list_tools", "server_label": "s", "tools": [{"name": "f"}, {"name": "g"}, "odd"]}
    trace = one(exchanged("go", response(offered)))
    offers = [part for part in trace.fragments if part.kind is Kind.TOOL_DEFINITIONS]
    assert [part.tool for part in offers] == ["s__f", "s__g", None]
    assert [part.id for part in offers] == ["t1.1", "t1.2", "t1.3"]  # asked for before the model was


def test_a_tool_that_ran_at_the_provider_s_is_in_the_prompt_that_was_counted():
    ran = {"type": "mcp_call", "id": "m", "name": "f", "server_label": "s", "output": "x" * 500}
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]}
    thought = {"type": "reasoning", "summary": []}
    (trace,) = [one(exchanged("go", response(thought, ran, ran | {"id": "n"}, thought, said)))]
    assert [kinds(trace.entering(turn)) for turn in trace.turns] == [["user"], ["call", "result"] * 2]
    assert [turn.usage is not None for turn in trace.turns] == [False, True]
    assert [call.turn for call in trace.billed] == [2]
    assert (kinds(trace.reply), trace.turns[-1].pending) == (["answer"], False)


@pytest.mark.parametrize(
    "output, error",
    [
        ([{"stdout": "x", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}], False),
        ([{"stdout": "", "stderr": "y", "outcome": {"type": "exit", "exit_code": 2}}], True),
        ([{"stdout": "", "stderr": "", "outcome": {"type": "timeout"}}], True),
        ("An error occurred while running the tool. Please try again.", True),
        ("fine", False),
    ],
)
def test_a_failure_is_told(output, error):
    trace = one(said("go", "user"), called(), answered(output=output))
    assert [part.error for part in trace.fragments if part.answers] == [error]


def test_the_javascript_sdk_s_state():
    call = {"type": "function_call", "callId": "c", "name": "look", "arguments": "{}"}
    result = {"type": "function_call_result", "callId": "c", "output": {"type": "text", "text": "found"}}
    usage = {"inputTokens": 40, "outputTokens": 2, "totalTokens": 42, "inputTokensDetails": [{"cached_tokens": 30}]}
    state = {
        "$schemaVersion": "1.0",
        "originalInput": [{"role": "user", "content": "go"}],
        "modelResponses": [{"output": [call], "usage": usage, "responseId": "r"}],
        "generatedItems": [{"rawItem": call}, {"rawItem": result}],
    }
    trace = one(state)
    assert kinds(trace.fragments) == ["user", "call", "result"]
    assert unpaired(trace) == ([], [])
    assert (trace.turns[0].usage.input, trace.turns[0].usage.cache_read) == (10, 30)


def test_a_damaged_row_is_told(tmp_path):
    path = tmp_path / "agents.db"
    path.write_bytes((SAMPLES / "openai_responses-store.db").read_bytes())
    database = sqlite3.connect(path)
    database.execute("UPDATE agent_messages SET message_data = '{' WHERE id = 1")
    database.execute("UPDATE agent_messages SET message_data = '[]' WHERE id = 3")
    database.commit()
    database.close()
    found = load(str(path))
    assert [(trace.source.label, [w.line for w in trace.warnings]) for trace in found] == [
        ("labels", [1]), ("hours", [3]),
    ]  # fmt: skip
    assert [(trace.parse.records_ok, trace.parse.records_bad) for trace in found] == [(11, 1), (1, 1)]


def span(kind, own="span_1", **data):
    return {"object": "trace.span", "id": own, "trace_id": "trace_1", "span_data": {"type": kind, **data}}


TRACE = {"object": "trace", "id": "trace_1", "workflow_name": "run"}


def test_spans_of_a_chat_model():
    asked = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "go"}]
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    reply = {"role": "assistant", "content": None, "tool_calls": [call]}
    later = [*asked, reply, {"role": "tool", "tool_call_id": "c1", "content": "found"}]
    usage = {"input_tokens": 40, "output_tokens": 5}
    trace = one(
        TRACE,
        span("agent", name="agent"),
        span("generation", input=asked, output=[reply], model="gpt-5", usage=usage),
        span("function", "span_2", name="look", input="{}", output="found"),
        span("generation", "span_3", input=later, output=[{"role": "assistant", "content": "done"}], model="gpt-5"),
    )
    assert kinds(trace.fragments) == ["system_prompt", "user", "call", "result", "answer"]
    assert [turn.reported for turn in trace.turns] == [40, None]
    assert (trace.source.agent, trace.source.session, trace.model) == ("openai-agents", "trace_1", "gpt-5")


def test_spans_of_responses_have_usage_alone():
    usage = {"input_tokens": 40, "output_tokens": 5, "total_tokens": 45}
    again = {"input_tokens": 60, "output_tokens": 5, "total_tokens": 65}
    trace = one(TRACE, span("response", response_id="r1", usage=usage), span("response", response_id="r2", usage=again))
    assert kinds(trace.fragments) == []
    assert [turn.reported for turn in trace.turns] == [40, 60]
    assert [call.key for call in trace.billed] == ["r1", "r2"]


@pytest.mark.parametrize(
    "raw, expected",
    [
        ({"input_tokens": 50, "input_tokens_details": {"cached_tokens": 20}, "output_tokens": 9,
          "output_tokens_details": {"reasoning_tokens": 4}, "total_tokens": 59}, (30, 20, 0, 9, 4, 59)),
        ({"input_tokens": 50, "input_tokens_details": [{"cached_tokens": 20, "cache_write_tokens": 10}],
          "output_tokens": 9}, (20, 20, 10, 9, None, 59)),
        ({"total_tokens": 59}, (0, 0, 0, 0, None, 59)),
    ],
)  # fmt: skip
def test_usage_is_disjoint(raw, expected):
    usage = read_items_usage(raw)
    assert (usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning, usage.total) == expected


# ── telling it apart ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "records",
    [
        pytest.param([response(said())], id="response"),
        pytest.param([exchanged("hi", response(said()))], id="exchange"),
        pytest.param([{"model": "gpt-5", "input": [said("hi", "user")]}], id="request"),
        pytest.param([{"model": "gpt-5", "input": "hi", "tools": []}], id="request of text"),
        pytest.param([{"type": "response.completed", "response": response(said())}], id="event"),
        pytest.param([{"role": "user", "content": "go"}, called(), answered()], id="items"),
        pytest.param([[said("hi", "user"), said()]], id="messages with its parts"),
        pytest.param([TRACE], id="trace"),
        pytest.param([span("response", usage={})], id="span"),
    ],
)
def test_it_is_recognised(records):
    found = sniff(read("x.jsonl", encoded(*records)))
    assert max(found, key=found.get) == "openai-responses"
    assert found["openai-responses"] >= 0.8


@pytest.mark.parametrize(
    "records",
    [
        pytest.param([{"timestamp": "t", "type": "response_item", "payload": called()}], id="Codex"),
        pytest.param([{"model": "m", "input": "embed this"}], id="embedding"),
        pytest.param([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], id="plain messages"),
        pytest.param([{"model": "m", "messages": [{"role": "user", "content": "a"}]}], id="chat request"),
        pytest.param([{"type": "message", "role": "user", "content": "a"}], id="a message of any agent"),
    ],
)
def test_others_are_not_its_own(records):
    assert sniff(read("x.jsonl", encoded(*records)))["openai-responses"] == 0


# ── real responses ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real traces is not beside the checkout")
@pytest.mark.parametrize(
    "name, pending",
    [
        ("compaction.json", True),  # what follows the compaction waits for the next call
        ("mcp-tool.json", None),  # asked again within the response, with the result of the server's tool
        ("web-search-tool.json", False),
    ],
)
def test_real_responses(name, pending):
    (trace,) = load(str(REAL / name))
    assert trace.source.format == "openai-responses"
    assert [turn.pending for turn in trace.turns] == {True: [False, True], False: [False], None: [False] * 2}[pending]
    assert unpaired(trace) == ([], [])
    usage = json.loads((REAL / name).read_text(encoding="utf-8"))["usage"]
    (call,) = trace.billed
    assert (call.usage.prompt, call.usage.output, call.usage.total) == (
        usage["input_tokens"], usage["output_tokens"], usage["total_tokens"],
    )  # fmt: skip
    assert call.usage.cache_read == usage["input_tokens_details"]["cached_tokens"]
    assert call.usage.reasoning == usage["output_tokens_details"]["reasoning_tokens"]
    assert len(trace.recorded) == (name == "compaction.json")
