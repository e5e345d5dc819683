"""How much of a span a summariser reads: blocks of 50,000 characters, at most four.

A longer span is levelled: its longest texts are cut to one common length, in the middle, so that every message is
still there. The blocks are cut between messages where that is possible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ctxbudget.trace import Fragment

BLOCK = 50_000
"""Characters of a block."""
MOST = 4
"""Blocks read of one span."""
_LEAST = 40
"""A text cut shorter than this says nothing and is left out."""


class Piece(NamedTuple):
    """A fragment, and as much of its text as is read."""

    fragment: Fragment
    text: str


def pieces(span: Sequence[Fragment], room: int = BLOCK * MOST) -> tuple[Piece, ...]:
    """The span as it is read, oldest first: fragments with text, together at most ``room`` characters."""
    spoken = [fragment for fragment in span if fragment.text.strip()]
    level = _level([len(fragment.text) for fragment in spoken], room)
    if level < _LEAST:  # more messages than room: the newest
        spoken = spoken[-max(1, room // _LEAST) :]
        level = _LEAST
    return tuple(Piece(fragment, shortened(fragment.text, level)) for fragment in spoken)


def blocks(text: str, size: int = BLOCK) -> Iterator[str]:
    """``text`` in the fewest blocks of at most ``size`` characters, cut at empty lines as far as the number allows."""
    left, start = -(-len(text) // size), 0
    while left > 1:
        left -= 1
        earliest, latest = max(start + 1, len(text) - left * size), start + size
        cut = text.rfind("\n\n", earliest, latest)
        cut = latest if cut < 0 else cut
        yield text[start:cut]
        start = cut
    if text[start:].strip():
        yield text[start:].lstrip("\n")


def shortened(text: str, limit: int) -> str:
    """The beginning (two thirds) and end of a text in at most ``limit`` characters, with what was left out between."""
    if len(text) <= limit:
        return text
    mark = f" [… {len(text) - limit:,} characters …] "
    if len(mark) + 20 > limit:
        return text[:limit]
    keep = limit - len(mark)
    tail = keep // 3
    return f"{text[: keep - tail]}{mark}{text[len(text) - tail :]}"


def clipped(text: str, cap: int, count: Callable[[str], int]) -> str:
    """As many whole lines of ``text`` as fit in ``cap`` tokens; words of the first line where not even that fits."""
    if count(text) <= cap:
        return text
    lines = text.splitlines()
    kept = _fitting(lines, "\n", cap, count)
    if kept.strip():
        return kept
    return _fitting(lines[0].split(" ") if lines else [], " ", cap, count)


def _fitting(parts: Sequence[str], glue: str, cap: int, count: Callable[[str], int]) -> str:
    """The longest beginning of ``parts`` that fits. Joined counts only grow with their length, near enough to search
    by halves; what is found is counted once more by whoever asked."""
    low, high = 0, len(parts)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(glue.join(parts[:middle]).rstrip()) <= cap else (low, middle - 1)
    return glue.join(parts[:low]).rstrip()


def _level(lengths: Sequence[int], room: int) -> int:
    """The length to which the longest have to be cut so that all fit in ``room``."""
    left, waiting = room, sorted(lengths)
    for number, length in enumerate(waiting):
        share = left // (len(waiting) - number)
        if length > share:
            return share
        left -= length
    return max(waiting, default=0)
