"""Prose into sentences, as positions: what people wrote, not what they pasted.

Fenced code and lines that look like code, logs, tables or bare paths are left out. A bullet is its text; a line that
was wrapped goes on in the next one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE = re.compile(r"[^\n]+")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_MARKER = re.compile(
    r"\s*(?:>\s?)*\s*(?:(?:[-*+\u2022\u2013·]|#{1,6}|\(?\d{1,3}[.)]|[a-zA-Z][.)])\s+)?(?:\[[ xX]\]\s+)?"
)
_NOT_PROSE = re.compile(
    r"""\s*(?:
        \$\ | >>>\ | \.\.\.\ | [|{}\\)\]] | // | /\* | \*/ | <[!/?\w][^>]*>\s*$ | @@ | \+\+\+ | ---\ | ```
      | \d+\s*(?:\t|→|\|) | \#(?:include|define|!) | \#\ [a-z] | (?<=[ \t]{2})\#
      | (?:import|from|def|class|return|const|let|var|function|public|private|static|package|using)\ .*[;:({)]\s*$
      | (?:elif|else:|try:|assert|raise|throw)\b | (?:if|for|while|switch|print|printf|echo)\s*\(
      | (?:import|from)\ [\w.]+(?:\s+import\b.*)?$
      | \[?\d{4}[-/]\d\d[-/]\d\d | \[?\d\d:\d\d(?::\d\d)? | \[?[A-Z][a-z]{2}\ +\d{1,2}\ \d\d:\d\d
      | \[?(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL|CRITICAL|SEVERE)\b
      | \[?(?=[^\s:]{0,200}[./\\])[\w./\\-]{1,200}+:\d+\b | at\ [\w.$<>]+\( | File\ "
      | Traceback | diff\ --git | E\ {2,} | [\w.]*(?:Error|Exception|Warning)\b\s*: | "[\w-]+"\s*:
    )""",
    re.VERBOSE,
)
"""Starts of lines that nobody writes as prose: prompts, tables, diffs, statements, log levels, tracebacks, JSON."""
_SYMBOL = re.compile(r"[{}<>=;|\\$^~&\[\]\"]")
_MENTION = re.compile(
    r"`[^`\n]*`|</?[A-Za-z][^<>\n]{0,60}>|\$\s?\d|€\s?\d|£\s?\d"
)  # each begins with a sign of its own
_WORD = re.compile(
    r"(?<!\S)[\"'“«(\[*_¿¡\u2014\u2013-]*[^\W\d_]++(?:['\u2019-][^\W\d_]++)*+[.,;:!?)\]\"'”»*_\u2014\u2013…]*+(?!\S)"
)
_END = re.compile(
    r"[.!?…](?<![.!?…]{2})"  # the first of some; this way round it is searched for quickly
    r"(?:[.!?…]*+[\"'\u2019”»)\]*_`]*(?=\s+[\"'“«(\[*_`]*[A-ZÀ-Þ0-9¿¡])|(?<=[!?…])[!?…]*+(?=\s))"
)
_ABBREVIATIONS = frozenset({
    "e.g", "i.e", "etc", "vs", "cf", "dr", "mr", "mrs", "ms", "fig", "approx", "inc", "ltd", "resp", "max", "min",
    "z.b", "d.h", "u.a", "bzw", "usw", "ca", "vgl", "p.ej", "ej", "sr", "sra", "pág", "p.ex", "ex", "st", "nr", "núm",
    "art", "al",
})  # fmt: skip
"""Words before a full stop that ends no sentence, in the five languages."""
_WRAPPED = 45
"""A line shorter than this was ended on purpose, not wrapped."""
_LONGEST_PARAGRAPH = 2_000
"""Characters after which wrapped lines are no longer put together."""
_LONGEST_LINE = 5_000
"""Characters of a line that people write; longer ones are data."""


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """The sentences of ``text`` in order, as disjoint ranges: ``text[start:end]`` is one, without blanks round it."""
    for start, end in _paragraphs(text):
        yield from _split(text, start, end)


def is_prose(line: str) -> bool:
    """Whether a line looks like something a person wrote: mostly plain words, few symbols of code."""
    if len(line) > _LONGEST_LINE or _NOT_PROSE.match(line):
        return False
    bare = _MENTION.sub(" x ", line)
    tokens = bare.split()
    if len(tokens) < 2 or len(_SYMBOL.findall(bare)) > max(2, len(line) // 16):
        return False
    # letters alone are a word for sure, and are mostly enough of them
    return sum(map(str.isalpha, tokens)) * 2 >= len(tokens) or len(_WORD.findall(bare)) * 2 >= len(tokens)


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Bullets, lines, and wrapped lines put together again; without fenced code and lines that are not prose."""
    fenced, start, end = False, -1, -1
    for line in _LINE.finditer(text):
        raw = line[0]
        if _FENCE.match(raw):
            fenced = not fenced
        prose = not fenced and is_prose(raw)
        if start >= 0 and not (prose and _goes_on(text, start, end, line.start(), raw)):
            yield start, end
            start = -1
        if prose:
            if start < 0:
                marker = _MARKER.match(raw)
                start = line.start() + (marker.end() if marker else 0)
            end = line.end()
    if start >= 0:
        yield start, end


def _goes_on(text: str, start: int, end: int, following: int, raw: str) -> bool:
    """Whether a line carries on the sentence before it: that one is long and open, this one starts in lower case."""
    return (
        following == end + 1
        and raw.lstrip()[:1].islower()
        and end - start <= _LONGEST_PARAGRAPH
        and end - max(start, text.rfind("\n", start, end)) >= _WRAPPED
        and not text.endswith((".", "!", "?", ":", ";", "…", ".\r", ":\r"), start, end)
    )


def _split(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """At full stops before a capital, and at any exclamation or question mark; not after abbreviations and initials."""
    begin = start
    for stop in _END.finditer(text, start, end):
        before = text[max(begin, stop.start() - 12) : stop.start()].rsplit(None, 1)
        word = before[-1].strip("(\"'").lower() if before else ""
        if stop[0].startswith(".") and (word in _ABBREVIATIONS or (len(word) == 1 and word.isalpha())):
            continue
        yield from _trimmed(text, begin, stop.end())
        begin = stop.end()
    yield from _trimmed(text, begin, end)


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    raw = text[start:end]
    left = len(raw) - len(raw.lstrip())
    if left < len(raw):
        yield start + left, end - (len(raw) - len(raw.rstrip()))
