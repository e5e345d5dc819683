"""What a record holds: a request with or without its response, a response alone, or a finished conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget.exchanges import Exchange, compact, logged, parsed
from ctxbudget.providers.openai.messages import Messages
from ctxbudget.providers.openai.stream import joined
from ctxbudget.providers.openai.usage import read_usage
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from ctxbudget.builder import TraceBuilder
    from ctxbudget.exchanges import Speaker

NESTED = ("kwargs", "optional_params", "model_parameters", "litellm_params")
"""Where gateways keep parameters of the request that are not at its top."""

NAMES = ("session_id", "conversation_id", "instance_id")


def speaker(build: TraceBuilder) -> Speaker:
    """Says messages to ``build``."""
    return Messages(build)


def identity(message: Any) -> Any:
    """A message as it is recognised in the next request: one text part and the plain string are the same."""
    match message:
        case {"role": role, "content": [{"type": "text", "text": str(text)}], **rest}:
            rest.pop("cache_control", None)
            return {"role": role, "content": text, **rest}
        case dict():
            return {key: value for key, value in message.items() if key != "cache_control"}
    return message


def exchange(data: dict[str, Any], skipped: Counter[str]) -> Exchange | None:
    """The call or the conversation in a record; None if it is neither."""
    match data:
        case {"input": {"messages": list(given)} as asked, "preferred_output": list(preferred)}:
            skipped["rejected answer, skipped"] += "non_preferred_output" in data
            return Exchange([*given, *preferred], _tools(asked), session=_name(data))
    parts = logged(data)
    request, response = parts.request, parts.response
    if isinstance(response, str):
        response = joined(response)
    response = response if isinstance(response, dict) and _choices(response) else None
    messages = request.get("messages") if request is not None else None
    if not isinstance(messages, list):
        if response is None:
            skipped["record that is no message, request or response, skipped"] += 1
            return None
        request, messages = {}, []
    found = Exchange(
        list(messages), window=_count(data.get("context_window")), session=_name(data) or _name(request or {})
    )
    _add_request(found, request or {})
    if response is not None:
        _add_response(found, data, response, skipped)
    return found


def _add_request(found: Exchange, request: dict[str, Any]) -> None:
    found.model = next((name for name in _everywhere(request, "model") if isinstance(name, str)), None)
    if _emulated(request):
        found.notes = (
            ("tools-not-sent", "tools are in the log, but were sent as text of the prompt: not counted twice"),
        )
    else:
        found.overhead = _tools(request)


def _add_response(found: Exchange, data: dict[str, Any], response: dict[str, Any], skipped: Counter[str]) -> None:
    choices = _choices(response)
    raw = data.get("raw_response")  # what a text-mode model said, before the gateway made calls of it
    match _choices(raw) if isinstance(raw, dict) else []:
        case [{"message": {"content": str(), **rest}}, *_] as said if not rest.get("tool_calls"):
            choices = said
    skipped["alternative answer, skipped"] += len(choices) - 1
    message = choices[0].get("message")
    found.called = True
    found.reply = {**message, "role": "assistant"} if isinstance(message, dict) else None
    found.model = response["model"] if isinstance(response.get("model"), str) else found.model
    found.key = response["id"] if isinstance(response.get("id"), str) else None
    found.usage = read_usage(response.get("usage")) or read_usage(data)


def _choices(response: dict[str, Any]) -> list[dict[str, Any]]:
    choices = response.get("choices")
    return [choice for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []


def _everywhere(request: dict[str, Any], key: str) -> Iterator[Any]:
    """The values of a parameter, wherever the log keeps it."""
    for place in (request, *(request.get(name) for name in NESTED)):
        if isinstance(place, dict) and place.get(key) is not None:
            yield place[key]


def _emulated(request: dict[str, Any]) -> bool:
    """Whether tools are logged but were not sent: ``kwargs``, which went to the provider, does not hold them."""
    sent = request.get("kwargs")
    return isinstance(sent, dict) and bool(request.get("tools")) and not sent.get("tools")


def _tools(request: dict[str, Any]) -> list[tuple[Kind, str]]:
    """Tool definitions, one by one, as compact JSON."""
    tools = next(_everywhere(request, "tools"), None) or next(_everywhere(request, "functions"), None)
    if isinstance(tools, str):
        tools = parsed(tools) or [tools]
    tools = tools if isinstance(tools, list) else [tools]
    return [(Kind.TOOL_DEFINITIONS, tool if isinstance(tool, str) else compact(tool)) for tool in tools if tool]


def _name(data: dict[str, Any]) -> str | None:
    return next((data[name] for name in NAMES if isinstance(data.get(name), str)), None)


def _count(value: Any) -> int | None:
    return value if type(value) is int and value > 0 else None
