"""Patches as pieces: the lines that each hunk took for granted, and those it put in their place.

Read are Codex' envelope (``*** Begin Patch``), unified diffs, and search and replace blocks (Cline, Roo, Aider), alone
or inside a shell command's here-document. Context lines belong to both sides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_FILE = re.compile(r"\*\*\* (?:Update|Add|Delete) File: (.+?)\s*\Z")
_SEARCH = re.compile(r"(?:<{5,9}|-{5,9}) SEARCH>?\s*\Z")
_BETWEEN = re.compile(r"={5,9}\s*\Z")
_REPLACE = re.compile(r"(?:>{5,9}|\+{5,9}) REPLACE>?\s*\Z")
_WHERE = re.compile(r":\w+:|-{5,9}\s*\Z")
"""Roo's ``:start_line:12`` and the rule below it, in front of the old text."""


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of an edit: the text that had to be there, and the text put in its place. ``file``: where it says."""

    file: str | None
    old: str
    new: str


@dataclass(slots=True)
class _Hunk:
    """A hunk while its lines are still coming."""

    file: str | None = None
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)

    def take(self, line: str) -> None:
        """A line with its mark; an empty one is context that lost its blank."""
        mark, rest = line[:1], line[1:]
        if mark != "+":
            self.old.append(rest)
        if mark != "-":
            self.new.append(rest)

    def parts(self) -> Iterator[Part]:
        """The finished piece, if it has any line; what follows starts anew in the same file."""
        if self.old or self.new:
            yield Part(self.file, "\n".join(self.old), "\n".join(self.new))
        self.old, self.new = [], []


def hunks(text: str) -> Iterator[Part]:
    """The pieces of all patches in a text, in order."""
    if "*** Begin Patch" in text:
        yield from _envelope(text)
    elif "+++ " in text and "\n@@" in text:
        yield from _unified(text)
    if " SEARCH" in text and " REPLACE" in text:
        yield from _blocks(text)


def _envelope(text: str) -> Iterator[Part]:
    hunk, inside = _Hunk(), False
    for line in map(_whole, text.split("\n")):
        if line.startswith(("*** ", "@@")):
            yield from hunk.parts()
            if (named := _FILE.match(line)) is not None:
                hunk.file = named[1]
            inside = hunk.file is not None and line != "*** End Patch"
        elif inside:
            hunk.take(line)
    yield from hunk.parts()


def _unified(text: str) -> Iterator[Part]:
    hunk, inside, lines = _Hunk(), False, [_whole(line) for line in text.split("\n")]
    for at, line in enumerate(lines):
        heads = line.startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")
        if heads or line.startswith("@@") or (inside and line[:1] not in {"", " ", "+", "-", "\\"}):
            yield from hunk.parts()
            inside = line.startswith("@@") and hunk.file is not None
        elif not inside and line.startswith("+++ "):
            named = line[4:].partition("\t")[0].strip()
            hunk.file = named.removeprefix("b/")
        elif inside and not line.startswith("\\"):
            hunk.take(line)
    yield from hunk.parts()


def _blocks(text: str) -> Iterator[Part]:
    """Search and replace. One that is not closed changes nothing."""
    side: list[str] | None = None
    old, new = list[str](), list[str]()
    for line in map(_whole, text.split("\n")):
        if _SEARCH.match(line):
            side = old = []
            new = []
        elif side is old and _BETWEEN.match(line):
            side = new
        elif side is new and _REPLACE.match(line):
            yield Part(None, "\n".join(old), "\n".join(new))
            side = None
        elif side is not None and not (side is old and not old and _WHERE.match(line)):
            side.append(line)


def _whole(line: str) -> str:
    return line.removesuffix("\r")
