"""A record of a proxy's or a gateway's log, taken apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from ctxbudget.records import lines

if TYPE_CHECKING:
    from collections.abc import Iterator

ENCODED = frozenset({
    "data", "file_data", "url", "image_url", "encrypted_content", "encrypted_index", "signature",
})  # fmt: skip
"""Fields of content parts that hold encoded data; a URL may be one that holds the data itself."""


@dataclass(frozen=True, slots=True)
class Logged:
    """A record of a log taken apart: the request's body, the response's body (text if it was streamed), the URL."""

    request: dict[str, Any] | None
    response: dict[str, Any] | str | None
    url: str = ""


def logged(data: dict[str, Any]) -> Logged:
    """Request and response of a record, whatever the proxy calls them; headers are not looked at."""
    outer = data.get("request")
    if "messages" in data:
        return Logged(data, _body(data.get("response")))
    if outer is None and "request_body" not in data:
        return Logged(None, _body(data.get("response")) or data)
    request = _body(outer) or _body(data.get("request_body"))
    url = outer.get("url") if isinstance(outer, dict) else data.get("url")
    response = _body(data.get("response")) or _body(data.get("response_body"))
    return Logged(request if isinstance(request, dict) else None, response, url if isinstance(url, str) else "")


def _body(value: Any) -> dict[str, Any] | str | None:
    """The body of a request or response: as it is, or under ``body`` or ``body_raw``, or as JSON in a string."""
    match value:
        case {"body": dict() | str() as body} | {"body_raw": dict() | str() as body} if body:
            return _body(body)
        case str():
            inner = parsed(value)
            return inner if isinstance(inner, dict) else value or None
        case dict():
            return value
    return None


def events(stream: str) -> Iterator[dict[str, Any]]:
    """The JSON events of a server-sent event stream."""
    for line in stream.splitlines():
        if line.startswith("data:") and isinstance(event := parsed(line[5:]), dict):
            yield event


def compact(value: Any, *, sort: bool = False) -> str:
    """A value as compact JSON, as providers count it."""
    option = orjson.OPT_NON_STR_KEYS | (orjson.OPT_SORT_KEYS if sort else 0)
    return orjson.dumps(value, option=option).decode()


def plain(value: Any) -> str:
    """A content part as compact JSON, without encoded data (base64, signatures), which never counts as text."""
    return value if isinstance(value, str) else compact(_without_data(value))


def _without_data(value: Any) -> Any:
    match value:
        case dict():
            kept = {key: item for key, item in value.items() if key not in ENCODED or not isinstance(item, str)}
            return {key: _without_data(item) for key, item in kept.items()}
        case list():
            return [_without_data(item) for item in value]
    return value


def parsed(text: str) -> Any:
    """The object or array that a string holds, or None."""
    if text.lstrip()[:1] not in {"{", "["}:
        return None
    found = lines.find(text.encode(errors="replace"))
    return found.values[0][0] if len(found.values) == 1 and not found.rest else None
