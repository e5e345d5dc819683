"""Spans as OpenTelemetry tools write them → one shape.

OTLP JSON (``resourceSpans``; the collector's file exporter writes a request a line), what the SDKs' console exporters
print (Python and JavaScript), Phoenix's exports (nested, or with column names as keys), and a bare set of attributes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ctxbudget.message_lists import opening
from ctxbudget.records import Record
from ctxbudget.spans.attributes import INSTANT_DIGITS, attributes
from ctxbudget.spans.span import AGENT, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WORDS = {
    "gen_ai": ("gen_ai.", "ai.prompt.", "traceloop."),
    "openinference": ("openinference.", "llm.input_messages.", "llm.token_count."),
}
"""How the attributes of each vocabulary begin."""

LINE = "line "
"""Begins the name of the trace of a span that names none."""


@dataclass(frozen=True, slots=True)
class Exported:
    """A span as it was exported: attributes flat or nested, events with their own."""

    id: str
    parent: str | None
    trace: str
    name: str
    begun: str
    line: int
    attributes: dict[str, Any]
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    failed: bool = False
    kind: str | None = None
    """``span_kind`` of Phoenix, which stands beside the attributes."""


def exported(record: Record) -> Iterator[Exported]:
    """The spans of a record; nothing for a record of another kind."""
    match record.data:
        case {"resourceSpans": list(groups)} | {"resource_spans": list(groups)}:
            for number, span in enumerate(_otlp(groups)):
                yield _span(span, record.line, number)
        case {"data": list(items)} | {"spans": list(items)} | [*items]:
            for number, item in enumerate(items):
                if isinstance(item, dict):
                    yield from _single(item, record.line, number)
        case dict():
            yield from _single(record.data, record.line, 0)


def _otlp(groups: list[Any]) -> Iterator[dict[str, Any]]:
    """The spans of an export request, whatever its scopes are called (``instrumentationLibrarySpans`` until 2022)."""
    for group in groups:
        for name in ("scopeSpans", "scope_spans", "instrumentationLibrarySpans"):
            scopes = group.get(name) if isinstance(group, dict) else None
            for scope in scopes if isinstance(scopes, list) else []:
                spans = scope.get("spans") if isinstance(scope, dict) else None
                yield from (span for span in (spans if isinstance(spans, list) else []) if isinstance(span, dict))


def _single(item: dict[str, Any], line: int, number: int) -> Iterator[Exported]:
    if "resourceSpans" in item or "attributes" in item or "spanId" in item:
        found = _otlp(item["resourceSpans"]) if isinstance(item.get("resourceSpans"), list) else [item]
        for at, span in enumerate(found, number):
            yield _span(span, line, at)
    elif any(key.startswith(("attributes.", "context.")) for key in item):
        yield _span(_columns(item), line, number)
    elif any(key.startswith(("gen_ai.", "llm.", "openinference.")) for key in item):
        yield _span({"attributes": item}, line, number)


def _columns(item: dict[str, Any]) -> dict[str, Any]:
    """A row of a table of spans: ``attributes.llm.model_name``, ``context.span_id`` and so on."""
    attributes = {key.removeprefix("attributes."): value for key, value in item.items() if value is not None}
    context = {
        key.removeprefix("context."): item[key] for key in ("context.span_id", "context.trace_id") if key in item
    }
    return {**item, "context": context, "attributes": {k: v for k, v in attributes.items() if k not in item}}


def _span(span: dict[str, Any], line: int, number: int) -> Exported:
    context = _object(span, "context", "spanContext", "_spanContext")
    above = _first(span, "parentSpanId", "parent_span_id", "parent_id")
    above = above or _first(_object(span, "parentSpanContext"), "spanId")
    trace = _first(span, "traceId", "trace_id") or _first(context, "trace_id", "traceId")
    begun = next((span[key] for key in ("startTimeUnixNano", "start_time", "startTime") if key in span), None)
    events = span.get("events")
    return Exported(
        _first(span, "spanId", "span_id") or _first(context, "span_id", "spanId") or f"{line}.{number}",
        above,
        trace or f"{LINE}{line}",
        str(span.get("name") or ""),
        instant(begun),
        line,
        attributes(span.get("attributes")),
        [(str(event.get("name")), attributes(event.get("attributes"))) for event in events if isinstance(event, dict)]
        if isinstance(events, list)
        else [],
        _failed(span),
        _first(span, "span_kind"),
    )


def _object(data: dict[str, Any], *names: str) -> dict[str, Any]:
    return next((value for name in names if isinstance(value := data.get(name), dict)), {})


def _first(data: dict[str, Any], *names: str) -> str | None:
    return next((value for name in names if isinstance(value := data.get(name), str) and value), None)


def _failed(span: dict[str, Any]) -> bool:
    match span:
        case {"status": {"code": code}} | {"status": {"status_code": code}} | {"status_code": code}:
            return code in (2, "2", "ERROR", "STATUS_CODE_ERROR")
    return False


def instant(value: Any) -> str:
    """A time as text that sorts: nanoseconds, seconds and nanoseconds, or an ISO date as it is."""
    match value:
        case [int(seconds), int(rest)]:
            value = seconds * 10**9 + rest
    if type(value) is int or (isinstance(value, str) and value.isdecimal()):
        return str(value).zfill(INSTANT_DIGITS)
    return value if isinstance(value, str) else str(value) if isinstance(value, float) else ""


def named(
    found: list[Exported], kind: Callable[[Exported], str], session: Callable[[Exported], str | None]
) -> Iterator[Span]:
    """The spans with what a vocabulary says of them. All of a trace belong to the session that its first agent names,
    else its first span that names one, else to the trace itself."""
    sessions: dict[str, tuple[bool, str, str]] = {}
    for span in found:
        if (name := session(span)) is not None:
            rank = (kind(span) != AGENT, span.begun, name)
            sessions[span.trace] = min(rank, sessions.get(span.trace, rank))
    traces: dict[str, str] = {}
    is_own = all(traces.setdefault(span.id, span.trace) == span.trace for span in found)
    for number, span in enumerate(found):
        run = sessions[span.trace][2] if span.trace in sessions else span.trace
        # ids that more than one trace uses are those of the trace
        name, above = (i if i is None or is_own else f"{span.trace}:{i}" for i in (span.id, span.parent))
        names = (span.attributes.get(key) for key in ("gen_ai.agent.name", "gen_ai.tool.name", "tool.name"))
        title = next((told for told in names if told), span.name)
        yield Span(name or "", above, run, (span.begun, number), kind(span), span.line, span, str(title) or None)


def words(head: bytes) -> Counter[str]:
    """How many of the first spans of a file speak which vocabulary (``WORDS``), and how many there are (``spans``)."""
    seen: Counter[str] = Counter()
    for value in opening(head):
        for span in exported(Record(value, 1)):
            seen["spans"] += not span.trace.startswith(LINE)
            names = [*span.attributes, *(name for name, _ in span.events)]
            for word, beginnings in WORDS.items():
                told = word == "openinference" and span.kind is not None
                seen[word] += told or any(f"{name}.".startswith(beginnings) for name in names)
    return seen
