"""Names that were listed (ls, tree, glob, find): how many, directories, main endings, the first names."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxbudget.digests._parts import Lines, Names, Phrase, Prose
from ctxbudget.digests._sketch import Sketch
from ctxbudget.digests._wording import number, several
from ctxbudget.resources import LIST, READ, SEARCH

if TYPE_CHECKING:
    from ctxbudget.digests._observed import Observed
    from ctxbudget.digests._parts import Part

_LONG = re.compile(
    r"^(?P<kind>[dlbcps-])[rwxsStT-]{9}\S?[ \t]+\d+[ \t]+\S+[ \t]+\S+[ \t]+[\d.,]+[KMGTi]*[ \t]+"
    r"(?:\S+[ \t]+\S+[ \t]+[\d:]+|[\d-]+[ \t]+[\d:.]+(?:[ \t][+-]\d+)?)[ \t]+(?P<name>[^\n]+)$",
    re.MULTILINE,
)
"""A line of ``ls -l``."""
_TREE = re.compile(r"^(?:[│|` \t\u00a0]*[├└|`+\\][─-]{1,3}[ \u00a0])(?P<name>[^\n]+)$", re.MULTILINE)
_BULLET = re.compile(r"^[ \t]*- (?P<name>[^\n]+)$", re.MULTILINE)
_PATH = re.compile(r"[^\s:*?\"<>|=(){};,]+(?: [^\s:*?\"<>|=(){};,]+){0,3}[/*@]?\Z")
_ERROR = re.compile(
    r"\A(?:ls|find|tree|dir|stat)?:? ?[^\n]{0,200}(?:No such file|cannot access|not found|denied|not exist)"
)
_NOTE = re.compile(
    r"^(?:total \d+|Found \d+ files?|Here's the files and directories[^\n]*"
    r"|[(\[.][^\n]*(?:truncated|omitted)[^\n]*|\d+ director(?:y|ies), \d+ files?|[^\n]*:)$"
)
_COLUMNS = re.compile(r"\t|[ ]{2,}")
_ENDING = re.compile(r"[^/\\. ](\.[A-Za-z0-9]{1,8})[*@]?\Z")
_ENDINGS = 3
_TREE_SUM = re.compile(r"^\d+ director(?:y|ies), \d+ files?$", re.MULTILINE)
_FEW = 4
"""Entries up to which the names say it all."""


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    directory: bool


def score(seen: Observed) -> float:
    """By class; or where the first lines are all paths, or lines of ``ls -l``."""
    if seen.cls == READ or not seen.fragment.answers or not seen.top:
        return 0.0
    if _ERROR.match(seen.head):
        return 0.0
    if _LONG.search(seen.head):
        return 0.85
    if _TREE.search(seen.head) and sum(1 for line in seen.top if _TREE.match(line)) * 2 > len(seen.top):
        return 0.85
    paths = all(_PATH.match(line) or _NOTE.match(line) for line in seen.top[:12])
    if seen.cls == LIST:
        return 0.8
    named = sum("/" in line or "." in line for line in seen.top) * 2 > len(seen.top)
    return 0.8 if paths and named and (seen.cls == SEARCH or len(seen.top) > 3) else 0.0


def sketch(seen: Observed) -> Sketch:
    """Counts, endings, names; names below one directory are shown from there."""
    entries = _entries(seen)
    if not entries:
        return Sketch((Prose(seen.text, tail=True),))
    below = _shared(entries)
    directories = sum(entry.directory for entry in entries)
    parts: list[Part] = [Phrase(several(len(entries), "entry", "entries"))]
    if below and below.rstrip("/") not in seen.target:
        parts.append(Phrase(f"below {below}"))
    kinds = [several(directories, "directory", "directories")] if directories else []
    if said := _TREE_SUM.search(seen.tail):
        kinds = [said[0]]
    kinds += [f"{number(count)} {ending}" for ending, count in _endings(entries) if count > 1]
    if kinds and len(entries) > _FEW:
        parts.append(Phrase(", ".join(kinds)))
    if seen.cut:
        parts.append(Phrase("cut by the tool"))
    names = [entry.name[len(below) :] for entry in entries]
    parts.append(Lines(names) if seen.roomy and len(names) <= 40 else Names(names))
    return Sketch(tuple(parts), verb="" if seen.cls else "listed")


def _entries(seen: Observed) -> list[_Entry]:
    """Everything listed, in order, without ``.``, ``..``, totals and headings."""
    text = seen.text
    if long := list(_LONG.finditer(text)):
        return [
            _Entry(line["name"].partition(" -> ")[0], line["kind"] == "d")
            for line in long
            if line["name"] not in {".", "..", "./", "../"}
        ]
    for shape in (_TREE, _BULLET):
        if sum(1 for line in seen.top if shape.match(line)) * 2 > len(seen.top):
            return [_Entry(name.strip(), name.rstrip().endswith("/")) for name in shape.findall(text)]
    lines = [line.strip() for line in text.split("\n") if not _NOTE.match(line)]
    names = [name.strip() for line in lines for name in (_COLUMNS.split(line) if _COLUMNS.search(line) else (line,))]
    return [_Entry(name, name.endswith("/")) for name in names if name]


def _shared(entries: list[_Entry]) -> str:
    """The directory that all names lie below, where they are paths."""
    names = [entry.name for entry in entries]
    if len(names) < 2:
        return ""
    low, high = min(names), max(names)  # what these two share all others share
    same = next((at for at, pair in enumerate(zip(low, high, strict=False)) if pair[0] != pair[1]), len(low))
    return low[: low.rfind("/", 0, same) + 1]


def _endings(entries: list[_Entry]) -> list[tuple[str, int]]:
    found = (_ENDING.search(entry.name) for entry in entries if not entry.directory)
    return Counter(match[1] for match in found if match).most_common(_ENDINGS)
