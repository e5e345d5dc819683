"""The arguments of a call, read from its text: JSON behind the tool's name, or tags as text-mode agents write them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from ctxbudget.trace import Fragment

_DEEPEST = 6
_KEY = re.compile(r"[\W_]+")
_PARAMETER = re.compile(r'<parameter(?:=| name=")(?P<name>[^<>"\n]{1,100})"?>')
_TAG = re.compile(r"<(?P<name>\w{1,100})>")


def arguments(call: Fragment) -> Mapping[str, Any] | str:
    """What the call was given; raw text where it is neither JSON nor tags."""
    shown = call.text.removeprefix(f"{call.tool} ") if call.tool else call.text
    if shown.startswith("<"):
        return _tagged(shown, call.tool or "") or shown
    given = _parsed(shown) if shown.startswith("{") else None
    return given if isinstance(given, dict) else shown


def _parsed(text: str) -> Any:
    """JSON as data, None where it is none. Lone surrogates, which orjson refuses, go to the standard parser."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return None


def _tagged(text: str, tool: str) -> Mapping[str, Any] | None:
    """``<tool_call>{json}</tool_call>``, ``<parameter=name>``, or one tag for each argument inside the tool's own."""
    if text.startswith("<tool_call>") and "{" in text:
        given = _parsed(text[text.index("{") : text.rindex("}") + 1])
        inner = given.get("arguments", given.get("parameters")) if isinstance(given, dict) else None
        inner = _parsed(inner) if isinstance(inner, str) else inner
        return inner if isinstance(inner, dict) else None
    if "<parameter" in text:
        return _pairs(text, 0, _PARAMETER, "</parameter>")
    return _pairs(text, len(tool) + 2, _TAG, "</{}>") if text.startswith(f"<{tool}>") else None


def _pairs(text: str, at: int, opening: re.Pattern[str], closing: str) -> dict[str, str]:
    found: dict[str, str] = {}
    while (hit := opening.search(text, at)) is not None:
        end = text.find(closing.format(hit["name"]), hit.end())
        at = len(text) if end < 0 else end
        found[hit["name"]] = text[hit.end() : at].strip("\n")
    return found


def folded(given: Mapping[str, Any]) -> dict[str, Any]:
    """The same under keys without case and separators: ``old_string``, ``oldString`` → ``oldstring``."""
    return {_KEY.sub("", str(key)).lower(): value for key, value in given.items()}


def objects(value: Any, depth: int = _DEEPEST) -> Iterator[dict[str, Any]]:
    """Every object in the arguments, outermost first, under folded keys."""
    if isinstance(value, Mapping):
        here = folded(value)
        yield here
        value = list(here.values())
    if isinstance(value, list) and depth:
        for item in value:
            yield from objects(item, depth - 1)


def leaves(value: Any, key: str = "", depth: int = _DEEPEST) -> Iterator[tuple[str, str]]:
    """Every string and number of the arguments with its folded key, as the call's text shows it."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield key, repr(value)
    elif isinstance(value, Mapping) and depth:
        for name, item in folded(value).items():
            yield from leaves(item, name, depth - 1)
    elif isinstance(value, list) and depth:
        for item in value:
            yield from leaves(item, key, depth - 1)
