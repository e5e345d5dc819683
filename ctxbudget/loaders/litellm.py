"""LiteLLM logs: standard logging payloads (callbacks, buckets), and the proxy's spend logs.

Where: JSON files in the bucket of a ``gcs_bucket``, ``s3`` or ``azure_storage`` callback, JSON Lines of a custom callback, ``GET /spend/logs`` or the table ``LiteLLM_SpendLogs``.
Seen: the messages, tools and reply of every call, of any provider; requests that continue one another are one conversation.
Unseen: messages and replies where message logging is off (spend logs by default): then only counts stand.
Counts: per call, from the provider in OpenAI's words: cached tokens are part of the prompt. Calls answered from the proxy's own cache are turns without counts, since nobody billed them.

Rules: docs.litellm.ai "StandardLoggingPayload Specification"; ``litellm/types/utils.py`` of 1.40 to 1.77.
"""  # noqa: E501 - a labelled line is one line

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ctxbudget import dialects, spans
from ctxbudget.exchanges import parsed
from ctxbudget.message_lists import first_records
from ctxbudget.providers.openai import requests
from ctxbudget.providers.openai.usage import read_usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Start
    from ctxbudget.exchanges import Exchange
    from ctxbudget.records import Reading
    from ctxbudget.spans import Span
    from ctxbudget.trace import Trace, Usage

MARKS = frozenset({
    "response_cost", "spend", "model_parameters", "model_map_information", "cache_hit", "startTime", "model_group",
    "api_key", "hidden_params", "proxy_server_request",
})  # fmt: skip
"""Keys of a log record; three of them beside ``call_type`` make one."""

NOT_CHAT = ("embedding", "image", "transcription", "speech", "moderation", "rerank")
"""Beginnings and parts of call types that have no conversation."""


def sniff(head: bytes, path: str) -> float:  # noqa: ARG001 - the bytes decide
    """Records with a ``call_type`` and other marks of LiteLLM."""
    return 0.95 if any(_payload(row) is not None for row in first_records(head)) else 0.0


def _payload(row: Any) -> dict[str, Any] | None:
    match row:
        case {"standard_logging_object": dict(inner)} | {"kwargs": {"standard_logging_object": dict(inner)}}:
            return inner
        case {"call_type": str()} if len(MARKS & row.keys()) >= 3:
            return dict(row)
    return None


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """Every conversation in the file, the main loop of an agent first."""
    skipped: Counter[str] = Counter()
    rows: list[tuple[dict[str, Any], int]] = []
    for record in reading.unwrap():
        row = _payload(record.data)
        rows += [(row, record.line)] if row is not None else []
        skipped["record that is no call, skipped"] += row is None
    calls = spans.calls(rows, "startTime", _session)
    yield from spans.traces(reading, calls, start, spans.Alone(call), requests, skipped)


def call(span: Span, skipped: Counter[str]) -> Exchange | None:
    """The call in a record."""
    row = span.data
    kind = str(row.get("call_type"))[:40]
    if any(word in kind for word in NOT_CHAT):
        skipped[f"call of type {kind}, skipped"] += 1
        return None
    response = _loaded(row.get("response")) if row.get("status") != "failure" else None
    is_cached = str(row.get("cache_hit")).lower() == "true"
    skipped["answered from the gateway's cache, not billed"] += is_cached
    usage = None if is_cached or row.get("status") == "failure" else _usage(row, response)
    found = dialects.exchange(_asked(row), response or None, _tools(row), usage, skipped)
    if found is not None:
        answered = response.get("model") if isinstance(response, dict) else None
        found.model = _text(answered) or _text(row.get("model"))
        found.key = _text(row.get("id")) or _text(row.get("request_id"))
        found.session = _session(row)
    return found


def _asked(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages, with the system text that Anthropic's requests have beside them."""
    body = _body(row)
    given = _loaded(row.get("messages")) or next(
        (body[name] for name in ("messages", "input", "contents") if name in body), None
    )
    said = dialects.chat(given)
    if not said or said[0].get("role") in {"system", "developer"}:
        return said
    return [*dialects.system({**body, **_params(row)}), *said]


def _loaded(value: Any) -> Any:
    """The database keeps JSON as text; a redacted value is a word that says so."""
    if not isinstance(value, str):
        return value
    inner = parsed(value)
    return inner if inner is not None else None if value.startswith("redacted") else value


def _body(row: dict[str, Any]) -> dict[str, Any]:
    """The request as the proxy received it."""
    match _loaded(row.get("proxy_server_request")):
        case {"body": dict(body)}:
            return dict(body)
        case dict(body):
            return dict(body)
    return {}


def _params(row: dict[str, Any]) -> dict[str, Any]:
    found = _loaded(row.get("model_parameters")) or _loaded(row.get("optional_params"))
    return found if isinstance(found, dict) else {}


def _tools(row: dict[str, Any]) -> list[Any]:
    places = (_params(row), _body(row), row)
    found = (dialects.tools(place.get("tools") or place.get("functions")) for place in places)
    return next((tools for tools in found if tools), [])


def _usage(row: dict[str, Any], response: Any) -> Usage | None:
    """The provider's counts in the response, in the metadata, else the record's own."""
    metadata = _loaded(row.get("metadata"))
    places = (
        response.get("usage") if isinstance(response, dict) else None,
        metadata.get("usage_object") if isinstance(metadata, dict) else None,
        row,
    )
    found = (read_usage(dialects.counts(place)) for place in places if isinstance(place, dict))
    return next((usage for usage in found if usage is not None), None)


def _session(row: dict[str, Any]) -> str | None:
    metadata = _loaded(row.get("metadata"))
    inner = metadata if isinstance(metadata, dict) else {}
    return next(
        (name for name in (row.get("session_id"), inner.get("session_id"), row.get("trace_id")) if _text(name)), None
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
