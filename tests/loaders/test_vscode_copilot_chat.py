"""VS Code Copilot Chat: sessions by rounds, logs of changes, replays of whole requests."""

import json
from pathlib import Path

import pytest

from ctxbudget.ledger import unpaired
from ctxbudget.loaders import Options, load, sniff
from ctxbudget.loaders.vscode_copilot_chat.changes import states
from ctxbudget.loaders.vscode_copilot_chat.parts import result, split
from ctxbudget.records import read

ROOT = Path(__file__).parents[2]
FORMATS = ROOT / "sample_traces" / "formats"
REAL = ROOT.parent / "shared" / "real_traces" / "vscode_copilot_chat"
SESSION, REPLAY = FORMATS / "vscode_copilot_chat.json", FORMATS / "vscode_copilot_chat-replay.json"
CHANGES = FORMATS / "vscode_copilot_chat-changes.jsonl"


def one(path):
    [trace] = load(str(path), Options(calibrate=False))
    return trace


def kinds(parts):
    return [(str(part.kind), part.tool, part.error) for part in parts]


def requests(path):
    prompts = json.loads(path.read_text())["prompts"]
    return [entry for prompt in prompts for entry in prompt["logs"] if entry["kind"] == "request"]


def test_what_a_session_holds():
    trace = one(SESSION)
    assert (trace.source.agent, trace.model, trace.window) == ("vscode-copilot-chat", "claude-sonnet-4", 111_000)
    assert [str(part.kind) for part in trace.entering(trace.turns[0])] == [
        "injected", "result", "injected", "user", "injected",
    ]  # fmt: skip
    assert kinds(trace.entering(trace.turns[1])) == [
        ("thinking", None, False),
        ("reasoning", None, False),
        ("call", "read_file", False),
        ("call", "grep_search", False),
        ("result", "read_file", False),
        ("result", "grep_search", True),
        ("media", "grep_search", False),
    ]
    assert len({part.unit for part in trace.entering(trace.turns[1])[2:]}) == 1
    assert [part.text for part in trace.reply] == ["You are welcome."]
    assert [turn.reported for turn in trace.turns] == [None] * 5 + [9100]
    assert unpaired(trace) == ([], [])


def test_a_summary_stands_for_all_rounds_up_to_its_own():
    trace = one(SESSION)
    [compaction] = trace.recorded
    assert (compaction.turn, compaction.trigger, str(compaction.edit.form)) == (6, "auto", "summary")
    before = [part.id for part in trace.fragments if part.turn < 6 or part.text.startswith("Wool")]
    assert list(compaction.edit.removed) == before


def test_a_log_of_changes_is_the_session_that_comes_of_it():
    reading = read(str(CHANGES))
    [whole] = states(reading)
    assert (whole["customTitle"], "isImported" in whole) == ("Wool", False)
    [request] = whole["requests"]
    assert "".join(part["value"] for part in request["response"]) == "Wool needs 12 more rows."
    assert [warning.code for warning in reading.warnings] == ["lost-change"]
    texts = [part.text for part in one(CHANGES).fragments]
    session = [part.text for part in one(SESSION).fragments]
    assert texts == session[session.index(texts[0], 8) : session.index("Thanks")]


def test_the_counts_of_every_round_are_in_the_changes(tmp_path):
    assert [(turn.reported, turn.usage.output) for turn in one(CHANGES).turns if not turn.pending] == [
        (8700, 31),
        (8790, 9),
    ]
    lines = CHANGES.read_text().splitlines(keepends=True)
    path = tmp_path / "changes.jsonl"
    path.write_text("".join(line for line in lines if '"v":31' not in line))
    turns = [turn for turn in one(path).turns if not turn.pending]
    assert [(turn.reported, turn.usage and turn.usage.final) for turn in turns] == [(None, None), (8790, False)]


@pytest.mark.parametrize(
    "change",
    [
        {"kind": 1, "k": []},
        {"kind": 1, "k": ["requests", 0, "nothing", "here"], "v": 1},
        {"kind": 1, "k": ["requests", 10**9], "v": 1},
        {"kind": 1, "k": ["requests", -1], "v": 1},
        {"kind": 2, "k": ["sessionId"], "v": ["x"]},
        {"kind": 2, "k": [[]], "v": ["x"]},
        {"kind": 3, "k": ["nothing"]},
        {"kind": 9, "k": ["requests"]},
    ],
    ids=str,
)
def test_a_change_that_fits_nothing_is_told_and_left_out(change):
    whole = {"kind": 0, "v": {"sessionId": "a", "requests": []}}
    reading = read("x", b"\n".join(json.dumps(line).encode() for line in (whole, change)))
    assert states(reading) == [{"sessionId": "a", "requests": []}]
    assert [warning.code for warning in reading.warnings] == ["lost-change"]


def test_what_a_replay_holds():
    trace = one(REPLAY)
    assert [str(part.kind) for part in trace.entering(trace.turns[0])] == [
        "tool_definitions", "tool_definitions", "system_prompt", "injected", "injected", "user", "injected", "media",
    ]  # fmt: skip
    assert kinds(trace.entering(trace.turns[1])) == [
        ("reasoning", None, False),
        ("call", "read_file", False),
        ("result", "read_file", False),
    ]
    assert (trace.window, len(trace.turns)) == (127_000, 4)
    assert [turn.model for turn in trace.turns] == ["claude-sonnet-4"] * 3 + ["claude-sonnet-4.5"]
    [edit] = trace.recorded
    assert (edit.turn, edit.trigger, [str(part.kind) for part in edit.edit.inserted]) == (
        4,
        "elision",
        ["system_prompt"],
    )
    assert unpaired(trace) == ([], [])


def answered(path):
    return [entry for entry in requests(path) if entry["response"]["type"] == "success"]


def test_the_usage_of_every_call_of_a_replay():
    usages = [entry["metadata"]["usage"] for entry in answered(REPLAY)]
    trace = one(REPLAY)
    assert [turn.reported for turn in trace.turns] == [usage["prompt_tokens"] for usage in usages]
    assert [turn.usage.output for turn in trace.turns] == [usage["completion_tokens"] for usage in usages]
    cached = [usage["prompt_tokens_details"]["cached_tokens"] for usage in usages]
    assert [turn.usage.cache_read for turn in trace.turns] == cached


def test_calls_behind_the_last_reply_are_its_own(tmp_path):
    data = json.loads(REPLAY.read_text())
    data["prompts"] = data["prompts"][:1]
    data["prompts"][0]["logs"] = data["prompts"][0]["logs"][:3]
    path = tmp_path / "replay.json"
    path.write_text(json.dumps(data))
    assert [str(part.kind) for part in one(path).fragments[-2:]] == ["reasoning", "call"]


@pytest.mark.parametrize("path", [SESSION, REPLAY, CHANGES], ids=lambda path: path.name)
def test_sniff_alone_picks_it(path):
    scores = sniff(read(str(path)))
    assert scores.pop("vscode-copilot-chat") >= 0.8
    assert max(scores.values()) == 0.0


@pytest.mark.parametrize(
    "text, expected",
    [
        ("plain words", [("user", "plain words")]),
        ("<context>\nx\n</context>", [("injected", "<context>\nx\n</context>")]),
        (
            "<a>1</a>\n<userRequest>\nring\n</userRequest>\n",
            [("injected", "<a>1</a>\n<userRequest>\n"), ("user", "ring"), ("injected", "\n</userRequest>\n")],
        ),
        (
            "<attachments>\nf\n</attachments>\n<userRequest>\n\n</userRequest>",
            [
                ("result", "<attachments>\nf\n</attachments>\n"),
                ("injected", "<userRequest>\n"),
                ("injected", "\n</userRequest>"),
            ],
        ),
    ],
)
def test_the_user_s_own_words_are_told_from_what_the_client_says(text, expected):
    found = [(str(kind), piece) for kind, piece in split(text)]
    assert found == expected
    assert "".join(piece for _, piece in found) == text


def leaf(text, breaks=False):
    return {"type": 2, "text": text, "lineBreakBefore": breaks}


@pytest.mark.parametrize(
    "children, expected",
    [
        ([leaf("a"), leaf("b")], "ab"),
        ([leaf("a", True), leaf("b", True)], "a\nb"),
        ([leaf("a\n"), leaf("b", True)], "a\nb"),
        ([{"type": 1, "children": [leaf("a")]}, {"type": 1, "children": [leaf("b", 1)]}], "a\nb"),
        ([None, 7, {"children": {}}, {"text": None}], ""),
    ],
)
def test_the_text_of_a_rendered_tree(children, expected):
    content = {"content": [{"value": {"node": {"type": 1, "children": children}}}]}
    assert result(content) == (expected, [])


@pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real traces is not beside the checkout")
def test_a_real_session():
    """The index counts its 3 requests; they took 5 rounds, which are calls of the model."""
    path = REAL / "gitai-chatSession-simple.json"
    trace, data = one(path), json.loads(path.read_text())
    rounds = [found for request in data["requests"] for found in request["result"]["metadata"]["toolCallRounds"]]
    assert (trace.source.format, len(data["requests"]), len(trace.turns)) == ("vscode-copilot-chat", 3, len(rounds))
    calls = [call["id"] for found in rounds for call in found["toolCalls"]]
    assert [part.call for part in trace.fragments if part.asks] == calls
    assert unpaired(trace) == ([], [])
    assert [part.text for part in trace.fragments if str(part.kind) == "user"] == [
        request["message"]["text"] for request in data["requests"]
    ]


@pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real traces is not beside the checkout")
def test_a_real_replay():
    path = REAL / "spec.chatreplay.json"
    [trace] = load(str(path))
    usages = [entry["metadata"]["usage"] for entry in answered(path)]
    assert [turn.usage.prompt for turn in trace.turns] == [usage["prompt_tokens"] for usage in usages]
    assert [turn.usage.total for turn in trace.turns] == [usage["total_tokens"] for usage in usages]
    assert (len(trace.turns), sum(str(part.kind) == "tool_definitions" for part in trace.fragments)) == (4, 69)
    assert unpaired(trace) == ([], [])
