"""What a digester found, and how it is put into a number of tokens."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from ctxbudget.digests._wording import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ctxbudget.digests._parts import Part

_CHARS = 3.7
"""Characters per token to begin with; corrected by what the first attempt really costs."""
_TRIES = 6


@dataclass(slots=True)
class Sketch:
    """What a digester found: its parts, the most important first. Not frozen, like them: that makes it faster."""

    parts: tuple[Part, ...]
    name: str = ""
    """What to call it, where the call names no target: the address of a page."""
    verb: str = ""
    """What was done with the target, where the class of the call does not say it: ``listed``."""


def fitted(
    leads: Sequence[str],
    parts: Sequence[Part],
    cap: int,
    count: Callable[[str], int],
    whole_lead: bool = False,
    per: float = _CHARS,
) -> str:
    """The first lead with which anything can be said within ``cap`` tokens; else a lead alone, else nothing.

    The last lead names the least, so it is for where no other fits. With ``whole_lead`` a long lead alone is better
    than a short one with more behind it. ``per`` is about how many characters a token has.
    """
    alone = ""
    for place, lead in enumerate(leads, 1):
        if alone and (whole_lead or place == len(leads)):
            break
        if len(lead) > cap and count(clean(lead)) > cap:  # a short one is only counted where nothing fits behind it
            continue
        if text := _filled(lead, parts, cap, count, per):
            return text
        if not alone and count(said := clean(lead)) <= cap:
            alone = said
    return alone


def chars_per_token(cap: int, chars: int, counted: int, tokens: int) -> float:
    """About how many characters a token of a digest has. It is made of passages of the text, the more of them the
    larger it is, and of words of ours; and its tokens are scaled as those of the text were. On the real traces fewer
    second attempts are needed with it than without, and digests come out as full.
    """
    if not counted or not tokens:
        return _CHARS
    passages, own = min(0.2 + cap / 600, 0.8), min(max(chars / counted, 2.0), 7.0)
    return ((1 - passages) * _CHARS + passages * own) * min(max(counted / tokens, 0.4), 1.5)


def _filled(lead: str, parts: Sequence[Part], cap: int, count: Callable[[str], int], per: float) -> str:
    """As much as the cap allows, ``per`` characters a token to begin with; empty where no part fits."""
    best, chars, low, high = "", cap * per, 0.0, inf
    for _ in range(_TRIES):
        text, whole = _assembled(lead, parts, int(chars))
        if not text:
            low = chars
            chars = min(chars * 1.5, (chars + high) / 2)
            continue
        size = count(text)
        if size <= cap:
            low = chars
            if len(text) > len(best):
                best = text
            if whole or size >= cap * 0.9:
                return best
        else:
            high = min(chars, len(text))
        aim = chars * cap / size * 0.97 if size > cap or high == inf else (low + high) / 2
        chars = aim if low < aim < high else (low + high) / 2
        if high - low < 8:
            break
    return best


def _assembled(lead: str, parts: Sequence[Part], chars: int) -> tuple[str, bool]:
    """The text of about ``chars`` characters, and whether every part is in it whole."""
    left, whole = chars - len(lead) - 2, True
    inline: list[str] = []
    blocks: list[str] = []
    for part in parts:
        text, all_of_it = part.fit(left)
        if not all_of_it:
            whole = False
        if text:
            (blocks if part.block else inline).append(text)
            left -= len(text) + 2
    line = f"{lead}: {'; '.join(inline)}" if inline else f"{lead}:"
    if blocks:
        return clean("\n".join((line, *blocks))), whole
    return clean(line) if inline else "", whole
