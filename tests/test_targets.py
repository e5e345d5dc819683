"""`ctxbudget convert`: a trace in another format, read again, and what that format cannot hold."""

import json
from pathlib import Path

import forked
import pytest

from ctxbudget import targets
from ctxbudget.errors import UnknownName
from ctxbudget.loaders import Options, load
from ctxbudget.trace import Kind

SAMPLES = sorted(
    path
    for path in (Path(__file__).parents[1] / "sample_traces").iterdir()
    if path.suffix in {".json", ".jsonl", ".traj"}
)
EVERY = pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)


def read(path):
    (trace,) = load(str(path), Options(calibrate=False))
    return trace


def again(tmp_path, sample, target):
    """The sample, and what is read of it in the target's format."""
    trace = read(sample)
    made = targets.convert(trace, target)
    copy = tmp_path / "copy"
    copy.write_bytes(made.data)
    return trace, read(copy), made.notes


def said(trace, *without):
    """Kind and text of everything that was said, blanks aside; calls are compared by themselves."""
    unsaid = {Kind.MEDIA, Kind.UNSEEN, Kind.TOOL_DEFINITIONS, *without}
    return [
        (one.kind.value, "".join(one.text.split()))
        for one in trace.fragments
        if one.kind not in unsaid and not one.asks and one.text.strip()
    ]


def texts(value):
    """Every string in a JSON value, blanks aside."""
    if isinstance(value, str):
        return "".join(value.split())
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return "".join(map(texts, items))


def cuts(compaction):
    """An edit without the places in the file that it was read from."""
    edit = compaction.edit
    return compaction.turn, edit.removed, edit.form, [(one.id, one.text, one.unit) for one in edit.inserted]


def asked(trace):
    """Tool and arguments of every call."""
    calls = [(one.tool, one.text.removeprefix(f"{one.tool} ")) for one in trace.fragments if one.asks]
    return [(tool, json.loads(given) if given.startswith("{") else given) for tool, given in calls]


@EVERY
def test_native_is_the_same_trace(tmp_path, sample):
    trace, copy, _ = again(tmp_path, sample, "native")
    assert said(copy) == said(trace)
    assert [(one.id, one.tokens, one.unit, one.call) for one in copy.fragments] == [
        (one.id, one.tokens, one.unit, one.call) for one in trace.fragments
    ]
    assert [(turn.start, turn.stop, turn.usage) for turn in copy.turns] == [
        (turn.start, turn.stop, turn.usage) for turn in trace.turns
    ]
    assert list(map(cuts, copy.recorded)) == list(map(cuts, trace.recorded))
    assert len(copy.children) == len(trace.children)


@EVERY
@pytest.mark.parametrize(("target", "format_name"), [("openai", "openai-chat"), ("anthropic", "anthropic-messages")])
def test_a_request_holds_every_word(tmp_path, sample, target, format_name):
    trace, copy, notes = again(tmp_path, sample, target)
    assert copy.source.format == format_name
    whole = "".join(text for _, text in said(copy))
    written = sample.suffix == ".traj"  # its calls stand in the replies as text, and go back there
    for kind, text in said(trace, Kind.THINKING):
        assert text.replace("`", "") in whole.replace("`", ""), kind
    assert asked(copy) == ([] if written else asked(trace))
    assert any("usage" in note for note in notes) is any(turn.usage for turn in trace.turns)
    assert any("sub-agent" in note for note in notes) is bool(trace.children)
    assert any("edit" in note for note in notes) is bool(trace.recorded)


@EVERY
def test_a_trajectory_holds_every_word_and_every_bill(sample):
    trace = read(sample)
    made = json.loads(targets.convert(trace, "atif").data)
    steps = made["steps"]
    assert [step["step_id"] for step in steps] == list(range(1, len(steps) + 1))
    whole = texts(steps)
    for kind, text in said(trace):
        assert text in whole, kind
    calls = [call for step in steps for call in step.get("tool_calls", ())]
    assert [(call["function_name"], call["arguments"]) for call in calls] == [
        (tool, given if isinstance(given, dict) else {"input": given} if given else {}) for tool, given in asked(trace)
    ]
    metrics = [step["metrics"] for step in steps if "metrics" in step]
    usages = [turn.usage for turn in trace.turns if turn.usage is not None and turn.usage.split]
    assert [one["prompt_tokens"] for one in metrics] == [usage.prompt for usage in usages]
    assert [one["cached_tokens"] for one in metrics] == [usage.cache_read for usage in usages]
    assert len(made.get("subagent_trajectories", ())) == len(trace.children)


@EVERY
def test_a_trajectory_read_again_has_the_same_calls_and_prompts(tmp_path, sample):
    trace, copy, _ = again(tmp_path, sample, "atif")
    assert copy.source.format == "atif"
    assert [turn.usage and turn.usage.prompt for turn in copy.turns] == [
        turn.usage and turn.usage.prompt for turn in trace.turns
    ]
    assert [one.call for one in copy.fragments if one.asks] == [one.call for one in trace.fragments if one.asks]
    assert len(copy.children) == len(trace.children)


def test_a_compaction_is_a_step_and_read_again_as_one(tmp_path):
    trace, copy, _ = again(tmp_path, SAMPLES[0].parent / "formats" / "claude_stream_json.jsonl", "atif")
    (cut,) = trace.recorded
    (found,) = copy.recorded
    assert (found.turn, found.trigger, found.pre_tokens) == (cut.turn, cut.trigger, cut.pre_tokens)
    assert found.edit.inserted[0].text.strip() == cut.edit.inserted[0].text.strip()


@EVERY
def test_results_stand_in_the_step_of_their_call(sample):
    for step in json.loads(targets.convert(read(sample), "atif").data)["steps"]:
        asked = {call["tool_call_id"] for call in step.get("tool_calls", ())}
        for result in step.get("observation", {"results": []})["results"]:
            assert result.get("source_call_id") is None or result["source_call_id"] in asked


@EVERY
def test_the_official_schema_takes_the_trajectory(sample):
    models = pytest.importorskip("harbor.models.trajectories", reason="harbor is not installed (Python 3.12 and above)")
    models.Trajectory.model_validate_json(targets.convert(read(sample), "atif").data)


FORMATS = sorted(
    path
    for path in (SAMPLES[0].parent / "formats").rglob("*")
    if path.suffix in {".json", ".jsonl", ".db", ".eval"} and path.is_file()
)


@pytest.mark.parametrize("sample", FORMATS, ids=lambda path: path.relative_to(SAMPLES[0].parent / "formats").as_posix())
def test_whatever_was_read_can_be_written_in_every_format_and_read_again(tmp_path, sample):
    copy = tmp_path / "copy"
    for trace in load(str(sample), Options(calibrate=False)):
        for target in targets.TARGETS.names():
            copy.write_bytes(targets.convert(trace, target).data)
            found = read(copy)
            if target == "native":
                assert list(map(facts, found.fragments)) == list(map(facts, trace.fragments))
                assert list(map(calls, found.turns)) == list(map(calls, trace.turns))
            if target == "atif":
                assert prompts(found) == prompts(trace)


def facts(one):
    return one.id, one.kind, one.text, one.tokens, one.unit, one.call, one.role, one.error


def calls(turn):
    return turn.start, turn.stop, turn.usage, turn.pending


def prompts(trace):
    return [turn.usage.prompt for turn in trace.turns if turn.usage is not None and turn.usage.split]


def test_a_target_nobody_has():
    with pytest.raises(UnknownName) as error:
        targets.convert(read(SAMPLES[0]), "openia")
    assert error.value.hint == "did you mean 'openai'?"


def test_the_command_writes_the_file_and_says_what_is_missing(tmp_path):
    sample = next(path for path in SAMPLES if path.name == "migrate_module.jsonl")
    out = tmp_path / "messages.json"
    command = ("convert", sample, "--to", "openai", "-o", out)
    done = forked.run(*command)
    assert done.returncode == 0
    assert not done.stdout
    assert b"note: 1 sub-agent: left out\n" in done.stderr
    assert json.loads(out.read_text())["messages"]
    refused = forked.run(*command)
    assert refused.returncode == 2
    assert b"--force" in refused.stderr
