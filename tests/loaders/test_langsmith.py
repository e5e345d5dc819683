"""LangSmith runs: threads, tools that ask a model, nested children, every client's usage."""

import json
from pathlib import Path

import pytest

from ctxbudget.ledger import unpaired
from ctxbudget.loaders import Options, langsmith, load, sniff
from ctxbudget.records import read
from ctxbudget.trace import Kind, Outcome

SAMPLE = Path(__file__).resolve().parents[2] / "sample_traces" / "formats" / "langsmith.jsonl"
PLAIN = Options(calibrate=False)


def run(name, minute, asked, said, **more):
    row = {
        "id": name,
        "run_type": "llm",
        "name": "model",
        "trace_id": "t",
        "start_time": f"2026-01-01T00:{minute:02d}:00",
        "inputs": asked,
        "outputs": said,
    }
    return row | more


def loaded(tmp_path, document):
    path = tmp_path / "runs.json"
    path.write_text(json.dumps(document))
    assert max(sniff(read(str(path))).items(), key=lambda item: item[1])[0] == "langsmith"
    return load(str(path), PLAIN)


def human(text):
    return {"lc": 1, "type": "constructor", "id": ["langchain", "HumanMessage"], "kwargs": {"content": text}}


def generated(text, **kwargs):
    message = {"lc": 1, "type": "constructor", "id": ["langchain", "AIMessage"], "kwargs": {"content": text, **kwargs}}
    return {"generations": [[{"text": text, "message": message}]]}


# ── the sample ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_sample_is_a_thread_over_two_traces_and_a_run_of_counts_alone():
    thread, counts = load(str(SAMPLE), PLAIN)
    assert (thread.source.label, len(thread.turns), len(counts.turns)) == ("reading-room-4", 4, 1)
    assert [turn.reported for turn in thread.turns] == [395, 478, 519, 553]
    assert [(call.usage.cache_read, call.usage.reasoning) for call in thread.billed] == [
        (0, 0),
        (256, 8),
        (384, 0),
        (512, 0),
    ]
    assert thread.outcome == Outcome(None, 1.0, "feedback_stats: correctness")
    assert (counts.turns[0].reported, counts.fragments) == (812, ())
    assert unpaired(thread) == ([], [])
    assert [fragment.error for fragment in thread.fragments if fragment.answers] == [False, True, False]
    kinds = [fragment.kind.value for fragment in thread.entering(thread.turns[0])]
    assert kinds == ["tool_definitions", "tool_definitions", "system_prompt", "user", "media"]


def test_a_tool_that_asks_a_model_is_a_sub_agent():
    [helper] = load(str(SAMPLE), PLAIN)[0].children
    usage = helper.billed[0].usage
    assert helper.source.label == "ask_archivist"
    assert (helper.model, usage.input, usage.cache_read) == ("claude-sonnet-4-5-20250929", 34, 20)
    assert helper.fragments[0].kind is Kind.SYSTEM_PROMPT


def test_no_other_format_claims_the_sample():
    scores = sniff(read(str(SAMPLE)))
    assert scores.pop("langsmith") >= 0.8
    assert max(scores.values()) < 0.5


# ── clients and wrappings ──────────────────────────────────────────────────────────────────────────────────────────

CHOICE = {"choices": [{"message": {"role": "assistant", "content": "yes"}}], "model": "gpt-4o"}
BLOCKS = {"role": "assistant", "content": [{"type": "text", "text": "yes"}]}
DETAILS = {"input_tokens": 9, "output_tokens": 2, "input_token_details": {"cache_read": 4}}


@pytest.mark.parametrize(
    ("asked", "said", "more"),
    [
        ({"messages": [[human("one")]]}, generated("yes", usage_metadata=DETAILS), {}),
        (
            {"messages": [{"role": "user", "content": "one"}]},
            {
                **CHOICE,
                "usage": {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}},
            },
            {},
        ),
        (
            {"messages": [{"role": "user", "content": "one"}]},
            {**BLOCKS, "usage": {"input_tokens": 5, "cache_read_input_tokens": 4, "output_tokens": 2}},
            {},
        ),
        ({"messages": [{"type": "human", "content": "one"}]}, {**BLOCKS, "usage_metadata": DETAILS}, {}),
        (
            {"messages": [[human("one")]]},
            generated("yes"),
            {"prompt_tokens": 9, "completion_tokens": 2, "prompt_token_details": {"cache_read": 4}},
        ),
    ],
    ids=["langchain", "openai", "anthropic", "dicts", "counts of the run"],
)
def test_every_client_says_the_same(tmp_path, asked, said, more):
    [trace] = loaded(tmp_path, run("a", 1, asked, said, **more))
    assert [(fragment.role, fragment.text) for fragment in trace.fragments] == [("user", "one"), ("assistant", "yes")]
    usage = trace.billed[0].usage
    assert (usage.input, usage.cache_read, usage.output) == (5, 4, 2)


@pytest.mark.parametrize("wrap", [lambda row: [row], lambda row: row, lambda row: {"runs": [row]}])
def test_runs_read_the_same_in_every_wrapping(tmp_path, wrap):
    [trace] = loaded(tmp_path, wrap(run("a", 1, {"messages": [[human("one")]]}, generated("yes"))))
    assert (len(trace.turns), trace.source.session) == (1, "t")


@pytest.mark.parametrize(
    "head", [b"", b"{}", b'{"run_type": "llm"}', b'{"run_type": "job", "trace_id": 1, "inputs": 2}']
)
def test_nothing_else_is_claimed(head):
    assert langsmith.sniff(head, "x") == 0.0
