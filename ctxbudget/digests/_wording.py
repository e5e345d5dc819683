"""The words of a digest: numbers, shortened text. Here alone digits are written and text is cut.

A number of a digest is counted from the content, then ``number`` writes it, or it stands in text copied from there.
So whoever watches ``number`` sees every counted one.
"""

from __future__ import annotations

import re

CUT = " …"
"""Says that text goes on."""
LEAST = 24
"""A shorter piece of a line says nothing."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_BETWEEN = re.compile(
    r"[;{}()\[\]<>|\"]|(?<=[\u3001\u3002\uff01\uff0c\uff1f\u3040-\u30ff\u3400-\u9fff])(?=[\u3040-\u30ff\u3400-\u9fff])"
)
"""Where a text without blanks may be cut: at brackets and the like, and between characters of Chinese and Japanese."""
_LOOKED_AT = 400
"""Characters before the limit in which such a place is looked for."""


def number(value: int, separator: str = ",") -> str:
    """A counted number; line numbers go without a separator."""
    return _spelled(value, separator)


def _spelled(value: int, separator: str) -> str:
    return format(value, separator)


def several(value: int, noun: str, plural: str = "") -> str:
    """``1 row``, ``4,200 rows``, ``2 switches``."""
    ending = "es" if noun.endswith(("x", "s", "ch", "sh")) else "s"
    return f"{number(value)} {noun if value == 1 else plural or noun + ending}"


def flat(text: str) -> str:
    """Text on one line, its white space collapsed."""
    if "  " not in text and text.isprintable():  # so no white space but single spaces, and none of the words is touched
        return text.strip(" ")
    return " ".join(text.split())


def clip(text: str, most: int) -> str:
    """At most ``most`` characters, cut between words, so never inside a number; empty where no whole word fits."""
    if len(text) <= most:
        return text
    kept = cut(text, most - len(CUT))
    return kept + CUT if kept else ""


def cut(text: str, room: int) -> str:
    """The first words of a longer text, in at most ``room`` characters; empty where none fits."""
    if room < 1:
        return ""
    at = text.rfind(" ", 0, room + 1)
    if (line_end := text.rfind("\n", at + 1, room + 1)) >= 0:
        at = line_end
    if at < room // 2:
        places = _BETWEEN.finditer(text, max(0, room - _LOOKED_AT), room + 1)
        at = max([at, 0, *(place.start() for place in places)])
    return text[:at].rstrip()


def beginning(text: str, size: int) -> str:
    """The first ``size`` characters on one line, without the word that the end cuts."""
    if len(text) <= size:
        return flat(text)
    kept = flat(text[:size])
    return kept if len(kept) == size or text[size - 1 : size + 1].isspace() else kept.rpartition(" ")[0]


def whole_lines(text: str, size: int) -> str:
    """The first lines that fit into ``size`` characters; of one long line the words that do."""
    if len(text) <= size:
        return text
    at = text.rfind("\n", 0, size)
    at = at if at > 0 else text.rfind(" ", 0, size)
    return text[:at] if at > 0 else text[:size]


def clean(text: str) -> str:
    """Text without control characters and lone surrogates."""
    # true of most texts, and many times as fast as to look for what is not
    if text.isprintable() or text.replace("\n", "").isprintable():
        return text
    return _SURROGATE.sub("\ufffd", _CONTROL.sub(" ", text))
