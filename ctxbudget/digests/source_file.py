"""A file that was read: how long it is and what it defines; with room the part that matters, else its outline."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from ctxbudget.digests._languages import LANGUAGES, PROSE
from ctxbudget.digests._observed import HEAD
from ctxbudget.digests._parts import Ends, Lines, Names, Phrase, Prose
from ctxbudget.digests._passage import Passage
from ctxbudget.digests._relevant import windows
from ctxbudget.digests._sketch import Sketch
from ctxbudget.digests._wording import beginning, clip, flat, number, several, whole_lines
from ctxbudget.resources import READ

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.digests._languages import Language
    from ctxbudget.digests._observed import Observed
    from ctxbudget.digests._parts import Part

SUREST = 0.95
_FLAG = re.compile(
    r"[ \t]*(?:export )?(?:const )?([A-Za-z_]\w*)[ \t]*(?::[ \t]*\w+[ \t]*)?"
    r"[:=][ \t]*(?:[Tt]rue|[Ff]alse)\b[,;]?[ \t]*(?:[#/].*)?$"
)
"""A line that switches something on or off."""
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
    r"(?:#![^\n]*\n\s*)?(?:[rR]?\"\"\"|'''|/\*\*?|//[/!]?|#+(?!include|define|if|pragma)|--|;+)"
    r"[ \t]*\n?[ \t*]*(\w[^\n]{8,200})"
)
_LATER_DOC = re.compile(
    r"^(?:/\*\*|///?|[ \t]*@moduledoc \"\"\")[ \t]*\n?[ \t*]*([A-Z]\w*[ ,][^\n]{8,200})", re.MULTILINE
)
"""A comment behind the imports, or in the module."""
_DOC_REACH = 1_500
_LEGAL = re.compile(r"copyright|licen[sc]|spdx|eslint|coding[:=]|type:|pylint|noqa|use strict|<", re.IGNORECASE)
"""Comments that say nothing of the file."""


def score(seen: Observed) -> float:
    """Sure where a reading tool brought in a file of a known language; a read at all otherwise."""
    if seen.cls != READ:
        return 0.0
    return 0.95 if seen.suffix in LANGUAGES else 0.6


def sketch(seen: Observed) -> Sketch:
    """Lines, names; with room a window round each place that hints point at, or the lines that define something."""
    language = LANGUAGES.get(seen.suffix, PROSE)
    names = _names(seen.text, language)
    named = _named(seen.text, names, language, share=0.3 if seen.roomy else 0.8) if names else []
    if seen.roomy:
        return Sketch((Phrase(several(seen.lines, "line")), *_shown(seen, language), *named))
    return Sketch((Phrase(several(seen.lines, "line")), *named, *_opening(seen, bool(names), language)))


def _names(text: str, language: Language) -> list[str]:
    """Everything defined, each once, in order; what stands inside where nothing stands outside."""
    lined = f"\n{text}"
    found = _found(language.outer, lined)
    if not found and language.inner is not None:
        found = _found(language.inner, lined)
    return [name for name in found if name]


def _found(pattern: re.Pattern[str], lined: str) -> dict[str, None]:
    """What a pattern that begins with a line end finds, each once, in order."""
    if lined.rfind("\n") == 0:  # a single line, as of a minified file, has one beginning
        matches = [match] if (match := pattern.match(lined)) else []
    else:
        matches = [*pattern.finditer(lined)]
    return dict.fromkeys(clip(flat(match[match.lastindex or 0]).strip("\"'`"), _LONGEST_NAME) for match in matches)


def _named(text: str, names: list[str], language: Language, share: float) -> list[Part]:
    """The names; three or more switches among them are counted behind the others."""
    many = text.count("rue") + text.count("alse") >= _FEW_FLAGS and language is not PROSE
    switches = _switches(text) if many else set()
    flags = [name for name in names if name in switches]
    if len(flags) < _FEW_FLAGS:
        return [Names(names, before=f"{language.verb} ", share=share)]
    others = [name for name in names if name not in switches]
    counted = Names(flags, before=f"{several(len(flags), 'flag')}: ")
    return [Names(others, before=f"{language.verb} ", share=share * 0.6), counted] if others else [counted]


def _switches(text: str) -> set[str]:
    """The names that are set to true or false, each on a line of its own."""
    lines = (line for line in text.split("\n") if "rue" in line or "alse" in line)
    return {match[1] for match in map(_FLAG.match, lines) if match}


def _opening(seen: Observed, named: bool, language: Language) -> list[Part]:
    """What the file says of itself, or its text where nothing has a name."""
    if named and language is not PROSE:
        said = _about(seen.head)
        return [Prose(said, before="about: ")] if said else []
    if named:
        body = beginning(_MARKUP.sub("", whole_lines(seen.text, 2 * HEAD)), HEAD)
        return [Prose(body)] if body else []
    return [Passage(seen.text)]


def _about(head: str) -> str:
    """The first sentence of the first comment or docstring that says something of the file."""
    said = _DOC.match(head.lstrip()) or _LATER_DOC.search(whole_lines(head, _DOC_REACH))
    return "" if said is None or _LEGAL.match(said[1]) else _sentence(flat(said[1]))


def _sentence(text: str) -> str:
    """The first sentence, without the marks that end a comment."""
    end = text.find(". ", _SHORT)
    return (text[: end + 1] if end >= 0 else text).rstrip("\"'*/- ")


def _shown(seen: Observed, language: Language) -> list[Part]:
    """Where hints point; else the outline, or where that tells little, the lines at both ends."""
    found = windows(seen.text, seen.hints, seen.target, seen.first or 1)
    if found:
        return [Lines(each.lines, before=f"from line {number(each.first, '')}:", share=0.9) for each in found]
    outline = list(islice(_outline(seen, language), _OUTLINE))
    return [Lines(outline, before="outline:", share=0.8) if len(outline) >= _TELLING else Ends(seen.text)]


def _outline(seen: Observed, language: Language) -> Iterator[str]:
    """The defining lines with their numbers, members included."""
    text, line, at = seen.text, seen.first or 1, 0
    patterns = [language.outer, *([language.inner] if language.inner is not None else [])]
    starts = sorted(
        {match.start() for pattern in patterns for match in islice(pattern.finditer(f"\n{text}"), 4 * _OUTLINE)}
    )
    for start in starts:
        line += text.count("\n", at, start)
        at = start
        end = text.find("\n", start)
        yield f"{number(line, '')}: {clip(text[start : end if end >= 0 else len(text)].rstrip(), 120)}"
