"""The part of a text that earlier context points at: windows of lines round the places where its strings stand."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxbudget.digests._wording import whole_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

AROUND = 2
"""Lines shown on either side of a place."""
_MOST = 64
"""Hints looked at; those given last are the newest."""
_SHORTEST = 3
_SCANNED = 400_000
"""Characters in which places are looked for."""
_COMMON = 20
"""A string found more often than this points at nothing."""
_PLACE = re.compile(r"([^\s:\"'(]+):(\d{1,7})\Z")


@dataclass(frozen=True, slots=True)
class Window:
    """Consecutive lines: the number of the first, and the lines."""

    first: int
    lines: tuple[str, ...]


def windows(text: str, hints: Sequence[str], target: str = "", first: int = 1) -> list[Window]:
    """Windows in order of the text. A hint is a string that the text may hold, or ``path:line`` of the target.

    What few places hold points best, so rare strings come first when windows are many; they never overlap.
    """
    text = whole_lines(text, _SCANNED)
    scanned = text.split("\n")
    wanted: dict[int, None] = {}
    for places in sorted(_places(text, hints, target, first), key=len):
        wanted.update(dict.fromkeys(places))
    return _merged([line for line in wanted if 0 <= line < len(scanned)][:_COMMON], scanned, first)


def _places(text: str, hints: Sequence[str], target: str, first: int) -> Iterator[list[int]]:
    """For each hint the indexes of the lines that it points at, at most ``_COMMON``."""
    for hint in dict.fromkeys(hints[-_MOST:]):
        place = _PLACE.match(hint)
        if place and target and target.endswith(place[1].rpartition("/")[2]):
            yield [int(place[2]) - first]
        elif len(hint.strip()) >= _SHORTEST and hint not in target:
            found = _lines_with(text, hint.strip())
            if 0 < len(found) <= _COMMON:
                yield found


def _lines_with(text: str, hint: str) -> list[int]:
    found, at, line, seen = list[int](), text.find(hint), 0, 0
    while at >= 0 and len(found) <= _COMMON:
        line += text.count("\n", seen, at)
        seen = at
        if not found or found[-1] != line:
            found.append(line)
        at = text.find(hint, at + len(hint))
    return found


def _merged(wanted: list[int], lines: list[str], first: int) -> list[Window]:
    """Windows round the wanted lines; those that touch become one."""
    spans: list[list[int]] = []
    for line in sorted(wanted):
        low, high = max(0, line - AROUND), min(len(lines), line + AROUND + 1)
        if spans and low <= spans[-1][1]:
            spans[-1][1] = high
        else:
            spans.append([low, high])
    return [Window(first + low, tuple(lines[low:high])) for low, high in spans]
