"""JSON: the keys on top with their values where they are short, the length of lists."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from ctxbudget.digests._parts import Lines, Names, Phrase
from ctxbudget.digests._passage import Passage
from ctxbudget.digests._sketch import Sketch
from ctxbudget.digests._wording import LEAST, clip, flat, several
from ctxbudget.resources import EDIT, SEARCH

if TYPE_CHECKING:
    from ctxbudget.digests._observed import Observed
    from ctxbudget.digests._parts import Part

SUREST = 0.8
_BEGINS = re.compile(r"\s*[{\[]")
_MOST = 30_000_000
"""Characters that are parsed; longer text is told by its ends."""
_VALUE = 60
_ROOMY_VALUE = 240
_NAMED = 40
_MOST_KEYS = 100
_INNER = 6
"""Keys and items of inner values shown."""
_FIRST = ("error", "errors", "message", "status", "state", "code", "ok", "success")
"""Keys that say how it went stand first."""
_NAMES = ("name", "title", "subject", "label", "path", "id", "key", "url")
"""Keys by which items are called."""


def score(seen: Observed) -> float:
    """Where the text begins and ends like an object or a list."""
    if not seen.answers or seen.cls in {EDIT, SEARCH} or not _BEGINS.match(seen.head):
        return 0.0
    return 0.8 if seen.tail.rstrip()[-1:] in {"}", "]"} else 0.0


def sketch(seen: Observed) -> Sketch:
    """What the top of the value holds."""
    return of(seen, parsed(seen.text))


def of(seen: Observed, value: Any) -> Sketch:
    """A sketch of a parsed value; of the text where it is none (None)."""
    match value:
        case dict() if value:
            return Sketch(tuple(_object(value, seen)))
        case [dict() as only] if only:
            return Sketch((Phrase(several(1, "item")), *_object(only, seen)))
        case list():
            return Sketch((Phrase(several(len(value), "item")), *_items(value, seen)))
    return Sketch((Passage(seen.text),))


def parsed(text: str) -> Any:
    """The value, its numbers as they are written; None where the text is not JSON."""
    if len(text) > _MOST:
        return None
    try:
        return json.loads(text, parse_int=_Written, parse_float=_Written, parse_constant=_Written)
    except (ValueError, RecursionError):
        return None


class _Written(str):
    """A number as the text has it: 240.00 stays 240.00."""

    __slots__ = ()


def _object(value: dict[str, Any], seen: Observed) -> list[Part]:
    keys = sorted(value, key=lambda key: (_repeats(value[key], seen.target), key not in _FIRST))
    news = sum(not _repeats(item, seen.target) for item in value.values())
    longest = max(_ROOMY_VALUE if seen.roomy else _VALUE, 4 * seen.cap // max(news, 1))
    told = [f"{clip(flat(key), _NAMED) or 'key'}: {brief(value[key], longest)}" for key in keys[:_MOST_KEYS]]
    if seen.roomy:
        return [*([Phrase(several(len(value), "key"))] if len(value) > _INNER else []), Lines(told)]
    return [Names(told, total=len(value))]


def _repeats(value: Any, target: str) -> bool:
    """Whether a value only says again what the call asked for."""
    return isinstance(value, str) and len(value) > 2 and value in target


def _items(value: list[Any], seen: Observed) -> list[Part]:
    longest = _ROOMY_VALUE if seen.roomy else _VALUE
    told = [brief(item, longest) for item in value[:_MOST_KEYS]]
    lines = seen.roomy and any(isinstance(item, dict) for item in value[:1])
    return [Lines(told) if lines else Names(told, total=len(value))] if told else []


def brief(value: Any, longest: int = _VALUE) -> str:
    """A value in about ``longest`` characters: text as it is, of a list its length and what its items are called."""
    match value:
        case str():
            return clip(flat(value), longest) or "text"
        case bool() | None:
            return {True: "true", False: "false", None: "null"}[value]
        case dict() if value:
            return _brief_object(value, longest)
        case list() if value:
            return _brief_list(value, longest)
    return "empty"


def _brief_object(value: dict[str, Any], longest: int) -> str:
    told, room = list[str](), longest
    for key, item in list(value.items())[:_INNER]:
        piece = f"{clip(flat(key), _NAMED)}: {_scalar(item, max(longest // 2, LEAST))}"
        if told and len(piece) > room:
            break
        told.append(piece)
        room -= len(piece) + 2
    return "{" + ", ".join(told) + (", …" if len(told) < len(value) else "") + "}"


def _brief_list(value: list[Any], longest: int) -> str:
    length = several(len(value), "item")
    if len(value) == 1 and isinstance(value[0], dict):
        return f"{length} {_brief_object(value[0], longest)}" if value[0] else length
    told, room = list[str](), longest - len(length)
    for item in value[:_MOST_KEYS]:
        name = _scalar(_called(item), max(longest // 2, LEAST))
        if len(name) > room:
            break
        told.append(name)
        room -= len(name) + 2
    return f"{length} ({'; '.join(told)}{'; …' if len(told) < len(value) else ''})" if told else length


def _called(item: Any) -> Any:
    """What an item of a list is called: its name, else the first line of its first text."""
    if not isinstance(item, dict):
        return item
    named = next((item[key] for key in _NAMES if type(item.get(key)) is str), None)
    text = named or next((value for value in item.values() if type(value) is str and value.strip()), None)
    return text.strip().partition("\n")[0] if text else next(iter(item.values()), None)


def _scalar(value: Any, longest: int) -> str:
    """A value inside a value: of lists and objects only how much they hold."""
    match value:
        case dict():
            return several(len(value), "key")
        case list():
            return several(len(value), "item")
    return brief(value, longest)
