"""Observations that nothing came back to: after the reply they were made for, no call and no text has a word of them.

The test is cheap and errs on the side of use. A word counts if it is telling: an identifier, a number, a name of mixed
case in at least four characters, or, two of them together, plain words of six letters and more; and if not more than
three of the observations looked at have it, so that it says where it came from. A thing that was understood and then
put in other words passes for unused: "not used again in this trace" is all that is claimed. Only the observations that
cost most are looked at.
"""

from __future__ import annotations

import re
from collections import Counter
from heapq import nlargest
from typing import TYPE_CHECKING

from ctxbudget.evidence.standing import words
from ctxbudget.trace import Kind
from ctxbudget.waste.piece import ONCE, carried_on, piece

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from ctxbudget.ledger import Life
    from ctxbudget.trace import Trace
    from ctxbudget.waste.piece import Piece

LARGE = 500
"""Tokens from which an observation counts."""
LONG = 10
"""Prompts that held it after the first, from which it had its time."""
MOST = 200
"""Observations that are looked at, those with the largest rent: a bound on work."""
COMMON = 3
"""A word that more observations have than this says nothing of one of them (as D3 of the evidence)."""
PLAIN, FEW = 6, 2
"""Letters of a plain word that counts, and how many such words make a use."""

_WORD = re.compile(r"\w{4,}")
_TELLING = re.compile(r"\d|_|[a-z][A-Z]")


def unused(trace: Trace, observations: Sequence[Life], besides: Collection[str]) -> Iterator[Piece]:
    """Each of them, the largest rent first; not those named in ``besides``, which are waste already."""
    large = [life for life in observations if _large(life) and life.fragment.id not in besides]
    looked_at = nlargest(MOST, large, key=lambda life: life.token_turns)
    if not looked_at:
        return
    held = [set(_WORD.findall(life.fragment.text)) for life in looked_at]
    common = Counter(word for each in held for word in each)
    telling = [{word for word in each if common[word] <= COMMON and _counts(word)} for each in held]
    last = _last_said(trace) if any(telling) else {}
    for life, each in zip(looked_at, telling, strict=True):
        if not _used(word for word in each if last.get(word, 0) > life.fragment.turn + ONCE):
            yield piece(life, f"not used again in this trace, carried on for {carried_on(life)} turns")


def _large(life: Life) -> bool:
    return life.fragment.tokens >= LARGE and carried_on(life) >= LONG and bool(life.fragment.text)


def _counts(word: str) -> bool:
    return len(word) >= PLAIN or _TELLING.search(word) is not None


def _used(said: Iterator[str]) -> bool:
    """Whether words that were said later prove a use."""
    return any(plain >= FEW or _TELLING.search(word) for plain, word in enumerate(said, 1))


def _last_said(trace: Trace) -> dict[str, int]:
    """The last turn at which the agent or the user used a word. (What stands between blanks is cut into words once.)"""
    pieces: dict[str, int] = {}
    for fragment in trace.fragments:
        if fragment.role == "assistant" or fragment.kind is Kind.USER:
            pieces.update(dict.fromkeys(fragment.text.split(), fragment.turn))
    last: dict[str, int] = {}
    for text, turn in pieces.items():
        for word in words(text):
            if turn > last.get(word, 0):
                last[word] = turn
    return last
