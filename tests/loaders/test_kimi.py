"""Kimi: the new wire replayed, the old wire, and the context file."""

import json
from pathlib import Path

import pytest

from ctxbudget.ledger import unpaired
from ctxbudget.loaders import Options, load, sniff
from ctxbudget.loaders.kimi.wire import read_usage
from ctxbudget.records import read

ROOT = Path(__file__).parents[2]
FORMATS = ROOT / "sample_traces" / "formats"
REAL = ROOT.parent / "shared" / "real_traces" / "kimi"
WIRE = FORMATS / "kimi" / "agents" / "main" / "wire.jsonl"
LEGACY, CONTEXT = FORMATS / "kimi-legacy.jsonl", FORMATS / "kimi-context.jsonl"
ALL = [WIRE, LEGACY, CONTEXT, WIRE.parents[1] / "agent-0" / "wire.jsonl"]


def one(path):
    [trace] = load(str(path), Options(calibrate=False))
    return trace


def written(tmp_path, records):
    path = tmp_path / "wire.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def kinds(parts):
    return [(str(part.kind), part.tool, part.error) for part in parts]


def whole(turns):
    return [turn for turn in turns if not turn.pending]


def step_ends(path):
    events = [record["event"] for record in lines(path) if record["type"] == "context.append_loop_event"]
    return [event["usage"] for event in events if event["type"] == "step.end"]


def test_what_the_wire_holds():
    trace = one(WIRE)
    assert (trace.source.agent, trace.model, len(trace.turns)) == ("kimi", "kimi-k2.7-code", 5)
    assert [str(part.kind) for part in trace.entering(trace.turns[0])] == [
        "system_prompt", "tool_definitions", "tool_definitions", "tool_definitions", "user", "media", "injected",
    ]  # fmt: skip
    assert kinds(trace.entering(trace.turns[1])) == [
        ("thinking", None, False),
        ("reasoning", None, False),
        ("call", "Read", False),
        ("call", "Grep", False),
        ("result", "Read", False),
        ("media", "Read", False),
        ("result", "Grep", True),
    ]
    assert len({part.unit for part in trace.entering(trace.turns[1])[2:]}) == 1
    assert [part.text for part in trace.reply] == ["You are welcome."]
    assert unpaired(trace) == ([], [])


def test_the_usage_of_every_step_and_of_the_summary():
    trace, usages = one(WIRE), step_ends(WIRE)
    sums = [usage["inputOther"] + usage["inputCacheRead"] + usage["inputCacheCreation"] for usage in usages]
    assert [turn.reported for turn in trace.turns] == sums
    assert [turn.usage.output for turn in trace.turns] == [usage["output"] for usage in usages]
    assert [turn.usage.cache_write for turn in trace.turns] == [usage["inputCacheCreation"] for usage in usages]
    assert [(call.purpose, call.usage.total) for call in trace.billed if call.turn is None] == [("compaction", 2590)]


def test_a_compaction_keeps_the_latest_words_of_the_user():
    compaction, tools = one(WIRE).recorded
    assert (compaction.turn, compaction.trigger) == (5, "auto")
    assert (compaction.pre_tokens, compaction.post_tokens) == (420, 120)
    trace = one(WIRE)
    kept = [part.text for part in trace.fragments if part.turn < 5 and part.id not in compaction.edit.removed]
    assert [text for text in kept if not text.startswith(("{", "You are a"))] == ["And june?"]
    assert compaction.edit.inserted[0].text.startswith("The conversation so far has been compacted.")
    assert (tools.trigger, [str(part.kind) for part in tools.edit.inserted]) == (
        "elision",
        ["system_prompt", "tool_definitions", "tool_definitions"],
    )


def test_a_sub_agent_has_a_file_of_its_own():
    [child] = one(WIRE).children
    assert (child.source.label, len(child.turns), child.model) == ("agent-0", 2, "kimi-k2.7-code")
    assert child.parse.records_ok == len(lines(ALL[3]))
    assert one(ALL[3]).children == ()


def test_what_an_old_wire_holds():
    trace = one(LEGACY)
    assert (trace.window, len(whole(trace.turns))) == (262_144, 4)
    assert kinds(trace.entering(trace.turns[1])) == [
        ("thinking", None, False),
        ("reasoning", None, False),
        ("call", "ReadFile", False),
        ("call", "ReadFile", False),
        ("result", "ReadFile", False),
        ("result", "ReadFile", True),
    ]
    assert trace.entering(trace.turns[1])[3].resource.target == "old.txt"
    told = [
        record["message"]["payload"]
        for record in lines(LEGACY)
        if record.get("message", {}).get("type") == "StatusUpdate"
    ]
    assert [turn.reported for turn in whole(trace.turns)] == [status["context_tokens"] for status in told]
    assert unpaired(trace) == ([], [])


def test_an_old_compaction_has_no_summary():
    [compaction] = one(LEGACY).recorded
    assert (compaction.turn, compaction.edit.inserted) == (4, ())
    assert "summary-missing" in [warning.code for warning in one(LEGACY).warnings]


def test_an_old_sub_agent_speaks_in_the_same_file():
    [child] = one(LEGACY).children
    assert [part.text for part in child.fragments] == ["List lakes.", "No lakes."]
    assert (child.source.label, child.turns[0].usage.total) == ("t3", 205)


def test_what_a_context_file_holds():
    trace = one(CONTEXT)
    assert kinds(trace.entering(trace.turns[0])) == [
        ("system_prompt", None, False),
        ("summary", None, False),
        ("user", None, False),
        ("injected", None, False),
    ]
    assert [(turn.reported, turn.usage.output) for turn in trace.turns] == [(1200, 60), (1330, 12)]
    assert kinds(trace.entering(trace.turns[1]))[-2:] == [("result", "ReadFile", False), ("result", "ReadFile", True)]
    assert unpaired(trace) == ([], [])


@pytest.mark.parametrize("path", ALL, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_sniff_alone_picks_it(path):
    scores = sniff(read(str(path)))
    assert scores.pop("kimi") >= 0.8
    assert max(scores.values()) < 0.8


def event(kind, **data):
    return {"type": "context.append_loop_event", "event": {"type": kind, **data}, "time": 1}


def said(text):
    return {
        "type": "context.append_message",
        "message": {"role": "user", "content": [{"type": "text", "text": text}]},
        "time": 1,
    }


def test_what_is_said_while_a_step_goes_on_stands_behind_it(tmp_path):
    trace = one(
        written(
            tmp_path,
            [
                said("ring"),
                event("step.begin"),
                event("tool.call", name="Ring", toolCallId="a", args={}),
                said("louder"),
                event("tool.result", toolCallId="a", result={"output": "dong"}),
                event("step.end", usage={"inputOther": 5, "output": 1}),
                event("tool.result", toolCallId="b", result={"output": "late"}),
            ],
        )
    )
    assert [part.text for part in trace.fragments] == ["ring", "Ring {}", "dong", "late", "louder"]


def test_a_step_that_failed_is_no_turn(tmp_path):
    trace = one(written(tmp_path, [said("a"), event("step.begin"), said("b"), event("step.begin")]))
    assert [turn.pending for turn in trace.turns] == [True]
    assert [part.text for part in trace.fragments] == ["a", "b"]


def test_what_an_older_session_left_is_read_as_messages(tmp_path):
    old = [
        {
            "role": "assistant",
            "content": "I ring",
            "toolCalls": [{"id": "a", "function": {"name": "Ring", "arguments": "{}"}}],
        },
        {"role": "tool", "content": [{"type": "text", "text": "dong"}], "toolCallId": "a"},
    ]
    records = [{"type": "context.append_message", "message": message, "time": 1} for message in old]
    trace = one(written(tmp_path, [said("ring"), *records]))
    assert kinds(trace.fragments[1:]) == [
        ("reasoning", None, False),
        ("call", "Ring", False),
        ("result", "Ring", False),
    ]


@pytest.mark.parametrize(
    "raw, expected",
    [
        ({"inputOther": 5, "output": 7, "inputCacheRead": 11, "inputCacheCreation": 2}, (5, 11, 2, 7, 25)),
        ({"input_other": 5, "output": 7, "input_cache_read": 11}, (5, 11, 0, 7, 23)),
        ({"inputOther": -5, "output": "7"}, None),
        (None, None),
    ],
)
def test_usage(raw, expected):
    usage = read_usage(raw)
    assert (usage and (usage.input, usage.cache_read, usage.cache_write, usage.output, usage.total)) == expected


@pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real traces is not beside the checkout")
def test_a_real_wire():
    path = REAL / "agent-sessions-wire-1.4-compaction.jsonl"
    trace, usages = one(path), step_ends(path)
    assert (trace.source.format, len(whole(trace.turns)), len(usages)) == ("kimi", 22, 22)
    assert [turn.usage.total for turn in whole(trace.turns)] == [sum(usage.values()) for usage in usages]
    [compaction] = trace.recorded
    assert (compaction.trigger, compaction.pre_tokens) == ("manual", 15_912)
    kept = {part.id for part in trace.fragments if str(part.kind) == "user"} - set(compaction.edit.removed)
    assert len(kept) == 8, "as many as keptUserMessageCount says"
    assert (unpaired(trace), trace.parse.skipped) == (([], []), ())


@pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real traces is not beside the checkout")
def test_a_real_old_wire():
    path = REAL / "legacy-100msgs" / "wire.jsonl"
    trace = one(path)
    told = [
        record["message"]["payload"]["token_usage"]
        for record in lines(path)[1:]
        if record["message"]["type"] == "StatusUpdate"
    ]
    assert [turn.usage.total for turn in whole(trace.turns)] == [sum(usage.values()) for usage in told]
    assert (len(whole(trace.turns)), unpaired(trace)) == (15, ([], []))


@pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real traces is not beside the checkout")
def test_a_real_context():
    path = REAL / "legacy-100msgs" / "context.jsonl"
    trace, sizes = one(path), [record["token_count"] for record in lines(path) if record["role"] == "_usage"]
    assert len(whole(trace.turns)) == 22
    assert [turn.reported for turn in whole(trace.turns)] == sizes[::2]
    assert [turn.usage.total for turn in whole(trace.turns)] == sizes[1::2]
    assert unpaired(trace) == ([], [])
