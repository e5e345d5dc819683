"""pi sessions: trees, compactions, failed replies, the user's own commands."""

import json
from collections import Counter
from pathlib import Path

import pytest

from ctxbudget.ledger import context, unpaired
from ctxbudget.loaders import Options, load
from ctxbudget.trace import Kind

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "sample_traces" / "formats" / "pi.jsonl"
REAL = ROOT.parent / "shared" / "real_traces" / "pi"

HEADER = {"type": "session", "id": "s", "timestamp": "t", "cwd": "/w", "provider": "anthropic", "modelId": "claude-x"}
PLAIN = Options(calibrate=False)


def loaded(tmp_path, *entries, header=HEADER):
    path = tmp_path / "s.jsonl"
    path.write_text("\n".join(json.dumps(entry) for entry in (header, *entries)))
    [trace] = load(str(path), PLAIN)
    return trace


def user(text, **more):
    return {"type": "message", "message": {"role": "user", "content": text}, **more}


def reply(*content, at=1, usage=(10, 0, 0, 5), stop="toolUse", **more):
    names = ("input", "cacheRead", "cacheWrite", "output")
    message = {
        "role": "assistant",
        "content": list(content),
        "api": "anthropic-messages",
        "provider": "anthropic",
        "model": "claude-x",
        "usage": dict(zip(names, usage, strict=True)),
        "stopReason": stop,
        "timestamp": at,
    }
    return {"type": "message", "message": message, **more}


def said(text):
    return {"type": "text", "text": text}


def call(name, known, **arguments):
    return {"type": "toolCall", "id": known, "name": name, "arguments": arguments}


def result(known, text):
    return {"type": "message", "message": {"role": "toolResult", "toolCallId": known, "content": [said(text)]}}


def texts(parts):
    return [part.text for part in parts]


def test_the_sample():
    [trace] = load(str(SAMPLE), PLAIN)
    assert (trace.source.format, trace.source.agent, trace.model) == ("pi", "pi", "claude-sonnet-4-5")
    assert Counter(str(part.kind) for part in trace.fragments) == {
        "user": 5, "call": 5, "result": 6, "reasoning": 2, "thinking": 1, "summary": 1, "injected": 1, "media": 1,
        "answer": 1,
    }  # fmt: skip
    assert [(turn.model, turn.reported) for turn in trace.turns] == [
        ("claude-sonnet-4-5", 1900),
        ("claude-sonnet-4-5", 2150),
        ("claude-sonnet-4-5", None),
        ("claude-sonnet-4-5", 2670),
        ("claude-haiku-4-5", 1880),
        ("claude-sonnet-4-5", 2040),
    ]
    assert unpaired(trace) == ([], [])
    assert trace.abandoned == 3
    assert [(one.purpose, one.usage.total) for one in trace.billed if one.turn is None] == [("abandoned", 2261)]
    assert [part.resource.target for part in trace.fragments if part.tool == "read" and part.asks] == [
        "src/report.py",
        "src/load.py",
    ]
    assert [part.error for part in trace.fragments if part.kind is Kind.RESULT] == [
        False,
        False,
        True,
        False,
        False,
        False,
    ]
    [picture] = [part for part in trace.fragments if part.kind is Kind.MEDIA]
    assert (picture.text, picture.tokens, picture.estimated) == ("", 320, True)


def test_a_compaction_keeps_its_tail_behind_the_summary():
    [trace] = load(str(SAMPLE), PLAIN)
    [cut] = trace.recorded
    assert (cut.turn, cut.pre_tokens, cut.edit.by) == (5, 2758, "recorded")
    before, after = context(trace, 4), context(trace, 5)
    assert [str(part.kind) for part in after] == ["summary", "user"]
    assert texts(after)[1] == "Run the tests now."
    assert set(cut.edit.removed) >= {part.id for part in before}
    assert "Never touch data/ledger.csv" in texts(after)[0]


@pytest.mark.parametrize("version, carried", [(None, ["half"]), (2, ["half"]), (3, [])])
def test_what_a_stopped_reply_leaves(tmp_path, version, carried):
    stopped = reply(said("half"), call("bash", "c1", command="ls"), stop="aborted")
    header = HEADER if version is None else {**HEADER, "version": version}
    trace = loaded(tmp_path, user("go"), stopped, user("on"), reply(said("done"), at=2), header=header)
    assert texts(context(trace, 2)) == ["go", *carried, "on"]
    assert not any(part.asks for part in trace.fragments)
    assert [warning.code for warning in trace.warnings] == ["unfinished-reply"]


def test_an_index_keeps_from_its_entry_on(tmp_path):
    cut = {"type": "compaction", "summary": "so far", "firstKeptEntryIndex": 4, "tokensBefore": 99}
    entries = [user("one"), reply(said("a")), {"type": "model_change"}, user("two"), reply(said("b"), at=2), cut]
    trace = loaded(tmp_path, *entries, user("three"), reply(said("c"), at=3))
    assert texts(context(trace, 3)) == ["so far", "two", "b", "three"]
    again = {"type": "compaction", "summary": "later", "firstKeptEntryIndex": 99}
    trace = loaded(tmp_path, *entries, user("three"), reply(said("c"), at=3), again, user("four"), reply(at=4))
    assert texts(context(trace, 4)) == ["later", "four"]


def test_a_fork_names_its_calls_as_its_parent_did(tmp_path):
    entries = [user("one"), reply(said("a"), at=77), user("two")]
    keys = [loaded(tmp_path, *part).billed[0].key for part in (entries, [{"type": "label"}, *entries[:2]])]
    assert keys[0] == keys[1]


def test_an_array_of_the_same_entries_is_the_same(tmp_path):
    path = tmp_path / "s.json"
    path.write_text(json.dumps([json.loads(line) for line in SAMPLE.read_text().splitlines()]))
    [one], [other] = load(str(path), PLAIN), load(str(SAMPLE), PLAIN)
    assert (one.source.format, texts(one.fragments)) == ("pi", texts(other.fragments))


def test_commands_kept_from_the_model_and_odd_parts(tmp_path):
    command = {"type": "message", "message": {"role": "bashExecution", "command": "id", "excludeFromContext": True}}
    odd = {"type": "message", "message": {"role": "user", "content": [{"type": "hologram"}, 5]}}
    trace = loaded(
        tmp_path, command, odd, {"type": "surprise"}, {"type": "message", "message": {"role": "elf"}}, user("hi")
    )
    assert texts(trace.fragments) == ["hi"]
    assert dict(trace.parse.skipped) == {
        "session": 1, "command kept from the model": 1, "block of type hologram": 1, "block without type": 1,
        "surprise": 1, "message of role elf": 1,
    }  # fmt: skip
    assert len(trace.warnings) == 5


def test_a_sub_agent_of_oh_my_pi_keeps_its_system_prompt(tmp_path):
    trace = loaded(tmp_path, {"type": "session_init", "systemPrompt": "be brief"}, user("go"), reply(said("done")))
    assert [str(part.kind) for part in trace.fragments] == ["system_prompt", "user", "answer"]


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real traces is not beside the checkout")
@pytest.mark.parametrize("name, turns, cuts", [("before-compaction", 484, 2), ("large-session", 453, 0)])
def test_real_sessions(name, turns, cuts):
    """The first ends with a command of the user, which waits for a call: one pending turn more."""
    path = REAL / f"{name}.jsonl"
    [trace] = load(str(path))
    replies = [line["message"] for line in lines(path) if (line.get("message") or {}).get("role") == "assistant"]
    assert sum(not turn.pending for turn in trace.turns) == turns == len(replies)
    assert (trace.source.format, len(trace.recorded)) == ("pi", cuts)
    dangling, orphans = unpaired(trace)
    assert (len(dangling), orphans) == (cuts and 1, [])  # its second compaction came before a result
    names = ("input", "cacheRead", "cacheWrite", "output")
    sums = [sum(message["usage"][name] for message in replies) for name in names]
    usages = [one.usage for one in trace.billed]
    assert [sum(getattr(u, name) for u in usages) for name in ("input", "cache_read", "cache_write", "output")] == sums
    assert all(u.total == u.prompt + u.output for u in usages)
    prompts = [sum(message["usage"][name] for name in names[:3]) or None for message in replies]
    assert [turn.reported for turn in trace.turns if not turn.pending] == prompts
    assert trace.calibration.trusted
    assert trace.calibration.median_error < 0.02
