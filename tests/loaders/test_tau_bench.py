"""tau-bench and tau2-bench results: conversations, trials, rewards, the simulated user."""

import json
from collections import Counter
from pathlib import Path

import pytest

from ctxbudget.ledger import unpaired
from ctxbudget.loaders import Options, load
from ctxbudget.trace import Outcome, Usage

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_traces" / "formats"
REAL = ROOT.parent / "shared" / "real_traces" / "tau_bench"
PLAIN = Options(calibrate=False)


def loaded(path, data):
    path.write_text(json.dumps(data))
    traces = load(str(path), PLAIN)
    assert {trace.source.format for trace in traces} == {"tau-bench"}
    return traces


def kinds(parts):
    return [str(part.kind) for part in parts]


def texts(parts):
    return [part.text for part in parts]


def test_the_sample_of_the_first_version():
    traces = load(str(SAMPLES / "tau_bench.json"), PLAIN)
    assert [(trace.source.label, trace.outcome) for trace in traces] == [
        ("0.0", Outcome(True, 1.0, "reward")),
        ("1.0", Outcome(False, 0.0, "reward")),
        ("0.1", Outcome(False, 0.0, "reward")),
    ]
    assert [len(trace.turns) for trace in traces] == [4, 1, 2]
    assert not any(turn.pending for trace in traces for turn in trace.turns)
    assert Counter(kinds(traces[0].fragments)) == {
        "system_prompt": 1, "user": 2, "call": 3, "retrieval": 2, "result": 1, "answer": 2,
    }  # fmt: skip
    assert all(unpaired(trace) == ([], []) for trace in traces)
    assert dict(traces[0].parse.skipped) == {"the user's last words, never sent": 1}


def test_the_sample_of_the_second_version():
    signal, data = load(str(SAMPLES / "tau_bench-tau2.json"), PLAIN)
    assert (signal.source.label, signal.source.agent, signal.model) == ("no_signal", "llm_agent", "gpt-4.1")
    assert signal.outcome == Outcome(True, 1.0, "reward_info.reward")
    assert kinds(signal.fragments)[:4] == ["system_prompt", "tool_definitions", "answer", "user"]
    assert [turn.usage for turn in signal.turns] == [
        Usage(410, 0, 0, 20, None, 430),
        Usage(76, 384, 0, 11, None, 471),
        Usage(490, 0, 0, 9, None, 499),
    ]
    assert "check_bars {}" not in texts(signal.fragments)
    assert unpaired(signal) == ([], [])
    [user] = signal.children
    assert (user.source.label, user.model) == ("user", "gpt-4o-mini")
    assert [turn.reported for turn in user.turns] == [300, 340, 380, 420]
    assert [(part.text, part.error) for part in user.fragments if part.answers] == [("no bars", True)]
    assert kinds(user.fragments)[:3] == ["system_prompt", "system_prompt", "user"]
    assert (len(data.turns), data.outcome.success) == (2, False)


def test_one_simulation_in_a_file_of_its_own(tmp_path):
    results = json.loads((SAMPLES / "tau_bench-tau2.json").read_text())
    [trace] = loaded(tmp_path / "sim.json", results["simulations"][0])
    assert (trace.source.label, len(trace.turns), trace.outcome.score) == (None, 3, 1.0)


def test_results_that_share_a_message(tmp_path):
    calls = [{"id": name, "name": "look", "arguments": {}} for name in "ab"]
    results = [{"id": name, "role": "tool", "content": name, "requestor": "assistant"} for name in "ab"]
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "tool_calls": calls},
        {"role": "tool", "tool_messages": results},
    ]
    run = {"task_id": "t", "termination_reason": "max_steps", "messages": messages}
    [trace] = loaded(tmp_path / "sim.json", run)
    assert [(part.call, part.text) for part in trace.fragments if part.answers] == [("a", "a"), ("b", "b")]


def test_old_calls_have_no_ids(tmp_path):
    call = {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": "{}"}}
    messages = [{"role": "user", "content": "go"}, call, {"role": "function", "name": "look", "content": "seen"}]
    [trace] = loaded(tmp_path / "t.json", [{"task_id": 3, "reward": 0.5, "info": {}, "traj": messages}])
    assert kinds(trace.fragments) == ["user", "call", "result"]
    assert trace.outcome == Outcome(False, 0.5, "reward")


@pytest.mark.parametrize("reward", [None, True, "1", 1e300, [1]])
def test_a_reward_that_is_none(tmp_path, reward):
    [trace] = loaded(
        tmp_path / "t.json", [{"task_id": 3, "reward": reward, "traj": [{"role": "user", "content": "x"}]}]
    )
    assert trace.outcome is None


def test_the_same_task_twice(tmp_path):
    run = {"task_id": 3, "reward": 1, "traj": [{"role": "user", "content": "x"}]}
    runs = loaded(tmp_path / "t.json", [run, run, {**run, "task_id": None}, {**run, "task_id": "x/y"}])
    assert [trace.source.label for trace in runs] == ["3", "3~2", "3~3", "x/y"]


@pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real traces is not beside the checkout")
def test_real_results():
    path = REAL / "gpt-4o-airline-first25.json"
    runs, traces = json.loads(path.read_text()), load(str(path))
    assert sum(not turn.pending for trace in traces for turn in trace.turns) == 363
    assert [trace.source.label for trace in traces] == [str(number) for number in range(25)]
    assert [trace.outcome.score for trace in traces] == [run["reward"] for run in runs]
    for trace, run in zip(traces, runs, strict=True):
        assert unpaired(trace) == ([], [])
        assert sum(not turn.pending for turn in trace.turns) == sum(
            message["role"] == "assistant" for message in run["traj"]
        )
        stopped = "###STOP###" in run["traj"][-1]["content"]
        assert any(turn.pending for turn in trace.turns) is (not stopped and run["traj"][-1]["role"] != "assistant")
