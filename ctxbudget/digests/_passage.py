"""Text of which the head and the tail are shown: the part of a digest for text of which nothing more is known."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from ctxbudget.digests._wording import CUT, LEAST, beginning, cut, flat


@dataclass(slots=True)
class Passage:
    """Head and tail of a text on one line, about two to one, cut between words.

    What is put on one line for one try to fit it is kept for the next. Not frozen: that makes it much faster.
    """

    text: str
    before: str = ""
    block: bool = False
    _reach: float = field(default=inf, init=False, repr=False)
    """Characters of the text that ``_head`` is made of; without end as long as it is not made."""
    _head: str = field(default="", init=False, repr=False)
    _tail: str = field(default="", init=False, repr=False)
    _whole: str = field(default="", init=False, repr=False)

    def fit(self, chars: int) -> tuple[str, bool]:
        """As many words as fit."""
        room = chars - len(self.before)
        if room < 1:
            return "", False
        kept = self.ends(room)
        whole = CUT not in kept or len(kept) >= len(self.text)
        return (self.before + kept, whole) if whole or len(kept) >= LEAST else ("", False)

    def ends(self, most: int) -> str:
        """What is shown in at most ``most`` characters."""
        if self._reach <= 2 * most and (near := self._near(most)):
            return near
        if len(self.text) >= 2 * most:
            self._take(most)
            if near := self._near(most):
                return near
        return self._far(most)

    def _take(self, most: int) -> None:
        """As much of the text as ``most`` characters of it mostly need."""
        self._reach = reach = most * 5 // 4
        self._head = flat(self.text[:reach])
        self._tail = flat(self.text[-(2 * most // 3) :]).partition(" ")[2]

    def _near(self, most: int) -> str:
        """The ends from what is taken; empty where white space makes it too little. Never other than ``_far``."""
        if len(self._tail) <= most // 3:
            return ""
        last = _last(self._tail, most // 3)
        return _joined(self._head, last, most) if self._head.rfind(" ") >= most - len(last) else ""

    def _far(self, most: int) -> str:
        """The ends from as much of the text as they can come from."""
        if len(self.text) > 3 * most:
            head, tail = beginning(self.text, 2 * most), flat(self.text[-2 * most :]).partition(" ")[2]
            return _joined(head, _last(tail, most // 3), most)
        self._whole = whole = self._whole or flat(self.text)
        return whole if len(whole) <= most else _joined(whole, _last(whole, most // 3), most)


def _last(tail: str, most: int) -> str:
    """The last words of a text on one line, in fewer than ``most`` characters."""
    if len(tail) <= most:
        return tail.removeprefix(CUT.strip()).strip()
    room = most - len(CUT)
    at = tail.find(" ", len(tail) - room - 1) if room > 0 else -1
    return tail[at + 1 :] if at >= 0 else ""


def _joined(head: str, last: str, most: int) -> str:
    room = most - len(last) - 1
    first = head.removesuffix(CUT) if len(head) <= room else cut(head, room - len(CUT))
    return f"{first}{CUT} {last}".strip() if first or last else ""
