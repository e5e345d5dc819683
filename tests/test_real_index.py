"""Every file of the index of real traces: its format told by the bytes, its model calls as counted by others.

The index counts responses after de-duplication. Where this is another number than ours, the table says why.
"""

import re
from functools import cache
from pathlib import Path

import pytest

from ctxbudget.loaders import LEAST_SURE, Options, load, sniff
from ctxbudget.records import read

REAL = Path(__file__).parents[2] / "shared" / "real_traces"

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real traces is not beside the checkout")

FORMATS = {
    "chat_completions_log": "openai-chat",
    "chat_messages_jsonl": "openai-chat",
    "codex_rollout": "codex",
    "inspect_ai": "inspect",
    "langchain_messages": "vercel-ui",  # the stream of a LangChain agent as Vercel's adapter writes it
    "langfuse_trace": "langfuse",
}
"""Folders that are not called like the format."""

_REPEATED = "the request repeats earlier replies, each of which was a call"

DEVIATIONS = {
    "claude_code/agent-sessions-all-record-types.jsonl": (2, "one of its three replies is on a branch that was left"),
    "codex_rollout/agent-sessions-all-record-types.jsonl": (8, "replies; the index has the two counts"),
    "vscode_copilot_chat/gitai-chatSession-simple.json": (5, "three requests of the user were answered in five rounds"),
    "openai_responses/mcp-tool.json": (2, "the model was asked again within the response, when a server had answered"),
    "goose/lantern-sessions.db": (9, "its ledger has nine calls: one reply is stored as two messages"),
    "openhands/v0-multi-swe-output.jsonl": (105, "the file's own metrics; the index counts actions and observations"),
    "langchain_messages/react-agent-tool-calling-stream.json": (2, "two steps of a stream, which has no responses"),
    "otel_genai/openinference-genai-client-span.json": (2, _REPEATED),
    **{
        f"chat_completions_log/oh-sdk/{name}.json": (number, _REPEATED)
        for number, name in [
            (2, "anthropic-1757015029.090"),
            (3, "anthropic-1757015033.222"),
            (4, "anthropic-1757015036.544"),
            (5, "anthropic-1757015040.416"),
            (6, "anthropic-1757015046.707"),
            (2, "deepseek-nofncall-1757015062.589"),
            (3, "deepseek-nofncall-1757015068.723"),
            (4, "deepseek-nofncall-1757015076.651"),
        ]
    },
}  # fmt: skip


def index():
    """Folder, file and turns of every row."""
    if not REAL.is_dir():
        return
    folder = ""
    for line in (REAL / "INDEX.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            folder = line[3:].strip()
        elif row := re.match(r"\| `([^`]+)` \|", line):
            yield folder, row[1], int(line.split("|")[5])


ROWS = list(index())


@cache
def traces(name):
    return load(str(REAL / name), Options(calibrate=False))


def test_the_index_is_whole():
    assert len(ROWS) == 75
    listed = {f"{folder}/{name}" for folder, name, _ in ROWS}
    assert set(DEVIATIONS) <= listed


@pytest.mark.parametrize(("folder", "name", "turns"), ROWS)
def test_turns_are_those_of_the_index_or_the_difference_is_explained(folder, name, turns):
    found = traces(f"{folder}/{name}")
    calls = [sum(not turn.pending for turn in trace.turns) for trace in found]
    every = sum(not turn.pending for trace in found for member in trace.family() for turn in member.turns)
    expected, reason = DEVIATIONS.get(f"{folder}/{name}", (turns, ""))
    assert expected in {sum(calls), every}
    assert bool(reason) is (expected != turns)


@pytest.mark.parametrize(("folder", "name"), [row[:2] for row in ROWS])
def test_the_bytes_tell_the_format(folder, name):
    expected = FORMATS.get(folder, folder.replace("_", "-"))
    scores = sniff(read(str(REAL / folder / name)))
    best = max(scores, key=lambda format_name: scores[format_name])
    assert best == expected
    others = max(score for format_name, score in scores.items() if format_name != expected)
    assert others < scores[best]
    assert scores[best] >= LEAST_SURE
    assert {trace.source.format for trace in traces(f"{folder}/{name}")} == {expected}
