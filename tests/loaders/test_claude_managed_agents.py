"""Claude managed agents: requests and what they wrote, results, sub-agents, verdicts."""

import json
from pathlib import Path

import pytest

from ctxbudget.builder import TraceBuilder
from ctxbudget.ledger import context, unpaired
from ctxbudget.loaders import Options, claude_managed_agents, load, sniff
from ctxbudget.records import read
from ctxbudget.trace import Kind

SAMPLES = Path(__file__).resolve().parents[2] / "sample_traces" / "formats"


def encoded(*records):
    return "\n".join(json.dumps(record) for record in records).encode()


def one(*records):
    def start(label=None, path="events.jsonl"):
        return TraceBuilder(path, "claude-managed-agents", label=label)

    (trace,) = claude_managed_agents.load(read("events.jsonl", encoded(*records)), start)
    return trace


def event(kind, name="e", **more):
    return {"id": name, "type": kind, **more}


def text(words="hello"):
    return [{"type": "text", "text": words}]


def asked(words="go", **more):
    return event("user.message", content=text(words), **more)


def said(words="done", **more):
    return event("agent.message", content=text(words), **more)


def began(name="r1"):
    return event("span.model_request_start", name)


def ended(start="r1", given=10, output=5, name="end1", **more):
    usage = {"input_tokens": given, "output_tokens": output}
    return event("span.model_request_end", name, model_request_start_id=start, model_usage=usage, **more)


def used(name="t1"):
    return {"id": name, "type": "agent.tool_use", "name": "read", "input": {}}


def answered(call="t1", words="found", **more):
    return event("agent.tool_result", "a1", tool_use_id=call, content=text(words), **more)


def idle(reason):
    return event("session.status_idle", stop_reason={"type": reason})


def kinds(parts):
    return [str(part.kind) for part in parts]


def billed(trace):
    return [(call.usage.total, call.turn, call.purpose) for call in trace.billed]


# ── the samples ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def sample():
    (trace,) = load(str(SAMPLES / "claude_managed_agents.jsonl"), Options(calibrate=False))
    return trace


def test_each_turn_brings_what_was_sent(sample):
    assert [kinds(sample.entering(turn)) for turn in sample.turns] == [
        ["user", "media", "user"],
        ["reasoning", "call", "call", "result", "result"],
        ["call", "call", "result", "result"],
        ["call", "injected"],
        ["call", "result"],
    ]
    assert kinds(sample.reply) == ["answer"]


def test_the_sample_s_facts(sample):
    assert (sample.source.format, sample.source.agent) == ("claude-managed-agents", "claude-managed-agents")
    assert unpaired(sample) == ([], [])
    assert [part.tool for part in sample.fragments if part.asks] == [
        "read", "mcp__catalogue__next_mark", "reserve_marks", "bash", "write",
    ]  # fmt: skip
    assert [part.text for part in sample.fragments if part.error] == [
        "section geology is locked until Monday", "Do not delete anything.",
    ]  # fmt: skip
    assert next(part for part in sample.fragments if part.kind is Kind.MEDIA).tokens == 500  # 750 × 500 / 750
    assert (sample.outcome.success, sample.outcome.source) == (True, "outcome evaluation: satisfied")
    (compaction,) = sample.recorded
    assert (compaction.turn, compaction.trigger, compaction.edit.inserted) == (4, "auto", ())
    assert kinds(context(sample, 4)) == []
    assert [warning.code for warning in sample.warnings] == ["compaction-unseen"]


def test_the_sample_s_usage(sample):
    lines = [json.loads(line) for line in (SAMPLES / "claude_managed_agents.jsonl").read_text().splitlines()]
    spans = [line["model_usage"] for line in lines if line["type"] == "span.model_request_end" and not line["is_error"]]
    assert [turn.usage.total for turn in sample.turns] == [sum(usage.values()) for usage in spans]
    assert [turn.reported for turn in sample.turns] == [sum(usage.values()) - usage["output_tokens"] for usage in spans]
    assert [call.usage.total for call in sample.billed if call.turn is None] == [960]  # the grader's


def test_the_sample_s_sub_agent(sample):
    (child,) = sample.children
    assert (child.source.label, child.source.agent) == ("sthr_b", "proofreader")
    assert kinds(child.fragments) == ["call", "result"]


def test_a_session_with_its_events_newest_first():
    (trace,) = load(str(SAMPLES / "claude_managed_agents-session.json"), Options(calibrate=False))
    assert (trace.source.session, trace.model) == ("sesn_7", "claude-sonnet-4-5")
    assert kinds(trace.fragments) == ["tool_definitions", "system_prompt", "user", "call", "retrieval", "answer"]
    assert [turn.reported for turn in trace.turns] == [1800, 1890]


# ── requests ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "events, expected",
    [
        pytest.param([began(), said(), ended()], [(15, 1, "turn")], id="start, reply, end"),
        pytest.param([began(), ended(), said()], [(15, 1, "turn")], id="the reply comes last"),
        pytest.param([said(), ended("gone")], [(15, 1, "turn")], id="starts are left out"),
        pytest.param([began(), event("agent.thinking"), ended()], [(15, 1, "turn")], id="thinking alone"),
        pytest.param([began(), ended()], [(15, 1, "turn")], id="nothing of the reply"),
        pytest.param([ended("gone")], [(15, 1, "turn")], id="an end alone"),
        pytest.param([began(), said()], [], id="cut off"),
        pytest.param([said()], [], id="no spans"),
        pytest.param([began(), ended(is_error=True)], [(15, None, "abandoned")], id="failed"),
        pytest.param([began(), ended(given=0, output=0, is_error=True)], [], id="failed at once"),
    ],
)
def test_a_request_is_billed_once(events, expected):
    trace = one(asked(), *events)
    assert billed(trace) == expected
    assert sum(not turn.pending for turn in trace.turns) == (
        sum(turn == 1 for _, turn, _ in expected) or any(e["type"] == "agent.message" for e in events)
    )


def test_each_request_is_a_turn():
    trace = one(
        asked(), began("a"), used("t1"), used("t2"), ended("a"), answered("t1"), answered("t2"),
        began("b"), said(), ended("b", 30, 5, "end2"),
    )  # fmt: skip
    assert [turn.reported for turn in trace.turns] == [10, 30]
    assert kinds(trace.fragments) == ["user", "call", "call", "result", "result", "answer"]


@pytest.mark.parametrize(
    "confirmed, expected",
    [
        pytest.param([{"result": "allow"}], ["result"], id="allowed"),
        pytest.param([{"result": "deny", "deny_message": "no"}], ["result"], id="denied, and told again"),
    ],
)
def test_a_confirmation_is_no_second_result(confirmed, expected):
    told = [event("user.tool_confirmation", tool_use_id="t1", **fields) for fields in confirmed]
    trace = one(asked(), began(), used(), ended(), *told, answered())
    assert kinds(part for part in trace.fragments if part.answers) == expected


@pytest.mark.parametrize(
    "events, success, source",
    [
        ([idle("end_turn")], None, "stop_reason: end_turn"),
        ([idle("retries_exhausted")], False, "stop_reason: retries_exhausted"),
        ([event("span.outcome_evaluation_end", result="needs_revision"),
          event("span.outcome_evaluation_end", result="max_iterations_reached"),
          idle("end_turn")],
         False, "outcome evaluation: max_iterations_reached"),
    ],
)  # fmt: skip
def test_how_it_ended(events, success, source):
    outcome = one(asked(), said(), *events).outcome
    assert (outcome.success, outcome.source) == (success, source)


def test_unknown_events_are_counted_and_known_ones_are_quiet():
    quiet = [
        event(kind) for kind in ("session.updated", "user.interrupt", "session.error", "span.outcome_evaluation_start")
    ]
    trace = one(asked(), *quiet, event("agent.novel"), said())
    assert kinds(trace.fragments) == ["user", "answer"]
    assert trace.parse.skipped == (("agent.novel", 1),)


def test_system_messages_and_received_ones_are_injected():
    more = [event("system.message", content=text("late")), event("agent.thread_message_received", content=text("x"))]
    assert kinds(one(asked(), *more, said()).fragments) == ["user", "injected", "injected", "answer"]


# ── telling it apart ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "records",
    [
        pytest.param([asked(), began()], id="lines"),
        pytest.param([{"raw": said()}], id="under raw"),
        pytest.param([[asked(), said()]], id="list"),
        pytest.param([{"data": [asked(), said()], "has_more": False}], id="page"),
        pytest.param([asked()], id="only a question"),
    ],
)
def test_it_is_recognised(records):
    found = sniff(read("x.jsonl", encoded(*records)))
    assert max(found, key=found.get) == "claude-managed-agents"
    assert found["claude-managed-agents"] >= 0.8


@pytest.mark.parametrize("records", [[{"raw": asked()}, {"raw": said()}], [{"data": [asked(), said()]}]])
def test_wrapped_events_are_read(records):
    assert kinds(one(*records).fragments) == ["user", "answer"]


@pytest.mark.parametrize(
    "record",
    [
        pytest.param({"type": "user.message", "data": {"content": "a"}, "id": "x", "parentId": None}, id="Copilot CLI"),
        pytest.param({"type": "agent.message", "data": {"content": "a"}, "id": "x", "parentId": None}, id="like it"),
        pytest.param({"type": "agent.message", "content": "a"}, id="no id"),
    ],
)
def test_others_are_not_its_own(record):
    assert sniff(read("x.jsonl", encoded(record)))["claude-managed-agents"] == 0
