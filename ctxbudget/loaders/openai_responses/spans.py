"""Spans of the Agents SDK's own traces: of chat models they hold the messages, of Responses only the usage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget.exchanges import Exchange
from ctxbudget.providers.openai import requests as chat
from ctxbudget.providers.openai.usage import read_items_usage, read_usage

if TYPE_CHECKING:
    from collections import Counter

    from ctxbudget.builder import TraceBuilder
    from ctxbudget.exchanges import Speaker

Fields = dict[str, Any]


def is_span(data: Any) -> bool:
    """Whether it is a span, or the trace that spans belong to."""
    match data:
        case {"object": "trace.span", "span_data": dict()} | {"object": "trace", "workflow_name": _}:
            return True
    return False


def speaker(build: TraceBuilder) -> Speaker:
    """Says chat messages to ``build``."""
    return chat.speaker(build)


def identity(message: Any) -> Any:
    """A message as it is recognised in the next request."""
    return chat.identity(message)


def exchange(data: Fields, skipped: Counter[str]) -> Exchange | None:
    """The call in a span; the others (agents, functions, hand-offs) repeat what the next call is sent."""
    found, span = None, data.get("span_data")
    if not isinstance(span, dict):
        return None
    match span:
        case {"type": "generation", "input": list(messages)}:
            found = _generation(span, messages, skipped)
        case {"type": "response", "usage": dict(usage)} if counts := read_items_usage(usage):
            name = span.get("response_id")
            found = Exchange([], called=True, usage=counts, key=name if isinstance(name, str) else None)
    if found is not None:
        found.agent = "openai-agents"
        name, trace = data.get("id"), data.get("trace_id")
        found.key = found.key or (name if isinstance(name, str) else None)
        found.session = trace if isinstance(trace, str) else None
    return found


def _generation(span: Fields, messages: list[Any], skipped: Counter[str]) -> Exchange | None:
    output, usage = span.get("output"), span.get("usage")
    said = [message for message in output if isinstance(message, dict)] if isinstance(output, list) else []
    request: Fields = {"messages": messages, "model": span.get("model")}
    if said:
        request["response"] = {"choices": [{"message": message} for message in said]}
    found = chat.exchange(request, skipped)
    if found is not None and found.called:
        found.usage = read_items_usage(usage) or read_usage(usage)
    return found
