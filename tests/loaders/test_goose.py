"""Goose: database, export and the older file; compactions, parallel calls split up, what only the user sees."""

import json
import sqlite3
from pathlib import Path

import pytest

from ctxbudget.errors import EmptyTrace
from ctxbudget.ledger import unpaired
from ctxbudget.loaders import Options, load, sniff
from ctxbudget.loaders.goose import stored
from ctxbudget.loaders.goose.parts import read_usage
from ctxbudget.records import read

ROOT = Path(__file__).parents[2]
FORMATS = ROOT / "sample_traces" / "formats"
REAL = ROOT.parent / "shared" / "real_traces" / "goose" / "lantern-sessions.db"
EXPORT, STORE, LINES = FORMATS / "goose-export.json", FORMATS / "goose-store.db", FORMATS / "goose.jsonl"


def one(path):
    [trace] = load(str(path), Options(calibrate=False))
    return trace


def shape(trace):
    return [(part.id, part.kind, part.role, part.call, part.error, part.text) for part in trace.fragments]


def kinds(parts):
    return [(str(part.kind), part.tool, part.error) for part in parts]


def test_what_the_sample_holds():
    trace = one(EXPORT)
    assert (trace.source.agent, trace.source.session, trace.window) == ("goose", "20261010_7", 200_000)
    assert (trace.model, len(trace.turns)) == ("claude-sonnet-4-5", 5)
    assert kinds(trace.entering(trace.turns[1])) == [
        ("thinking", None, False),
        ("reasoning", None, False),
        ("call", "shell", False),
        ("result", "shell", False),
        ("call", "text_editor", False),
        ("result", "text_editor", True),
    ]
    thinking, _, first, result, second, _ = trace.entering(trace.turns[1])
    assert thinking.text == "The bee log has gaps."
    assert first.unit == second.unit
    assert "shown to the user" not in result.text
    assert [part.text for part in trace.reply] == ["B had a new queen, D had none."]
    assert unpaired(trace) == ([], [])


def test_the_usage_of_every_call():
    export = json.loads(EXPORT.read_text())
    usages = [message["metadata"]["usage"] for message in export["conversation"] if "usage" in message["metadata"]]
    for path in (EXPORT, STORE):
        trace = one(path)
        assert [turn.reported for turn in trace.turns] == [usage["inputTokens"] for usage in usages]
        assert [turn.usage.total for turn in trace.turns] == [usage["totalTokens"] for usage in usages]
        assert [turn.usage.cache_read for turn in trace.turns] == [usage["cacheReadInputTokens"] for usage in usages]
    beside = [(call.purpose, call.model, call.usage.total) for call in one(STORE).billed if call.turn is None]
    assert beside == [("compaction", "claude-haiku-4-5", 4370)]


def test_a_compaction_brings_summary_note_and_the_copy_of_the_last_question():
    trace = one(EXPORT)
    [compaction] = trace.recorded
    assert (compaction.turn, compaction.trigger) == (3, "auto")
    put = compaction.edit.inserted
    assert [(str(part.kind), part.role) for part in put] == [
        ("summary", "user"),
        ("injected", "assistant"),
        ("user", "user"),
    ]
    assert set(compaction.edit.removed) == {part.id for part in trace.fragments if part.turn <= 3}
    assert sum(part.text == put[2].text for part in trace.fragments) == 1


def test_the_database_tells_the_same_and_knows_the_sub_agent():
    trace = one(STORE)
    assert shape(trace) == shape(one(EXPORT))
    [child] = trace.children
    assert shape(child) == shape(one(LINES))
    assert [turn.usage and turn.usage.total for turn in child.turns] == [None, 1010]
    assert "usage-sums" in [warning.code for warning in child.warnings]
    [listed] = stored(str(STORE))
    assert (listed.label, listed.project) == ("20261010_7", "/home/ola/bees")
    assert listed.modified.isoformat() == "2025-10-10T12:41:00+00:00"


def test_the_older_file():
    trace = one(LINES)
    assert kinds(trace.entering(trace.turns[1])) == [
        ("call", "shell", False),
        ("call", "invalid_call", False),
        ("result", "shell", False),
        ("result", "invalid_call", True),
    ]
    assert [part.origin.line for part in trace.fragments] == [2, 3, 3, 4, 4, 5]
    assert unpaired(trace) == ([], [])


@pytest.mark.parametrize("path", [EXPORT, STORE, LINES], ids=lambda path: path.name)
def test_sniff_alone_picks_it(path):
    scores = sniff(read(str(path)))
    assert scores.pop("goose") >= 0.8
    assert max(scores.values()) == 0.0


@pytest.mark.parametrize(
    "raw, expected",
    [
        ({"inputTokens": 100, "outputTokens": 9, "totalTokens": 109, "cacheReadInputTokens": 60}, (40, 60, 0, 9, 109)),
        (
            {"input_tokens": 100, "output_tokens": 9, "cache_read_tokens": 60, "cache_write_tokens": 30},
            (10, 60, 30, 9, 109),
        ),
        ({"inputTokens": 100, "outputTokens": 9, "totalTokens": 169, "cacheReadTokens": 60}, (100, 60, 0, 9, 169)),
        ({"inputTokens": 10, "outputTokens": 9, "cacheReadTokens": 60}, (10, 60, 0, 9, 79)),
        ({"totalTokens": 50}, (0, 0, 0, 0, 50)),
        ({"inputTokens": None, "outputTokens": "x"}, None),
        (None, None),
    ],
)
def test_usage(raw, expected):
    usage = read_usage(raw)
    shown = usage and (usage.input, usage.cache_read, usage.cache_write, usage.output, usage.total)
    assert shown == expected
    assert usage is None or usage.split is (expected[0] > 0)


def said(role, *content, hidden=False, gone=False, at=0, usage=None):
    metadata = {"userVisible": not hidden, "agentVisible": not gone}
    return {
        "role": role,
        "created": at,
        "content": list(content),
        "metadata": metadata | ({"usage": usage} if usage else {}),
    }


def text(words):
    return {"type": "text", "text": words}


def asked(name):
    return {
        "type": "toolRequest",
        "id": name,
        "toolCall": {"status": "success", "value": {"name": "ring", "arguments": {}}},
    }


def told(name, words):
    return {"type": "toolResponse", "id": name, "toolResult": {"status": "success", "value": [text(words)]}}


def export(tmp_path, *messages):
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"id": "1", "working_dir": "/x", "conversation": messages}))
    return path


def test_a_summary_of_one_call_takes_the_place_of_the_oldest(tmp_path):
    trace = one(
        export(
            tmp_path,
            said("user", text("ring")),
            said("assistant", asked("a"), gone=True, at=1),
            said("user", told("a", "dong"), gone=True),
            said("assistant", asked("b"), at=2),
            said("user", told("b", "ding")),
            said("user", text("it rang once"), hidden=True),
            said("assistant", text("rung"), at=3),
        )
    )
    [edit] = trace.recorded
    removed = [part.text for part in trace.fragments if part.id in edit.edit.removed]
    assert (edit.trigger, removed) == ("elision", ["ring {}", "dong"])
    assert [part.text for part in edit.edit.inserted] == ["it rang once"]


def test_a_compaction_asked_for_copies_no_question(tmp_path):
    trace = one(
        export(
            tmp_path,
            said("user", text("ring"), gone=True),
            said("assistant", text("rung"), gone=True, at=1),
            said("user", text("rang once"), hidden=True),
            said("assistant", text("Your context was compacted at the user's request."), hidden=True),
            said("user", text("ring")),
        )
    )
    [compaction] = trace.recorded
    assert (compaction.trigger, len(compaction.edit.inserted)) == ("manual", 2)
    assert (len(trace.turns), trace.turns[-1].pending) == (2, True)


def test_replies_of_the_same_second_are_one_only_if_they_think_the_same(tmp_path):
    usage = {"inputTokens": 5, "outputTokens": 1, "totalTokens": 6}
    split = [
        said("user", text("ring")),
        said("assistant", asked("a"), at=1, usage=usage),
        said("user", told("a", "dong")),
        said("assistant", asked("b"), at=1),
        said("user", told("b", "ding")),
    ]
    assert len([turn for turn in one(export(tmp_path, *split)).turns if not turn.pending]) == 1
    split[3]["metadata"]["usage"] = usage
    assert len([turn for turn in one(export(tmp_path, *split)).turns if not turn.pending]) == 2


def test_a_damaged_row_costs_that_row(tmp_path):
    path = tmp_path / "sessions.db"
    path.write_bytes(STORE.read_bytes())
    with sqlite3.connect(path) as database:
        database.execute("UPDATE messages SET content_json = '[' WHERE id = 16")
        database.execute("UPDATE messages SET metadata_json = '[' WHERE id = 15")
    database.close()
    trace = one(path)
    assert [(warning.code, trace.parse.records_bad) for warning in trace.warnings] == [("damaged-row", 1)]


def test_a_database_without_messages_is_empty(tmp_path):
    path = tmp_path / "sessions.db"
    path.write_bytes(STORE.read_bytes())
    with sqlite3.connect(path) as database:
        database.execute("DELETE FROM messages")
    database.close()
    with pytest.raises(EmptyTrace, match="no message in it"):
        load(str(path))


@pytest.mark.skipif(not REAL.is_file(), reason="the folder of real traces is not beside the checkout")
def test_a_real_database():
    """The index counts 10 replies; two of them, of one second and with the same thinking, are the two calls of one
    reply, which is why the ledger has 9 calls."""
    traces = load(str(REAL))
    assert [trace.source.format for trace in traces] == ["goose"] * 4
    with sqlite3.connect(f"file:{REAL}?immutable=1", uri=True) as database:
        query = "SELECT session_id, input_tokens, output_tokens, total_tokens FROM usage_ledger ORDER BY id"
        ledger = database.execute(query).fetchall()
    database.close()
    assert len(ledger) == 9
    for trace in traces:
        mine = [tuple(row[1:]) for row in ledger if row[0] == trace.source.session]
        usages = [turn.usage for turn in trace.turns if not turn.pending]
        assert [(usage.prompt, usage.output, usage.total) for usage in usages] == mine
        assert unpaired(trace) == ([], [])
    thinking = [part for trace in traces for part in trace.fragments if str(part.kind) == "thinking" and part.text]
    assert len(thinking) == 8, "one for each reply that thought, not one for each token"
