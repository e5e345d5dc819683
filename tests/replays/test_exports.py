"""Requests ready to post: valid for both APIs whatever the view, and as recorded where nothing was changed."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from arbitrary import STRATEGY, WINDOWS, traces
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sketch import sketch
from valid import faults

from ctxbudget.errors import UnknownName
from ctxbudget.exports import APIS, MODEL, export
from ctxbudget.exports.naming import Names
from ctxbudget.loaders import load
from ctxbudget.replay import replay
from ctxbudget.trace import Kind

ROOT = Path(__file__).parents[2]
many = settings(
    max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
SAMPLES = (
    "migrate_module.jsonl",
    "refund_support.json",
    "order_supplies.json",
    "forensic_review.jsonl",
    "fix_failing_test.traj",
)
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}


@st.composite
def requests(draw):
    """A generated trace whose calls have the arguments, ids and texts of the worst recordings, and one of its turns."""
    trace = draw(traces())
    ids = draw(st.sampled_from(("plain", "odd", "same")))
    blank = draw(st.booleans())
    fragments = tuple(_spoilt(one, ids, blank=blank and at % 3 == 0) for at, one in enumerate(trace.fragments))
    return replace(trace, fragments=fragments), draw(st.integers(1, len(trace.turns)))


def _spoilt(one, ids, *, blank):
    if one.call is not None:
        call = {
            "plain": one.call,
            "odd": f"call:{one.call} é/{'x' * 70}",
            "same": "" if one.kind is Kind.PLAN else one.call,
        }[ids]
        one = replace(one, call=call)
    if one.asks:
        given_ = ('{tool} {{"path": "a.py"}}', "{tool} not json", "{tool} ", "{tool} [1, 2]")[len(one.text) % 4]
        return replace(one, text=given_.format(tool=one.tool))
    return replace(one, text="  \n") if blank else one


@many
@given(requests(), STRATEGY, WINDOWS, st.sampled_from(tuple(APIS)))
def test_any_view_is_a_valid_request(drawn, strategy, window, api):
    trace, turn = drawn
    made = export(trace, strategy, turn, api=api, window=window)
    assert not list(faults(api, made.body)), made.body
    assert json.loads(made.to_json()) == made.body
    assert export(trace, strategy, turn, api=api, window=window) == made


@pytest.mark.parametrize("api", APIS)
def test_the_checker_sees_what_is_wrong(sample, api):
    """Take any one message, or the definitions, out of a valid request: it is valid no longer."""
    body = export(sample("order_supplies.json"), "none", 20, api=api).body
    assert not list(faults(api, body))
    for at in range(len(body["messages"]) - 1):
        without = {**body, "messages": [*body["messages"][:at], *body["messages"][at + 1 :]]}
        told = body["messages"][at]
        plain = (
            isinstance(told.get("content"), str)
            and told["role"] in ("system", "user", "assistant")
            and "tool_calls" not in told
        )
        assert list(faults(api, without)) or (api == "openai" and plain)
    assert list(faults(api, {**body, "model": ""}))


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("name", SAMPLES)
def test_every_turn_of_the_samples_is_a_valid_request(sample, name, api):
    trace = sample(name)
    for strategy in ("none", "category-budget", "as-recorded"):
        for turn in range(1, len(trace.turns) + 1, 6):
            made = export(trace, strategy, turn, api=api, window=60_000)
            assert not list(faults(api, made.body))


def cases():
    from ctxbudget.errors import CtxbudgetError

    for path in sorted((ROOT / "tests" / "cases").rglob("*.json*")):
        try:
            found = load(str(path))
        except CtxbudgetError:
            continue
        yield from (trace for trace in found if trace.turns)


def test_the_last_turn_of_every_case_is_a_valid_request():
    number = 0
    for trace in cases():
        for strategy in ("none", "as-recorded", "sliding-window:keep=2"):
            for api in APIS:
                made = export(trace, strategy, api=api)
                assert not list(faults(api, made.body)), trace.source
                number += 1
    assert number > 100


# ── against the clients' own types ─────────────────────────────────────────────────────────────────────────────


def drained(value):
    """The value with every lazy part of it validated."""
    if isinstance(value, dict):
        return {key: drained(each) for key, each in value.items()}
    if isinstance(value, str | bytes) or not hasattr(value, "__iter__"):
        return value
    return [drained(each) for each in value]


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("api", APIS)
def test_the_official_clients_take_them(sample, name, api):
    pytest.importorskip(api, reason=f"the package {api} is not installed")
    from pydantic import TypeAdapter

    if api == "anthropic":
        from anthropic.types import message_create_params

        kind = message_create_params.MessageCreateParamsNonStreaming
    else:
        from openai.types.chat import completion_create_params

        kind = completion_create_params.CompletionCreateParamsNonStreaming
    adapter = TypeAdapter(kind)
    for strategy in ("none", "tool-result-clearing", "category-budget", "sliding-window"):
        made = export(sample(name), strategy, api=api, window=60_000)
        assert drained(adapter.validate_python(made.body))["messages"]
    wrong = {**made.body, "messages": [{"role": "user", "content": [{"type": "tool_use", "id": 1}]}]}
    with pytest.raises(ValueError, match="validation errors"):
        drained(adapter.validate_python(wrong))


# ── exactly what was recorded, where nothing was changed ───────────────────────────────────────────────────────


def test_the_prompts_of_a_text_mode_agent_are_those_it_sent(sample):
    steps = json.loads((ROOT / "sample_traces" / "fix_failing_test.traj").read_text(encoding="utf-8"))["trajectory"]
    for turn in (1, 2, 9, 14, 20, 25):
        made = export(sample("fix_failing_test.traj"), "as-recorded", turn, api="openai")
        sent = [{"role": one["role"], "content": one["content"]} for one in steps[turn - 1]["query"]]
        assert made.body["messages"] == sent
        assert made.notes == ()


def test_chat_messages_come_back_as_they_were(sample):
    recorded = json.loads((ROOT / "sample_traces" / "refund_support.json").read_text(encoding="utf-8"))
    made = export(sample("refund_support.json"), "none", api="openai")
    sent = [
        {key: value for key, value in one.items() if value is not None}
        for one in recorded["messages"][: len(made.body["messages"])]
    ]
    assert made.body["messages"] == sent
    assert [tool["function"]["name"] for tool in made.body["tools"]] == [
        tool["function"]["name"] for tool in recorded["tools"]
    ]


def test_anthropic_messages_come_back_with_signatures(sample):
    recorded = json.loads((ROOT / "sample_traces" / "order_supplies.json").read_text(encoding="utf-8"))
    made = export(sample("order_supplies.json"), "none", api="anthropic")
    for sent, back in zip(recorded["messages"], made.body["messages"], strict=False):
        assert back["role"] == sent["role"]
        assert _plain(back["content"]) == _plain(sent["content"])
    assert any(
        block["type"] == "thinking"
        for one in made.body["messages"]
        if one["role"] == "assistant"
        for block in _plain(one["content"])
    )
    assert made.notes == ()


def _plain(content):
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [{key: value for key, value in block.items() if key != "cache_control"} for block in blocks]


def test_images_are_read_again_from_the_file(sample):
    trace = sample("forensic_review.jsonl")
    made = export(trace, "none", 51, api="anthropic", window=200_000)
    images = [
        inner
        for message in made.body["messages"]
        for block in message["content"]
        if isinstance(block, dict) and isinstance(block.get("content"), list)
        for inner in block["content"]
        if inner["type"] == "image"
    ]
    assert len(images) == sum(one.kind is Kind.MEDIA for one in trace.fragments) == 8
    assert len({image["source"]["data"] for image in images}) > 1
    pictures = export(trace, "none", 51, api="openai", window=200_000).body["messages"]
    assert sum(isinstance(one.get("content"), list) for one in pictures) == 8


def anthropic_file(path, content, result=None):
    messages = [
        {"role": "user", "content": content},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "look", "input": {"at": "x"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": result or "seen"}]},
    ]
    path.write_text(
        json.dumps({"model": "claude-sonnet-4-5", "system": "Be kind.", "messages": messages}), encoding="utf-8"
    )
    return path


def test_an_image_of_a_user_and_of_a_result(tmp_path):
    file = anthropic_file(
        tmp_path / "x.json", [{"type": "text", "text": "look"}, PICTURE], [{"type": "text", "text": "a"}, PICTURE]
    )
    body = export(file, "none", api="anthropic").body
    assert body["messages"][0]["content"] == [{"type": "text", "text": "look"}, PICTURE]
    assert body["messages"][2]["content"][0]["content"] == [{"type": "text", "text": "a"}, PICTURE]
    made = export(file, "none", api="openai").body["messages"]
    assert made[1]["content"][1] == {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
    assert made[3]["content"] == "a\n[image: in the next message]"
    assert made[4]["content"] == [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}]


def test_a_file_that_changed_or_went_leaves_a_note(tmp_path):
    file = anthropic_file(tmp_path / "x.json", [PICTURE])
    (trace,) = load(str(file))
    other = {"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": "R0lGODlhAAIAAg=="}}
    anthropic_file(file, [other])
    assert "not in the recording" in export(trace, "none", api="anthropic").body["messages"][0]["content"]
    file.unlink()
    assert "not in the recording" in export(trace, "none", api="anthropic").body["messages"][0]["content"]


def test_what_is_not_in_the_file_is_noted(sample):
    made = export(sample("migrate_module.jsonl"), "none", 10, api="anthropic")
    assert made.notes[0].startswith("17,")
    assert "left out" in made.notes[0]
    assert any("bare ones were made" in note for note in made.notes)
    assert all(tool["input_schema"] == {"type": "object"} for tool in made.body["tools"])


def test_stand_ins_are_sent_as_their_text(sample):
    trace = sample("migrate_module.jsonl")
    options = {"window": 120_000, "options": ["clear_inputs=true"]}
    made = export(trace, "tool-result-clearing", 50, api="anthropic", **options)
    results = [
        b
        for m in made.body["messages"]
        if isinstance(m["content"], list)
        for b in m["content"]
        if b["type"] == "tool_result"
    ]
    assert (
        sum(b["content"].startswith("[tool result cleared") for b in results if isinstance(b.get("content"), str)) > 40
    )
    calls = [
        b
        for m in made.body["messages"]
        if isinstance(m["content"], list)
        for b in m["content"]
        if b["type"] == "tool_use"
    ]
    assert any("arguments cleared" in b["input"].get("cleared", "") for b in calls)
    known = {one.text for one in replay(trace, "none", window=200_000, count=len).lives and trace.fragments}
    assert all(
        text in known for m in made.body["messages"] if m["role"] == "user" and isinstance(text := m["content"], str)
    )


def test_what_the_recording_broke_is_mended_and_noted():
    dangling = sketch("U9 | c1:8 c2:8 r1:9 | A9 U9")
    made = export(dangling, "none", 3, api="anthropic")
    assert not list(faults("anthropic", made.body))
    assert any("no result" in note for note in made.notes)
    orphan = sketch("U9 | A9 r7:9 U9")
    made = export(orphan, "none", 2, api="openai")
    assert not list(faults("openai", made.body))
    assert any("no call before it" in note for note in made.notes)
    headless = sketch("A9 U9")
    assert export(headless, "none", api="anthropic").body["messages"][0]["content"] == "[the recording begins here]"
    empty = sketch("S9")
    assert export(empty, "none", api="anthropic").body["messages"] == [
        {"role": "user", "content": "[no message was recorded]"}
    ]


def test_system_texts_and_a_later_one():
    trace = sketch("S2 U9 | A9 I5 U9")
    late = replace(
        trace,
        fragments=tuple(replace(one, role="system") if one.kind is Kind.INJECTED else one for one in trace.fragments),
    )
    body = export(late, "none", api="anthropic").body
    assert body["system"] == trace.fragments[0].text
    assert [one["role"] for one in body["messages"]] == ["user", "assistant", "user"]
    assert [one["role"] for one in export(late, "none", api="openai").body["messages"]] == [
        "system",
        "user",
        "assistant",
        "system",
        "user",
    ]


@pytest.mark.parametrize(
    "tool",
    [
        {"name": "Read", "description": "d", "input_schema": {"properties": {}}},
        {"type": "function", "function": {"name": "Read", "description": "d", "parameters": {"properties": {}}}},
        {"type": "function", "name": "Read", "description": "d", "parameters": {"properties": {}}},
        [{"name": "Read", "description": "d", "parameters": {"properties": {}}}],
    ],
)
def test_tool_definitions_of_every_shape(tool):
    trace = sketch("T5 U9 | c1=Read:3 r1:9", texts={"T1": json.dumps(tool), "c1": 'Read {"a": 1}'})
    (found,) = export(trace, "none", api="anthropic").body["tools"]
    assert found["name"] == "Read"
    assert found["input_schema"]["type"] == "object"
    assert found["description"] == "d"
    (found,) = export(trace, "none", api="openai").body["tools"]
    assert found["function"]["name"] == "Read"
    assert found["function"]["description"] == "d"


def test_a_provider_s_own_tool():
    trace = sketch("T5 U9", texts={"T1": '{"type": "web_search_20250305", "name": "web_search"}'})
    assert export(trace, "none", api="anthropic").body["tools"] == [
        {"type": "web_search_20250305", "name": "web_search"}
    ]
    made = export(trace, "none", api="openai")
    assert "tools" not in made.body
    assert made.notes


def test_ids_are_made_valid_and_stay_apart():
    names = Names(8, "call")
    assert names("a", "call:1/é") == "call_1__"
    assert names("b", "call:1/é") == "call_1_2"
    assert names("a", "anything") == "call_1__"
    assert names("c", "") == "call"
    assert names("d", "") == "call_2"


def test_model_and_reply_are_said():
    trace = sketch("U9")
    made = export(trace, "none", api="anthropic", window=100, reserve=30)
    assert (made.body["model"], made.body["max_tokens"]) == (MODEL, 30)
    assert any("no model" in note for note in made.notes)
    with pytest.raises(UnknownName, match="unknown API 'antropic'"):
        export(trace, "none", api="antropic")


def test_halves_of_surrogate_pairs_can_be_written():
    trace = sketch("U1", texts={"U1": "a\ud800b"})
    assert json.loads(export(trace, "none", api="openai").to_json())["messages"][0]["content"] == "a\ufffdb"
