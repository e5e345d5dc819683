"""Claude stream-json: what a run printed, and what its result line adds up."""

import json
from pathlib import Path

import pytest

from ctxbudget.builder import TraceBuilder
from ctxbudget.ledger import unpaired
from ctxbudget.loaders import Options, claude_stream_json, load, sniff
from ctxbudget.records import read
from ctxbudget.trace import Kind

SAMPLE = Path(__file__).resolve().parents[2] / "sample_traces" / "formats" / "claude_stream_json.jsonl"
REAL = Path(__file__).parents[3] / "shared" / "real_traces" / "claude_stream_json"
MODEL, HELPER = "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001"


def traces(*records):
    data = "\n".join(record if isinstance(record, str) else json.dumps(record) for record in records).encode()
    reading = read("run.jsonl", data)
    return list(
        claude_stream_json.load(reading, lambda label=None, path=None: TraceBuilder("run.jsonl", "x", label=label))
    )


def one(*records):
    (trace,) = traces(*records)
    return trace


def own(**fields):
    return {"session_id": "s", **fields}


def said(name, *content, given=10, output=5, stop="end_turn", **more):
    usage = {"input_tokens": given, "output_tokens": output}
    message = {"id": name, "role": "assistant", "model": MODEL, "content": list(content)}
    return own(type="assistant", message={**message, "stop_reason": stop, "usage": usage}, **more)


def text(words="hello"):
    return {"type": "text", "text": words}


def use(name="toolu_1", tool="Read"):
    return {"type": "tool_use", "id": name, "name": tool, "input": {}}


def answered(name="toolu_1", words="done", **more):
    part = {"type": "tool_result", "tool_use_id": name, "content": words}
    return own(type="user", message={"role": "user", "content": [part]}, **more)


def asked(words="go", **more):
    return own(type="user", message={"role": "user", "content": words}, **more)


def ended(subtype="success", **more):
    return own(type="result", subtype=subtype, num_turns=1, **more)


def spent(given=0, output=0, window=None):
    return {"inputTokens": given, "outputTokens": output, **({"contextWindow": window} if window else {})}


def summed(**models):
    """A result whose sums are ``main`` and ``helper``, each input and output."""
    named = {"main": MODEL, "helper": HELPER, "marked": f"{MODEL}[1m]"}
    return ended(modelUsage={named[name]: spent(*counts) for name, counts in models.items()})


def kinds(trace):
    return [str(part.kind) for part in trace.fragments]


def rest(trace):
    return {call.model: call.usage.total for call in trace.billed if call.turn is None}


# ── the sample ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def sample():
    (trace,) = load(str(SAMPLE), Options(calibrate=False))
    return trace


@pytest.mark.parametrize(
    "turn, expected",
    [
        (1, ["injected", "user"]),
        (2, ["thinking", "reasoning", "call", "call", "result", "media"]),
        (3, ["call", "result"]),
        (4, ["reasoning", "call", "result"]),
        (5, ["call", "result", "injected"]),
    ],
)
def test_each_turn_brings_what_was_sent(sample, turn, expected):
    assert [str(part.kind) for part in sample.entering(sample.turns[turn - 1])] == expected


def test_the_sample_s_facts(sample):
    assert (sample.source.format, sample.source.agent, sample.model) == ("claude-stream-json", "claude-code", MODEL)
    assert [str(part.kind) for part in sample.reply] == ["answer"]
    assert unpaired(sample) == ([], [])
    assert [part.error for part in sample.fragments if part.kind is Kind.RESULT] == [False, True, False, False]
    assert next(part for part in sample.fragments if part.kind is Kind.MEDIA).tokens == 86  # 320 × 200 / 750
    assert sample.window == 200_000
    assert (sample.outcome.success, sample.outcome.source) == (None, "result.subtype: success")
    (compaction,) = sample.recorded
    assert (compaction.turn, compaction.trigger, compaction.pre_tokens) == (4, "manual", 15_790)
    assert [part.kind for part in compaction.edit.inserted] == [Kind.SUMMARY]
    assert {part.resource.target for part in sample.fragments if part.tool == "Edit"} == {"sign.py"}


def test_the_sample_s_sub_agent(sample):
    (child,) = sample.children
    assert (child.source.label, child.source.path) == ("toolu_h3", str(SAMPLE))
    assert kinds(child) == ["user", "call", "result", "answer"]
    assert [turn.reported for turn in child.turns] == [2403, 2584]


def test_the_sample_s_usage_is_the_result_s(sample):
    result = json.loads(SAMPLE.read_text(encoding="utf-8").splitlines()[-1])
    totals = {name: sum(v for k, v in entry.items() if k.endswith("Tokens") and k != "maxOutputTokens")
              for name, entry in result["modelUsage"].items()}  # fmt: skip
    billed = [call for member in sample.family() for call in member.billed]
    assert {name: sum(c.usage.total for c in billed if c.model == name) for name in totals} == totals
    assert [turn.reported for turn in sample.turns] == [14926, 15568, 15718, 12705, 12865]
    assert rest(sample) == {MODEL: 295, HELPER: 431}
    assert [w.code for w in sample.warnings] == ["usage-rest", "usage-rest"]


# ── usage ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "records, expected, codes",
    [
        pytest.param([summed(main=(10, 5))], {}, [], id="equal"),
        pytest.param([summed(main=(10, 50))], {MODEL: 45}, ["usage-rest"], id="placeholder"),
        pytest.param([summed(marked=(10, 50))], {MODEL: 45}, ["usage-rest"], id="marked"),
        pytest.param([summed(main=(4, 2), marked=(6, 3))], {}, [], id="two windows"),
        pytest.param([summed(main=(9, 50))], {}, ["usage-mismatch"], id="too little"),
        pytest.param([summed(main=(10, 5), helper=(3, 1))], {HELPER: 4}, ["usage-rest"], id="helper"),
        pytest.param([summed(main=(7, 3)), summed(main=(10, 5))], {}, [], id="grows"),
        pytest.param([summed(main=(7, 3)), summed(main=(3, 2))], {}, [], id="restarts"),
        pytest.param([ended(usage={"input_tokens": 10, "output_tokens": 5})], {}, [], id="old, equal"),
        pytest.param([ended(usage={"input_tokens": 10, "output_tokens": 7})], {MODEL: 2}, ["usage-rest"], id="old"),
        pytest.param([ended(modelUsage={MODEL: spent("x", -4), HELPER: None}, usage=7)], {}, [], id="damaged"),
        pytest.param([ended()], {}, [], id="nothing"),
    ],
)
def test_what_no_message_accounts_for_is_billed_apart(records, expected, codes):
    trace = one(asked(), said("m", text()), *records)
    assert rest(trace) == expected
    assert [warning.code for warning in trace.warnings] == codes


def test_the_older_sum_is_of_the_main_loop_alone():
    sub = said("n", text(), parent_tool_use_id="t1")
    records = [asked(), said("m", use("t1", "Task")), sub, answered("t1"), said("o", text())]
    trace = one(*records, ended(usage={"input_tokens": 20, "output_tokens": 10}))
    assert (rest(trace), trace.warnings, len(trace.children)) == ({}, (), 1)


@pytest.mark.parametrize("output, final", [(5, True), (50, False)])
def test_outputs_are_final_where_the_sums_agree(output, final):
    trace = one(asked(), said("m", text(), stop=None), summed(main=(10, output)))
    assert [turn.usage.final for turn in trace.turns] == [final]


def test_lines_of_one_response_are_one_call():
    parts = {"given": 10, "stop": None}
    trace = one(asked(), said("m", text(), output=1, **parts), said("m", use(), output=9, **parts), answered())
    assert [(turn.usage.output, turn.usage.final) for turn in trace.turns if turn.usage] == [(9, False)]
    assert kinds(trace) == ["user", "reasoning", "call", "result"]


@pytest.mark.parametrize(
    "result, success",
    [
        (ended(), None),
        (ended("error_max_turns"), False),
        (ended(is_error=True), False),
        (ended(subtype=7), None),
        ({"type": "result", "result": "done", "session_id": "s"}, None),
    ],
)
def test_how_it_ended(result, success):
    assert one(asked(), said("m", text()), result).outcome.success is success


def test_the_window_is_that_of_the_main_model():
    usage = {HELPER: spent(1, 1, 200_000), f"{MODEL}[1m]": spent(10, 5, 1_000_000)}
    assert one(asked(), said("m", text()), ended(modelUsage=usage)).window == 1_000_000


# ── what was sent ──────────────────────────────────────────────────────────────────────────────────────────────────


def boundary(**facts):
    return own(type="system", subtype="compact_boundary", compact_metadata=facts)


@pytest.mark.parametrize(
    "behind, inserted, live",
    [
        pytest.param([asked("in short", isSynthetic=True), asked("on")], ["summary"], ["user"], id="summary"),
        pytest.param([own(type="system", subtype="status"), asked("in short")], ["summary"], [], id="a line between"),
        pytest.param([said("m2", text())], [], [], id="no summary"),
    ],
)
def test_a_compaction_replaces_what_was_before(behind, inserted, live):
    trace = one(asked(), said("m", text()), boundary(trigger="auto", pre_tokens=70), *behind)
    (compaction,) = trace.recorded
    assert (compaction.trigger, compaction.pre_tokens, len(compaction.edit.removed)) == ("auto", 70, 2)
    assert [str(part.kind) for part in compaction.edit.inserted] == inserted
    assert [str(p.kind) for p in trace.fragments if p.id not in compaction.edit.removed and p.turn == 2] == live


def test_pieces_of_a_stream_and_repeated_lines_count_once():
    piece = own(type="stream_event", event={"type": "message_start"})
    reply = said("m", text(), uuid="u1")
    trace = one(asked(), piece, reply, reply)
    assert kinds(trace) == ["user", "answer"]
    assert trace.parse.skipped == (("repeated record", 1),)


def test_hooks_and_synthetic_lines_are_injected():
    context = {"hookSpecificOutput": {"additionalContext": "mind the tide"}}
    hook = own(type="system", subtype="hook_response", output=json.dumps(context))
    quiet = [own(type="system", subtype="hook_response", output=given) for given in ("plain", "{", "[1]", 7, None)]
    trace = one(hook, *quiet, asked(), said("m", text()), asked("skill body", isSynthetic=True))
    assert kinds(trace) == ["injected", "user", "answer", "injected"]


def test_sub_agents_are_children_however_deep():
    trace = one(
        asked(), said("m", use("t1", "Task")), asked("find", parent_tool_use_id="t1"),
        said("n", use("t2", "Task"), parent_tool_use_id="t1"), said("o", text(), parent_tool_use_id="t2"),
        answered("t1"), said("p", text()),
    )  # fmt: skip
    assert [child.source.label for child in trace.children] == ["t1", "t2"]
    assert kinds(trace) == ["user", "call", "result", "answer"]


def test_each_session_is_a_trace():
    first, second = traces(asked(), said("m", text()), {**asked(), "session_id": "b"}, {"type": "result"})
    assert [(t.source.label, t.source.session) for t in (first, second)] == [("1", "s"), ("2", "b")]
    assert second.outcome.success is None


def test_what_was_logged_before_the_session_began_is_its_own():
    prompt = {"type": "user", "message": {"role": "user", "content": "go"}}
    trace = one(prompt, said("m", text()))
    assert (kinds(trace), trace.source.session) == (["user", "answer"], "s")


def test_a_result_alone_is_its_answer():
    trace = one(ended(result="All done.", modelUsage={MODEL: spent(10, 5)}))
    assert kinds(trace) == ["answer"]
    assert rest(trace) == {MODEL: 15}
    assert [warning.code for warning in trace.warnings] == ["result-only", "usage-rest"]


# ── telling it apart ───────────────────────────────────────────────────────────────────────────────────────────────


def scores(*records):
    data = "\n".join(record if isinstance(record, str) else json.dumps(record) for record in records).encode()
    return sniff(read("run.txt", data))


@pytest.mark.parametrize(
    "records",
    [
        pytest.param([own(type="system", subtype="init", tools=["Read"])], id="init"),
        pytest.param(["Starting the agent ...", said("m", text())], id="a line of the log before"),
        pytest.param([[own(type="system", subtype="init"), said("m", text())]], id="a list"),
        pytest.param([ended(result="done")], id="result alone"),
        pytest.param([{**said("m", text()), "sessionId": "s"}], id="a wrapper that adds sessionId"),
    ],
)
def test_it_is_recognised(records):
    found = scores(*records)
    assert max(found, key=found.get) == "claude-stream-json"
    assert found["claude-stream-json"] >= 0.8


def test_a_session_file_with_both_ids_is_claude_code_s():
    line = {**said("m", text()), "sessionId": "s", "parentUuid": None, "isSidechain": False, "uuid": "u"}
    found = scores(line)
    assert (max(found, key=found.get), found["claude-stream-json"]) == ("claude-code", 0.0)


# ── real runs ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real traces is not beside the checkout")
@pytest.mark.parametrize("name, turns", [("trackgentic-mp9zkenj.jsonl", 59), ("trackgentic-stream.jsonl", 8)])
def test_real_runs(name, turns):
    (trace,) = load(str(REAL / name))
    assert (trace.source.format, len(trace.turns)) == ("claude-stream-json", turns)
    assert unpaired(trace) == ([], [])
    lines = [json.loads(line) for line in (REAL / name).read_text(encoding="utf-8").splitlines()]
    (entry,) = lines[-1]["modelUsage"].values()
    wanted = [entry[f"{key}Tokens"] for key in ("input", "cacheReadInput", "cacheCreationInput", "output")]
    sums = [(c.usage.input, c.usage.cache_read, c.usage.cache_write, c.usage.output) for c in trace.billed]
    assert [sum(column) for column in zip(*sums, strict=True)] == wanted
    assert trace.window == entry["contextWindow"]
