"""What a digest is put together from: a lead that names the fragment, and parts, the most important first.

Each part says what of it fits into a number of characters; ``fitted`` finds how many characters the tokens allow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ctxbudget.digests._wording import CUT, clean, clip, ends, number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_CHARS = 3.7
"""Characters per token to begin with; corrected by what the first attempt really costs."""
_TRIES = 6
_REST = 15
"""Characters of `` and 1,234 more``."""
LEAST = 24
"""A shorter piece of a line says nothing."""


class Part(Protocol):
    """A piece of a digest."""

    @property
    def block(self) -> bool:
        """Whether it stands on lines of its own, below the rest."""

    def fit(self, chars: int) -> tuple[str, bool]:
        """What of it fits into ``chars`` characters, perhaps nothing; and whether that is all of it."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A few words that stand whole or not at all."""

    text: str
    block: bool = False

    def fit(self, chars: int) -> tuple[str, bool]:
        """All or nothing."""
        return (self.text, True) if len(self.text) <= chars else ("", False)


@dataclass(frozen=True, slots=True)
class Prose:
    """Running text, cut between words; with ``tail`` its end is kept too."""

    text: str
    tail: bool = False
    before: str = ""
    block: bool = False

    def fit(self, chars: int) -> tuple[str, bool]:
        """As many words as fit."""
        room = chars - len(self.before)
        if room < 1:
            return "", False
        kept = ends(self.text, room) if self.tail else clip(self.text, room)
        whole = len(kept) >= len(self.text) or (self.tail and CUT not in kept)
        return (self.before + kept, whole) if whole or len(kept) >= LEAST else ("", False)


@dataclass(frozen=True, slots=True)
class Names:
    """Items in one line; those that do not fit are counted: ``defines a, b and 5 more``."""

    items: Sequence[str]
    before: str = ""
    share: float = 1.0
    """How much of the room it may take at most."""
    total: int = 0
    """How many there are, where more were found than ``items`` holds."""
    block: bool = False

    def fit(self, chars: int) -> tuple[str, bool]:
        """As many items as fit."""
        total = max(self.total, len(self.items))
        room = int(chars * self.share) - len(self.before)
        everything = sum(len(item) + 2 for item in self.items[: room + 1]) - 2
        if everything <= room and total <= len(self.items) <= room:
            return self.before + ", ".join(self.items), True
        room -= len(f" and {total:,} more")
        shown = 0
        while shown < len(self.items) and (room := room - len(self.items[shown]) - 2) >= -2:
            shown += 1
        kept = ", ".join(self.items[:shown])
        if not shown:  # of one long item the beginning is better than nothing
            kept, shown = clip(self.items[0], int(chars * self.share) - len(self.before) - _REST) if self.items else "", 1
            if len(kept) < LEAST:
                return "", False
        more = f" and {number(total - shown)} more" if total > shown else ""
        return self.before + kept + more, False


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Sketch:
    """What a digester found: its parts, the most important first."""

    parts: tuple[Part, ...]
    detail: str = ""
    """Goes with the name: ``lines 8-29``."""
    name: str = ""
    """What to call it, where the call names no target: the address of a page."""
    verb: str = ""
    """What was done with the target, where the class of the call does not say it: ``listed``."""


def fitted(
    leads: Sequence[str], parts: Sequence[Part], cap: int, count: Callable[[str], int], *, whole_lead: bool = False
) -> str:
    """The first lead with which anything can be said within ``cap`` tokens; else a lead alone, else nothing.

    With ``whole_lead`` a long lead alone is better than a short one with more behind it.
    """
    alone = ""
    for lead in dict.fromkeys(map(clean, leads)):
        if count(lead) <= cap:
            if text := _filled(lead, parts, cap, count):
                return text
            alone = alone or lead
            if whole_lead:
                break
    return alone


def _filled(lead: str, parts: Sequence[Part], cap: int, count: Callable[[str], int]) -> str:
    """As much as the cap allows; empty where no part fits."""
    best, chars, low, high = "", cap * _CHARS, 0.0, float("inf")
    for _ in range(_TRIES):
        text, whole = _assembled(lead, parts, int(chars))
        if not text:
            low = chars
            chars = min(chars * 1.5, (chars + high) / 2)
            continue
        size = count(text)
        if size <= cap:
            low, best = chars, max(best, text, key=len)
            if whole or size >= cap * 0.9:
                return best
        else:
            high = min(chars, len(text))
        aim = chars * cap / size * 0.97 if size > cap or high == float("inf") else (low + high) / 2
        chars = aim if low < aim < high else (low + high) / 2
        if high - low < 8:
            break
    return best


def _assembled(lead: str, parts: Sequence[Part], chars: int) -> tuple[str, bool]:
    """The text of about ``chars`` characters, and whether every part is in it whole."""
    left, whole = chars - len(lead) - 2, True
    inline, blocks = list[str](), list[str]()
    for part in parts:
        text, all_of_it = part.fit(left)
        whole = whole and all_of_it
        if text:
            (blocks if part.block else inline).append(text)
            left -= len(text) + 2
    if not inline and not blocks:
        return "", whole
    body = " " + "; ".join(inline) if inline else ""
    return clean("\n".join([f"{lead}:{body}", *blocks])), whole
