"""What makes a request valid, written down from the providers' documentation and error messages, for both APIs."""

import json
import re
from itertools import pairwise

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
USER_BLOCKS = {"text", "image", "document", "tool_result"}
REPLY_BLOCKS = {"text", "thinking", "redacted_thinking", "tool_use"}


def faults(api, body):
    """Everything that the API would refuse."""
    json.dumps(body)
    yield from (anthropic if api == "anthropic" else openai)(body)


def anthropic(body):
    if (
        not body["model"]
        or body["max_tokens"] < 1
        or set(body) - {"model", "max_tokens", "system", "tools", "messages"}
    ):
        yield "head"
    system = body.get("system", "x")
    for text in [system] if isinstance(system, str) else [block["text"] for block in system]:
        if not text.strip():
            yield "blank system text"
    messages = body["messages"]
    if not messages or messages[0]["role"] != "user":
        yield "the first message is not the user's"
    if any(one["role"] == two["role"] for one, two in pairwise(messages)):
        yield "two messages of one role"
    tools = [tool["name"] for tool in body.get("tools", [])]
    if len(tools) != len(set(tools)) or not all(NAME.fullmatch(tool) for tool in tools):
        yield "names of tools"
    if any(tool["input_schema"]["type"] != "object" for tool in body.get("tools", [])):
        yield "schema of a tool"
    yield from _blocks(messages, tools)


def _blocks(messages, tools):
    seen, waiting = set(), []
    for message in messages:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if not blocks:
            yield "empty content"
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if sorted(results) != sorted(waiting):
            yield f"calls {waiting} answered by {results}"
        if [block["type"] for block in blocks[: len(results)]] != ["tool_result"] * len(results):
            yield "results are not first"
        if {block["type"] for block in blocks} - (USER_BLOCKS if message["role"] == "user" else REPLY_BLOCKS):
            yield f"blocks of a {message['role']} message"
        waiting = []
        for block in blocks:
            yield from _block(block, tools)
            if block["type"] == "tool_use":
                if block["id"] in seen:
                    yield "an id twice"
                seen.add(block["id"])
                waiting.append(block["id"])
    if waiting:
        yield f"calls {waiting} without results"
    last = messages[-1]["content"] if messages else ""
    text = last if isinstance(last, str) else last[-1].get("text", "")
    if messages and messages[-1]["role"] == "assistant" and text != text.rstrip():
        yield "the last reply ends with white space"


def _block(block, tools):
    match block["type"]:
        case "text" if not block["text"].strip():
            yield "blank text"
        case "tool_use":
            if not NAME.fullmatch(block["id"]) or not isinstance(block["input"], dict):
                yield f"call {block['id']!r}"
            if block["name"] not in tools:
                yield f"tool {block['name']} is not defined"
        case "tool_result" if isinstance(block.get("content"), list):
            if not block["content"]:
                yield "empty result"
            for inner in block["content"]:
                yield from _block(inner, tools)
        case "image":
            if block["source"].get("type") not in ("base64", "url"):
                yield "source of an image"


def openai(body):
    if not body["model"] or set(body) - {"model", "tools", "messages"}:
        yield "head"
    messages = body["messages"]
    if not any(message["role"] == "user" for message in messages):
        yield "no message of the user"
    first = next((message for message in messages if message["role"] != "system"), None)
    if first is None or first["role"] != "user":
        yield "the first message is not the user's"
    names = [tool["function"]["name"] for tool in body.get("tools", [])]
    if len(names) != len(set(names)) or not all(NAME.fullmatch(name) for name in names):
        yield "names of tools"
    seen, waiting = set(), []
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                yield f"result {message['tool_call_id']} answers no call before it"
            else:
                waiting.remove(message["tool_call_id"])
            if not isinstance(message["content"], str):
                yield "content of a result"
            continue
        if waiting:
            yield f"calls {waiting} without results right behind them"
        waiting = []
        if not message.get("content") and not message.get("tool_calls"):
            yield "empty message"
        for call in message.get("tool_calls", []):
            if len(call["id"]) > 40 or not NAME.fullmatch(call["id"]) or call["id"] in seen:
                yield f"id {call['id']!r}"
            if not NAME.fullmatch(call["function"]["name"]) or not isinstance(
                json.loads(call["function"]["arguments"]), dict
            ):
                yield "function of a call"
            seen.add(call["id"])
            waiting.append(call["id"])
    if waiting:
        yield f"calls {waiting} without results"
