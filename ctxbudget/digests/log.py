"""A log: how many lines and errors, and the lines round each kind of error; without any, its first and last line."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from ctxbudget.digests._parts import Lines, Phrase
from ctxbudget.digests._sketch import Sketch
from ctxbudget.digests._wording import number, several
from ctxbudget.resources import EDIT, LIST, SEARCH, TEST, WRITE

if TYPE_CHECKING:
    from ctxbudget.digests._observed import Observed
    from ctxbudget.digests._parts import Part

SUREST = 0.88
_NEVER = frozenset({SEARCH, LIST, EDIT, WRITE, TEST})
_STAMPED = re.compile(
    r"\s*\[?(?:\d{4}[-/]\d\d[-/]\d\d[T _,]\d\d:\d\d|\d\d:\d\d:\d\d\b|(?:\d\d-\d\d|[A-Z][a-z]{2} +\d{1,2}) \d\d:\d\d"
    r"|\d{10}(?:\.\d+)?\b)"
    r"|\S+ \S+ \S+ \[\d\d/[A-Z][a-z]{2}/\d{4}"
    r"|\s*\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b"
    r"|\{\"(?:time|ts|timestamp|level)\":"
)
"""How lines of logs begin: a date and a time, a web server's, a level, JSON."""
_LEVEL = re.compile(
    r"(?:\b(ERROR|FATAL|CRITICAL|SEVERE|PANIC|WARN(?:ING)?)"
    r"|(?:\[|level=|\"level\": ?\")(error|fatal|critical|panic|warn(?:ing)?))\b[^\n]*"
)
_SEVERE = re.compile(
    r"^[^\n]*?(?:\b(?:ERROR|FATAL|CRITICAL|SEVERE|PANIC)\b|\[(?:error|critical|fatal)\]|\"level\": ?\"(?:error|fatal)\""
    r"|\b[A-Z]\w*(?:Error|Exception)\b|^Traceback|\blevel=(?:error|fatal))[^\n]*$",
    re.MULTILINE,
)
_VARIES = re.compile(r"[\w.:-]*\d[\w.:-]*")
"""Words with digits in them: times, ids, counts."""
_STAMP = re.compile(r"\s*\[?\d[\d:.,TZ/+ -]{7,40}\]?[ \t]+")
_AROUND = 2
"""Lines on either side of an error: five lines for each."""
_KINDS = 12
"""Kinds of errors shown at most."""


def score(seen: Observed) -> float:
    """Where most of the first lines begin like lines of a log."""
    if not seen.answers or seen.cls in _NEVER or len(seen.top) < 3:
        return 0.0
    stamped = len(list(filter(None, map(_STAMPED.match, seen.top))))
    if stamped * 2 >= len(seen.top):
        return 0.88
    return 0.7 if seen.suffix == ".log" else 0.0


def sketch(seen: Observed) -> Sketch:
    """Counts by level; then for each kind of error the lines round its first place."""
    levels = _levels(seen.text)
    counts = [f"{number(count)} {level}" for level, count in levels.items()]
    parts: list[Part] = [Phrase(several(seen.lines, "line")), *([Phrase(", ".join(counts))] if counts else [])]
    if seen.cut:
        parts.append(Phrase("cut by the tool"))
    parts += _errors(seen)
    return Sketch((*parts, *([] if _SEVERE.search(seen.text) else [_ends(seen)])))


def _errors(seen: Observed) -> list[Lines]:
    """Each kind of error once: with room five lines and their number, else the line without its time."""
    told, shown = list[Lines](), -1
    for first, times in _kinds(seen.text):
        line_at = seen.text.count("\n", 0, first)
        if not seen.roomy:
            told.append(Lines([_STAMP.sub("", line, count=1) for line in _round(seen.text, first, 0)]))
        elif line_at > shown:
            again = f" ({number(times)} times)" if times > 1 else ""
            heading = f"line {number(line_at + (seen.first or 1), '')}{again}:"
            told.append(Lines(_round(seen.text, first, _AROUND), heading))
            shown = line_at + _AROUND
    return told


def _levels(text: str) -> dict[str, int]:
    """Lines of each level that calls for attention, a line counted once."""
    found = Counter((upper or lower).upper() for upper, lower in _LEVEL.findall(text))
    found["WARN"] = found.pop("WARNING", 0) + found.pop("WARN", 0)
    return {level: count for level, count in found.most_common() if count}


def _kinds(text: str) -> list[tuple[int, int]]:
    """Where each kind of error stands first, and how often it comes; numbers and ids do not make a kind."""
    kinds: dict[str, list[int]] = {}
    for match in _SEVERE.finditer(text):
        kinds.setdefault(_VARIES.sub("#", match[0][:300]), []).append(match.start())
    return [(places[0], len(places)) for places in list(kinds.values())[:_KINDS]]


def _round(text: str, at: int, around: int) -> list[str]:
    """The line at a place and ``around`` lines on either side."""
    start = at
    for _ in range(around):
        start = text.rfind("\n", 0, max(start - 1, 0)) + 1
    end = text.find("\n", at)
    for _ in range(around):
        end = text.find("\n", end + 1) if end >= 0 else -1
    return [
        line.strip() if not around else line.rstrip() for line in text[start : end if end >= 0 else None].split("\n")
    ]


def _ends(seen: Observed) -> Lines:
    """The first and the last line."""
    first, last = seen.text.strip().partition("\n")[0], seen.text.rstrip().rpartition("\n")[2]
    return Lines([first, last] if first != last else [first])
