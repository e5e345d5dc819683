"""Names that were listed (ls, tree, glob, find): how many, directories, main endings, the first names."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from ctxbudget.digests._parts import Lines, Names, Phrase
from ctxbudget.digests._passage import Passage
from ctxbudget.digests._sketch import Sketch
from ctxbudget.digests._wording import number, several
from ctxbudget.resources import LIST, READ, SEARCH

if TYPE_CHECKING:
    from ctxbudget.digests._observed import Observed
    from ctxbudget.digests._parts import Part

SUREST = 0.85
_LONG = re.compile(
    r"^([dlbcps-])[rwxsStT-]{9}\S?[ \t]+\d+[ \t]+\S+[ \t]+\S+[ \t]+[\d.,]+[KMGTi]*[ \t]+"
    r"(?:\S+[ \t]+\S+[ \t]+[\d:]+|[\d-]+[ \t]+[\d:.]+(?:[ \t][+-]\d+)?)[ \t]+([^\n]+)$",
    re.MULTILINE,
)
"""A line of ``ls -l``."""
_MODE = re.compile(r"\n[dlbcps-][rwxsStT-]{9}")
"""How such a line begins, with the line end before, which is found many times as fast."""
_TREE = re.compile(r"^(?:[│|` \t\u00a0]*[├└|`+\\][─-]{1,3}[ \u00a0])([^\n]+)$", re.MULTILINE)
_BULLET = re.compile(r"^[ \t]*- ([^\n]+)$", re.MULTILINE)
_PATH = re.compile(r"[^\s:*?\"<>|=(){};,]+(?: [^\s:*?\"<>|=(){};,]+){0,3}[/*@]?\Z")
_ERROR = re.compile(
    r"\A(?:ls|find|tree|dir|stat)?:? ?[^\n]{0,200}(?:No such file|cannot access|not found|denied|not exist)"
)
_NOTE = re.compile(
    r"^(?:total \d+|Found \d+ files?|Here's the files and directories[^\n]*"
    r"|[(\[.][^\n]*(?:truncated|omitted)[^\n]*|\d+ director(?:y|ies), \d+ files?|[^\n]*:)$"
)
_COLUMNS = re.compile(r"\t|[ ]{2,}")
_ENDING = re.compile(r"[^/\\.\s](\.[A-Za-z][A-Za-z0-9]{0,7})[*@]?$", re.MULTILINE)
_ENDINGS = 3
_TREE_SUM = re.compile(r"^\d+ director(?:y|ies), \d+ files?$", re.MULTILINE)
_SELF = frozenset({".", "..", "./", "../"})
_FEW = 4
"""Entries up to which the names say it all."""


def score(seen: Observed) -> float:
    """By class; or where the first lines are all paths, or lines of ``ls -l``."""
    if seen.cls == READ or not seen.answers or not seen.top:
        return 0.0
    if _ERROR.match(seen.head):
        return 0.0
    if _MODE.search(f"\n{seen.head}") and _LONG.search(seen.head):
        return 0.85
    if sum(1 for line in seen.top if _TREE.match(line)) * 2 > len(seen.top):
        return 0.85
    paths = all(_PATH.match(line) or _NOTE.match(line) for line in seen.top[:12])
    if seen.cls == LIST:
        return 0.8
    named = sum("/" in line or "." in line for line in seen.top) * 2 > len(seen.top)
    return 0.8 if paths and named and (seen.cls == SEARCH or len(seen.top) > 3) else 0.0


def sketch(seen: Observed) -> Sketch:
    """Counts, endings, names; names below one directory are shown from there."""
    names, folders = _entries(seen)
    if not names:
        return Sketch((Passage(seen.text),))
    below = _shared(names)
    parts: list[Part] = [Phrase(several(len(names), "entry", "entries"))]
    if below and below.rstrip("/") not in seen.target:
        parts.append(Phrase(f"below {below}"))
    if len(names) > _FEW and (kinds := _kinds(seen, names, folders)):
        parts.append(Phrase(", ".join(kinds)))
    if seen.cut:
        parts.append(Phrase("cut by the tool"))
    shown = [name[len(below) :] for name in names]
    parts.append(Lines(shown) if seen.roomy and len(shown) <= 40 else Names(shown))
    return Sketch(tuple(parts), verb="" if seen.cls else "listed")


def _kinds(seen: Observed, names: list[str], folders: set[str]) -> list[str]:
    """How many directories there are, and files of the main endings; by ``tree``'s own count where it gives one."""
    said = _TREE_SUM.search(seen.tail)
    directories = len(folders) or sum(name.endswith("/") for name in names)
    first = [said[0]] if said else [several(directories, "directory", "directories")] if directories else []
    endings = Counter(
        _ENDING.findall("\n".join(name for name in names if name not in folders) if folders else "\n".join(names))
    )
    return first + [f"{number(count)} {ending}" for ending, count in endings.most_common(_ENDINGS) if count > 1]


def _entries(seen: Observed) -> tuple[list[str], set[str]]:
    """Everything listed, in order, without ``.``, ``..``, totals and headings; which of it ``ls -l`` calls folders."""
    text = seen.text
    found = _LONG.findall(text) if _MODE.search(f"\n{text}") else ()
    if long := [(kind, name.partition(" -> ")[0]) for kind, name in found if name not in _SELF]:
        return [name for _, name in long], {name for kind, name in long if kind == "d"}
    for shape in (_TREE, _BULLET):
        if sum(1 for line in seen.top if shape.match(line)) * 2 > len(seen.top):
            return [name.strip() for name in shape.findall(text)], set()
    lines = [line for line in map(str.strip, text.split("\n")) if line]
    if any(_NOTE.match(line) for line in (*seen.top, *seen.tail.split("\n"))):
        lines = [line for line in lines if not _NOTE.match(line)]
    if any(map(_COLUMNS.search, seen.top)):
        lines = [name for line in lines for name in map(str.strip, _COLUMNS.split(line)) if name]
    return lines, set()


def _shared(names: list[str]) -> str:
    """The directory that all names lie below, where they are paths."""
    if len(names) < 2:
        return ""
    low, high = min(names), max(names)  # what these two share all others share
    same = next((at for at, pair in enumerate(zip(low, high, strict=False)) if pair[0] != pair[1]), len(low))
    return low[: low.rfind("/", 0, same) + 1]
