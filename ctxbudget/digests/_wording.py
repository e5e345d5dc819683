"""The words of a digest: numbers, shortened text. Here alone digits are written and text is cut.

A number of a digest is counted from the content, then ``number`` writes it, or it stands in text copied from there.
So whoever watches ``number`` sees every counted one.
"""

from __future__ import annotations

import re
from functools import lru_cache

CUT = " …"
"""Says that text goes on."""

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
    return " ".join(text.split())


def clip(text: str, most: int) -> str:
    """At most ``most`` characters, cut between words, so never inside a number; empty where no whole word fits."""
    if len(text) <= most:
        return text
    room = most - len(CUT)
    if room < 1:
        return ""
    at = max(text.rfind(" ", 0, room + 1), text.rfind("\n", 0, room + 1))
    if at < room // 2:
        at = max([at, *(place.start() for place in _BETWEEN.finditer(text, max(0, room - _LOOKED_AT), room + 1))])
    kept = text[: max(at, 0)].rstrip()
    return kept + CUT if kept else ""


def clip_start(text: str, most: int) -> str:
    """The last ``most`` characters at most, beginning with a whole word; empty where none fits."""
    if len(text) <= most:
        return text
    room = most - len(CUT)
    at = text.find(" ", max(0, len(text) - room - 1))
    return CUT.strip() + text[at:] if room > 0 and at >= 0 and text[at:].strip() else ""


def ends(text: str, most: int) -> str:
    """Head and tail of a text on one line, about two to one, in at most ``most`` characters."""
    if near := _near_ends(text, most):
        return near
    if len(text) <= 3 * most:
        head = tail = _whole(text)
        if len(head) <= most:
            return head
    else:
        head, tail = beginning(text, 2 * most), flat(text[-2 * most :]).partition(" ")[2]
    return _joined(head, _last(tail, most), most)


@lru_cache(maxsize=4)
def _whole(text: str) -> str:
    """``flat``, remembered: each try to fit a part asks again."""
    return flat(text)


def _near_ends(text: str, most: int) -> str:
    """The same from no more of the text than that mostly takes; empty where white space makes it too little."""
    if len(text) < 2 * most:
        return ""
    tail = flat(text[-(2 * most // 3) :]).partition(" ")[2]
    head = flat(text[: most * 5 // 4])
    last = _last(tail, most)
    enough = len(tail) > most // 3 and head.rfind(" ") >= most - len(last)
    return _joined(head, last, most) if enough else ""


def _last(tail: str, most: int) -> str:
    return clip_start(tail, most // 3).removeprefix(CUT.strip()).strip()


def _joined(head: str, last: str, most: int) -> str:
    first = clip(head, most - len(last) - 1).removesuffix(CUT)
    return f"{first}{CUT} {last}".strip() if first or last else ""


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
    if text.replace("\n", "").isprintable():  # true of most texts, and many times as fast as to look for what is not
        return text
    return _SURROGATE.sub("\ufffd", _CONTROL.sub(" ", text))
