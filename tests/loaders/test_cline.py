"""Cline and Roo: calls as tags or native, the screen's counts beside the history, what hides messages."""

import json
from pathlib import Path

import pytest

from ctxbudget.ledger import unpaired
from ctxbudget.loaders import Options, load, sniff
from ctxbudget.loaders.cline.calls import calls_of, is_exclusive, read_metrics, read_usage
from ctxbudget.loaders.cline.written import calls, results, split
from ctxbudget.records import read

ROOT = Path(__file__).parents[2]
FORMATS = ROOT / "sample_traces" / "formats"
REAL = ROOT.parent / "shared" / "real_traces" / "cline"
TASK = FORMATS / "cline" / "task" / "api_conversation_history.json"
SCREEN = TASK.with_name("ui_messages.json")
ROO, SDK = FORMATS / "cline-roo.json", FORMATS / "cline-sdk.messages.json"
COMPACTION = FORMATS / "cline-sdk.compaction.json"
ALL = [TASK, SCREEN, ROO, SDK, COMPACTION]


def one(path):
    [trace] = load(str(path), Options(calibrate=False))
    return trace


def written(tmp_path, data, name="history.json"):
    path = tmp_path / name
    path.write_text(json.dumps(data))
    return path


def kinds(parts):
    return [(str(part.kind), part.tool, part.error) for part in parts]


def texts(trace, kind):
    return [part.text for part in trace.fragments if str(part.kind) == kind]


def test_calls_written_as_tags_are_answered_in_their_order():
    trace = one(TASK)
    assert (trace.source.agent, trace.model) == ("cline", "claude-sonnet-4-5")
    assert len([turn for turn in trace.turns if not turn.pending]) == 5
    assert [str(part.kind) for part in trace.entering(trace.turns[0])] == ["user", "result", "injected"]
    assert kinds(trace.entering(trace.turns[1])) == [
        ("reasoning", None, False),
        ("call", "read_file", False),
        ("result", "read_file", False),
        ("result", "read_file", False),
        ("injected", None, False),
    ]
    call = trace.entering(trace.turns[1])[1]
    assert (call.text, call.resource.target) == (
        "<read_file>\n<path>farm/flock.csv</path>\n</read_file>",
        "farm/flock.csv",
    )
    assert texts(trace, "user")[1] == "<feedback>\nThe script is called lambs.py\n</feedback>"
    assert "[ERROR] You did not use a tool" in texts(trace, "injected")[3]
    assert unpaired(trace)[1] == []


def screen_usages(path):
    told = [
        json.loads(message["text"])
        for message in json.loads(path.read_text())
        if message.get("say") == "api_req_started"
    ]
    return [usage for usage in told if usage["tokensOut"]]


@pytest.mark.parametrize("path", [TASK, SCREEN], ids=["history", "screen"])
def test_the_counts_of_the_screen_are_those_of_the_calls(path):
    usages = screen_usages(SCREEN)
    turns = [turn for turn in one(path).turns if not turn.pending]
    assert [turn.reported for turn in turns] == [
        usage["tokensIn"] + usage["cacheReads"] + usage["cacheWrites"] for usage in usages
    ]
    assert [turn.usage.output for turn in turns] == [usage["tokensOut"] for usage in usages]
    assert [turn.usage.cache_read for turn in turns] == [usage["cacheReads"] for usage in usages]


def test_the_range_that_later_requests_leave_out():
    [edit] = one(TASK).recorded
    assert (edit.turn, edit.trigger, edit.edit.inserted) == (5, "auto", ())
    lines = {part.origin.line for part in one(TASK).fragments if part.id in edit.edit.removed}
    assert lines == {3, 4, 5, 6}


def test_the_screen_alone_is_a_conversation_too():
    trace = one(SCREEN)
    assert kinds(trace.entering(trace.turns[1]))[:4] == [
        ("thinking", None, False),
        ("reasoning", None, False),
        ("call", "readFile", False),
        ("result", "readFile", False),
    ]
    assert "I read" not in [part.text for part in trace.fragments]
    assert [text[:10] for text in texts(trace, "user")] == ["<task>\nCou", "<feedback>", "<feedback>"]
    assert unpaired(trace)[1] == []


def test_roo_hides_what_it_condensed_and_truncated():
    trace = one(ROO)
    summary, notice = trace.recorded
    assert (summary.turn, str(summary.edit.form)) == (3, "summary")
    assert {part.origin.line for part in trace.fragments if part.id in summary.edit.removed} == {1, 2, 3, 4}
    assert (notice.turn, str(notice.edit.form), str(notice.edit.inserted[0].kind)) == (5, "noticed", "injected")
    assert {part.origin.line for part in trace.fragments if part.id in notice.edit.removed} == {6, 7}
    assert kinds(trace.entering(trace.turns[1]))[2:7] == [
        ("call", "read_file", False),
        ("call", "read_file", False),
        ("result", "read_file", False),
        ("result", "read_file", True),
        ("media", "read_file", False),
    ]
    assert unpaired(trace) == ([], [])


def test_a_session_of_the_sdk_and_its_compaction():
    trace = one(SDK)
    metrics = [message["metrics"] for message in json.loads(SDK.read_text())["messages"] if "metrics" in message]
    assert [turn.reported for turn in trace.turns] == [usage["inputTokens"] for usage in metrics]
    assert [turn.usage.cache_read for turn in trace.turns] == [usage["cacheReadTokens"] for usage in metrics]
    [compaction] = trace.recorded
    assert (compaction.turn, compaction.pre_tokens) == (3, 5570)
    assert trace.entering(trace.turns[2])[-1].id not in compaction.edit.removed
    alone = one(COMPACTION)
    assert [str(part.kind) for part in alone.fragments] == ["system_prompt", "summary", "user", "answer"]
    assert alone.fragments[1].text == compaction.edit.inserted[0].text
    assert unpaired(trace) == ([], [])


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_sniff_alone_picks_it(path):
    scores = sniff(read(str(path)))
    assert scores.pop("cline") >= 0.8
    assert max(scores.values()) < 0.8


def test_an_older_history_has_nothing_but_its_texts():
    user = [
        {"type": "text", "text": "<task>\nring\n</task>"},
        {"type": "text", "text": "<environment_details>\n</environment_details>"},
    ]
    scores = sniff(
        read("x", json.dumps([{"role": "user", "content": user}, {"role": "assistant", "content": "x"}]).encode())
    )
    assert max(scores, key=scores.get) == "cline"
    plain = [{"role": "user", "content": [{"type": "text", "text": "ring"}]}, {"role": "assistant", "content": "x"}]
    assert sniff(read("x", json.dumps(plain).encode()))["cline"] == 0.0


@pytest.mark.parametrize(
    "text, expected",
    [
        ("no call <b>here</b>", [("no call <b>here</b>", None, {})]),
        (
            "look <read_file>\n<path>a</path>\n</read_file> so",
            [
                ("look ", None, {}),
                ("<read_file>\n<path>a</path>\n</read_file>", "read_file", {"path": "a"}),
                (" so", None, {}),
            ],
        ),
        (
            "<write_to_file><path>a</path><content><read_file>x</read_file></content></write_to_file>",
            [
                (
                    "<write_to_file><path>a</path><content><read_file>x</read_file></content></write_to_file>",
                    "write_to_file",
                    {"path": "a", "content": "<read_file>x</read_file>"},
                )
            ],
        ),
        ("<read_file><path>a", [("<read_file><path>a", None, {})]),
        ("", []),
    ],
)
def test_calls_in_a_text(text, expected):
    assert list(calls(text)) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("plain", [(False, "plain")]),
        ("[a for 'x'] Result:\n1\n[b] Result:\n2", [(True, "[a for 'x'] Result:\n1\n"), (True, "[b] Result:\n2")]),
        ("see [a] Result: no", [(False, "see [a] Result: no")]),
        (
            "note\n[a] Result:\n1<environment_details>e</environment_details>",
            [(False, "note\n"), (True, "[a] Result:\n1"), (False, "<environment_details>e</environment_details>")],
        ),
        ("", []),
    ],
)
def test_results_in_a_text(text, expected):
    assert list(results(text)) == expected
    assert "".join(piece for _, piece in expected) == text


def test_every_character_of_a_user_text_lands_in_one_piece():
    text = "a<task>b</task> <environment_details>c</environment_details><task>never closed [NOTE] <task>"
    assert "".join(piece for _, piece in split(text)) == text


@pytest.mark.parametrize(
    "text", ["<task>" * 40_000, "<read_file>" * 40_000, "<read_file>" + "<a>" * 40_000 + "</read_file>"]
)
def test_no_quadratic_work(text):
    from time import process_time

    begun = process_time()
    assert "".join(piece for _, piece in split(text)) == text
    assert "".join(piece for piece, _, _ in calls(text)) == text
    assert process_time() - begun < 5


def request(given, reads, writes=0, index=None, **more):
    text = json.dumps({"request": "x", "tokensIn": given, "tokensOut": 1, "cacheReads": reads, "cacheWrites": writes})
    told = {"ts": 1, "type": "say", "say": "api_req_started", "text": text, **more}
    return told if index is None else {**told, "conversationHistoryIndex": index}


@pytest.mark.parametrize(
    "shown, exclusive, prompt",
    [([request(10, 90)], True, 100), ([request(100, 90)], False, 100), ([request(100, 90), request(3, 90)], True, 190)],
)
def test_what_tokens_in_means_is_told_by_the_file(shown, exclusive, prompt):
    assert is_exclusive(shown) is exclusive
    assert read_usage(json.loads(shown[0]["text"]), exclusive=exclusive).prompt == prompt


def test_a_request_that_was_repeated_is_paid_twice_and_answered_once():
    found = calls_of([request(10, 90, index=0), request(10, 95, index=0)], [{"role": "user"}, {"role": "assistant"}])
    assert (found[1].usage.prompt, [usage.prompt for usage in found[1].failed]) == (105, [100])


def test_older_screens_count_only_where_they_match():
    messages = [{"role": "user"}, {"role": "assistant"}, {"role": "user"}, {"role": "assistant"}]
    assert list(calls_of([request(1, 9), request(2, 9)], messages)) == [1, 3]
    assert calls_of([request(1, 9)], messages) == {}


@pytest.mark.parametrize(
    "raw, expected",
    [
        ({"inputTokens": 100, "outputTokens": 5, "cacheReadTokens": 60, "cacheWriteTokens": 30}, (10, 60, 30, 5)),
        ({"tokens": {"prompt": 100, "completion": 5, "cached": 60}}, (40, 60, 0, 5)),
        ({"inputTokens": 10, "cacheReadTokens": 60}, (10, 60, 0, 0)),
        ({"inputTokens": "x"}, None),
        (7, None),
    ],
)
def test_metrics(raw, expected):
    usage = read_metrics(raw)
    assert (usage and (usage.input, usage.cache_read, usage.cache_write, usage.output)) == expected


@pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real traces is not beside the checkout")
def test_a_real_session():
    path = REAL / "cline-sdk-session.messages.json"
    [trace] = load(str(path))
    metrics = [message["metrics"] for message in json.loads(path.read_text())["messages"] if "metrics" in message]
    assert (trace.source.format, len(trace.turns)) == ("cline", 16)
    assert [turn.usage.prompt for turn in trace.turns] == [usage["inputTokens"] for usage in metrics]
    assert [turn.usage.output for turn in trace.turns] == [usage["outputTokens"] for usage in metrics]
    assert unpaired(trace) == ([], [])


@pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real traces is not beside the checkout")
def test_a_real_compaction():
    trace = one(REAL / "cline-sdk-agentic.compaction.json")
    assert (trace.source.format, len(trace.turns), trace.turns[0].reported) == ("cline", 1, 12238)
    assert len(texts(trace, "summary")) == 1
