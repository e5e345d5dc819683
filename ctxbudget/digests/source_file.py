"""A file that was read: how long it is and what it defines; with room the part that matters, else its outline."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from ctxbudget.digests._languages import LANGUAGES, PROSE
from ctxbudget.digests._observed import HEAD
from ctxbudget.digests._parts import Ends, Lines, Names, Phrase, Prose
from ctxbudget.digests._relevant import windows
from ctxbudget.digests._sketch import Sketch
from ctxbudget.digests._wording import beginning, clip, flat, number, several
from ctxbudget.resources import READ

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.digests._languages import Language
    from ctxbudget.digests._observed import Observed
    from ctxbudget.digests._parts import Part

_FLAG = re.compile(
    r"^[ \t]*(?:export )?(?:const )?([A-Za-z_]\w*)[ \t]*(?::[ \t]*\w+[ \t]*)?"
    r"[:=][ \t]*(?:[Tt]rue|[Ff]alse)\b[,;]?[ \t]*(?:[#/].*)?$",
    re.MULTILINE,
)
_FEW_FLAGS = 3
"""From so many on, switches are counted apart from other names."""
_MARKUP = re.compile(r"^(?:#.*|={3,}|-{3,})$", re.MULTILINE)
_TELLING = 4
"""Lines from which an outline says enough."""
_OUTLINE = 60
"""Lines of an outline at most."""
_LONGEST_NAME = 80
_SHORT = 20
"""Characters before which a full stop does not end a sentence."""
_DOC = re.compile(
    r"\s*(?:#![^\n]*\n)?\s*(?:[rR]?\"\"\"|'''|/\*\*?|//[/!]?|#+|--|;+|@moduledoc \"\"\")"
    r"[ \t]*\n?[ \t*]*(\w[^\n]{8,200})"
)


def score(seen: Observed) -> float:
    """Sure where a reading tool brought in a file of a known language; a read at all otherwise."""
    if seen.cls != READ:
        return 0.0
    return 0.95 if seen.suffix in LANGUAGES else 0.6


def sketch(seen: Observed) -> Sketch:
    """Lines, names; with room a window round each place that hints point at, or the lines that define something."""
    language = LANGUAGES.get(seen.suffix, PROSE)
    parts: list[Part] = [Phrase(several(seen.lines, "line"))]
    names = list(_names(seen.text, language))
    if names:
        parts += _named(seen.text, names, language)
    parts += _shown(seen, language) if seen.roomy else _opening(seen, bool(names), language)
    return Sketch(tuple(parts), detail=_lines(seen))


def asked_lines(seen: Observed) -> str:
    """Which lines the call asks for; empty for a whole file."""
    span = seen.fragment.resource.span if seen.fragment.resource is not None else None
    if span is None or seen.cls != READ:
        return ""
    low, high = (number(abs(end), "") for end in span)
    if span[1] < 0:
        return f"last {low} lines" if span[0] < 0 and span[1] == -1 else f"from line {low}" if span[0] > 0 else ""
    return f"lines {low}-{high}"


def _lines(seen: Observed) -> str:
    """Which lines of the file these are, by their own numbers where they came with them."""
    asked = asked_lines(seen)
    if seen.first is None or (seen.first == 1 and not asked):
        return asked
    return f"lines {number(seen.first, '')}-{number(seen.first + max(seen.lines, 1) - 1, '')}"


def _names(text: str, language: Language) -> Iterator[str]:
    """Everything defined, each once, in order; what stands inside where nothing stands outside."""
    found = dict.fromkeys(_found(language.outer, text))
    if not found and language.inner is not None:
        found = dict.fromkeys(_found(language.inner, text))
    yield from (name for name in found if name)


def _found(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    for match in pattern.finditer(text):
        yield clip(flat(match[match.lastindex or 0]).strip("\"'`"), _LONGEST_NAME)


def _named(text: str, names: list[str], language: Language) -> list[Part]:
    """The names; three or more switches among them are counted behind the others."""
    switches = set(_FLAG.findall(text)) if language is not PROSE else set()
    flags = [name for name in names if name in switches]
    if len(flags) < _FEW_FLAGS:
        return [Names(names, before=f"{language.verb} ", share=0.8)]
    others = [name for name in names if name not in switches]
    counted = Names(flags, before=f"{several(len(flags), 'flag')}: ")
    return [Names(others, before=f"{language.verb} ", share=0.5), counted] if others else [counted]


def _opening(seen: Observed, named: bool, language: Language) -> list[Part]:
    """What the file says of itself, or its text where nothing has a name."""
    if named and language is not PROSE:
        said = _DOC.match(seen.head)
        return [Prose(_sentence(flat(said[1])), before="about: ")] if said else []
    if named:
        body = beginning(_MARKUP.sub("", seen.text[: 2 * HEAD]), HEAD)
        return [Prose(body)] if body else []
    return [Prose(seen.text, tail=True)]


def _sentence(text: str) -> str:
    """The first sentence, without the marks that end a comment."""
    end = text.find(". ", _SHORT)
    return (text[: end + 1] if end >= 0 else text).rstrip("\"'*/- ")


def _shown(seen: Observed, language: Language) -> list[Part]:
    found = windows(seen.text, seen.hints, seen.target, seen.first or 1)
    if found:
        return [Lines(each.lines, before=f"from line {number(each.first, '')}:", share=0.9) for each in found]
    outline = list(islice(_outline(seen, language), _OUTLINE))
    return [Lines(outline, before="outline:")] if len(outline) >= _TELLING else [Ends(seen.text)]


def _outline(seen: Observed, language: Language) -> Iterator[str]:
    """The defining lines with their numbers, members included."""
    text, line, at = seen.text, seen.first or 1, 0
    patterns = [language.outer, *([language.inner] if language.inner is not None else [])]
    starts = sorted({match.start() for pattern in patterns for match in islice(pattern.finditer(text), 4 * _OUTLINE)})
    for start in starts:
        line += text.count("\n", at, start)
        at = start
        end = text.find("\n", start)
        yield f"{number(line, '')}: {clip(text[start : end if end >= 0 else len(text)].rstrip(), 120)}"
