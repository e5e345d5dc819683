"""OpenInference spans: Phoenix exports (JSON, JSON Lines, data frames), OTLP JSON, console exports.

Where: wherever Phoenix, Arize or a collector's file exporter puts them (``px.Client().get_spans_dataframe()``, the REST and GraphQL exports), and Phoenix's own ``phoenix.db`` (SQLite, in ``~/.phoenix``).
Seen: the messages and tool definitions of every model call, where they are not hidden or cut; agents as children.
Unseen: what ``OPENINFERENCE_HIDE_…`` settings left out; texts may be placeholders while the counts are real.
Counts: per call, from the provider; cached tokens are part of the prompt, reasoning is part of the completion.

Rules: Arize-ai/openinference ``spec/semantic_conventions.md``: names are flat paths with numbers, or nested.
"""  # noqa: E501 - a labelled line is one line

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ctxbudget import dialects, spans, sqlite
from ctxbudget.exchanges import Exchange, compact, parsed
from ctxbudget.providers.openai import requests
from ctxbudget.providers.openai.usage import read_usage
from ctxbudget.spans import AGENT, MODEL, OTHER, TOOL, nested
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Start
    from ctxbudget.records import Reading
    from ctxbudget.spans import Exported, Span
    from ctxbudget.trace import Trace

KINDS = {"LLM": MODEL, "AGENT": AGENT, "TOOL": TOOL}


def sniff(head: bytes, path: str) -> float:
    """Spans with OpenInference attributes, and more of them than of OpenTelemetry's own. A database by its tables."""
    if sqlite.tables(head, path) >= spans.PHOENIX:
        return 0.95
    words = spans.words(head)
    if not words["openinference"]:
        return 0.0
    return 0.9 if words["openinference"] > words["gen_ai"] else 0.7


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """The conversations of a file, each named by its session or trace."""
    skipped: Counter[str] = Counter()
    found = spans.of(reading, skipped)
    yield from spans.traces(reading, spans.named(found, Calls.kind, Calls.session), start, Calls(), requests, skipped)


class Calls:
    """Reads spans in OpenInference words."""

    @staticmethod
    def kind(span: Exported) -> str:
        """What the span is, by its kind; a model call without one is told by its counts."""
        name = nested(span.attributes, "openinference.span.kind") or span.kind
        if isinstance(name, str) and name.upper() != "UNKNOWN":
            return KINDS.get(name.upper(), OTHER)
        return MODEL if nested(span.attributes, "llm.token_count") else OTHER

    @staticmethod
    def session(span: Exported) -> str | None:
        """The session that the span says it belongs to."""
        name = nested(span.attributes, "session.id")
        return name if isinstance(name, str) and name else None

    def exchange(self, span: Span, skipped: Counter[str]) -> Exchange | None:
        """The model call: its history, its reply, its tools and its counts."""
        given = span.data.attributes
        asked, answered = _messages(given, "input"), _messages(given, "output")
        usage = read_usage(_usage(given))
        if not asked and not answered and usage is None:
            skipped["model span without messages or counts, skipped"] += 1
            return None
        skipped["alternative answer, skipped"] += max(0, len(answered) - 1)
        model = nested(given, "llm.model_name")
        return Exchange(
            asked,
            [(Kind.TOOL_DEFINITIONS, tool) for tool in _tools(given)],
            called=bool(answered) or usage is not None,
            reply=answered[0] if answered else None,
            model=model if isinstance(model, str) and model else None,
            usage=usage,
            key=f"{span.data.trace}:{span.id}",
        )

    def opening(self, span: Span) -> list[dict[str, Any]]:
        """What an agent was asked, if its span holds messages."""
        value = nested(span.data.attributes, "input.value")
        inner = parsed(value) if isinstance(value, str) else value
        return dialects.chat(inner) if inner is not None else []

    def answer(self, span: Span) -> dict[str, Any] | None:
        """What a tool answered."""
        given = span.data.attributes
        result = nested(given, "output.value")
        if result is None and not span.data.failed:
            return None
        arguments, name = nested(given, "input.value"), nested(given, "tool.name")
        return {
            "id": nested(given, "tool_call.id") or nested(given, "tool.id"),
            "name": name if isinstance(name, str) else span.data.name,
            "arguments": arguments,
            "content": dialects.answered(result),
            "is_error": span.data.failed,
        }


def _messages(given: dict[str, Any], side: str) -> list[dict[str, Any]]:
    """The messages of one side; the values of a call's input and output only where there are no messages."""
    listed = nested(given, f"llm.{side}_messages")
    if isinstance(listed, list) and listed:
        return [said for item in listed for said in dialects.message(_plain(item))]
    value = nested(given, f"{side}.value")
    inner = parsed(value) if isinstance(value, str) else value
    if inner is None and isinstance(value, str) and value:
        inner = {"role": "user" if side == "input" else "assistant", "content": value}
    return dialects.chat(inner, "user" if side == "input" else "assistant") if inner is not None else []


def _plain(item: Any) -> Any:
    """A message without the names around its fields: ``{"message": {"role": …}}`` or ``{"message.role": …}``."""
    if not isinstance(item, dict):
        return item
    inner = nested(item, "message")
    if not isinstance(inner, dict):
        return item
    content = inner.get("content")
    parts, calls = nested(inner, "contents"), nested(inner, "tool_calls")
    said = {**inner, "content": [_part(part) for part in parts] if isinstance(parts, list) and parts else content}
    said["tool_calls"] = [_call(call) for call in calls] if isinstance(calls, list) else None
    said.setdefault("role", "user")
    legacy = {"name": nested(inner, "function_call_name"), "arguments": nested(inner, "function_call_arguments_json")}
    if isinstance(legacy["name"], str):
        said["function_call"] = legacy
    return said


def _part(part: Any) -> Any:
    inner: Any = nested(part, "message_content") if isinstance(part, dict) else None
    match inner:
        case {"type": "text", "text": str(text)}:
            return {"type": "text", "text": text}
        case {"type": "reasoning" | "thinking", "text": str(text)}:
            return {"type": "thinking", "thinking": text}
        case {"type": "image"}:
            url = nested(inner, "image.image.url") or nested(inner, "image.url")
            return {"type": "image_url", "image_url": {"url": url}} if isinstance(url, str) else {"type": "image"}
    return part if inner is None else inner


def _call(call: Any) -> Any:
    inner = nested(call, "tool_call") if isinstance(call, dict) else None
    if not isinstance(inner, dict):
        return call
    name, arguments = nested(inner, "function.name"), nested(inner, "function.arguments")
    return {"id": inner.get("id"), "function": {"name": name if isinstance(name, str) else "?", "arguments": arguments}}


def _tools(given: dict[str, Any]) -> Iterator[str]:
    listed = nested(given, "llm.tools")
    for item in listed if isinstance(listed, list) else []:
        schema = nested(item, "tool.json_schema") if isinstance(item, dict) else item
        if schema:
            yield schema if isinstance(schema, str) else compact(schema)


def _usage(given: dict[str, Any]) -> dict[str, Any]:
    """The counts in the words of OpenAI chat, which mean the same."""

    def count(name: str) -> Any:
        return nested(given, f"llm.token_count.{name}")

    return {
        "prompt_tokens": count("prompt"),
        "completion_tokens": count("completion"),
        "total_tokens": count("total"),
        "prompt_tokens_details": {
            "cached_tokens": count("prompt_details.cache_read"),
            "cache_creation_tokens": count("prompt_details.cache_write"),
        },
        "completion_tokens_details": {"reasoning_tokens": count("completion_details.reasoning")},
    }
