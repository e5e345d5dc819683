"""Copilot CLI: one call in several records, sub-agents, compactions beside the talk, rewinds, sums of each run."""

import json
from collections import Counter
from pathlib import Path

import pytest

from ctxbudget.ledger import unpaired
from ctxbudget.loaders import Options, load, sniff
from ctxbudget.loaders.copilot_cli.sums import read_usage
from ctxbudget.records import read

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "sample_traces" / "formats" / "copilot_cli.jsonl"
REAL = ROOT.parent / "shared" / "real_traces" / "copilot_cli"


def one(path):
    [trace] = load(str(path), Options(calibrate=False))
    return trace


def events(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def kinds(parts):
    return [(str(part.kind), part.tool, part.error) for part in parts]


def written(tmp_path, *told):
    path = tmp_path / "events.jsonl"
    lines, before = [], None
    for number, (kind, data, *agent) in enumerate(told):
        lines.append({"type": kind, "data": data, "id": f"e{number}", "parentId": before})
        if agent:
            lines[-1]["agentId"] = agent[0]
        before = f"e{number}"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_what_the_sample_holds():
    trace = one(SAMPLE)
    assert (trace.source.agent, trace.model, trace.window) == ("copilot-cli", "gpt-5", 128_000)
    assert (len(trace.turns), trace.abandoned) == (5, 2)
    first = trace.entering(trace.turns[0])
    assert [str(part.kind) for part in first] == [
        "tool_definitions", "system_prompt", "injected", "user", "injected", "media",
    ]  # fmt: skip
    assert (first[0].tokens, first[0].estimated, first[0].text) == (6100, True, "")
    assert first[3].text == "The firing log skips cones. Find out why; do not touch schedule.toml."
    assert kinds(trace.entering(trace.turns[1])) == [
        ("thinking", None, False),
        ("reasoning", None, False),
        ("call", "view", False),
        ("call", "bash", False),
        ("result", "view", False),
        ("result", "bash", True),
    ]
    assert not any("for the screen" in part.text for part in trace.fragments)
    assert unpaired(trace) == ([], [])


def test_a_sub_agent_is_asked_what_its_call_says():
    [child] = one(SAMPLE).children
    assert (child.source.label, child.model, len(child.turns)) == ("c3", "gpt-5-mini", 2)
    assert [part.text for part in child.fragments if str(part.kind) == "user"] == ["Which files name cones by number?"]
    assert child.source.session == one(SAMPLE).source.session


def test_outputs_are_those_of_the_calls_and_all_adds_up_to_the_sums_of_the_runs():
    trace, raw = one(SAMPLE), events(SAMPLE)
    outputs = {}
    for event in raw:
        if event["type"] == "assistant.message":
            outputs[event["data"]["apiCallId"]] = event["data"]["outputTokens"]
    calls = [turn.usage.output for member in trace.family() for turn in member.turns]
    assert sorted(calls) == sorted(value for call, value in outputs.items() if call != "api-4")
    assert all(turn.reported is None for turn in trace.turns)
    expected, found = Counter(), Counter()
    for event in raw:
        for metrics in event["data"].get("modelMetrics", {}).values():
            expected.update(metrics["usage"])
            expected["calls"] += metrics["requests"]["count"]
    for call in [call for member in trace.family() for call in member.billed]:
        found["inputTokens"] += call.usage.prompt
        found["cacheReadTokens"] += call.usage.cache_read
        found["cacheWriteTokens"] += call.usage.cache_write
        found["outputTokens"] += call.usage.output
        found["reasoningTokens"] += call.usage.reasoning or 0
    billed = [call for member in trace.family() for call in member.billed]
    assert len(billed) == expected.pop("calls"), "the summary is one of them"
    assert found == expected


def test_what_was_said_while_a_summary_was_written_stays():
    compaction, prompt, truncation = one(SAMPLE).recorded
    assert (compaction.turn, compaction.pre_tokens, compaction.post_tokens) == (4, 6520, 6200)
    removed = set(compaction.edit.removed)
    kept = [part.text for part in one(SAMPLE).fragments if part.turn == 4 and part.id not in removed]
    assert kept[0] == "The zero is lost when the column is read as a number."
    assert (prompt.trigger, [str(part.kind) for part in prompt.edit.inserted]) == ("elision", ["system_prompt"])
    assert (truncation.turn, truncation.trigger, truncation.edit.removed) == (5, "auto", ("c1.0",))


def test_a_rewind_takes_back_what_came_after():
    trace = one(SAMPLE)
    assert not any("fire the kiln." in part.text for part in trace.fragments if str(part.kind) == "user")
    assert [call.usage.output for call in trace.billed if call.purpose == "abandoned"] == [9]


def test_sniff_alone_picks_it():
    scores = sniff(read(str(SAMPLE)))
    assert scores.pop("copilot-cli") >= 0.8
    assert max(scores.values()) == 0.0


def test_pi_is_not_taken_for_it():
    line = {"type": "message", "id": "a", "parentId": None, "message": {"role": "user", "content": "x"}}
    assert sniff(read("x", json.dumps(line).encode()))["copilot-cli"] == 0.0


@pytest.mark.parametrize(
    "raw, expected",
    [
        ({"inputTokens": 100, "outputTokens": 9, "cacheReadTokens": 60, "cacheWriteTokens": 30}, (10, 60, 30, 9)),
        ({"input": 100, "output": 9, "cachedInput": 60}, (40, 60, 0, 9)),
        ({"inputTokens": 10, "cacheReadTokens": 60}, (10, 60, 0, 0)),
        ({}, None),
        ([], None),
    ],
)
def test_usage(raw, expected):
    usage = read_usage(raw)
    assert (usage and (usage.input, usage.cache_read, usage.cache_write, usage.output)) == expected


ASK = ("user.message", {"content": "ring", "transformedContent": "ring"})


def said(text, call=None, **more):
    return "assistant.message", {"content": text, "messageId": text, "apiCallId": call, "model": "m", **more}


def test_a_run_that_was_killed_has_no_input(tmp_path):
    trace = one(written(tmp_path, ASK, said("rung", "a", outputTokens=5)))
    assert [warning.code for warning in trace.warnings] == ["usage-missing"]
    assert [call.usage.total for call in trace.billed] == [5]


def test_a_cleared_context_begins_again(tmp_path):
    trace = one(written(tmp_path, ASK, said("rung", "a"), ("session.context_cleared", {}), ASK, said("rung", "b")))
    [edit] = trace.recorded
    assert (edit.turn, len(edit.edit.removed), edit.edit.inserted) == (2, 2, ())


def test_a_compaction_that_failed_changes_nothing(tmp_path):
    failed = ("session.compaction_complete", {"success": False, "summaryContent": "x", "error": "no"})
    assert one(written(tmp_path, ASK, said("rung", "a"), failed)).recorded == ()


def test_older_events_name_the_call_that_began_a_sub_agent(tmp_path):
    call = {"toolCallId": "c1", "name": "task", "arguments": {"prompt": "look"}}
    path = written(
        tmp_path,
        ASK,
        said("", "a", toolRequests=[call]),
        ("subagent.started", {"toolCallId": "c1", "agentName": "explore"}),
        said("seen", "k", parentToolCallId="c1"),
        ("tool.execution_complete", {"toolCallId": "c1", "success": True, "result": {"content": "seen"}}),
    )
    [child] = one(path).children
    assert [part.text for part in child.fragments] == ["look", "seen"]


def test_text_around_the_user_s_own_words_is_injected(tmp_path):
    told = {"content": "ring", "transformedContent": "<now>1</now>\nring\n<tail/>"}
    other = {"content": "absent", "transformedContent": "<system-reminder>x</system-reminder>said otherwise"}
    skill = {"content": "y", "source": "skill-bells"}
    path = written(tmp_path, *(("user.message", data) for data in (told, other, skill)))
    assert [(str(part.kind), part.text) for part in one(path).fragments] == [
        ("injected", "<now>1</now>\n"),
        ("user", "ring"),
        ("injected", "\n<tail/>"),
        ("injected", "<system-reminder>x</system-reminder>"),
        ("user", "said otherwise"),
        ("injected", "y"),
    ]


@pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real traces is not beside the checkout")
@pytest.mark.parametrize("name", ["lantern-1", "lantern-2"])
def test_real_sessions(name):
    path = REAL / name / "events.jsonl"
    trace, raw = one(path), events(path)
    assert (trace.source.format, len(trace.turns)) == ("copilot-cli", 2)
    outputs = [event["data"]["outputTokens"] for event in raw if event["type"] == "assistant.message"]
    assert [turn.usage.output for turn in trace.turns] == outputs
    [end] = [event["data"] for event in raw if event["type"] == "session.shutdown"]
    [usage] = [metrics["usage"] for metrics in end["modelMetrics"].values()]
    assert sum(call.usage.prompt for call in trace.billed) == usage["inputTokens"]
    assert sum(call.usage.output for call in trace.billed) == usage["outputTokens"]
    parts = {str(part.kind): part.tokens for part in trace.entering(trace.turns[0])}
    assert parts["tool_definitions"] == end["toolDefinitionsTokens"]
    assert parts["system_prompt"] == pytest.approx(end["systemTokens"], rel=0.01)
    assert unpaired(trace) == ([], [])


@pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real traces is not beside the checkout")
def test_all_record_types():
    """The index counts 5 replies: 4 of the main agent and 1 of a sub-agent. Ids were trimmed to one placeholder."""
    trace = one(REAL / "agent-sessions-all-record-types.jsonl")
    assert [len([turn for turn in member.turns if not turn.pending]) for member in trace.family()] == [4, 1]
    assert dict(trace.parse.skipped) == {}
