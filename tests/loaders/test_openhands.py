"""OpenHands logs: both versions, rows of evaluation output, batches and condensations, counts that accumulate."""

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from ctxbudget.ledger import context, live_at_end, unpaired
from ctxbudget.loaders import Options, load
from ctxbudget.loaders.openhands.log import Meter
from ctxbudget.sources import expand
from ctxbudget.trace import Kind, Outcome, Usage

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_traces" / "formats"
REAL = ROOT.parent / "shared" / "real_traces" / "openhands"
PLAIN = Options(calibrate=False)

real = pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real traces is not beside the checkout")


def loaded(tmp_path, *events):
    path = tmp_path / "events.json"
    path.write_text(json.dumps(events))
    [trace] = load(str(path), PLAIN)
    assert trace.source.format == "openhands"
    return trace


def kinds(parts):
    return [str(part.kind) for part in parts]


def texts(parts):
    return [part.text for part in parts]


ASK = {"id": 0, "source": "user", "action": "message", "args": {"content": "count"}}


def run(number, command, **more):
    return {"id": number, "source": "agent", "action": "run", "args": {"command": command, "thought": "so"}, **more}


def ran(number, cause, content):
    return {"id": number, "source": "agent", "observation": "run", "cause": cause, "content": content}


def test_the_sample_of_evaluation_output():
    [trace] = load(str(SAMPLES / "openhands.jsonl"), PLAIN)
    assert (trace.source.format, trace.source.label, trace.window) == ("openhands", "tower__clock-13", 64_000)
    assert trace.outcome == Outcome(True, 1.0, "test_result.report.resolved")
    assert Counter(kinds(trace.fragments)) == {
        "system_prompt": 1, "tool_definitions": 3, "user": 1, "media": 1, "memory_file": 1, "injected": 1,
        "reasoning": 2, "call": 4, "result": 4, "answer": 2,
    }  # fmt: skip
    assert [(turn.reported, turn.usage.cache_read, turn.usage.output) for turn in trace.turns] == [
        (820, 0, 61), (960, 800, 33), (900, 0, 52), (980, 900, 40),
    ]  # fmt: skip
    assert unpaired(trace) == ([], [])
    assert [(one.purpose, one.usage.total) for one in trace.billed if one.turn is None] == [("abandoned", 724)]
    assert {part.unit for part in trace.fragments if part.turn == 2 and part.call} == {"u1"}
    assert [part.error for part in trace.fragments if part.answers] == [False, False, True, False]
    [cut] = trace.recorded
    assert (cut.turn, "".join(texts(cut.edit.inserted))[:8]) == (3, "chime.py")
    assert not any(part.unit == "u1" for part in context(trace, 3))


def test_the_sample_of_version_1():
    [trace] = load(str(SAMPLES / "openhands-v1.json"), PLAIN)
    assert (trace.source.format, trace.model, trace.window) == ("openhands", "demo/claude-sonnet-4-5", 200_000)
    assert Counter(kinds(trace.fragments)) == {
        "system_prompt": 2, "tool_definitions": 2, "user": 1, "media": 1, "injected": 1, "thinking": 2,
        "reasoning": 1, "call": 3, "result": 3, "answer": 1,
    }  # fmt: skip
    assert [(turn.reported, turn.usage.output) for turn in trace.turns] == [(1200, 80), (1400, 45), (1150, 30)]
    assert [(one.purpose, one.usage.total) for one in trace.billed if one.turn is None] == [("compaction", 960)]
    assert unpaired(trace) == ([], [])
    [cut] = trace.recorded
    assert (cut.turn, cut.trigger) == (3, "auto")
    assert kinds(context(trace, 3))[-4:] == ["summary", "thinking", "call", "result"]


def test_parallel_calls_of_one_response_are_one_turn(tmp_path):
    response = {"id": "r", "choices": [{"message": {"content": "both", "tool_calls": []}}]}
    metas = [{"tool_call_id": name, "function_name": "bash", "model_response": response} for name in "ab"]
    events = [run(number, "ls", tool_call_metadata=meta) for number, meta in enumerate(metas, 1)]
    trace = loaded(tmp_path, ASK, *events, ran(3, 1, "one"), ran(4, 2, "two"))
    assert kinds(trace.fragments) == ["user", "reasoning", "call", "call", "result", "result"]
    assert [turn.pending for turn in trace.turns] == [False, True]
    assert unpaired(trace) == ([], [])


def test_an_id_that_comes_again_is_another_call(tmp_path):
    meta = {"tool_call_id": "toolu_01", "function_name": "bash"}
    events = [run(1, "ls", tool_call_metadata=meta), ran(2, 1, "one"), run(3, "id", tool_call_metadata=meta)]
    trace = loaded(tmp_path, ASK, *events, {**ran(4, 3, "two"), "tool_call_metadata": meta})
    calls = [part for part in trace.fragments if part.call]
    assert [part.call for part in calls] == ["toolu_01", "toolu_01", "toolu_01@3", "toolu_01@3"]


def test_text_mode_pairs_by_cause_and_keeps_the_model_s_arguments(tmp_path):
    trace = loaded(tmp_path, ASK, run(1, "ls"), ran(2, 1, "a b"))
    assert texts(trace.fragments)[1:] == ["so", 'run {"command":"ls"}', "a b"]
    assert trace.fragments[3].call == trace.fragments[2].call


def test_what_the_user_and_the_harness_do(tmp_path):
    own = {"id": 1, "source": "user", "action": "run", "args": {"command": "make"}}
    lost = {"id": 3, "source": "agent", "observation": "error", "content": "no such tool"}
    trace = loaded(tmp_path, ASK, own, ran(2, 1, "built"), lost, {"id": 4, "source": "agent", "action": "null"})
    assert kinds(trace.fragments) == ["user", "injected", "result", "injected"]
    assert dict(trace.parse.skipped) == {"null": 1}


def test_counts_begin_again_and_zeros_are_unknown():
    meter = Meter()
    read = [(100, 10), (100, 10), (250, 30), (40, 5), (0, 0)]
    found = [meter.count({"prompt_tokens": prompt, "completion_tokens": output}) for prompt, output in read]
    assert [one and (one.prompt, one.output) for one in found] == [(100, 10), None, (150, 20), (40, 5), None]
    assert meter.count({"prompt_tokens": 2**70}) is None
    cached = Meter().count({"prompt_tokens": 90, "cache_read_tokens": 60, "cache_write_tokens": 20})
    assert cached == Usage(10, 60, 20, 0, None, 90)


def test_a_summary_takes_the_place_of_the_one_before(tmp_path):
    condense = {"source": "agent", "action": "condensation"}
    first = {**condense, "id": 3, "args": {"forgotten_event_ids": [1, 2], "summary": "ls was run"}}
    second = {**condense, "id": 6, "args": {"forgotten_event_ids": [4, 5], "summary": "ls and id were run"}}
    third = {**condense, "id": 7, "args": {"forgotten_event_ids": [99]}}
    events = [run(1, "ls"), ran(2, 1, "a"), first, run(4, "id"), ran(5, 4, "root"), second, third]
    trace = loaded(tmp_path, ASK, *events)
    assert texts(live_at_end(trace)) == ["count", "ls and id were run"]


def test_a_folder_of_events_is_read_with_its_state(tmp_path):
    events = json.loads((SAMPLES / "openhands-v1.json").read_text())
    (tmp_path / "events").mkdir()
    kept = [event for event in events if event.get("key") != "stats"]
    for number, event in enumerate(kept):
        (tmp_path / "events" / f"event-{number:05d}-{event['id']}.json").write_text(json.dumps(event))
    (tmp_path / "events" / "event-99999-x.json").write_text("")
    usage = {"prompt_tokens": 1400, "completion_tokens": 45, "cache_read_tokens": 1100, "response_id": "resp-2"}
    state = {"id": "conv", "agent": {"llm": {"model": "demo/claude-sonnet-4-5"}}, "execution_status": "idle"}
    state["stats"] = {"usage_to_metrics": {"agent": {"token_usages": [usage]}}}
    (tmp_path / "base_state.json").write_text(json.dumps(state))
    [trace] = load(str(tmp_path / "base_state.json"), PLAIN)
    [other] = load(str(SAMPLES / "openhands-v1.json"), PLAIN)
    assert (trace.source.format, trace.source.session) == ("openhands", "conv")
    assert texts(trace.fragments) == texts(other.fragments)
    assert [turn.reported for turn in trace.turns] == [None, 1400, None]
    assert trace.parse.skipped[-1] == ("unreadable event file", 1)


def test_event_files_of_version_0_are_read_with_the_first(tmp_path):
    events = [ASK, run(1, "ls"), *(run(number, f"ls {number}") for number in range(2, 12))]
    (tmp_path / "events").mkdir()
    for number, event in enumerate(events):
        (tmp_path / "events" / f"{number}.json").write_text(json.dumps(event))
    (tmp_path / "events" / "12.json").write_text("{")
    [place] = expand([str(tmp_path)])
    assert place.path.endswith("0.json")
    [trace] = load(place.path, PLAIN)
    assert (trace.source.format, len(trace.turns)) == ("openhands", 12)
    assert [part.text for part in trace.fragments if part.asks][-1] == 'run {"command":"ls 11"}'


def test_old_output_has_pairs_of_action_and_observation(tmp_path):
    path = tmp_path / "output.jsonl"
    rows = [{"instance_id": "a", "history": [[ASK, run(1, "ls")], [ran(2, 1, "x"), 5]]}] * 2
    path.write_text("\n".join(json.dumps(row) for row in rows))
    traces = load(str(path), PLAIN)
    assert [trace.source.label for trace in traces] == ["a", "a.2"]
    assert kinds(traces[0].fragments) == ["user", "reasoning", "call", "result"]


@real
def test_real_evaluation_output():
    """The index counts 208 responses: each of the 105 twice, on action and observation, but twice a finish."""
    traces = load(str(REAL / "v0-multi-swe-output.jsonl"))
    rows = [json.loads(line) for line in (REAL / "v0-multi-swe-output.jsonl").read_text().splitlines()]
    assert [sum(not turn.pending for turn in trace.turns) for trace in traces] == [23, 33, 49]
    for trace, row in zip(traces, rows, strict=True):
        assert trace.source.format == "openhands"
        assert unpaired(trace)[1] == []
        listed = row["metrics"]["token_usages"]
        assert [(one.key, one.usage.prompt, one.usage.output) for one in trace.billed] == [
            (raw["response_id"], raw["prompt_tokens"], raw["completion_tokens"]) for raw in listed
        ]
        assert (
            sum(one.usage.prompt for one in trace.billed) == row["metrics"]["accumulated_token_usage"]["prompt_tokens"]
        )


@real
def test_real_events_of_version_1():
    """A piece of a longer log: one result without its call, two calls whose replies are not in it."""
    path = REAL / "v1-sdk-events.jsonl"
    [trace] = load(str(path))
    events = [json.loads(line) for line in path.read_text().splitlines()]
    names = {event["llm_response_id"] for event in events if "llm_response_id" in event}
    assert sum(not turn.pending for turn in trace.turns) == len(names) == 2
    dangling, orphans = unpaired(trace)
    assert (len(dangling), len(orphans)) == (0, 1)
    stats = [event["value"]["usage_to_metrics"]["default"] for event in events if event.get("key") == "stats"]
    totals = [0, *(one["accumulated_token_usage"]["prompt_tokens"] for one in stats)]
    assert sorted(one.usage.prompt for one in trace.billed) == sorted(
        after - before for before, after in pairwise(totals)
    )
    assert [one.purpose for one in trace.billed] == ["abandoned", "turn", "abandoned", "turn"]


def test_a_thought_that_is_said_twice_counts_once(tmp_path):
    event = {"kind": "ActionEvent", "id": "a", "source": "agent", "tool_name": "t", "tool_call_id": "c"}
    event |= {"thought": [{"type": "text", "text": "<think>hm</think> go"}], "reasoning_content": "hm"}
    other = {"kind": "PauseEvent", "id": "b", "source": "user"}
    trace = loaded(tmp_path, event, other)
    assert [part.kind for part in trace.fragments] == [Kind.REASONING, Kind.CALL]
