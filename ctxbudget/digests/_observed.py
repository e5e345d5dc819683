"""A fragment as digesters see it: its text without envelope, colours and line numbers, and what its call says of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from ctxbudget.digests._blobs import without_blobs
from ctxbudget.digests._envelope import unwrapped
from ctxbudget.digests._wording import number, whole_lines
from ctxbudget.resources import CREATE, EDIT, READ, WRITE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxbudget.trace import Fragment

HEAD = 4_000
"""Characters at either end that are looked at to tell what a text is."""
ROOMY = 200
"""Tokens from which a digest shows lines of its source, not only names and counts."""

_FILES = frozenset({READ, EDIT, CREATE, WRITE})
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_NUMBERED = re.compile(r"[ ]*(\d{1,9})(→|\t|: |:|\| |\|)")
_CUT_WORDS = ("truncated", "omitted", "elided", "clipped", "TRUNCATED")
_CUT_MARK = re.compile(
    r"\d+ (?:more )?(?:lines?|chars?|characters|tokens|bytes)[ \w]{0,20}(?:truncated|omitted|elided)"
    r"|[\[(<.…][^\]\n]{0,40}truncated|<response clipped|output (?:was )?truncated",
    re.IGNORECASE,
)


@dataclass
class Observed:
    """A fragment, prepared once for all digesters. Nobody changes it; that it is not frozen makes it much faster."""

    fragment: Fragment
    text: str
    """Without envelope, terminal colours, blobs and the line numbers that a reading tool put before each line."""
    first: int | None
    """The number of the first line, where the lines came numbered."""
    status: int | None
    """Exit status, where the output says it."""
    cap: int
    """Tokens that the digest may cost."""
    hints: tuple[str, ...] = ()
    """Strings that earlier context points at."""
    ok: bool | None = None
    """Whether the call succeeded, where the caller knows it."""
    cls: str = field(init=False)
    """The class of the call, ``""`` where there is none."""
    target: str = field(init=False)
    """What the call works on, ``""`` where it is unknown."""
    answers: bool = field(init=False)
    """Whether it is a result."""

    def __post_init__(self) -> None:
        """Every digester asks for these."""
        resource = self.fragment.resource
        self.cls = resource.cls if resource is not None else ""
        self.target = (resource.target or "") if resource is not None else ""
        self.answers = self.fragment.answers

    @property
    def roomy(self) -> bool:
        """Whether there is room for lines of the source."""
        return self.cap >= ROOMY

    @property
    def suffix(self) -> str:
        """``.py``, or the whole name of a file without one (``makefile``), in lower case."""
        return _suffix(self.target)

    @property
    def range(self) -> str:
        """Which lines of a file these are, by their own numbers where they came with them; empty for a whole file."""
        span = self.fragment.resource.span if self.fragment.resource is not None and self.cls == READ else None
        if self.first is not None and (self.first > 1 or span is not None):
            return f"lines {number(self.first, '')}-{number(self.first + max(self.lines, 1) - 1, '')}"
        if span is None:
            return ""
        low, high = (number(abs(end), "") for end in span)
        if span[1] > 0:
            return f"lines {low}-{high}"
        return f"last {low} lines" if span[0] < 0 and span[1] == -1 else f"from line {low}" if span[0] > 0 else ""

    @cached_property
    def head(self) -> str:
        """The beginning of the text, in whole lines."""
        return whole_lines(self.text, HEAD)

    @cached_property
    def tail(self) -> str:
        """The end of the text, in whole lines."""
        start = max(0, len(self.text) - HEAD)
        return (
            self.text[self.text.find("\n", start) + 1 :] if "\n" in self.text[start:] and start else self.text[start:]
        )

    @cached_property
    def ends(self) -> tuple[str, ...]:
        """The end and the beginning of the text, once where that is the same."""
        return (self.tail, self.head) if len(self.text) > HEAD else (self.text,)

    @cached_property
    def top(self) -> list[str]:
        """The first lines that are not blank, at most 40."""
        return [line.rstrip() for line in self.head.split("\n") if line.strip()][:40]

    @property
    def lines(self) -> int:
        """Lines of the text; an unfinished last one counts."""
        return line_count(self.text)

    @cached_property
    def cut(self) -> bool:
        """Whether the tool itself said that it left something out. A file may hold such words, but not at its end."""
        start = max(0, len(self.text) - 300) if self.cls in _FILES else 0
        for word in _CUT_WORDS:
            at, looks = self.text.find(word, start), 0
            while at >= 0 and looks < 5:
                if _CUT_MARK.search(self.text, max(0, at - 60), at + len(word) + 1):
                    return True
                at, looks = self.text.find(word, at + 1), looks + 1
        return False


@lru_cache(maxsize=256)
def _suffix(target: str) -> str:
    """Remembered: several digesters ask, and what is worked on comes again."""
    name = target.partition("?")[0].replace("\\", "/").rpartition("/")[2].strip().lower()
    dot = name.rfind(".")
    return name[dot:] if dot > 0 else name


def line_count(text: str) -> int:
    """Lines of a text; an unfinished last one counts."""
    line_ends = text.count("\n") if "\n" in text else 0  # one is found many times as fast as all are counted
    return line_ends + (not text.endswith("\n")) if text else 0


def observe(fragment: Fragment, cap: int, hints: Sequence[str] = (), ok: bool | None = None) -> Observed:
    """The fragment, prepared."""
    if not fragment.answers:
        return Observed(fragment, fragment.text, None, None, cap, tuple(hints), ok)
    text = fragment.text
    text, status = unwrapped(text.replace("\r\n", "\n") if "\r" in text else text)  # one letter is found much faster
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    text, first = unnumbered(text, fragment.resource is not None and fragment.resource.cls in _FILES)
    return Observed(fragment, without_blobs(text), first, status, cap, tuple(hints), ok)


def unnumbered(text: str, file: bool = True) -> tuple[str, int | None]:
    """A text without the numbers before its lines, and the first of them; unchanged where lines are not numbered.

    Understood are ``     1→code``, ``1: code``, ``1:code``, ``1| code`` and ``1<tab>code``. Where the text need not be
    a ``file``, only numbers padded as ``cat -n`` does it count, and the arrow.
    """
    lead = _NUMBERED.match(text)
    if lead is None:
        return text, None
    mark, first = lead[2], int(lead[1])
    if not file and not (mark == "→" or (mark == "\t" and text.startswith("   "))):
        return text, None
    if not _go_on(text, first, mark):
        return text, None
    gap = " ?" if mark in {": ", "| "} else ""
    bare = r"|^[ ]+\d{1,9}$" if text.startswith("   ") else ""  # a blank line that lost its mark with its white space
    return re.sub(rf"^[ ]*\d{{1,9}}{re.escape(mark.rstrip(' '))}{gap}{bare}", "", text, flags=re.MULTILINE), first


def _go_on(text: str, first: int, mark: str) -> bool:
    """Whether the next lines carry the next numbers. A single line counts only with a mark that no text has."""
    lines = text[:HEAD].split("\n", 4)[1:4]
    numbered = [_NUMBERED.match(line + "\t") for line in lines if line.strip()]
    if not numbered:
        return mark in {"→", "\t"}
    numbers = [int(line[1]) if line else -1 for line in numbered]
    return numbers[:2] == list(range(first + 1, first + 1 + len(numbers[:2])))
