"""Langfuse exports: any framework's messages, disjoint buckets, histories put together, scores."""

import json
from pathlib import Path

import pytest

from ctxbudget.ledger import unpaired
from ctxbudget.loaders import Options, langfuse, load, sniff
from ctxbudget.loaders.langfuse.usage import read_usage
from ctxbudget.records import read
from ctxbudget.trace import Kind, Outcome

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "sample_traces" / "formats" / "langfuse.json"
REAL = ROOT.parent / "shared" / "real_traces" / "langfuse_trace"
PLAIN = Options(calibrate=False)


def generation(name, minute, asked, said, **more):
    row = {
        "id": name,
        "traceId": "t",
        "type": "GENERATION",
        "startTime": f"2026-01-01T00:{minute:02d}",
        "input": asked,
        "output": said,
        "model": "gpt-4o",
        "usageDetails": {"input": 10, "output": 2, "total": 12},
    }
    return row | more


def loaded(tmp_path, document):
    path = tmp_path / "export.json"
    path.write_text(json.dumps(document))
    assert max(sniff(read(str(path))).items(), key=lambda item: item[1])[0] == "langfuse"
    return load(str(path), PLAIN)


def texts(trace, kind):
    return [fragment.text for fragment in trace.fragments if fragment.kind is kind]


# ── the sample ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_sample_has_an_agent_its_helper_and_another_conversation():
    dinner, french = load(str(SAMPLE), PLAIN)
    assert [trace.source.label for trace in (dinner, french)] == ["dinner-12", "dinner-12.2"]
    assert [turn.reported for turn in dinner.turns] == [398, 493, 548]
    assert [(call.usage.cache_read, call.usage.output, call.usage.total) for call in dinner.billed] == [
        (0, 71, 469),
        (256, 66, 559),
        (512, 19, 567),
    ]
    assert dinner.outcome == Outcome(True, 1.0, "scores: success")
    assert unpaired(dinner) == unpaired(french) == ([], [])
    assert [fragment.error for fragment in dinner.fragments if fragment.answers] == [False, True, False]
    assert texts(dinner, Kind.MEDIA) == [""]
    assert len(texts(dinner, Kind.TOOL_DEFINITIONS)) == 2


def test_a_history_that_was_not_stored_is_put_together_from_replies_and_answers():
    [helper] = load(str(SAMPLE), PLAIN)[0].children
    assert [fragment.text for fragment in helper.fragments] == [
        "Is leek and potato soup free of nuts?",
        "Only the broth could hold nuts.",
        'read_label {"product":"broth"}',
        "vegetables, salt, celery",
        "Yes, free of nuts; it holds celery.",
    ]
    assert [turn.reported for turn in helper.turns] == [61, 131]
    assert unpaired(helper) == ([], [])


def test_items_of_the_responses_api_are_messages():
    french = load(str(SAMPLE), PLAIN)[1]
    assert [fragment.kind.value for fragment in french.fragments][:4] == [
        "tool_definitions",
        "system_prompt",
        "user",
        "call",
    ]
    assert len(french.turns) == 2


def test_no_other_format_claims_the_sample():
    scores = sniff(read(str(SAMPLE)))
    assert scores.pop("langfuse") >= 0.8
    assert max(scores.values()) < 0.5


# ── usage ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"input": 179, "output": 35, "output_reasoning": 64, "total": 278}, (179, 0, 0, 99, 64)),
        ({"input": 7, "output": 2, "input_cached_tokens": 5, "total": 14}, (7, 5, 0, 2, None)),
        ({"input": 7, "output": 2, "input_cache_read": 5, "input_cache_creation": 1, "total": 15}, (7, 5, 1, 2, None)),
        ({"input": 85, "output": 29, "total": 114, "prompt_details.cache_read": 64}, (21, 64, 0, 29, None)),
        ({"input": 85, "output": 29, "prompt_details.cache_read": 64}, (21, 64, 0, 29, None)),
        ({"input": 10, "input_audio": 3, "output": 1, "total": 14}, (13, 0, 0, 1, None)),
        ({"promptTokens": 4, "completionTokens": 3, "totalTokens": 7}, (4, 0, 0, 3, None)),
    ],
)  # fmt: skip
def test_buckets_become_disjoint_counts_that_make_the_total(given, expected):
    usage = read_usage({"usageDetails": given})
    assert (usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning) == expected
    assert usage.total == given.get("total", given.get("totalTokens", 114))


def test_a_total_alone_is_not_split_and_none_is_none():
    assert read_usage({"usageDetails": {"total": 9}}).split is False
    assert read_usage({"usageDetails": {}, "promptTokens": 0}) is None


# ── forms ──────────────────────────────────────────────────────────────────────────────────────────────────────────

ASK, YES = {"role": "user", "content": "one"}, {"role": "assistant", "content": "yes"}
HUMAN = {
    "lc": 1,
    "type": "constructor",
    "id": ["langchain_core", "messages", "HumanMessage"],
    "kwargs": {"content": "one"},
}


@pytest.mark.parametrize(
    "asked",
    [
        [ASK],
        json.dumps([ASK]),
        {"messages": [ASK]},
        [[ASK]],
        {"contents": [{"role": "user", "parts": [{"text": "one"}]}]},
        [{"role": "user", "parts": [{"type": "text", "content": "one"}]}],
        {"messages": [HUMAN]},
        {"prompt": "one"},
        {"input": "one"},
        "one",
    ],
    ids=["list", "string", "object", "batch", "gemini", "parts", "langchain", "prompt", "responses", "text"],
)  # fmt: skip
def test_messages_read_the_same_in_every_wrapping(tmp_path, asked):
    [trace] = loaded(tmp_path, {"trace": {"id": "t"}, "observations": [generation("a", 1, asked, json.dumps(YES))]})
    assert [(fragment.role, fragment.text) for fragment in trace.fragments] == [("user", "one"), ("assistant", "yes")]


@pytest.mark.parametrize(
    "wrap",
    [lambda row: [row], lambda row: row, lambda row: {"id": "t", "observations": [row]}, lambda row: {"data": [row]}],
)
def test_observations_read_the_same_in_every_wrapping(tmp_path, wrap):
    [trace] = loaded(tmp_path, wrap(generation("a", 1, [ASK], YES)))
    assert (len(trace.turns), trace.source.session) == (1, "t")


def test_a_result_named_by_its_tool_as_role_is_a_result(tmp_path):
    call = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "c", "function": {"name": "look", "arguments": "{}"}}],
    }
    asked = [ASK, call, {"role": "look", "content": "seen"}]
    [trace] = loaded(tmp_path, [generation("a", 1, asked, YES)])
    assert unpaired(trace) == ([], [])
    assert [fragment.text for fragment in trace.fragments if fragment.answers] == ["seen"]


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        ({"name": "correctness", "value": 0.5}, Outcome(None, 0.5, "scores: correctness")),
        ({"name": "Task Success", "value": 0, "dataType": "BOOLEAN"}, Outcome(False, 0.0, "scores: Task Success")),
        ({"name": "toxicity", "value": 1}, None),
        ({"name": "success", "value": 1, "observationId": "a"}, None),
        ({"name": "success", "value": "yes"}, None),
    ],
)
def test_a_score_about_the_task_is_the_outcome(tmp_path, score, expected):
    [trace] = loaded(
        tmp_path, {"trace": {"id": "t", "scores": [score]}, "observations": [generation("a", 1, [ASK], YES)]}
    )
    assert trace.outcome == expected


@pytest.mark.parametrize("head", [b"", b"{}", b'{"trace": {}}', b'{"observations": [1]}', b'[{"type": "SPAN"}]'])
def test_nothing_else_is_claimed(head):
    assert langfuse.sniff(head, "x") == 0.0


def test_a_history_put_together_is_looked_at_once(tmp_path, monkeypatch):
    calls = []
    real = langfuse.requests.identity
    monkeypatch.setattr(langfuse.requests, "identity", lambda message: calls.append(1) or real(message))
    rows = [generation(f"g{at}", 0, None, YES, startTime=f"{at:05d}") for at in range(300)]
    [trace] = loaded(tmp_path, rows)
    assert len(trace.turns) == 300
    assert len(calls) < 4 * 300


# ── real files ─────────────────────────────────────────────────────────────────────────────────────────────────────

TURNS = {
    "claude-agent-2025-12-22.json": 4,
    "langgraph-js-2025-10-30.json": 2,
    "openai-agents-2025-09-30.json": 2,
    # the evaluator's reply is a call that nothing answers: a pending turn holds it
    "pydantic-ai-tools-2025-12-04.json": 4 + 1,
}


@pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real traces is not beside the checkout")
@pytest.mark.parametrize("name", TURNS)
def test_real_files_load_by_themselves_and_report_what_they_say(name):
    traces = load(str(REAL / name), PLAIN)
    assert {trace.source.format for trace in traces} == {"langfuse"}
    assert sum(len(trace.turns) for trace in traces) == TURNS[name]
    assert all(not unpaired(trace)[1] for trace in traces)
    rows = json.loads((REAL / name).read_text())["observations"]
    told = sorted(row["usageDetails"]["total"] for row in rows if row["type"] == "GENERATION")
    assert told == sorted(call.usage.total for trace in traces for call in trace.billed)
    assert all(call.usage.prompt + call.usage.output == call.usage.total for trace in traces for call in trace.billed)
