"""ATIF trajectories: steps, continuations, compactions, helpers, counts of several calls, the verifier's reward."""

import json
from collections import Counter
from pathlib import Path

import pytest

from ctxbudget.ledger import context, live_at_end, unpaired
from ctxbudget.loaders import Options, load
from ctxbudget.targets import atif
from ctxbudget.trace import Outcome, Usage

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_traces"
SAMPLE = SAMPLES / "formats" / "atif" / "trajectory.json"
PLAIN = Options(calibrate=False)


def written(path, *steps, version="1.7", agent="demo", **more):
    numbered = [{"step_id": number, **step} for number, step in enumerate(steps, 1)]
    run = {"schema_version": f"ATIF-v{version}", "session_id": "s", "agent": {"name": agent, "version": "1"}, **more}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**run, "steps": numbered}))
    return path


def loaded(path):
    [trace] = load(str(path), PLAIN)
    assert trace.source.format == "atif"
    return trace


def said(source, message, **more):
    return {"source": source, "message": message, **more}


def metrics(prompt, output, cached=0):
    return {"prompt_tokens": prompt, "completion_tokens": output, "cached_tokens": cached}


def kinds(parts):
    return [str(part.kind) for part in parts]


def texts(parts):
    return [part.text for part in parts]


BOUNDARY = said("system", "note", extra={"context_management": {"type": "compaction", "boundary": "replace"}})


def test_the_sample():
    trace = loaded(SAMPLE)
    assert (trace.source.agent, trace.model, trace.window) == ("lighthouse", "anthropic/claude-sonnet-4-5", 200_000)
    assert Counter(kinds(trace.fragments)) == {
        "tool_definitions": 1, "system_prompt": 1, "user": 1, "media": 1, "thinking": 1, "reasoning": 3, "call": 5,
        "result": 4, "retrieval": 1, "answer": 2,
    }  # fmt: skip
    assert [turn.usage for turn in trace.turns] == [
        Usage(200, 0, 700, 80, 24, 980),
        Usage(170, 880, 0, 30, None, 1080),
        None,
        Usage(100, 0, 300, 12, None, 412),
        Usage(80, 300, 0, 20, None, 400),
    ]
    assert [(one.turn, one.purpose, one.usage.total) for one in trace.billed[2:]] == [
        (3, "turn", 2350), (4, "turn", 412), (5, "turn", 400), (None, "compaction", 1360),
    ]  # fmt: skip
    assert unpaired(trace) == ([], [])
    assert [part.error for part in trace.fragments if part.answers] == [False, True, False, False, False]
    assert [(child.source.label, len(child.turns)) for child in trace.children] == [("light-1-helper", 1)]


def test_what_a_compaction_and_a_continuation_leave():
    trace = loaded(SAMPLE)
    assert [(cut.turn, kinds(cut.edit.inserted)) for cut in trace.recorded] == [(4, ["summary"]), (5, ["summary"])]
    assert kinds(context(trace, 4)) == ["tool_definitions", "system_prompt", "summary"]
    assert texts(context(trace, 5))[1:] == [
        "You keep the lighthouse running.",
        "Handed over: period 10 s, horn untouched. Write the report.",
    ]


def test_a_continuation_alone_begins_with_what_was_copied():
    trace = loaded(SAMPLE.with_name("trajectory.cont-1.json"))
    assert [turn.reported for turn in trace.turns] == [380]
    whole = loaded(SAMPLE)
    assert trace.billed[0].key in {one.key for one in whole.billed}


@pytest.mark.parametrize("version", [f"1.{number}" for number in range(9)])
def test_every_version(tmp_path, version):
    step = said("agent", "done", metrics=metrics(10, 2, 4))
    trace = loaded(written(tmp_path / "t.json", said("user", "go"), step, version=version))
    assert [(turn.reported, turn.usage.cache_read) for turn in trace.turns] == [(10, 4)]
    assert kinds(trace.fragments) == ["user", "answer"]


def test_one_screen_answers_all_the_calls_of_a_step(tmp_path):
    calls = [{"tool_call_id": name, "function_name": "keys", "arguments": {"k": name}} for name in "ab"]
    step = said("agent", "", tool_calls=calls, observation={"results": [{"content": "$ a\n$ b"}]})
    trace = loaded(written(tmp_path / "t.json", said("user", "go"), step))
    assert unpaired(trace) == ([], [])
    assert texts(part for part in trace.fragments if part.answers) == ["$ a\n$ b", ""]
    raw = said("agent", "{...}", observation={"results": [{"content": "screen"}]})
    trace = loaded(written(tmp_path / "t.json", said("user", "go"), raw))
    assert kinds(trace.fragments) == ["user", "answer", "result"]


def test_terminus_keeps_the_task_through_a_summary(tmp_path):
    steps = [said("user", "task"), said("agent", "a"), BOUNDARY, said("user", "handoff"), said("agent", "b")]
    trace = loaded(written(tmp_path / "t.json", *steps, agent="terminus-2"))
    assert texts(context(trace, 2)) == ["task", "handoff"]
    trace = loaded(written(tmp_path / "t.json", *steps))
    assert texts(context(trace, 2)) == ["handoff"]


def test_a_boundary_that_nothing_follows(tmp_path):
    trace = loaded(written(tmp_path / "t.json", said("user", "task"), said("agent", "a"), BOUNDARY))
    assert live_at_end(trace) == []
    trace = loaded(written(tmp_path / "t.json", said("user", "task"), said("agent", "a"), BOUNDARY, said("agent", "b")))
    assert texts(live_at_end(trace)) == ["b"]


def test_helpers_in_files_beside_are_read_and_no_others(tmp_path):
    written(tmp_path / "a" / "helper.json", said("user", "find"), said("agent", "found", metrics=metrics(7, 1)))
    written(tmp_path / "elsewhere.json", said("user", "x"), said("agent", "y", metrics=metrics(9, 9)))
    names = ["helper.json", "../elsewhere.json", "helper.json", "t.json", "none.json", "/etc/passwd", "a\0b"]
    references = [{"trajectory_path": name} for name in names]
    step = said("agent", "", observation={"results": [{"content": "ok", "subagent_trajectory_ref": references}]})
    trace = loaded(written(tmp_path / "a" / "t.json", said("user", "go"), step))
    assert [(child.source.label, child.billed[0].usage.prompt) for child in trace.children] == [("helper.json", 7)]


def test_continuations_that_go_in_circles_end(tmp_path):
    written(tmp_path / "b.json", said("user", "two"), continued_trajectory_ref="a.json")
    path = written(tmp_path / "a.json", said("user", "one"), continued_trajectory_ref="b.json")
    assert texts(loaded(path).fragments) == ["one", "two"]


def test_helpers_of_helpers_end(tmp_path):
    inner = {"trajectory_id": "x", "steps": [said("user", "deep")]}
    for _ in range(9):
        inner = {"trajectory_id": "x", "steps": [said("user", "deep")], "subagent_trajectories": [inner]}
    trace = loaded(written(tmp_path / "t.json", said("user", "go"), subagent_trajectories=[inner]))
    assert sum(1 for _ in trace.family()) == 6


@pytest.mark.parametrize(
    "rewards, outcome",
    [
        ({"reward": 1.0}, Outcome(True, 1.0, "verifier_result.rewards.reward")),
        ({"b": 0, "a": 0.5}, Outcome(None, 0.5, "verifier_result.rewards.a")),
        ({"reward": "x"}, None),
        (None, None),
    ],
)
def test_the_reward_is_in_the_trial_s_result(tmp_path, rewards, outcome):
    path = written(tmp_path / "trial" / "agent" / "trajectory.json", said("user", "go"))
    (tmp_path / "trial" / "result.json").write_text(json.dumps({"verifier_result": {"rewards": rewards}}))
    assert loaded(path).outcome == outcome


def test_sums_without_single_counts_are_told(tmp_path):
    sums = {"total_prompt_tokens": 4_000, "total_completion_tokens": 50}
    trace = loaded(written(tmp_path / "t.json", said("user", "go"), said("agent", "a"), final_metrics=sums))
    assert [warning.code for warning in trace.warnings] == ["usage-sums"]
    assert trace.billed == ()


def test_wrappers_and_several_in_a_file(tmp_path):
    run = json.loads(written(tmp_path / "t.json", said("user", "go")).read_text())
    (tmp_path / "w.json").write_text(json.dumps({"atif": run}))
    assert texts(loaded(tmp_path / "w.json").fragments) == ["go"]
    (tmp_path / "l.jsonl").write_text("\n".join(json.dumps(one) for one in (run, run, {**run, "session_id": None})))
    assert [trace.source.label for trace in load(str(tmp_path / "l.jsonl"), PLAIN)] == ["s", "s.2", "3"]


@pytest.mark.parametrize("name", ["refund_support.json", "migrate_module.jsonl", "forensic_review.jsonl"])
def test_what_we_convert_is_what_we_read(name, tmp_path):
    """Texts, calls, results and counts; the format has no place for where media and hidden parts stood."""
    before = load(str(SAMPLES / name), PLAIN)[0]
    (tmp_path / "t.json").write_bytes(atif.write(before).data)
    after = loaded(tmp_path / "t.json")
    asked = [[(part.tool, part.text) for part in trace.fragments if part.asks] for trace in (before, after)]
    assert asked[0] == asked[1]
    answers = ["\n".join(texts(p for p in trace.fragments if p.answers and p.text)) for trace in (before, after)]
    assert sorted(answers[0]) == sorted(answers[1])
    assert len(before.recorded) == len(after.recorded)
    counts = [[one.usage.prompt for one in trace.billed if one.turn] for trace in (before, after)]
    assert sorted(counts[0]) == sorted(counts[1])
    assert [child.source.label for child in after.children] == [child.source.label for child in before.children]
