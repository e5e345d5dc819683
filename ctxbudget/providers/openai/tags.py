"""Calls that a model writes as text: ``<tool_call>{json}</tool_call>``, ``<function=name>``, ``<invoke name="…">``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ctxbudget.exchanges import parsed

if TYPE_CHECKING:
    from collections.abc import Iterator

_OPENING = re.compile(r'<tool_call>|<function=(?P<function>[^<>\n]{1,100})>|<invoke name="(?P<invoke>[^"\n]{1,100})">')
_PARAMETER = re.compile(r'<parameter(?:=(?P<plain>[^<>\n]{1,100})| name="(?P<quoted>[^"\n]{1,100})")>')
_RESPONSE = "<tool_response>"


@dataclass(frozen=True, slots=True)
class Written:
    """A call in a text: the tool, its arguments, and the text itself."""

    tool: str
    arguments: Any
    text: str


def cut(text: str) -> Iterator[str | Written]:
    """The text with its calls cut out, in order; white space alone is left out."""
    at = start = 0
    unclosed: set[str] = set()
    while opening := _OPENING.search(text, at):
        closing = _closing(opening)
        body, end = ("", 0) if closing in unclosed else _inside(text, opening.end(), closing)
        call = _call(opening, body) if end else None
        if call is None:  # look on behind it, and never twice for a closing tag that is not there
            closed = end and text.endswith(closing, 0, end)
            unclosed.update(() if closed else (closing,))
            at = end if closed else opening.end()
            continue
        if text[start : opening.start()].strip():
            yield text[start : opening.start()]
        yield Written(*call, text[opening.start() : end])
        at = start = end
    if text[start:].strip() or not start:
        yield text[start:]


def responses(text: str) -> list[str]:
    """The ``<tool_response>`` blocks of a text that holds nothing else, or the text itself."""
    if not text.lstrip().startswith(_RESPONSE):
        return [text]
    at = [found.start() for found in re.finditer(_RESPONSE, text)]
    return [text[start:end] for start, end in zip(at, [*at[1:], len(text)], strict=True)]


def _closing(opening: re.Match[str]) -> str:
    if opening["function"] is not None:
        return "</function>"
    return "</invoke>" if opening["invoke"] is not None else "</tool_call>"


def _inside(text: str, start: int, closing: str) -> tuple[str, int]:
    """What stands before the closing tag; a stop sequence may have cut it off."""
    end = text.find(closing, start)
    return (text[start:], len(text)) if end < 0 else (text[start:end], end + len(closing))


def _call(opening: re.Match[str], body: str) -> tuple[str, Any] | None:
    tool = opening["function"] or opening["invoke"]
    if tool is not None:
        return tool.strip(), _parameters(body)
    if inner := _OPENING.match(body.lstrip()):
        return _call(inner, body.lstrip()[inner.end() :]) if inner.group() != "<tool_call>" else None
    match parsed(body.strip()):
        case {"name": str(name), "arguments": arguments} | {"name": str(name), "parameters": arguments}:
            return name, arguments
        case {"name": str(name)}:
            return name, {}
    return None


def _parameters(body: str) -> dict[str, str]:
    found: dict[str, str] = {}
    at = 0
    while opening := _PARAMETER.search(body, at):
        value, at = _inside(body, opening.end(), "</parameter>")
        found[opening["plain"] or opening["quoted"]] = value.strip("\n")
    return found
