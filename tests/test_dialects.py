"""Messages, results and usage in anybody's words → chat messages."""

import pytest

from ctxbudget.dialects import answered, chat, counts, joined, message, system, tools

CALL = {"id": "c", "function": {"name": "look", "arguments": {"at": 1}}}


@pytest.mark.parametrize(
    "part",
    [
        {"type": "tool_call", "id": "c", "name": "look", "arguments": {"at": 1}},
        {"type": "tool_call", "id": "c", "name": "look", "args": {"at": 1}},
        {"type": "tool_use", "id": "c", "name": "look", "input": {"at": 1}},
        {"type": "tool-call", "toolCallId": "c", "toolName": "look", "input": {"at": 1}},
        {"type": "tool-call", "toolCallId": "c", "toolName": "look", "args": {"at": 1}},
        {"toolUse": {"toolUseId": "c", "name": "look", "input": {"at": 1}}},
        {"functionCall": {"id": "c", "name": "look", "args": {"at": 1}}},
    ],
    ids=["otel", "langchain 1", "anthropic", "vercel 5", "vercel 4", "bedrock", "gemini"],
)
def test_every_call_part_is_a_call(part):
    assert message({"role": "assistant", "content": [part]}) == [
        {"role": "assistant", "content": "", "tool_calls": [CALL]}
    ]


@pytest.mark.parametrize(
    ("part", "failed"),
    [
        ({"type": "tool_call_response", "id": "c", "response": "seen"}, False),
        ({"type": "tool_call_response", "id": "c", "result": "seen"}, False),
        ({"type": "tool_result", "tool_use_id": "c", "content": "seen", "is_error": True}, True),
        ({"type": "tool-result", "toolCallId": "c", "output": {"type": "error-text", "value": "seen"}}, True),
        ({"type": "tool-result", "toolCallId": "c", "result": "seen"}, False),
        ({"toolResult": {"toolUseId": "c", "content": "seen", "status": "error"}}, True),
        ({"functionResponse": {"id": "c", "response": "seen"}}, False),
    ],
    ids=["otel", "otel before", "anthropic", "vercel 5", "vercel 4", "bedrock", "gemini"],
)
def test_every_result_part_is_a_message_of_its_own(part, failed):
    said = message({"role": "user", "content": [part, {"type": "text", "text": "go on"}]})
    expected = {"role": "tool", "tool_call_id": "c", "content": "seen", **({"is_error": True} if failed else {})}
    assert said == [expected, {"role": "user", "content": "go on"}]


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"type": "reasoning", "content": "hm"}, {"type": "thinking", "thinking": "hm"}),
        ({"type": "thinking", "thinking": "hm", "signature": "x"}, {"type": "thinking", "thinking": "hm"}),
        ({"text": "hm", "thought": True}, {"type": "thinking", "thinking": "hm"}),
        ({"type": "reasoning", "summary": [{"text": "h"}, {"text": "m"}]}, {"type": "thinking", "thinking": "h\nm"}),
        ({"type": "blob", "content": "QUJD"}, {"type": "image_url", "image_url": {"url": "data:;base64,QUJD"}}),
        ({"inlineData": {"data": "QUJD"}}, {"type": "image_url", "image_url": {"url": "data:;base64,QUJD"}}),
        ({"type": "uri", "uri": "https://example.org/a.png"}, {"type": "image"}),
        ({"type": "document", "source": {"type": "text", "data": "t"}}, {"type": "text", "text": "t"}),
    ],
)
def test_thinking_and_media(part, expected):
    [said] = message({"role": "user", "content": [part, {"type": "text", "text": "x"}]})
    assert said["content"] == [expected, {"type": "text", "text": "x"}]


def test_calls_told_twice_are_the_same_calls():
    blocks = [{"type": "text", "text": "x"}, {"type": "tool_use", "id": "c", "name": "look", "input": {"at": 1}}]
    [said] = message({"role": "assistant", "content": blocks, "tool_calls": [CALL]})
    assert (said["tool_calls"], said["content"]) == ([CALL], "x")


def test_items_of_one_reply_are_one_reply():
    items = [
        {"role": "user", "content": "one"},
        {"type": "reasoning", "summary": [], "encrypted_content": "abcd"},
        {"type": "function_call", "call_id": "c", "name": "look", "arguments": '{"at":1}'},
        {"type": "function_call", "call_id": "d", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "seen"},
        {"type": "function_call_output", "call_id": "d", "output": "none"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "yes"}]},
    ]
    said = chat(items)
    assert [one["role"] for one in said] == ["user", "assistant", "tool", "tool", "assistant"]
    assert [call["id"] for call in said[1]["tool_calls"]] == ["c", "d"]
    assert said[1]["content"] == [{"type": "redacted_thinking", "data": "abcd"}]


def test_only_replies_are_joined():
    users = [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]
    assert joined(users) == users


def test_wrappings_end_somewhere():
    value = [{"role": "user", "content": "x"}]
    for _ in range(20):
        value = {"messages": value}
    assert chat(value) == []


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}, (9, 2, 4, None)),
        ({"input_tokens": 9, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}}, (9, 2, 4, None)),
        ({"input_tokens": 9, "output_tokens": 2, "input_token_details": {"cache_read": 4}}, (9, 2, 4, None)),
        ({"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 4}, (9, 2, 4, None)),
        ({"inputTokens": 5, "outputTokens": 2, "cacheReadInputTokens": 4}, (9, 2, 4, None)),
        ({"inputTokens": 9, "outputTokens": 2, "cachedInputTokens": 4}, (9, 2, 4, None)),
        ({"inputTokens": 9, "outputTokens": 2, "inputTokenDetails": {"cacheReadTokens": 4}}, (9, 2, 4, None)),
        ({"promptTokenCount": 9, "candidatesTokenCount": 2, "thoughtsTokenCount": 3}, (9, 5, None, 3)),
        ({"promptTokens": 9, "completionTokens": 2}, (9, 2, None, None)),
    ],
)
def test_usage_is_inclusive_whoever_counted(raw, expected):
    said = counts(raw)
    read = said.get("prompt_tokens_details", {}).get("cached_tokens")
    reasoning = said.get("completion_tokens_details", {}).get("reasoning_tokens")
    assert (said["prompt_tokens"], said["completion_tokens"], read, reasoning) == expected


@pytest.mark.parametrize("raw", [None, 3, [], {}, {"usage": 1}, "x"])
def test_what_has_no_counts_gives_none(raw):
    assert counts(raw) == {}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"system": "S"}, ["S"]),
        ({"system": [{"type": "text", "text": "S"}, {"text": "T"}]}, ["S", "T"]),
        ({"system_instructions": [{"type": "text", "content": "S"}]}, ["S"]),
        ({"systemInstruction": {"parts": [{"text": "S"}]}}, ["S"]),
        ({"instructions": "S"}, ["S"]),
        ({"system": ""}, []),
    ],
)
def test_system_text_beside_the_messages(given, expected):
    assert [part["text"] for one in system(given) for part in one["content"]] == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([{"name": "a"}], [{"name": "a"}]),
        ('[{"name": "a"}]', [{"name": "a"}]),
        (['{"name": "a"}'], [{"name": "a"}]),
        ([{"functionDeclarations": [{"name": "a"}, {"name": "b"}]}], [{"name": "a"}, {"name": "b"}]),
        ({"function_tools": [{"name": "a"}]}, [{"name": "a"}]),
        (None, []),
        ("none", []),
    ],
)
def test_tools(given, expected):
    assert tools(given) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, ""),
        ("x", "x"),
        ({"a": 1}, '{"a":1}'),
        ([1, 2], "[1,2]"),
        ([{"type": "text", "text": "x"}], [{"type": "text", "text": "x"}]),
        ([{"a": 1}], '[{"a":1}]'),
    ],
)
def test_what_a_tool_answered(given, expected):
    assert answered(given) == expected
