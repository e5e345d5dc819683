r"""Whether a text holds an exact string: the one rule by which sources are found and stand-ins are tested.

A string is held where it stands literally and is not a piece of a longer word, number or path: ``240`` does not stand
in ``1240``, ``240.50`` or ``id240``, nor ``2026`` in ``2026-02-02``, nor ``/b/c.py`` in ``/a/b/c.py``. The margins of
a line (white space at both ends) do not count, so line numbers (``12→``, ``12:``, tabs), ``path:12:`` of grep, quote
and diff marks in front of a line change nothing; white space inside a line counts. In a call or a JSON result the
string may stand as JSON writes it (``\"``, ``\n``), one level deep. Case counts.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxbudget.evidence.uses import Use

_WORD = re.compile(r"\w+")
_GLUED = re.compile(r"\\[ntr](\w+)")
"""JSON writes a line break as ``\\n``, so that the word behind it seems to begin with an n."""
_INSIDE_PATH = frozenset(".~-_")
_INSIDE_NUMBER = frozenset(".-")


def words(text: str) -> set[str]:
    """Every word of a text, those behind a JSON line break included. What stands in a text has its words there."""
    found = set(_WORD.findall(text))
    if "\\" in text:
        found.update(_GLUED.findall(text))
    return found


def has_word(text: str) -> bool:
    """Whether there is a letter or a digit in it."""
    return _WORD.search(text) is not None


def stands(needle: str, text: str) -> bool:
    """Whether ``text`` holds ``needle``, literally or as JSON writes it."""
    return _where(needle, text, 0) >= 0


def all_stand(needles: Sequence[str], text: str) -> bool:
    """Whether ``text`` holds every needle, in whatever order.

    Lines that belong together mostly stand together: each is looked for behind the one before it first.
    """
    at = 0
    for needle in needles:
        at = _where(needle, text, at)
        if at < 0:
            return False
    return True


def holds(text: str, use: Use) -> bool:
    """Whether ``text`` (of a stand-in, a summary, any fragment) holds all that ``use`` needed.

    False for uses that need no string (D5, D6): only the earlier result itself will do.
    """
    return bool(use.text) and all_stand(use.text, text)


def _as_json(needle: str) -> str | None:
    """The needle inside a JSON string; None where that is no different."""
    if '"' in needle or "\\" in needle or not needle.isprintable():
        return json.dumps(needle, ensure_ascii=False)[1:-1]
    return None


def _where(needle: str, text: str, start: int) -> int:
    """Where the needle stands, at ``start`` or later if it does, else anywhere; -1: nowhere."""
    written = _as_json(needle)
    for given in (needle,) if written is None else (needle, written):
        at = _find(given, text, start)
        if at < 0 < start:
            at = _find(given, text, 0)
        if at >= 0:
            return at
    return -1


def _find(needle: str, text: str, start: int) -> int:
    at = text.find(needle, start)
    while at >= 0 and not (_begins(needle[0], text, at) and _ends(needle[-1], text, at + len(needle))):
        at = text.find(needle, at + 1)
    return at


def _begins(first: str, text: str, start: int) -> bool:
    """Whether the needle does not begin in the middle of something longer."""
    if start == 0:
        return True
    before, further = text[start - 1], text[start - 2 : start - 1]
    if further == "\\" and before in "ntr":
        return True
    if first in "/~":
        return not (before.isalnum() or before in _INSIDE_PATH)
    if first.isdigit() and before in _INSIDE_NUMBER and further.isdigit():
        return False
    return not (_in_word(first) and _in_word(before))


def _ends(last: str, text: str, end: int) -> bool:
    after = text[end : end + 1]
    if last.isdigit() and after in _INSIDE_NUMBER and text[end + 1 : end + 2].isdigit():
        return False
    return not (after and _in_word(last) and _in_word(after))


def _in_word(char: str) -> bool:
    return char.isalnum() or char == "_"
