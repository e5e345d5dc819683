"""What a copy of a file shows, line by line, and whether another copy shows the same.

Two tools may show one file in two ways: envelopes and line numbers are taken off first. What is left is
compared to the letter, white space at the end of a line aside, and at the same place in the file: lines 10 to 20 stand
in a copy of the whole only if they are its lines 10 to 20.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ctxbudget.digests._envelope import unwrapped
from ctxbudget.digests._observed import observe, unnumbered

if TYPE_CHECKING:
    from ctxbudget.trace import Fragment

Span = tuple[int, int]
_UNKNOWN: Span = (-1, -1)
_HEAD = 1_000
"""Characters in which the number of the first line stands."""
_NUMBER = re.compile(r"^ *\d{1,9}(?:→|\t|:|\|| \|)", re.MULTILINE)
_PROBES, _PROBE = 2, 24
"""Lines that are looked at to tell whether two texts may be one file, and how many characters of each."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A fragment that shows a file. ``span`` are the lines asked for, None the whole; below 0 counts from the end."""

    fragment: Fragment
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """The lines themselves, and the number of the first where it is known."""

    first: int | None
    lines: list[str]

    @property
    def stop(self) -> int:
        """The number behind the last line; only of use where the first is known."""
        return (self.first or 1) + len(self.lines)

    def between(self, start: int, stop: int) -> list[str]:
        """The lines from number ``start`` up to ``stop``, not included."""
        first = self.first or 1
        return self.lines[start - first : stop - first]


@lru_cache(maxsize=32)
def shown(copy: Copy) -> Shown:
    """What a copy shows. (Remembered for a moment: a new copy is held against several old ones.)"""
    text, first = _bare(copy.fragment.text)
    lines = [line.rstrip() for line in text.split("\n")]
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    if first is None:
        first = 1 if copy.span is None else copy.span[0] if copy.span[0] > 0 else None
    return Shown(first, lines)


def akin(one: Fragment, other: Fragment) -> bool:
    """Whether two texts can be copies of one file at all: cheap, by the ends of a few lines of the shorter."""
    small, large = one.text, other.text
    if len(small) > len(large):
        small, large = large, small
    for number in range(1, _PROBES + 1):
        stop = small.find("\n", len(small) * number // (_PROBES + 1))
        stop = len(small) if stop < 0 else stop
        end = small[max(0, stop - _PROBE) : stop]
        if end[end.rfind("\n") + 1 :].strip() in large:  # the end of a line: a number in front does not matter
            return True
    return False


def holds(outer: Copy, inner: Copy) -> bool:
    """Whether ``outer`` shows all that ``inner`` says of the file.

    An end says something too: of two whole copies the shorter one is not within the longer.
    """
    if not _within(inner.span, outer.span):
        return False
    if inner.span == outer.span and inner.fragment.text == outer.fragment.text:
        return True
    large, small = shown(outer), shown(inner)
    if large.first is None or small.first is None or inner.span == outer.span:
        return inner.span == outer.span and (large.first, large.lines) == (small.first, small.lines)
    if small.first < large.first or large.between(small.first, small.stop) != small.lines:
        return False
    return small.stop == large.stop or _all_came(inner, small)


def changed(new: Copy, old: Copy) -> bool:
    """Whether ``new`` shows that the file is no longer as ``old`` has it: it covers the same lines, and some differ.

    A copy that is only shorter was perhaps cut by its tool, and one that has next to nothing in common with the other
    is perhaps no copy but a note in its place ("unchanged since last read"): neither proves anything.
    """
    if not _within(old.span, new.span):
        return False
    before, after = shown(old), shown(new)
    if before.first is None or after.first is None:
        return False
    start, stop = max(before.first, after.first), min(before.stop, after.stop)
    if start >= stop or before.between(start, stop) == after.between(start, stop):
        return False
    left, right = set(before.lines), set(after.lines)
    alike = 2 * len(left & right) >= min(len(left), len(right))
    return alike and not any(observe(copy.fragment, 1).cut for copy in (old, new))


def numbered(fragment: Fragment) -> Span | None:
    """The lines that a text shows by their numbers; None where it has none."""
    seen = shown(Copy(fragment, _UNKNOWN))
    return None if seen.first is None else (seen.first, seen.stop - 1)


def part(fragment: Fragment) -> Span | None:
    """The lines shown by a read that did not say which it asks for, where its numbers begin behind the first."""
    if _NUMBER.search(fragment.text, 0, _HEAD) is None:
        return None
    _, first = _bare(fragment.text[:_HEAD])
    return None if first in {None, 0, 1} else numbered(fragment)


def _bare(text: str) -> tuple[str, int | None]:
    """A text without envelope and line numbers, and the first of them."""
    return unnumbered(unwrapped(text.replace("\r\n", "\n"))[0])


def _within(inner: Span | None, outer: Span | None) -> bool:
    """Whether the lines asked for lie within the others."""
    if outer is None or inner == outer:
        return True
    if inner is None or min(outer[0], inner[0]) < 0:
        return False
    return outer[0] <= inner[0] and (outer[1] < 0 or 0 < inner[1] <= outer[1])


def _all_came(copy: Copy, small: Shown) -> bool:
    """Whether as many lines came as were asked for: the file did not end before."""
    return copy.span is not None and len(small.lines) == copy.span[1] - copy.span[0] + 1
