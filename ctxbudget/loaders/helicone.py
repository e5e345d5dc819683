"""Helicone requests: the export command, and answers of the request API.

Where: ``npx @helicone/export --include-body`` (JSON, JSON Lines), ``POST /v1/request/query`` and its faster sister.
Seen: the bodies of request and response of any provider, where they were exported; requests that continue one another are one conversation.
Unseen: the bodies where only their address was exported (``signed_body_url``): then only counts stand.
Counts: per call; the response's own usage where it is there, else the record's, whose cached tokens stand apart.

Rules: docs.helicone.ai, ``HeliconeRequest`` of the API (2024 to 2026).
"""  # noqa: E501 - a labelled line is one line

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ctxbudget import dialects, spans
from ctxbudget.exchanges import parsed
from ctxbudget.message_lists import opening
from ctxbudget.providers.anthropic.stream import joined as anthropic_stream
from ctxbudget.providers.openai import requests
from ctxbudget.providers.openai.stream import joined as openai_stream
from ctxbudget.providers.openai.usage import read_usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Start
    from ctxbudget.exchanges import Exchange
    from ctxbudget.records import Reading
    from ctxbudget.spans import Span
    from ctxbudget.trace import Trace, Usage

MARKS = frozenset({
    "request_body", "response_body", "request_created_at", "response_status", "request_path", "request_properties",
    "signed_body_url", "llmSchema", "provider",
})  # fmt: skip
"""Keys of a request; three of them beside ``request_id`` make one."""

FAILED = 400
"""Statuses from here on are errors: nothing was answered."""


def sniff(head: bytes, path: str) -> float:  # noqa: ARG001 - the bytes decide
    """Records with a ``request_id`` and other marks of Helicone."""
    return 0.95 if any(_is_request(row) for value in opening(head) for row in _rows(value)[:50]) else 0.0


def _is_request(row: Any) -> bool:
    return isinstance(row, dict) and "request_id" in row and len(MARKS & row.keys()) >= 3


def _rows(value: Any) -> list[Any]:
    match value:
        case {"data": list(rows)}:
            return rows
        case {"data": dict(row)}:
            return [row]
        case list():
            return value
    return [value]


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """Every conversation in the file, the main loop of an agent first."""
    skipped: Counter[str] = Counter()
    rows: list[tuple[dict[str, Any], int]] = []
    for record in reading.unwrap():
        listed = _rows(record.data)
        is_answer = len(listed) != 1 or listed[0] is not record.data
        found = [(row, at if is_answer else record.line) for at, row in enumerate(listed, 1) if _is_request(row)]
        rows += found
        skipped["record that is no request, skipped"] += not found
    calls = spans.calls(rows, "request_created_at", _session)
    yield from spans.traces(reading, calls, start, spans.Alone(call), requests, skipped)


def call(span: Span, skipped: Counter[str]) -> Exchange | None:
    """The call in a request."""
    row = span.data
    asked, answer = _body(row.get("request_body")), _body(row.get("response_body"))
    status = row.get("response_status")
    if isinstance(status, int) and status >= FAILED:
        answer, row = {}, {}
    found = dialects.exchange(asked, answer, dialects.tools(asked.get("tools")), _usage(row, answer), skipped)
    if found is not None:
        names = (answer.get("model"), row.get("response_model"), row.get("model"), asked.get("model"))
        found.model = next((name for name in names if isinstance(name, str) and name), None)
        found.key = f"{span.data['request_id']}"
        found.session = _session(span.data)
    return found


def _body(value: Any) -> dict[str, Any]:
    """A body: an object, JSON as text, or the events of a stream put together."""
    if isinstance(value, str):
        value = parsed(value) or openai_stream(value) or anthropic_stream(value)
    return value if isinstance(value, dict) else {}


def _session(row: dict[str, Any]) -> str | None:
    """The session that the caller named by a header."""
    for place in (row.get("request_properties"), row.get("properties")):
        name = place.get("Helicone-Session-Id") if isinstance(place, dict) else None
        if isinstance(name, str) and name:
            return name
    return None


def _usage(row: dict[str, Any], answer: dict[str, Any]) -> Usage | None:
    """The response's own counts, else the record's: there the cached tokens are no part of the prompt."""
    for name in ("usage", "usageMetadata"):
        if (found := read_usage(dialects.counts(answer.get(name)))) is not None:
            return found
    names = ("prompt_tokens", "prompt_cache_read_tokens", "prompt_cache_write_tokens", "completion_tokens")
    given, read, write, said = (row.get(name) for name in names)
    apart = {
        "input_tokens": given,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": write,
        "output_tokens": said,
    }
    return read_usage(dialects.counts(apart))
