"""The bytes of one line, or of one document → its JSON values: glued ones told apart, depth bounded, nothing raised.

orjson reads what is regular. What it refuses (a lone surrogate, NaN, glued values, damage) goes to the standard
parser, whose values are then made safe: U+FFFD for lone surrogates, floats for integers beyond 64 bits.
"""

from __future__ import annotations

import codecs
import json
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import orjson

MAX_DEPTH = 200
"""Levels of nesting a value may have. Real records have some 20; orjson writes 254, Python recurses 1,000 deep."""
MAX_TRIES = 1000
"""Places of a damaged line where a whole record is looked for."""

SHORT = 2 * MAX_DEPTH
"""A text of so many bytes cannot be nested deeper than ``MAX_DEPTH``."""

_PADDING = b" \t\r\n\0\x1e"  # NUL: what a crash leaves; RS: JSON text sequences (RFC 7464)
_SKIP = re.compile("[ \t\r\n\0\x1e\ufeff]*")
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},]')
_CLOSING = {"{": "}", "[": "]"}
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Found:
    """What a text holds: whole ``values`` with their offsets in it, then from ``end`` on what is none (``rest``).

    ``fault`` is where the parser gave up and ``reason`` why; ``invalid`` says that some bytes were not UTF-8.
    """

    text: str
    values: tuple[tuple[Any, int], ...] = ()
    end: int = 0
    fault: int = 0
    reason: str = ""
    invalid: bool = False

    @property
    def breaks_off(self) -> bool:
        """The rest begins like an object or array."""
        return self.text[self.end : self.end + 1] in {"{", "["}

    @property
    def rest(self) -> str:
        """Text that is no whole value; empty where everything was read."""
        return self.text[self.end :]


def is_blank(raw: bytes) -> bool:
    """Whether there is nothing but spaces, line ends, NUL padding and a byte order mark."""
    return not raw.removeprefix(codecs.BOM_UTF8).strip(_PADDING)


def find(raw: bytes) -> Found:
    """The values in a line or a document; none, and no rest, if it is blank."""
    raw = raw.removeprefix(codecs.BOM_UTF8).strip(_PADDING)
    if not raw:
        return Found("")
    with suppress(orjson.JSONDecodeError):
        data = orjson.loads(raw)
        if not is_deep(raw, data):
            return Found("", ((data, 0),))
    try:
        return find_all(raw.decode())
    except UnicodeDecodeError:
        return find_all(raw.decode(errors="replace"), invalid=True)


def find_document(raw: bytes, first: int) -> Found | None:
    """The values of a text whose first line, of ``first`` bytes, holds none; None if it is JSON Lines all the same.

    It is one document if it parses, or if it has more lines and the second is no record of its own. Of a document
    that is cut off or damaged, what is whole before that place is the last value.
    """
    found = find(raw)
    if not found.rest:
        return found
    more = raw[first:].lstrip(_PADDING)
    if not more or (not found.values and _is_record(more.partition(b"\n")[0])):
        return None
    saved = salvage(found)
    values = found.values if saved is None else (*found.values, (saved, found.end))
    return replace(found, values=values) if values else None


def _is_record(line: bytes) -> bool:
    values = find(line).values
    return bool(values) and isinstance(values[0][0], dict)


def find_all(text: str, start: int = 0, *, invalid: bool = False) -> Found:
    """The objects and arrays that stand one after another in ``text`` from ``start`` on."""
    values: list[tuple[Any, int]] = []
    while True:
        start = _end_of_padding(text, start)
        fault, reason = start, "no object or array"
        if start == len(text):
            return Found(text, tuple(values), start, start, "", invalid)
        try:
            value, end = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            fault, reason = error.pos, error.msg
        except RecursionError:
            reason = f"nested deeper than {MAX_DEPTH} levels"
        else:
            if isinstance(value, dict | list) and not _too_deep(value):
                values.append((_safe(value), start))
                start = end
                continue
        return Found(text, tuple(values), start, fault, reason, invalid)


def resume(found: Found, last: Any) -> list[Any]:
    """Whole records behind the damage: they reach the end of the text, and the first is like ``last``.

    A writer that was killed and started again leaves half a record and a whole one on one line. Pieces inside the
    half record are no records: something follows them, or they have other keys.
    """
    known = last if isinstance(last, dict) else {}
    keys = "|".join(map(re.escape, known)) or r'[^"\\]*'
    for opening in islice(re.finditer(r'\{\s*"(?:' + keys + '")', found.text[found.end + 1 :]), MAX_TRIES):
        more = find_all(found.text, found.end + 1 + opening.start())
        if more.values and not more.rest and _alike(more.values[0][0], known):
            return [value for value, _ in more.values]
    return []


def salvage(found: Found) -> Any:
    """The value that breaks off at ``found.fault``, up to there; None where nothing of it is whole.

    It is cut behind the last whole element of its outermost unfinished array (of its outermost unfinished object,
    where no array is open), and closed: half a message is left out, every whole one before it is kept.
    """
    levels: list[tuple[str, int]] = []  # what closes it, and its latest comma
    for token in _TOKEN.finditer(found.text, found.end, found.fault):
        mark = token.group()
        if mark in _CLOSING:
            levels.append((_CLOSING[mark], -1))
        elif mark in "]}" and levels:
            levels.pop()
        elif mark == "," and levels:
            levels[-1] = (levels[-1][0], token.start())
    cuts = sorted((closing == "}", depth) for depth, (closing, comma) in enumerate(levels) if comma >= 0)
    if not cuts:
        return None
    depth = cuts[0][1]
    closed = "".join(closing for closing, _ in reversed(levels[: depth + 1]))
    whole = find_all(found.text[found.end : levels[depth][1]] + closed)
    return whole.values[0][0] if whole.values else None


def _alike(value: Any, known: dict[str, Any]) -> bool:
    return isinstance(value, dict) and (not known or 2 * len(value.keys() & known.keys()) > len(value))


def is_deep(raw: bytes, data: Any) -> bool:
    """Whether ``data``, parsed from ``raw``, has more than ``MAX_DEPTH`` levels; few brackets spare the walk."""
    return len(raw) > SHORT and raw.count(b"{") + raw.count(b"[") > MAX_DEPTH and _too_deep(data)


def _too_deep(data: Any) -> bool:
    level = [data] if isinstance(data, dict | list) else []
    for _ in range(MAX_DEPTH):
        level = [
            child
            for node in level
            for child in (node.values() if type(node) is dict else node)
            if type(child) is dict or type(child) is list
        ]
        if not level:
            return False
    return True


def _safe(value: Any) -> Any:
    """The same value with U+FFFD in place of every lone surrogate, so that it can be encoded."""
    match value:
        case str():
            return _SURROGATE.sub("\ufffd", value)
        case dict():
            return {_safe(key): _safe(item) for key, item in value.items()}
        case list():
            return [_safe(item) for item in value]
    return value


def _integer(digits: str) -> int | float:
    """As orjson does: an integer beyond 64 bits becomes a float (and 400 digits infinity)."""
    number = int(digits) if len(digits) <= 20 else 1 << 64
    return number if -(1 << 63) <= number < 1 << 64 else float(digits)


def _end_of_padding(text: str, start: int) -> int:
    found = _SKIP.match(text, start)
    return found.end() if found else start


_DECODER = json.JSONDecoder(parse_int=_integer)
