"""Qwen Code sessions: trees, pieces of one message, compressions, counts of two providers, calls without a reply."""

import json
from collections import Counter
from pathlib import Path

import pytest

from ctxbudget.ledger import context, live_at_end, unpaired
from ctxbudget.loaders import Options, load, sniff
from ctxbudget.loaders.qwen_code.parts import read_usage
from ctxbudget.records import read
from ctxbudget.trace import Usage

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "sample_traces" / "formats" / "qwen_code.jsonl"
REAL = ROOT.parent / "shared" / "real_traces"
PLAIN = Options(calibrate=False)

real = pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real traces is not beside the checkout")


def loaded(tmp_path, *records):
    path = tmp_path / "s.jsonl"
    path.write_text("\n".join(json.dumps({"sessionId": "s", **record}) for record in records))
    [trace] = load(str(path), PLAIN)
    assert trace.source.format == "qwen-code"
    return trace


def user(text, uuid="u", parent=None):
    message = {"role": "user", "parts": [{"text": text}]}
    return {"type": "user", "uuid": uuid, "parentUuid": parent, "message": message}


def reply(*parts, uuid="a", parent="u", usage=None):
    message = {"role": "model", "parts": list(parts)}
    return {"type": "assistant", "uuid": uuid, "parentUuid": parent, "message": message, "usageMetadata": usage}


def kinds(parts):
    return [str(part.kind) for part in parts]


def texts(parts):
    return [part.text for part in parts]


def test_the_sample():
    [trace] = load(str(SAMPLE), PLAIN)
    assert (trace.source.format, trace.source.agent, trace.window) == ("qwen-code", "qwen-code", 262_144)
    assert Counter(kinds(trace.fragments)) == {
        "user": 3, "media": 1, "thinking": 1, "reasoning": 2, "call": 4, "result": 4, "answer": 1,
    }  # fmt: skip
    assert [(turn.model, turn.usage) for turn in trace.turns] == [
        ("qwen3-coder-plus", Usage(1800, 0, 0, 90, 40, 1890)),
        ("qwen3-coder-plus", Usage(508, 1792, 0, 40, None, 2340)),
        ("gemini-2.5-pro", Usage(1900, 0, 0, 85, 25, 1985)),
        ("qwen3-coder-plus", Usage(60, 1900, 0, 22, None, 1982)),
    ]
    assert unpaired(trace) == ([], [])
    assert trace.abandoned == 2
    assert [(one.usage.total, one.purpose) for one in trace.billed if one.turn is None] == [
        (2021, "abandoned"), (1712, "abandoned"),
    ]  # fmt: skip
    assert [part.error for part in trace.fragments if part.answers] == [False, True, False, False]
    assert [part.resource.target for part in trace.fragments if part.tool == "edit" and part.asks] == [
        "recipes/rye.toml"
    ]


def test_a_compression_replaces_the_history():
    [trace] = load(str(SAMPLE), PLAIN)
    [cut] = trace.recorded
    assert (cut.turn, cut.trigger, cut.pre_tokens, cut.post_tokens) == (3, "manual", 2400, 1900)
    assert kinds(context(trace, 3)) == ["summary", "summary", "user"]


def test_the_end_of_a_history_that_a_compression_kept(tmp_path):
    kept = user("later", "u2", "a")
    history = [{"role": "user", "parts": [{"text": "summary"}]}, kept["message"]]
    payload = {"info": {}, "compressedHistory": history}
    cut = {"type": "system", "subtype": "chat_compression", "uuid": "c", "parentUuid": "u2", "systemPayload": payload}
    trace = loaded(
        tmp_path, user("first"), reply({"text": "so"}), kept, cut, reply({"text": "end"}, uuid="b", parent="c")
    )
    assert texts(context(trace, 2)) == ["summary", "later"]
    assert trace.recorded[0].trigger == "auto"


def test_pieces_of_one_message_are_one_and_copies_count_once(tmp_path):
    piece = reply({"text": "one"}, usage={"promptTokenCount": 5, "candidatesTokenCount": 1})
    trace = loaded(tmp_path, user("go"), piece, piece, reply({"text": "two"}))
    assert (texts(trace.fragments), len(trace.turns), len(trace.billed)) == (["go", "one", "two"], 1, 1)
    assert dict(trace.parse.skipped) == {"repeated record": 1}


def test_a_rewind_leaves_its_branch(tmp_path):
    trace = loaded(
        tmp_path,
        user("go"),
        reply({"text": "wrong"}),
        user("other", "u2", "u"),
        reply({"text": "right"}, uuid="b", parent="u2"),
    )
    assert (texts(live_at_end(trace)), trace.abandoned) == (["go", "other", "right"], 1)


@pytest.mark.parametrize(
    "raw, usage",
    [
        ((2050, 0, 527, 527, 2577), Usage(2050, 0, 0, 527, 527, 2577)),
        ((1900, 100, 60, 25, 1985), Usage(1800, 100, 0, 85, 25, 1985)),
        ((600, 50, 5, 0, 605), Usage(550, 50, 0, 5, None, 605)),
        ((10, 50, 5, 9, 0), Usage(0, 10, 0, 14, 9, 24)),
        ((0, 0, 0, 0, 7), Usage(total=7, split=False)),
        ((0, 0, 0, 0, 0), None),
        (("x", -1, None, [], 2**80), None),
    ],
)
def test_usage(raw, usage):
    names = ("promptTokenCount", "cachedContentTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
    assert read_usage(dict(zip((*names, "totalTokenCount"), raw, strict=True))) == usage


def test_prompts_of_tools_are_on_top():
    raw = {"promptTokenCount": 100, "toolUsePromptTokenCount": 30, "candidatesTokenCount": 10, "totalTokenCount": 140}
    assert read_usage(raw) == Usage(130, 0, 0, 10, None, 140)


def test_claude_code_and_qwen_code_know_their_own():
    """Both have ``uuid``, ``parentUuid``, ``sessionId``, ``cwd`` and ``version``."""
    scores = sniff(read(str(SAMPLE)))
    assert scores["qwen-code"] > 0.8 > scores["claude-code"]
    scores = sniff(read(str(ROOT / "sample_traces" / "migrate_module.jsonl")))
    assert scores["claude-code"] > 0.8
    assert scores["qwen-code"] == 0


@real
@pytest.mark.parametrize("name, turns", [("lantern-1", 4), ("lantern-2", 3), ("splitrail", 2)])
def test_real_sessions(name, turns):
    path = REAL / "qwen_code" / f"{name}.jsonl"
    [trace] = load(str(path))
    replies = [line for line in map(json.loads, path.read_text().splitlines()) if line["type"] == "assistant"]
    assert (trace.source.format, len(trace.turns)) == ("qwen-code", turns)
    assert unpaired(trace) == ([], [])
    for turn, line in zip(trace.turns, replies, strict=True):
        told = line["usageMetadata"]
        assert (turn.reported, turn.usage.output) == (told["promptTokenCount"], told["candidatesTokenCount"])
        assert (turn.usage.total, turn.usage.cache_read) == (told["totalTokenCount"], told["cachedContentTokenCount"])


@real
def test_a_call_without_a_reply_is_in_the_telemetry():
    [trace] = load(str(REAL / "qwen_code" / "lantern-2.jsonl"))
    assert [(one.purpose, one.usage.total) for one in trace.billed if one.turn is None] == [("abandoned", 2817)]


@real
@pytest.mark.parametrize("path", sorted((REAL / "claude_code").rglob("*.jsonl")) if REAL.is_dir() else [], ids=str)
def test_no_session_of_claude_code_is_taken(path):
    assert sniff(read(str(path)))["qwen-code"] == 0
