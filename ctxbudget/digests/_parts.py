"""The parts of a digest. Each says what of it fits into a number of characters.

Nobody changes them; that they are not frozen makes them much faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ctxbudget.digests._passage import Passage
from ctxbudget.digests._wording import CUT, LEAST, clip, number

if TYPE_CHECKING:
    from collections.abc import Sequence

_REST = 15
"""Characters of `` and 1,234 more``; a few more or less show when the tokens are counted."""


class Part(Protocol):
    """A piece of a digest."""

    @property
    def block(self) -> bool:
        """Whether it stands on lines of its own, below the rest."""

    def fit(self, chars: int) -> tuple[str, bool]:
        """What of it fits into ``chars`` characters, perhaps nothing; and whether that is all of it."""


@dataclass(slots=True)
class Phrase:
    """A few words that stand whole or not at all."""

    text: str
    block: bool = False

    def fit(self, chars: int) -> tuple[str, bool]:
        """All or nothing."""
        return (self.text, True) if len(self.text) <= chars else ("", False)


@dataclass(slots=True)
class Prose:
    """Running text, cut between words."""

    text: str
    before: str = ""
    block: bool = False

    def fit(self, chars: int) -> tuple[str, bool]:
        """As many words as fit."""
        room = chars - len(self.before)
        if room < 1:
            return "", False
        kept = clip(self.text, room)
        whole = len(kept) >= len(self.text)
        return (self.before + kept, whole) if whole or len(kept) >= LEAST else ("", False)


@dataclass(slots=True)
class Names:
    """Items in one line; those that do not fit are counted: ``defines a, b and 5 more``."""

    items: Sequence[str]
    before: str = ""
    share: float = 1.0
    """How much of the room it may take at most."""
    total: int = 0
    """How many there are, where more were found than ``items`` holds."""
    brief: Sequence[str] = ()
    """The same items in fewer words, for where not all of them fit."""
    block: bool = False

    def fit(self, chars: int) -> tuple[str, bool]:
        """As many items as fit, in fewer words where that brings in more of them."""
        room = int(chars * self.share) - len(self.before)
        total = max(self.total, len(self.items))
        shown = _how_many(self.items, room, total)
        if shown == total:
            return self.before + ", ".join(self.items), True
        items, briefly = self.items, _how_many(self.brief, room, total)
        if briefly > shown:
            items, shown = self.brief, briefly
        kept = ", ".join(items[:shown])
        if not shown and items:  # of one long item the beginning is better than nothing
            kept, shown = clip(items[0], room - _REST), 1
        if len(kept) < min(LEAST, len(items[0]) if items else 1):
            return "", False
        more = f" and {number(total - shown)} more" if total > shown else ""
        return self.before + kept + more, False


def _how_many(items: Sequence[str], room: int, total: int) -> int:
    """How many items fit, with a count of the rest behind them where there is one."""
    if total == len(items) <= room and sum(len(item) + 2 for item in items) - 2 <= room:
        return total
    room -= _REST
    for shown, item in enumerate(items):
        room -= len(item) + 2
        if room < -2:
            return shown
    return len(items)


@dataclass(slots=True)
class Lines:
    """Lines of the source (or one item each), below the rest; a line too long is cut between words."""

    items: Sequence[str]
    before: str = ""
    share: float = 1.0
    block: bool = True

    def fit(self, chars: int) -> tuple[str, bool]:
        """As many lines as fit."""
        room = int(chars * self.share) - len(self.before)
        kept, whole = list[str](), True
        for item in self.items:
            line = clip(item, room)
            if len(line) < min(len(item), 2 * LEAST):
                return self._with_heading(kept), False
            kept.append(line)
            whole = whole and line == item
            room -= len(line) + 1
        return self._with_heading(kept), whole

    def _with_heading(self, kept: list[str]) -> str:
        return "\n".join(([self.before] if self.before else []) + kept) if kept else ""


@dataclass(slots=True)
class Ends:
    """The first and the last lines of a text, about three to two; blank ones are left out."""

    text: str
    before: str = ""
    block: bool = True

    def fit(self, chars: int) -> tuple[str, bool]:
        """As many whole lines as fit; where the lines are too long for that, words."""
        room = chars - len(self.before) - 1
        if len(self.text) <= room:
            return self._below([line.rstrip() for line in self.text.split("\n") if line.strip()]), True
        if room < 2 * LEAST:
            return "", False
        head, tail = self.text[:room].split("\n")[:-1], self.text[-room:].split("\n")[1:]
        first = _lines_within(head, room * 3 // 5)
        last = _lines_within(tail[::-1], room - sum(len(line) + 1 for line in first) - len(CUT))[::-1]
        if not first or not last:
            kept = Passage(self.text).ends(room)
            return self._below([kept] if kept else []), False
        return self._below([*first, CUT.strip(), *last]), False

    def _below(self, lines: list[str]) -> str:
        return "\n".join(([self.before] if self.before else []) + lines) if lines else ""


def _lines_within(lines: list[str], room: int) -> list[str]:
    kept = list[str]()
    for line in lines:
        if line.strip():
            room -= len(line.rstrip()) + 1
            if room < 0:
                break
            kept.append(line.rstrip())
    return kept
