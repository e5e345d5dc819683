"""Inspect logs: documents and archives, attachments and pools, several conversations, what counts and what is said
again, scores."""

import json
import runpy
from collections import Counter
from pathlib import Path

import pytest

from ctxbudget.errors import TraceError
from ctxbudget.ledger import context, unpaired
from ctxbudget.loaders import Options, load
from ctxbudget.loaders.inspect.chat import Provider, read_usage
from ctxbudget.loaders.inspect.scores import outcome
from ctxbudget.sources import expand
from ctxbudget.trace import Outcome, Usage

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_traces" / "formats"
REAL = ROOT.parent / "shared" / "real_traces" / "inspect_ai"
PLAIN = Options(calibrate=False)

real = pytest.mark.skipif(not REAL.is_dir(), reason="the folder of real traces is not beside the checkout")


def loaded(tmp_path, *samples, **settings):
    path = tmp_path / "log.json"
    path.write_text(
        json.dumps({"version": 2, "status": "success", "eval": {"task": "t", **settings}, "samples": samples})
    )
    return load(str(path), PLAIN)


def kinds(parts):
    return [str(part.kind) for part in parts]


def texts(parts):
    return [part.text for part in parts]


def user(text, name="u"):
    return {"id": name, "role": "user", "content": text}


def said(text, name="a", calls=()):
    calls = [{"id": call, "function": "bash", "arguments": {"cmd": "ls"}} for call in calls]
    return {"id": name, "role": "assistant", "content": text, "tool_calls": calls}


def result(text, call):
    return {"role": "tool", "content": text, "tool_call_id": call, "function": "bash"}


def model(*messages, reply, span="s", tools=(), usage=None, **more):
    output = {"choices": [{"message": reply}] if reply else [], "usage": usage}
    return {
        "event": "model",
        "span_id": span,
        "model": "m",
        "input": messages,
        "tools": tools,
        "output": output,
        **more,
    }


TOOL = {"name": "bash", "description": "run", "parameters": {}}


@pytest.mark.parametrize("name", ["inspect.json", "inspect-archive.eval"])
def test_the_samples(name):
    ship, berths = load(str(SAMPLES / name), PLAIN)
    assert [(trace.source.format, trace.source.label) for trace in (ship, berths)] == [
        ("inspect", "draught"), ("inspect", "count"),
    ]  # fmt: skip
    assert (ship.outcome, berths.outcome) == (Outcome(True, 1.0, "scores.graded"), Outcome(False, 0.0, "scores.match"))
    assert Counter(kinds(ship.fragments)) == {
        "tool_definitions": 2, "system_prompt": 1, "user": 2, "media": 1, "thinking": 1, "reasoning": 2, "call": 3,
        "result": 3, "answer": 1,
    }  # fmt: skip
    assert [(turn.reported, turn.usage.output) for turn in ship.turns] == [(1650, 70), (1830, 40), (1740, 22)]
    assert [(turn.usage.input, turn.usage.cache_read) for turn in berths.turns] == [(300, 0), (60, 280)]
    assert unpaired(ship) == unpaired(berths) == ([], [])
    assert [part.error for part in ship.fragments if part.answers] == [False, True, False]
    assert texts(ship.fragments)[3].startswith("The harbour log lists")
    assert [child.source.label for child in ship.children] == ["pilot 1", "graded 2"]
    assert [one.usage.total for child in ship.children for one in child.billed] == [52, 65]
    assert ship.warnings == berths.warnings == ()


def test_a_compaction_takes_what_the_next_prompt_leaves_out():
    ship = load(str(SAMPLES / "inspect.json"), PLAIN)[0]
    [cut] = ship.recorded
    assert (cut.turn, cut.trigger, cut.pre_tokens, cut.post_tokens) == (3, "auto", 1900, 1720)
    assert kinds(cut.edit.inserted) == ["summary"]
    assert kinds(context(ship, 3))[-2:] == ["media", "summary"]
    assert "A 5.0, B 6.0" in texts(ship.fragments)


def test_trimming_keeps_the_latest_messages(tmp_path):
    one, two = said("", "a1", ["c1"]), said("", "a2", ["c2"])
    whole = [user("go"), one, result("x", "c1")]
    later = [user("go"), two, result("y", "c2")]
    events = [
        model(user("go"), reply=one, tools=[TOOL]),
        model(*whole, reply=two, tools=[TOOL]),
        {"event": "compaction", "span_id": "s", "type": "trim"},
        model(*later, reply=said("done", "a3"), tools=[TOOL]),
    ]
    [trace] = loaded(tmp_path, {"id": 1, "events": events})
    assert texts(context(trace, 3))[1:] == ["go", 'bash {"cmd":"ls"}', "y"]
    assert not trace.children
    assert [turn.pending for turn in trace.turns] == [False] * 3


def test_an_answer_from_the_cache_was_not_billed(tmp_path):
    usage = {"input_tokens": 9, "output_tokens": 1, "total_tokens": 10}
    events = [model(user("go"), reply=said("done"), usage=usage, cache="read")]
    [trace] = loaded(tmp_path, {"id": 1, "events": events, "model_usage": {}})
    assert (len(trace.turns), trace.billed, trace.warnings) == (1, (), ())


def test_levels_of_usage_that_disagree_are_told(tmp_path):
    usage = {"input_tokens": 9, "output_tokens": 1, "total_tokens": 10}
    sample = {"id": 1, "events": [model(user("go"), reply=said("done"), usage=usage)]}
    [trace] = loaded(tmp_path, {**sample, "model_usage": {"m": {"total_tokens": 99}}})
    assert [warning.code for warning in trace.warnings] == ["usage-levels"]
    assert trace.billed[0].usage.total == 10


def test_a_sample_without_prompts_has_its_messages(tmp_path):
    usage = {"input_tokens": 9, "output_tokens": 1, "total_tokens": 10}
    messages = [user("go"), said("", "a1", ["c1"]), result("x", "c1"), said("done", "a2")]
    events = [model(reply=None, usage=usage), model(reply=None, usage=usage)]
    [trace] = loaded(tmp_path, {"id": 1, "messages": messages, "events": events})
    assert kinds(trace.fragments) == ["user", "call", "result", "answer"]
    assert [turn.reported for turn in trace.turns] == [9, 9]
    [trace] = loaded(tmp_path, {"id": 1, "messages": messages, "events": events[:1]})
    assert [(one.turn, one.usage.total) for one in trace.billed] == [(None, 10)]
    [trace] = loaded(tmp_path, {"id": 1, "messages": messages})
    assert len(trace.turns) == 2


def test_labels_name_the_epoch_where_there_are_several(tmp_path):
    samples = [{"id": name, "epoch": epoch, "messages": [user("go")]} for epoch in (2, 1) for name in (10, 9, "x")]
    names = [trace.source.label for trace in loaded(tmp_path, *samples, dataset={"sample_ids": ["x"]})]
    assert names == ["x.1", "x.2", "9.1", "9.2", "10.1", "10.2"]
    twice = [{"id": 1, "epoch": 1, "messages": [user("go")]}] * 2
    assert [trace.source.label for trace in loaded(tmp_path, *twice)] == ["1", "1~2"]


def test_pieces_of_a_large_sample_are_put_together(tmp_path):
    import zipfile

    folder = "samples/a/b_epoch_1"
    messages = [user("attachment://0"), said("", "a1", ["c1"]), result("attachment://1", "c1")]
    calls = [{**model(reply=messages[1], tools=[TOOL]), "input_refs": [[0, 1]]}]
    calls += [{**model(reply=said("done", "a2"), tools=[TOOL]), "input_refs": [[0, 1], [1, 3]]}]
    with zipfile.ZipFile(tmp_path / "log.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", json.dumps({"eval": {"task": "t", "model": "gpt-4o"}}))
        archive.writestr(f"{folder}/sample.json", json.dumps({"id": "a/b", "epoch": 1, "scores": {}}))
        archive.writestr(f"{folder}/events/10.json", json.dumps(calls[1:]))
        archive.writestr(f"{folder}/events/0.json", json.dumps(calls[:1]))
        archive.writestr(f"{folder}/messages/0.json", json.dumps(messages))
        archive.writestr(f"{folder}/events/stats.json", "{}")
        archive.writestr(f"{folder}/attachments/0.json", json.dumps(["the task", "the result"]))
    [trace] = load(str(tmp_path / "log.eval"), PLAIN)
    assert texts(trace.fragments)[1:] == ["the task", 'bash {"cmd":"ls"}', "the result", "done"]
    assert (trace.model, len(trace.turns)) == ("m", 2)


def test_an_archive_that_is_cut_off_keeps_its_finished_samples(tmp_path):
    data = (SAMPLES / "inspect-archive.eval").read_bytes()
    cut = data.index(b"summaries.json") - 30
    (tmp_path / "run.eval").write_bytes(data[:cut])
    ship, berths = load(str(tmp_path / "run.eval"), PLAIN)
    assert (len(ship.turns), len(berths.turns)) == (3, 2)
    assert {warning.code for warning in ship.warnings} >= {"damaged-archive"}


def test_archives_in_a_folder_are_found(tmp_path):
    (tmp_path / "run.eval").write_bytes((SAMPLES / "inspect-archive.eval").read_bytes())
    (tmp_path / "notes.zip").write_bytes(b"PK\x03\x04")
    assert [Path(place.path).name for place in expand([str(tmp_path)])] == ["run.eval"]


def test_the_script_makes_the_committed_archive(tmp_path):
    runpy.run_path(str(ROOT / "sample_traces" / "make" / "archives.py"))["make"](tmp_path)
    [made] = tmp_path.iterdir()
    assert made.read_bytes() == (SAMPLES / made.name).read_bytes()


def test_any_other_archive_is_not_one_of_ours(tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("notes.txt", "nothing")
    with pytest.raises(TraceError):
        load(str(tmp_path / "a.zip"))
    with pytest.raises(TraceError):
        load(str(tmp_path / "a.zip"), Options(format="inspect"))


@pytest.mark.parametrize(
    "raw, usage",
    [
        # exclusive: the total holds the cache on top
        ((200, 80, 1330, 900, 150, None), Usage(200, 900, 150, 80, None, 1330)),
        # inclusive: OpenAI until 2025
        ((5915, 207, 6122, 3840, None, 0), Usage(2075, 3840, 0, 207, None, 6122)),
        # reasoning on top: Google
        ((100, 20, 150, 0, 0, 30), Usage(100, 0, 0, 50, 30, 150)),
        ((40, 20, 150, 60, 0, 30), Usage(40, 60, 0, 50, 30, 150)),
        # no total: more cached than given cannot be a part of it
        ((10, 2, None, 50, None, None), Usage(10, 50, 0, 2, None, 62)),
        ((100, 2, None, 50, None, None), Usage(50, 50, 0, 2, None, 102)),
        ((None, None, 77, None, None, None), Usage(total=77, split=False)),
        ((None, None, None, None, None, None), None),
        ((2**70, -1, "x", None, None, None), None),
    ],
)
def test_usage(raw, usage):
    names = ("input_tokens", "output_tokens", "total_tokens", "input_tokens_cache_read", "input_tokens_cache_write")
    assert read_usage(dict(zip((*names, "reasoning_tokens"), raw, strict=True))) == usage


@pytest.mark.parametrize(
    "scores, expected",
    [
        ({"a": {"value": "C"}}, Outcome(True, 1.0, "scores.a")),
        ({"a": {"value": "P"}}, Outcome(None, 0.5, "scores.a")),
        ({"a": {"value": "N"}}, Outcome(False, 0.0, "scores.a")),
        ({"a": {"value": True}}, Outcome(True, 1.0, "scores.a")),
        ({"a": {"value": 0.25}}, Outcome(None, 0.25, "scores.a")),
        ({"a": {"value": {"x": 1}}, "b": {"value": 1}}, Outcome(True, 1.0, "scores.b")),
        ({"a": {"value": "text"}}, None),
        ({"a": {"value": float("inf")}}, None),
        ({"a": 5}, None),
        (7, None),
    ],
)
def test_scores(scores, expected):
    assert outcome({"scores": scores}) == expected


def test_hidden_reasoning_keeps_its_summary():
    parts = [{"type": "reasoning", "reasoning": "sealed", "redacted": True, "summary": "short"}, {"type": "data"}]
    made = Provider({}).message({"role": "assistant", "content": parts})
    assert made["content"] == [
        {"type": "redacted_thinking", "data": "sealed"},
        {"type": "thinking", "thinking": "short"},
    ]


@real
@pytest.mark.parametrize(
    "name, turns",
    [
        ("browser-gpt4o-mini.json", 5),
        ("log_images.json", 1),
        ("log_images_tc.json", 1),
        ("log_message_deduplication.eval", 6),
        ("theory-of-mind-100.eval", 100),
    ],
)
def test_real_logs(name, turns):
    """The index counts the answers; the grader's 100 calls of the last are children."""
    traces = load(str(REAL / name), PLAIN)
    assert sum(len(trace.turns) for trace in traces) == turns
    assert {trace.source.format for trace in traces} == {"inspect"}
    assert not any(warning.code == "usage-levels" for trace in traces for warning in trace.warnings)
    for trace in traces:
        assert unpaired(trace) == ([], [])
        assert trace.outcome is not None
    billed = [one.usage for trace in traces for member in trace.family() for one in member.billed]
    stats = {
        "browser-gpt4o-mini.json": (15_235 - 9_088, 9_088, 281),
        "log_images.json": (323, 0, 3),
        "log_images_tc.json": (323, 0, 5),
        "log_message_deduplication.eval": (0, 0, 0),
        "theory-of-mind-100.eval": (64_492, 0, 53_594),
    }
    assert tuple(sum(getattr(one, part) for one in billed) for part in ("input", "cache_read", "output")) == stats[name]
    assert sum(bool(trace.children) for trace in traces) == (100 if name.startswith("theory") else 0)


@real
def test_real_scores_agree_with_the_results():
    traces = load(str(REAL / "theory-of-mind-100.eval"), PLAIN)
    assert sum(trace.outcome.score for trace in traces) == pytest.approx(83)
    assert [trace.source.label for trace in traces] == [str(number) for number in range(1, 101)]


def test_the_references_of_the_first_logs_are_put_back(tmp_path):
    asked = [{"role": "system", "content": "tc://5f"}, user("go")]
    old = {"events": [model(*asked, reply=said("done"))], "content": {"5f": "Be brief, and say so."}}
    (trace,) = loaded(tmp_path, {"id": 1, "epoch": 1, "messages": [], "transcript": old})
    assert texts(trace.fragments) == ["Be brief, and say so.", "go", "done"]
