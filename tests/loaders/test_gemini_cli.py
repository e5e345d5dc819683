"""Gemini CLI: recordings with their rewinds and rebuilt histories, stream-json, checkpoints, API contents."""

import json
from pathlib import Path

import pytest

from ctxbudget.builder import TraceBuilder
from ctxbudget.ledger import context, unpaired
from ctxbudget.loaders import Options, gemini_cli, load, sniff
from ctxbudget.loaders.gemini_cli.usage import read_sums, read_usage
from ctxbudget.records import read
from ctxbudget.trace import Form, Kind

SAMPLES = Path(__file__).resolve().parents[2] / "sample_traces" / "formats"
REAL = Path(__file__).parents[3] / "shared" / "real_traces" / "gemini_cli"
HEAD = {"sessionId": "s1", "projectHash": "abc", "kind": "main"}


def encoded(*records):
    return "\n".join(record if isinstance(record, str) else json.dumps(record) for record in records).encode()


def traces(*records, path="chat.jsonl"):
    def start(label=None, path=path):
        return TraceBuilder(path, "gemini-cli", label=label)

    return list(gemini_cli.load(read(path, encoded(*records)), start))


def one(*records, **more):
    (trace,) = traces(*records, **more)
    return trace


def user(name, content="go"):
    return {"id": name, "type": "user", "content": content}


def gemini(name, content="done", *calls, tokens=(10, 5), **more):
    given, output = tokens
    counts = {"input": given, "output": output, "cached": 0, "thoughts": 0, "tool": 0, "total": given + output}
    calls = {"toolCalls": list(calls)} if calls else {}
    return {
        "id": name,
        "type": "gemini",
        "content": content,
        "model": "gemini-2.5-pro",
        "tokens": counts,
        **calls,
    } | more


def called(name="c1", tool="read_file", output="text", status="success", **more):
    response = {"id": name, "name": tool, "response": {"output": output}}
    own = {"id": name, "name": tool, "args": {}, "result": [{"functionResponse": response}], "status": status}
    return own | more


def history(*messages):
    return {"$set": {"messages": list(messages)}}


def kinds(parts):
    return [str(part.kind) for part in parts]


def texts(parts):
    return [part.text for part in parts]


# ── the samples ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def sample():
    (trace,) = load(str(SAMPLES / "gemini_cli.jsonl"), Options(calibrate=False))
    return trace


@pytest.mark.parametrize(
    "turn, expected",
    [
        (1, ["user", "result", "result", "result", "result"]),
        (2, ["reasoning", "call", "call", "result", "result", "media"]),
        (3, ["call", "result"]),
        (4, ["answer", "user"]),
        (5, ["reasoning", "call", "result"]),
        (6, ["answer", "user"]),
    ],
)
def test_each_turn_brings_what_was_sent(sample, turn, expected):
    assert kinds(sample.entering(sample.turns[turn - 1])) == expected


def test_the_sample_s_facts(sample):
    assert (sample.source.format, sample.source.agent, sample.source.session) == (
        "gemini-cli", "gemini-cli", "gemini_cli-apiary",
    )  # fmt: skip
    assert unpaired(sample) == ([], [])
    assert [turn.reported for turn in sample.turns] == [8420, 9110, 9230, 9300, 9380, 8530]
    assert [part.error for part in sample.fragments if part.call and not part.asks] == [False] * 3 + [True, False]
    assert next(part for part in sample.fragments if part.kind is Kind.MEDIA).tokens == 258
    assert {p.resource.target for p in sample.fragments if p.turn == 1 and p.resource} == {"notes/april.md"}
    assert not sample.carries_reasoning
    assert not sample.warnings


def test_the_sample_s_rewind_is_paid_and_not_sent(sample):
    assert sample.abandoned == 2
    assert [(call.usage.total, call.turn) for call in sample.billed if call.purpose == "abandoned"] == [(9312, None)]
    assert not any("vet" in part.text for part in sample.fragments)


def test_the_sample_s_history_was_masked_then_compressed(sample):
    masked, compressed = sample.recorded
    assert (masked.turn, masked.trigger, masked.edit.form) == (5, "elision", Form.TRUNCATED)
    assert [part.text[:8] for part in masked.edit.inserted] == ["[masked:"]
    assert (compressed.turn, compressed.trigger) == (6, "unknown")
    assert kinds(compressed.edit.inserted) == ["summary", "answer"]
    assert masked.edit.inserted[0].id in compressed.edit.removed
    assert kinds(context(sample, 6)) == ["summary", "answer", "answer", "user"]


def test_the_sample_s_sub_agent(sample):
    (child,) = sample.children
    assert (child.source.label, child.source.session, len(child.turns)) == ("inv1", "inv1", 2)
    assert child.model == "gemini-2.5-flash"


@pytest.mark.parametrize(
    "name, expected",
    [
        ("gemini_cli-chat.json", [["user", "call", "retrieval", "answer", "user"]]),
        ("gemini_cli-stream.jsonl", [
            ["user", "reasoning", "call", "call", "result", "result", "answer"], ["user", "answer"],
        ]),
        ("gemini_cli-checkpoint.json", [
            ["injected", "user", "reasoning", "call", "call", "result", "result", "user", "answer"],
        ]),
    ],
)  # fmt: skip
def test_the_other_forms(name, expected):
    found = load(str(SAMPLES / name), Options(calibrate=False))
    assert [kinds(trace.fragments) for trace in found] == expected
    assert all(unpaired(trace) == ([], []) for trace in found)
    assert [trace.source.label for trace in found] == ([None] if len(found) == 1 else ["1", "2"])


def test_stream_json_has_sums_alone():
    first, second = load(str(SAMPLES / "gemini_cli-stream.jsonl"))
    assert [(c.usage.prompt, c.usage.output, c.usage.total, c.turn) for c in first.billed] == [
        (17010, 240, 17250, None)
    ]
    assert [turn.usage for turn in first.turns] == [None, None]
    assert [w.code for w in first.warnings] == ["usage-sums"]
    assert (first.outcome.success, second.outcome.success) == (None, False)


# ── usage ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "raw, expected",
    [
        pytest.param((100, 20, 30, 40, 0, 160), (70, 30, 60, 40, 160), id="thoughts beside the output"),
        pytest.param((100, 60, 30, 40, 0, 160), (70, 30, 60, 40, 160), id="thoughts inside the output"),
        pytest.param((100, 20, 30, 40, 7, 167), (77, 30, 60, 40, 167), id="prompts of tools"),
        pytest.param((100, 20, 0, 0, 0, 0), (100, 0, 20, 0, 120), id="no total"),
        pytest.param((100, 20, 500, 0, 0, 120), (0, 100, 20, 0, 120), id="more cached than sent"),
    ],
)
def test_usage_is_disjoint(raw, expected):
    long = ("promptTokenCount", "candidatesTokenCount", "cachedContentTokenCount", "thoughtsTokenCount",
            "toolUsePromptTokenCount", "totalTokenCount")  # fmt: skip
    for names in (("input", "output", "cached", "thoughts", "tool", "total"), long):
        usage = read_usage(dict(zip(names, raw, strict=True)))
        assert (usage.input, usage.cache_read, usage.output, usage.reasoning, usage.total) == expected
        assert usage.prompt + usage.output == usage.total


@pytest.mark.parametrize("raw", [None, 7, {}, {"input": -1, "output": "9"}, {"total": 10**12}, {"input": True}])
def test_damaged_usage_is_none(raw):
    assert read_usage(raw) is None
    assert read_sums(raw if isinstance(raw, dict) else {}) is None


def test_only_a_total():
    assert read_usage({"total": 90}).split is False


# ── recordings ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_message_written_again_counts_once():
    plain = gemini("b", "first", tokens=(0, 0))
    trace = one(HEAD, user("a"), plain, gemini("b", "first"), gemini("b", "first", called()), gemini("c"))
    assert kinds(trace.fragments) == ["user", "reasoning", "call", "result", "answer"]
    assert [call.usage.total for call in trace.billed] == [15, 15]


@pytest.mark.parametrize(
    "target, left, abandoned",
    [("c", ["go", "one"], 2), ("a", [], 4), ("nowhere", [], 4), ("d", ["go", "one", "more"], 1)],
)
def test_a_rewind_takes_out_the_message_and_all_behind_it(target, left, abandoned):
    said = [user("a"), gemini("b", "one"), user("c", "more"), gemini("d", "two")]
    trace = one(HEAD, *said, {"$rewindTo": target}, user("e", "again"))
    assert texts(trace.fragments) == [*left, "again"]
    assert trace.abandoned == abandoned


def response(name, output="text"):
    return {"functionResponse": {"id": name, "name": "read_file", "response": {"output": output}}}


def test_a_history_in_another_form_is_no_compaction():
    said = [user("a"), gemini("b", "one", called())]
    parts = [{"text": "one"}, {"functionCall": {"id": "c1", "name": "read_file", "args": {}}}]
    again = [user("a", [{"text": "go"}]), gemini("b", parts, called()), user("new", [response("c1")])]
    trace = one(HEAD, *said, history(*again), gemini("c"))
    assert kinds(trace.fragments) == ["user", "reasoning", "call", "result", "answer"]
    assert trace.recorded == ()


def test_a_history_with_new_ids_is_no_compaction():
    trace = one(HEAD, user("a"), gemini("b"), history(user("x"), gemini("y")), {"$rewindTo": "y"}, user("z", "again"))
    assert texts(trace.fragments) == ["go", "again"]
    assert trace.recorded == ()


def test_a_recording_that_begins_with_its_context():
    preamble = "<session_context>\n- **Workspace Directories:**\n  - /srv/bees\n</session_context>"
    call = called(args={"absolute_path": "/srv/bees/hive.md"})
    trace = one(HEAD, history(user("ctx", [{"text": preamble}])), user("a"), gemini("b", "", call))
    assert kinds(trace.fragments) == ["injected", "user", "call", "result"]
    assert [part.resource.target for part in trace.fragments if part.asks] == ["hive.md"]
    assert trace.recorded == ()


def test_what_the_history_adds_is_said():
    trace = one(HEAD, user("a"), gemini("b"), history(user("a"), gemini("b"), user("c", "more")), gemini("d"))
    assert texts(trace.fragments) == ["go", "done", "more", "done"]


@pytest.mark.parametrize("status, error", [("success", False), ("error", True), ("cancelled", True)])
def test_the_state_of_a_call_is_its_result_s(status, error):
    trace = one(HEAD, user("a"), gemini("b", "", called(status=status)))
    assert [part.error for part in trace.fragments if part.answers] == [error]


def test_what_only_the_user_sees_is_not_sent():
    shown = [{"id": kind, "type": kind, "content": "look"} for kind in ("info", "warning", "error")]
    trace = one(HEAD, user("a"), *shown, gemini("b", thoughts=[{"subject": "s", "description": "d"}]))
    assert kinds(trace.fragments) == ["user", "answer"]


@pytest.mark.parametrize("session", ["../other", "/etc", ".hidden", "a/b", "x" * 300, "nowhere"])
def test_a_hostile_session_name_leads_nowhere(session, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "x.jsonl").write_bytes(encoded(HEAD, user("a"), gemini("b")))
    (tmp_path / "chats").mkdir()
    trace = one({**HEAD, "sessionId": session}, user("a"), path=str(tmp_path / "chats" / "chat.jsonl"))
    assert trace.children == ()


def test_a_sub_agent_that_cannot_be_read_is_told(tmp_path):
    (tmp_path / "s1").mkdir()
    (tmp_path / "s1" / "a.jsonl").write_bytes(encoded({**HEAD, "sessionId": "a"}, user("a"), gemini("b")))
    (tmp_path / "s1" / "b.jsonl").write_bytes(b"")
    (tmp_path / "s1" / "c.jsonl").write_bytes(b'{"x": 1}')
    trace = one(HEAD, user("a"), gemini("b"), path=str(tmp_path / "chat.jsonl"))
    assert [child.source.label for child in trace.children] == ["a"]
    assert [warning.code for warning in trace.warnings] == ["unreadable-agent"] * 2


# ── contents and events ────────────────────────────────────────────────────────────────────────────────────────────


def content(role, *parts):
    return {"role": role, "parts": list(parts)}


def call(name="ls", **more):
    return {"functionCall": {"name": name, "args": {}, **more}}


def answer(name="ls", output="x", **more):
    return {"functionResponse": {"name": name, "response": {"output": output}, **more}}


@pytest.mark.parametrize(
    "asked, answered, expected",
    [
        pytest.param([call(), call()], [answer(output="1"), answer(output="2")], ["1", "2"], id="one name"),
        pytest.param([call("a"), call("b")], [answer("b", "2"), answer("a", "1")], ["1", "2"], id="by name"),
        pytest.param([call(id="x"), call(id="y")], [answer(id="y", output="2"), answer(id="x", output="1")],
                     ["1", "2"], id="by id"),
    ],
)  # fmt: skip
def test_responses_answer_calls(asked, answered, expected):
    trace = one(content("user", {"text": "go"}), content("model", *asked), content("user", *answered))
    assert unpaired(trace) == ([], [])
    by_call = {part.call: part.text for part in trace.fragments if part.answers}
    assert [by_call[part.call] for part in trace.fragments if part.asks] == expected


def test_a_request_and_its_response():
    request = {
        "model": "gemini-2.5-pro",
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [{"functionDeclarations": [{"name": "ls", "description": "List."}]}, {"googleSearch": {}}],
        "contents": [content("user", {"text": "hi"}, {"inlineData": {"mimeType": "image/png", "data": "!"}})],
        "candidates": [{"content": content("model", {"text": "thinking", "thought": True}, {"text": "hello"})}],
        "usageMetadata": {"promptTokenCount": 40, "candidatesTokenCount": 2, "totalTokenCount": 42},
    }
    trace = one(request, path="request.json")
    assert kinds(trace.fragments) == [
        "system_prompt", "tool_definitions", "tool_definitions", "user", "media", "thinking", "answer",
    ]  # fmt: skip
    assert [turn.reported for turn in trace.turns] == [40]


def test_code_that_ran_at_the_provider_s_and_odd_parts():
    code = [{"executableCode": {"code": "1+1"}}, {"codeExecutionResult": {"output": "2"}}, {"odd": 1}, 7]
    trace = one(content("user", {"text": "go"}), content("model", *code))
    assert kinds(trace.fragments) == ["user", "call", "result", "other", "other"]
    assert unpaired(trace) == ([], [])
    assert [turn.pending for turn in trace.turns] == [False, False]  # asked again, within the reply, with the result


def test_a_session_that_is_taken_up_goes_on():
    init = {"type": "init", "session_id": "s", "model": "gemini-2.5-pro"}
    asked = {"type": "message", "role": "user", "content": "go"}
    replied = {"type": "message", "role": "assistant", "content": "done", "delta": True}
    trace = one(init, asked, replied, init, asked, replied)
    assert kinds(trace.fragments) == ["user", "answer", "user", "answer"]
    assert len(trace.turns) == 2


# ── telling it apart ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "records",
    [
        pytest.param([HEAD], id="head"),
        pytest.param([user("a"), gemini("b")], id="head is lost"),
        pytest.param([history(user("a"))], id="a history"),
        pytest.param([{**HEAD, "messages": []}], id="document"),
        pytest.param([{"type": "tool_use", "tool_name": "ls", "tool_id": "x", "parameters": {}}], id="event"),
        pytest.param(["$ gemini -p go", {"type": "init", "session_id": "s", "model": "m"}], id="a line before"),
        pytest.param([[content("user", {"text": "a"}), content("model", {"text": "b"})]], id="checkpoint"),
        pytest.param([{"contents": [content("user", {"text": "a"})]}], id="request"),
    ],
)
def test_it_is_recognised(records):
    found = sniff(read("x.jsonl", encoded(*records)))
    assert max(found, key=found.get) == "gemini-cli"
    assert found["gemini-cli"] >= 0.8


@pytest.mark.parametrize(
    "record",
    [
        pytest.param({"uuid": "u", "parentUuid": None, "sessionId": "s", "type": "user",
                      "message": content("user", {"text": "a"})}, id="Qwen Code"),
        pytest.param({"id": "m", "role": "user", "parts": [{"type": "text", "text": "a"}]}, id="Vercel UI"),
        pytest.param({"type": "result", "subtype": "success", "num_turns": 1, "session_id": "s"}, id="Claude"),
        pytest.param({"type": "message", "role": "user", "content": "a"}, id="a message"),
    ],
)  # fmt: skip
def test_others_are_not_its_own(record):
    assert sniff(read("x.jsonl", encoded(record)))["gemini-cli"] == 0


@pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real traces is not beside the checkout")
def test_the_real_recording():
    path = REAL / "agent-sessions-jsonl-v0.40.jsonl"
    (trace,) = load(str(path))
    assert (trace.source.format, len(trace.turns)) == ("gemini-cli", 2)
    assert unpaired(trace) == ([], [])
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    last = {line["id"]: line["tokens"] for line in lines if line.get("type") == "gemini"}
    assert [call.usage.total for call in trace.billed] == [tokens["total"] for tokens in last.values()]
    assert [turn.usage.cache_read for turn in trace.turns] == [tokens["cached"] for tokens in last.values()]


def test_a_summary_stays_itself_and_leaves_with_the_next_one():
    first, second = user("s", "<state_snapshot>one</state_snapshot>"), user("t", "<state_snapshot>two</state_snapshot>")
    said = [user("c", "more"), gemini("d", "two")]
    trace = one(
        HEAD, user("a"), gemini("b", "one"), *said, history(first, *said), user("e"), gemini("f"),
        history(first, *said, user("e"), gemini("f")), user("g", "last"), gemini("h", "three"),
        history(second, user("g", "last"), gemini("h", "three")), user("i", "end"), gemini("k"),
    )  # fmt: skip
    assert len(trace.recorded) == 2
    assert texts(context(trace, 4)).count(first["content"]) == 1
    assert texts(context(trace, 5)) == [second["content"], "last", "three", "end"]
    assert len(trace.turns) == 5
