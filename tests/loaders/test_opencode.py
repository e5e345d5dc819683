"""OpenCode: the export and the database tell the same; compactions, cleared results, undone messages, sub-agents."""

import json
import sqlite3
from pathlib import Path

import pytest

from ctxbudget.errors import EmptyTrace
from ctxbudget.ledger import unpaired
from ctxbudget.loaders import Options, load, sniff
from ctxbudget.loaders.opencode import stored
from ctxbudget.loaders.opencode.parts import read_usage
from ctxbudget.records import read

ROOT = Path(__file__).parents[2]
FORMATS = ROOT / "sample_traces" / "formats"
REAL = ROOT.parent / "shared" / "real_traces" / "opencode"
EXPORT, STORE = FORMATS / "opencode.json", FORMATS / "opencode-store.db"


def one(path):
    [trace] = load(str(path), Options(calibrate=False))
    return trace


def written(tmp_path, data):
    path = tmp_path / "session.json"
    path.write_text(json.dumps(data))
    return path


def shape(trace):
    return [(part.id, part.kind, part.role, part.call, part.error, part.text) for part in trace.fragments]


def test_what_the_sample_holds():
    trace = one(EXPORT)
    assert (trace.source.agent, trace.source.session) == ("opencode", "ses_7a10lighthouse01")
    assert (trace.model, trace.abandoned, len(trace.turns)) == ("claude-sonnet-4-5", 3, 7)
    first = trace.entering(trace.turns[0])
    assert [str(part.kind) for part in first] == ["user", "injected", "result", "media"]
    second = trace.entering(trace.turns[1])
    assert [(str(part.kind), part.tool, part.error) for part in second] == [
        ("thinking", None, False),
        ("reasoning", None, False),
        ("call", "read", False),
        ("call", "bash", False),
        ("result", "read", False),
        ("result", "bash", True),
    ]
    assert len({part.unit for part in second[2:]}) == 1
    assert second[2].resource.target == "data/harbour.csv"
    assert [part.text for part in trace.reply] == ["The board agrees now."]
    assert unpaired(trace) == ([], [])


def test_the_usage_of_every_call_and_what_was_paid_beside():
    trace = one(EXPORT)
    replies = {m["info"]["id"]: m["info"] for m in json.loads(EXPORT.read_text())["messages"] if "tokens" in m["info"]}
    told = {call.key: (call.purpose, call.usage.total, call.usage.prompt) for call in trace.billed}
    purposes = {"msg_04": "abandoned", "msg_15": "abandoned", "msg_10": "compaction"}
    for name, info in replies.items():
        tokens = info["tokens"]
        prompt = tokens["input"] + tokens["cache"]["read"] + tokens["cache"]["write"]
        assert told[name] == (purposes.get(name, "turn"), tokens["total"], prompt)
    assert told.keys() == replies.keys()


def test_what_was_cleared_and_what_a_compaction_kept():
    clearing, compaction = one(EXPORT).recorded
    assert (clearing.turn, clearing.trigger, str(clearing.edit.form)) == (5, "elision", "cleared")
    assert [part.text for part in clearing.edit.inserted] == ["[Old tool result content cleared]"]
    assert (compaction.turn, compaction.trigger) == (6, "auto")
    assert [str(part.kind) for part in compaction.edit.inserted] == ["injected", "summary"]
    gone = set(compaction.edit.removed)
    assert clearing.edit.inserted[0].id in gone
    kept = [part for part in one(EXPORT).fragments if part.turn <= 6 and part.id not in gone]
    assert [part.text for part in kept if str(part.kind) == "user"] == ["Good. Does the board agree?"]


def test_the_database_tells_the_same_and_knows_the_sub_agent():
    trace, export = one(STORE), one(EXPORT)
    assert shape(trace) == shape(export)
    assert [turn.usage for turn in trace.turns] == [turn.usage for turn in export.turns]
    assert [cut.edit.removed for cut in trace.recorded] == [cut.edit.removed for cut in export.recorded]
    assert trace.source.label == "ses_7a10lighthouse01"
    [child] = trace.children
    assert shape(child) == shape(one(FORMATS / "opencode-subagent.json"))
    assert (child.model, len(child.turns)) == ("claude-haiku-4-5", 2)
    [listed] = stored(str(STORE))
    assert (listed.label, listed.project, listed.modified.year) == ("ses_7a10lighthouse01", "/home/mira/tides", 2025)


def test_the_database_is_made_from_the_exports(tmp_path):
    import runpy

    runpy.run_path(str(ROOT / "sample_traces" / "make" / "databases.py"))["make"](tmp_path)
    for made in sorted(tmp_path.iterdir()):
        dumps = []
        for path in (made, FORMATS / made.name):
            database = sqlite3.connect(path)
            dumps.append(list(database.iterdump()))
            database.close()
        assert dumps[0] == dumps[1]


@pytest.mark.parametrize("path", [EXPORT, STORE, FORMATS / "opencode-subagent.json"], ids=lambda path: path.name)
def test_sniff_alone_picks_it(path):
    scores = sniff(read(str(path)))
    assert scores.pop("opencode") >= 0.8
    assert max(scores.values()) == 0.0


@pytest.mark.parametrize(
    "raw, expected",
    [
        ({"input": 5, "output": 7, "reasoning": 3, "cache": {"read": 11, "write": 2}}, (5, 11, 2, 10, 3, 28)),
        (
            {"total": 25, "input": 5, "output": 7, "reasoning": 3, "cache": {"read": 11, "write": 2}},
            (5, 11, 2, 7, 3, 25),
        ),
        ({"input": 0, "output": 0, "reasoning": 0, "cache": {}}, None),
        ({"input": -1, "output": "9", "cache": []}, None),
        ("none", None),
    ],
)
def test_usage(raw, expected):
    usage = read_usage(raw)
    shown = usage and (usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning, usage.total)
    assert shown == expected


def message(name, role, *parts, **info):
    return {"info": {"id": name, "role": role, **info}, "parts": list(parts)}


def tokens(given, output=1):
    return {"input": given, "output": output, "reasoning": 0, "cache": {"read": 0, "write": 0}}


ASK = message("m1", "user", {"type": "text", "text": "ring the bell"})


def call(name, output="rung"):
    return {
        "type": "tool",
        "tool": "ring",
        "callID": name,
        "state": {"status": "completed", "input": {}, "output": output},
    }


def test_all_steps_in_one_message_are_calls_of_their_own(tmp_path):
    ends = [{"type": "step-finish", "tokens": tokens(given)} for given in (100, 200)]
    start = {"type": "step-start"}
    parts = [start, call("a"), ends[0], {"type": "patch"}, start, {"type": "text", "text": "done"}, ends[1]]
    trace = one(written(tmp_path, {"info": {"id": "ses_1"}, "messages": [ASK, message("m2", "assistant", *parts)]}))
    assert [turn.reported for turn in trace.turns] == [100, 200]
    assert [billed.key for billed in trace.billed] == ["m2", "m2/1"]


def test_a_part_that_was_undone_takes_what_follows_with_it(tmp_path):
    parts = [{"type": "text", "text": "first", "id": "p1"}, {"type": "text", "text": "second", "id": "p2"}]
    told = [
        ASK,
        message("m2", "assistant", *parts, tokens=tokens(9)),
        message("m3", "user", {"type": "text", "text": "x"}),
    ]
    info = {"id": "ses_1", "revert": {"messageID": "m2", "partID": "p2"}}
    trace = one(written(tmp_path, {"info": info, "messages": told}))
    assert [part.text for part in trace.fragments] == ["ring the bell", "first"]
    assert (trace.abandoned, len(trace.turns)) == (1, 1)


def test_a_reply_that_was_stopped_counts_if_it_said_something(tmp_path):
    stopped = {"name": "MessageAbortedError", "data": {}}
    told = [
        ASK,
        message("m2", "assistant", {"type": "text", "text": "I"}, error=stopped, tokens=tokens(7)),
        message("m3", "assistant", {"type": "reasoning", "text": "hm"}, error=stopped, tokens=tokens(8)),
        message("m4", "assistant", tokens=tokens(0, 0)),
    ]
    trace = one(written(tmp_path, {"info": {"id": "ses_1"}, "messages": told}))
    assert ([turn.reported for turn in trace.turns], trace.abandoned) == ([7], 1)


def test_a_summary_without_its_question_is_one_of_an_older_version(tmp_path):
    told = [
        ASK,
        message("m2", "assistant", {"type": "text", "text": "rung"}, tokens=tokens(7)),
        message("m3", "assistant", {"type": "text", "text": "so far"}, summary=True, tokens=tokens(8)),
        message("m4", "user", {"type": "text", "text": "again"}),
    ]
    trace = one(written(tmp_path, {"info": {"id": "ses_1"}, "messages": told}))
    [compaction] = trace.recorded
    assert (compaction.turn, compaction.trigger, len(compaction.edit.removed)) == (2, "unknown", 2)
    assert trace.turns[-1].pending


@pytest.mark.parametrize(
    "more, edits", [({}, 0), ({"finish": "stop"}, 1), ({"finish": "stop", "error": {"name": "x"}}, 0)]
)
def test_a_summary_counts_when_it_is_finished(tmp_path, more, edits):
    told = [
        ASK,
        message("m2", "assistant", {"type": "text", "text": "rung"}, tokens=tokens(7)),
        message("m3", "user", {"type": "compaction", "auto": False}),
        message("m4", "assistant", {"type": "text", "text": "so far"}, summary=True, parentID="m3", **more),
    ]
    trace = one(written(tmp_path, {"info": {"id": "ses_1"}, "messages": told}))
    assert [cut.trigger for cut in trace.recorded] == ["manual"] * edits


def test_a_database_without_messages_is_empty(tmp_path):
    path = tmp_path / "opencode.db"
    path.write_bytes(STORE.read_bytes())
    with sqlite3.connect(path) as database:
        database.execute("DELETE FROM message")
    database.close()
    with pytest.raises(EmptyTrace, match="no message in it"):
        load(str(path))


def test_a_damaged_row_costs_that_row(tmp_path):
    path = tmp_path / "opencode.db"
    path.write_bytes(STORE.read_bytes())
    with sqlite3.connect(path) as database:
        database.execute("UPDATE part SET data = '{' WHERE message_id = 'msg_06'")
        database.execute("UPDATE session SET parent_id = 'ses_7a10lighthouse02' WHERE parent_id IS NULL")
    database.close()
    first, second = load(str(path))
    assert [warning.message for warning in first.warnings if warning.code == "damaged-row"] == [
        "3 row(s) hold no JSON object, left out"
    ]
    assert (first.parse.records_bad, second.parse.records_bad) == (3, 0)


@pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real traces is not beside the checkout")
def test_a_real_database():
    path = REAL / "lantern-opencode.db"
    traces = load(str(path))
    assert [trace.source.format for trace in traces] == ["opencode"] * 3
    assert sum(len(trace.turns) for trace in traces) == 4
    with sqlite3.connect(f"file:{path}?immutable=1", uri=True) as database:
        rows = database.execute("SELECT session_id, data FROM message ORDER BY time_created").fetchall()
    database.close()
    for trace in traces:
        mine = [json.loads(data) for session, data in rows if session == trace.source.session]
        totals = [info["tokens"]["total"] for info in mine if info["role"] == "assistant"]
        assert [turn.usage.total for turn in trace.turns] == totals
        assert unpaired(trace) == ([], [])
