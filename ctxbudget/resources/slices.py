"""Which lines of its input a command passes on: ``head``, ``tail``, ``sed -n``, ``awk 'NR…'`` and their kind.

A span is first and last line, 1-based. Negative numbers count from the end: (-20, -1) is the last twenty lines,
(10, -1) is from line ten on.
"""

from __future__ import annotations

import re
from itertools import pairwise

Span = tuple[int, int]

_COUNTED = re.compile(r"-(?:n|-lines=)?(\+?\d{1,9})\Z")
_SED = re.compile(r"\s*(\d{1,9})\s*(?:,\s*(\+?\d{1,9}|\$))?\s*p\s*;?\s*(?:\d+\s*q\s*)?;?\s*\Z")
_SED_QUIT = re.compile(r"\s*(\d{1,9})\s*q\s*\Z")
_AWK = re.compile(r"\s*NR\s*(?:>=|==)\s*(\d{1,9})\s*(?:&&|,)\s*NR\s*(?:<=|==)\s*(\d{1,9})\b")
_DEFAULT = 10
"""Lines of ``head`` and ``tail`` without a number (POSIX)."""


def cut(name: str, words: list[str]) -> tuple[Span, list[str]] | None:
    """The lines that the command lets through and the files it names; None where it is not such a command."""
    if name in {"head", "tail"}:
        return _head(name, words)
    if name == "sed":
        return _sed(words)
    if name in {"awk", "gawk"}:
        return _awk(words)
    if name in {"select-object", "select"}:
        return _select(words)
    return None


def _head(name: str, words: list[str]) -> tuple[Span, list[str]] | None:
    count, files, skip = str(_DEFAULT), list[str](), False
    for place, word in enumerate(words):
        if skip:
            skip = False
        elif word in {"-n", "--lines"} and place + 1 < len(words):
            count, skip = words[place + 1].removeprefix("-"), True
        elif hit := _COUNTED.match(word):
            count = hit[1]
        elif word.startswith(("-c", "--bytes")):
            return None
        elif not word.startswith("-"):
            files.append(word)
    number = _positive(count.removeprefix("+"))
    if number is None:
        return None
    if name == "head":
        return (1, number), files
    return ((number, -1) if count.startswith("+") else (-number, -1)), files


def _positive(text: str) -> int | None:
    return int(text) or 1 if text.isascii() and text.isdecimal() and len(text) < 10 else None


def _sed(words: list[str]) -> tuple[Span, list[str]] | None:
    options = [word for word in words if word.startswith("-") and len(word) > 1]
    if any(word.startswith(("-i", "--in-place")) for word in options):
        return None
    rest = [word for word in words if word not in options]
    if not rest:
        return None
    if quits := _SED_QUIT.match(rest[0]):
        return (1, int(quits[1])), rest[1:]
    hit = _SED.match(rest[0]) if any("n" in word for word in options) else None
    if hit is None:
        return None
    low = int(hit[1]) or 1
    last = hit[2] or hit[1]
    high = -1 if last == "$" else low + int(last) if last.startswith("+") else max(int(last), low)
    return (low, high), rest[1:]


def _awk(words: list[str]) -> tuple[Span, list[str]] | None:
    hit = _AWK.match(words[0]) if words else None
    return None if hit is None else ((int(hit[1]), int(hit[2])), words[1:])


def _select(words: list[str]) -> tuple[Span, list[str]] | None:
    """PowerShell: ``Select-Object -First 20``, ``-Last 20``, ``-Skip 10``."""
    given = {word.lower(): _positive(value) for word, value in pairwise(words)}
    if last := given.get("-last"):
        return (-last, -1), []
    skipped = given.get("-skip") or 0
    if count := given.get("-first"):
        return (skipped + 1, skipped + count), []
    return ((skipped + 1, -1), []) if skipped else None


def narrow(span: Span | None, lines: Span) -> Span:
    """The lines of the file that remain where ``lines`` of ``span`` are passed on (None: the whole file)."""
    if span is None:
        return lines
    low, high = span
    if lines[0] < 0:
        length = -lines[0]
        return (max(low, high - length + 1) if (low > 0) == (high > 0) else -length), high
    first = low + lines[0] - 1 if low > 0 else min(low + lines[0] - 1, -1)
    if lines[1] < 0:
        return first, high
    last = low + lines[1] - 1
    return first, (last if high < 0 < low else min(high, last))
