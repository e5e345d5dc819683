"""Where GenAI spans keep messages and tools: today's attributes, and what came before them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget import dialects
from ctxbudget.spans import loaded, nested

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from ctxbudget.spans import Exported

ROLES = {
    "gen_ai.system.message": "system", "gen_ai.user.message": "user", "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}  # fmt: skip
"""Events of the conventions until 1.36, one for each message."""

DETAILS = "gen_ai.client.inference.operation.details"
"""The event that may hold the attributes of a call in place of the span."""


def messages(span: Exported, skipped: Counter[str] | None) -> list[dict[str, Any]]:
    """The history that was sent, as chat messages; the first place that holds one counts."""
    for given in _places(span):
        for name in ("gen_ai.input.messages", "ai.prompt.messages", "gen_ai.prompt"):
            if (value := given.get(name)) and (found := dialects.chat(loaded(value, skipped))):
                return found
    numbered = nested(span.attributes, "gen_ai.prompt")
    if isinstance(numbered, list):
        return [said for item in numbered for said in dialects.message(_numbered(item))]
    return [said for role, body in _events(span) if role for said in dialects.message({"role": role, **body})]


def replies(span: Exported, skipped: Counter[str] | None) -> list[dict[str, Any]]:
    """What the model answered; more than one where alternatives were asked for."""
    for given in _places(span):
        for name in ("gen_ai.output.messages", "gen_ai.completion"):
            if (value := given.get(name)) and (found := dialects.chat(loaded(value, skipped), "assistant")):
                return found
    numbered = nested(span.attributes, "gen_ai.completion")
    if isinstance(numbered, list):
        return [said for item in numbered for said in dialects.message(_numbered(item), "assistant")]
    found = [said for role, body in _events(span) if not role for said in _choice(body)]
    return found or _vercel(span.attributes)


def _places(span: Exported) -> Iterator[dict[str, Any]]:
    yield span.attributes
    for name, given in span.events:
        if name == DETAILS or name.startswith("gen_ai.content."):
            yield given


def _events(span: Exported) -> Iterator[tuple[str, dict[str, Any]]]:
    """Role and body of every message event, in order; a choice has no role. Pydantic AI keeps them in an attribute."""
    for name, given in span.events:
        if name in ROLES or name == "gen_ai.choice":
            yield ROLES.get(name, ""), {key: loaded(value, None) for key, value in given.items()}
    listed = loaded(span.attributes.get("events"), None)
    for body in listed if isinstance(listed, list) else []:
        match body:
            case {"event.name": str(name)} if name in ROLES or name == "gen_ai.choice":
                yield ROLES.get(name, ""), body


def _choice(body: dict[str, Any]) -> list[dict[str, Any]]:
    inner = body.get("message")
    given = inner if isinstance(inner, dict) else {"content": inner} if isinstance(inner, str) else body
    return dialects.message({"role": "assistant", **given}, "assistant")


def _numbered(item: Any) -> Any:
    """A message of OpenLLMetry: its calls are flat, its content may be JSON of parts."""
    if not isinstance(item, dict):
        return item
    calls = item.get("tool_calls")
    given = {**item, "role": item.get("role") or "assistant", "content": loaded(item.get("content"), None)}
    if isinstance(calls, list):
        given["tool_calls"] = [
            {"id": call.get("id"), "function": {"name": call.get("name") or "?", "arguments": call.get("arguments")}}
            for call in calls
            if isinstance(call, dict)
        ]
    return given


def _vercel(given: dict[str, Any]) -> list[dict[str, Any]]:
    """The reply of a Vercel AI SDK span: text, reasoning and calls stand apart."""
    text, calls = given.get("ai.response.text"), loaded(given.get("ai.response.toolCalls"), None)
    parts = (
        [{"type": "tool-call", **call} for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    )
    if isinstance(thought := given.get("ai.response.reasoning"), str) and thought:
        parts.insert(0, {"type": "reasoning", "text": thought})
    if isinstance(text, str) and text:
        parts.append({"type": "text", "text": text})
    return dialects.message({"role": "assistant", "content": parts}) if parts else []


def tools(given: dict[str, Any], skipped: Counter[str] | None) -> list[Any]:
    """The tool definitions that were sent."""
    for name in ("gen_ai.tool.definitions", "ai.prompt.tools", "gen_ai.request.tools"):
        if value := given.get(name):
            return dialects.tools(loaded(value, skipped))
    numbered = nested(given, "llm.request.functions")
    return numbered if isinstance(numbered, list) else []
