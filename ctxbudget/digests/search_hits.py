"""What a search found (grep, rg, a code index): how many hits, in which files, the first of them."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from ctxbudget.digests._parts import Lines, Names, Phrase
from ctxbudget.digests._sketch import Sketch
from ctxbudget.digests._wording import number, several
from ctxbudget.resources import READ, SEARCH

if TYPE_CHECKING:
    from ctxbudget.digests._observed import Observed
    from ctxbudget.digests._parts import Part

SUREST = 0.7
_PLACED = re.compile(r"^((?:[A-Za-z]:[\\/])?[^\s:][^:\n]{0,300}?):(\d+)(?::\d+)?:", re.MULTILINE)
"""``path:12:text``, as grep -n, rg and compilers give it."""
_IN_FILE = re.compile(r"^((?:[A-Za-z]:[\\/])?[^\s:]{3,300}):(?!\d+\n)", re.MULTILINE)
"""``path:text``, without line numbers."""
_COUNTED = re.compile(r"^(?P<file>[^\s:()][^:()\n]{0,300}?)(?::| \()(?P<count>\d+)(?: match(?:es)?\))?$", re.MULTILINE)
"""``path:12`` (grep -c) and ``path (12 matches)``."""
_HEADED = re.compile(r"^(?!\d+[:-])(\S{1,300})\n(?=\d+[:-])", re.MULTILINE)
"""The heading of a file above its ``12:text`` lines, as rg gives them to a terminal."""
_SAID = re.compile(
    r"\A(?:Found (?P<hits>\d[\d,]*) (?P<what>[^\n]{1,60}?)(?: in [^\n]*)?|No (?:matches|files|results)[^\n]*)(?:\n|\Z)"
)
_LIKE_A_FILE = re.compile(r"[./\\]")


def score(seen: Observed) -> float:
    """By class; or where most of the first lines are ``path:12:text``."""
    if seen.cls == SEARCH:
        return 0.7
    if seen.cls == READ or not seen.answers or len(seen.top) < 2:
        return 0.0
    return 0.65 if sum(1 for line in seen.top if _PLACED.match(line)) * 5 > len(seen.top) * 3 else 0.0


def sketch(seen: Observed) -> Sketch:
    """Hits by file, most first; then the hits themselves."""
    if not seen.text.strip() or ((said := _SAID.match(seen.head)) and said["hits"] is None):
        return Sketch((Phrase("no hits"),))
    parts: list[Part] = _summary(seen)
    if seen.cut:
        parts.append(Phrase("cut by the tool"))
    if not _listed_counts(seen.text):
        parts.append(Lines(_hits(seen)))
    return Sketch(tuple(parts))


def _hits(seen: Observed) -> list[str]:
    """The first hits; with room those of one file stand below its name."""
    lines = [line.strip() for line in seen.head.split("\n") if line.strip() and not _SAID.match(line)]
    if not seen.roomy:
        return lines
    told, file = list[str](), ""
    for line in lines:
        placed = _PLACED.match(line) or _IN_FILE.match(line)
        if placed is None or not _LIKE_A_FILE.search(placed[1]):
            told.append(line)
            continue
        if placed[1] != file:
            file = placed[1]
            told.append(f"{file}:")
        told.append("  " + line[len(file) + 1 :].strip())
    return told


def _summary(seen: Observed) -> list[Part]:
    said = _SAID.match(seen.head)
    own: list[Part] = [Phrase(said[0].strip().rstrip(":"))] if said else []
    if files := _by_file(seen.text):
        total = sum(files.values())
        found = f"{several(total, 'hit')} in {several(len(files), 'file')}"
        ranked = [f"{name} {number(hits)}" for name, hits in files.most_common()]
        return [Phrase(found), Names(ranked, share=0.5 if seen.roomy else 0.8)]
    if own:
        return own
    if hits := len(re.findall(r"^\d+:", seen.text, re.MULTILINE)):
        return [Phrase(several(hits, "hit"))]
    return [Phrase(several(_filled(seen.text), "line"))]


def _by_file(text: str) -> Counter[str]:
    """Hits by file, in the form that the text has."""
    if found := _PLACED.findall(text):
        return Counter(name for name, _ in found)
    if counted := _listed_counts(text):
        return counted
    if headings := [heading for heading in _HEADED.finditer(text) if heading[1] != "--"]:
        ends = [*(heading.start() for heading in headings[1:]), len(text)]
        return Counter(
            {
                heading[1]: len(re.findall(r"^\d+:", text[heading.end() : end], re.MULTILINE))
                for heading, end in zip(headings, ends, strict=True)
            }
        )
    plain = [name for name in _IN_FILE.findall(text) if _LIKE_A_FILE.search(name)]
    return Counter(plain) if len(plain) * 2 > _filled(text) else Counter()


def _listed_counts(text: str) -> Counter[str]:
    """Hits by file where the tool counted them itself; empty where it did not."""
    counted = _COUNTED.findall(text)
    if len(counted) * 2 <= _filled(text):
        return Counter()
    return Counter({name: int(count[:9]) for name, count in counted if int(count[:9])})


def _filled(text: str) -> int:
    """Lines that are not blank."""
    stripped = text.strip()
    return stripped.count("\n") + 1 - len(re.findall(r"\n(?=[ \t]*\n)", stripped)) if stripped else 0
