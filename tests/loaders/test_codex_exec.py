"""Codex exec: replies told apart by what answered, and a running total brought back to turns."""

import json
from pathlib import Path

import pytest

from ctxbudget.builder import TraceBuilder
from ctxbudget.ledger import unpaired
from ctxbudget.loaders import Options, codex_exec, load, sniff
from ctxbudget.records import read
from ctxbudget.trace import Kind

SAMPLE = Path(__file__).resolve().parents[2] / "sample_traces" / "formats" / "codex_exec.jsonl"


def encoded(*records):
    return "\n".join(record if isinstance(record, str) else json.dumps(record) for record in records).encode()


def traces(*records):
    def start(label=None, path="exec.jsonl"):
        return TraceBuilder(path, "codex-exec", label=label)

    return list(codex_exec.load(read("exec.jsonl", encoded(*records)), start))


def one(*records):
    (trace,) = traces(*records)
    return trace


BEGIN = {"type": "thread.started", "thread_id": "t"}


def item(kind, event="completed", name="item_1", **more):
    return {"type": f"item.{event}", "item": {"id": name, "type": kind, **more}}


def said(text="done"):
    return item("agent_message", text=text)


def command(name, event="completed", **more):
    return item("command_execution", event, name, command="ls", aggregated_output="a", exit_code=0, **more)


def ended(given=0, cached=0, output=0, **more):
    usage = {"input_tokens": given, "cached_input_tokens": cached, "output_tokens": output, **more}
    return {"type": "turn.completed", "usage": usage}


def kinds(parts):
    return [str(part.kind) for part in parts]


def billed(trace):
    return [(call.usage.total, call.turn) for call in trace.billed]


def test_the_sample():
    (trace,) = load(str(SAMPLE), Options(calibrate=False))
    assert [kinds(trace.entering(turn)) for turn in trace.turns] == [
        [],
        ["answer"],
        ["reasoning", "call", "call", "result", "result"],
        ["plan", "result"],
        ["call", "result"],
        ["plan", "result"],
        ["call", "result", "media"],
        ["call", "result"],
        ["call", "call", "result"],
        ["answer"],
        ["call"],
    ]
    assert (trace.source.format, trace.source.agent) == ("codex-exec", "codex")
    assert [len(side) for side in unpaired(trace)] == [1, 0]  # the command that was running when the stream broke
    errors = [part.text for part in trace.fragments if part.error]
    assert [text.partition("\n")[0] for text in errors] == ["F.", "the sign does not answer"]
    assert next(part for part in trace.fragments if part.kind is Kind.MEDIA).tokens == 525  # 768 × 512 / 750
    assert (trace.outcome.success, trace.outcome.source) == (False, "turn.failed")
    assert billed(trace) == [(9177, 1), (80237, None)]
    assert trace.turns[0].usage.reasoning == 32
    assert not trace.carries_reasoning
    assert trace.turns[-1].pending


def test_results_join_the_commands_that_ran_together():
    trace = one(BEGIN, command("a", "started"), command("b", "started"), command("b"), command("a"), said())
    assert kinds(trace.fragments) == ["call", "call", "result", "result", "answer"]
    assert len(trace.turns) == 2
    calls, results = [p for p in trace.fragments if p.asks], [p for p in trace.fragments if p.answers]
    assert [result.call for result in results] == [call.call for call in reversed(calls)]


def test_ids_that_begin_anew_are_other_calls():
    trace = one(BEGIN, command("item_1"), said(), ended(10), BEGIN, command("item_1"), said(), ended(30))
    assert unpaired(trace) == ([], [])
    assert len({part.call for part in trace.fragments if part.asks}) == 2


def test_a_command_that_never_ended_is_not_taken_up_by_the_next_turn():
    broken = {"type": "turn.failed", "error": {"message": "x"}}
    trace = one(BEGIN, command("a", "started"), broken, item("mcp_tool_call", name="a", server="s", tool="get"))
    assert [part.tool for part in trace.fragments if part.asks] == ["shell", "s__get"]
    assert len(unpaired(trace)[0]) == 1


@pytest.mark.parametrize(
    "events, expected",
    [
        pytest.param([said(), ended(10, 4, 5)], [(15, 1)], id="one call"),
        pytest.param([command("a"), said(), ended(10, 4, 5)], [(15, None)], id="two calls"),
        pytest.param([said(), ended(10, 0, 5), said(), ended(30, 0, 8)], [(15, 1), (23, 2)], id="running total"),
        pytest.param([said(), ended(30, 0, 8), said(), ended(10, 0, 5)], [(38, 1), (15, 2)], id="total began again"),
        pytest.param([said(), ended(10, 0, 5), said(), ended(10, 0, 5)], [(15, 1)], id="total repeated"),
        pytest.param([ended(10, 0, 5)], [(15, None)], id="no reply"),
        pytest.param([said(), {"type": "turn.failed"}], [], id="failed"),
        pytest.param([said(), ended("x", -3)], [], id="damaged"),
    ],
)
def test_usage(events, expected):
    assert billed(one(BEGIN, *events)) == expected


def test_usage_is_disjoint():
    usage = one(BEGIN, said(), ended(50, 20, 9, reasoning_output_tokens=4, cache_write_input_tokens=10)).turns[0].usage
    assert (usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning) == (20, 20, 10, 9, 4)


@pytest.mark.parametrize(
    "fields, expected",
    [
        pytest.param({"type": "file_change", "changes": [{"path": "/a.py", "kind": "add"}], "status": "failed"},
                     ("apply_patch", "edit", "/a.py", "failed", True), id="patch"),
        pytest.param({"type": "mcp_tool_call", "server": "s", "tool": "get", "arguments": {"q": 1},
                      "result": {"content": [], "structured_content": {"n": 1}}},
                     ("s__get", None, None, '{"n":1}', False), id="MCP"),
        pytest.param({"type": "command_execution", "command": "false", "aggregated_output": "", "exit_code": 1},
                     ("shell", None, None, "", True), id="command"),
        pytest.param({"type": "command_execution", "command": "rm", "aggregated_output": "", "status": "declined"},
                     ("shell", None, None, "", True), id="declined"),
    ],
)  # fmt: skip
def test_tools(fields, expected):
    call, result = one(BEGIN, item(fields.pop("type"), **fields)).fragments
    tool, cls, target, text, error = expected
    assert (call.tool, result.text, result.error) == (tool, text, error)
    assert cls is None or (call.resource.cls, call.resource.target) == (cls, target)


def test_what_is_not_sent():
    unsent = [item("reasoning", text="**Thinking**"), item("error", message="slow"), {"type": "error", "message": "x"}]
    trace = one(BEGIN, *unsent, said(), {"type": "novel.event"}, item("novel_item"))
    assert kinds(trace.fragments) == ["answer"]
    assert [warning.code for warning in trace.warnings] == ["unknown-record"] * 2


def test_the_first_form_of_items():
    old = {"type": "item.completed", "item": {"id": "item_0", "item_type": "assistant_message", "text": "hello"}}
    assert kinds(one(BEGIN, old).fragments) == ["answer"]


def test_what_stands_before_the_thread_is_its_own():
    trace = one({"type": "turn.started"}, said("early"), BEGIN, said())
    assert (trace.source.label, trace.source.session, kinds(trace.fragments)) == (None, "t", ["answer"] * 2)


def test_each_thread_is_a_trace():
    found = traces(BEGIN, said(), {**BEGIN, "thread_id": "u"}, said(), BEGIN, said())
    assert [(t.source.label, t.source.session, len(t.turns)) for t in found] == [("1", "t", 1), ("2", "u", 1)]


@pytest.mark.parametrize(
    "records",
    [
        pytest.param([BEGIN, {"type": "turn.started"}], id="thread"),
        pytest.param([said()], id="item"),
        pytest.param(["Reading prompt from stdin...", BEGIN], id="a line before"),
        pytest.param([[BEGIN, said()]], id="a list"),
    ],
)
def test_it_is_recognised(records):
    found = sniff(read("x.jsonl", encoded(*records)))
    assert max(found, key=found.get) == "codex-exec"
    assert found["codex-exec"] >= 0.8


def test_a_rollout_is_not():
    line = {"timestamp": "t", "type": "event_msg", "payload": {"type": "turn.completed", "usage": {"input_tokens": 1}}}
    found = sniff(read("x.jsonl", encoded(line)))
    assert (max(found, key=found.get), found["codex-exec"]) == ("codex", 0)
