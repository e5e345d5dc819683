"""What a record holds: a request with or without its response, or a response alone. Headers are never looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget.exchanges import Exchange, compact, events, logged
from ctxbudget.loaders.openai_responses.groups import grouped, texts
from ctxbudget.loaders.openai_responses.items import Items
from ctxbudget.providers.openai.usage import read_items_usage
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections import Counter

    from ctxbudget.builder import TraceBuilder
    from ctxbudget.exchanges import Speaker

Fields = dict[str, Any]

PASSING = frozenset({"id", "status", "encrypted_content", "summary", "annotations", "logprobs", "phase"})
"""Fields of an item that are not there, or not the same, when it is sent back."""
OVERHEAD = ("tools", "instructions")
SECRET = frozenset({"headers", "authorization", "server_url"})
"""Fields of a tool (an MCP server) that are no part of what the model is told of it."""


def speaker(build: TraceBuilder) -> Speaker:
    """Says messages to ``build``."""
    build.carries_reasoning = False
    return Items(build)


def identity(message: Any) -> Any:
    """A group as it is recognised in the next request: without ids, states and reasoning."""
    if not isinstance(message, dict):
        return message
    return [message.get("role"), [_lasting(item) for item in message.get("items", []) if not _is_reasoning(item)]]


def _lasting(item: Any) -> Any:
    match item:
        case {"role": role, "content": content}:
            return [role, texts(content)]
        case dict():
            return {key: value for key, value in item.items() if key not in PASSING}
    return item


def _is_reasoning(item: Any) -> bool:
    return isinstance(item, dict) and item.get("type") == "reasoning"


def exchange(data: Fields, skipped: Counter[str]) -> Exchange | None:
    """The call in a record; None if it holds none."""
    request, response = taken_apart(data)
    if request is None and response is None:
        if not str(data.get("type")).startswith("response."):
            skipped["record that is no request or response, skipped"] += 1
        return None
    found = Exchange(grouped((request or {}).get("input")))
    found.overhead = overhead(response or {}, request or {})
    for place in (request, response):
        if place is not None:
            found.model = model if isinstance(model := place.get("model"), str) else found.model
            found.session = _conversation(place) or found.session
    if response is not None:
        found.called = True
        found.reply = {"role": "assistant", "items": response["output"]}
        found.key = key if isinstance(key := response.get("id"), str) else None
        found.usage = read_items_usage(response.get("usage"))
    return found


def taken_apart(data: Fields) -> tuple[Fields | None, Fields | None]:
    """Request and response of a record; the last event of a stream has the response too."""
    match data:
        case {"type": str(event), "response": dict(response)} if event.startswith("response."):
            ended = event in {"response.completed", "response.incomplete", "response.failed"}
            return None, response if ended and isinstance(response.get("output"), list) else None
        case {"object": "response", "output": list()}:
            return None, data
        case {"input": list() | str()} if "request" not in data:
            return data, _answered(data.get("response"))
    parts = logged(data)
    request = parts.request
    asked = request is not None and isinstance(request.get("input"), list | str)
    return request if asked else None, _answered(parts.response)


def _answered(response: Any) -> Fields | None:
    """The response, if it is one: as it is, or in the last event of a stream."""
    if isinstance(response, str):
        inner = [event["response"] for event in events(response) if isinstance(event.get("response"), dict)]
        response = inner[-1] if inner else None
    match response:
        case {"output": list()}:
            return dict(response)
    return None


def overhead(*places: Fields) -> list[tuple[Kind, str]]:
    """Tools and instructions, as a request brings them and a response repeats them; the first place that has them."""
    tools, prompt = (next((place[name] for place in places if place.get(name)), None) for name in OVERHEAD)
    found = [(Kind.TOOL_DEFINITIONS, compact(_public(tool))) for tool in tools] if isinstance(tools, list) else []
    said: list[Any] = [prompt] if isinstance(prompt, str) else []
    for item in prompt if isinstance(prompt, list) else []:
        said += texts(item.get("content")) if isinstance(item, dict) else []
    return [*found, *((Kind.SYSTEM_PROMPT, text) for text in said if isinstance(text, str) and text)]


def _public(tool: Any) -> Any:
    return {key: value for key, value in tool.items() if key not in SECRET} if isinstance(tool, dict) else tool


def _conversation(place: Fields) -> str | None:
    match place.get("conversation"):
        case str(name) | {"id": str(name)}:
            return name
    return None
