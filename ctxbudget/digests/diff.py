"""A diff: files, lines added and removed; with room the changed lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ctxbudget.digests._parts import Lines, Names, Phrase
from ctxbudget.digests._sketch import Sketch
from ctxbudget.digests._wording import number, several, whole_lines
from ctxbudget.resources import READ

if TYPE_CHECKING:
    from ctxbudget.digests._observed import Observed
    from ctxbudget.digests._parts import Part

SUREST = 0.93
_HEADER = re.compile(r"^--- (?:a/)?([^\t\n]+)(?:\t[^\n]*)?\n\+\+\+ (?:b/)?([^\t\n]+)", re.MULTILINE)
_GIT = re.compile(r"^diff --git a/(\S+) b/", re.MULTILINE)
_BEGINS = re.compile(r"\n(?:diff --git |--- \S[^\n]*\n\+\+\+ |@@ -\d)")
_STAT = re.compile(r"^ (\S[^|\n]*?)[ ]+\|[ ]+(\d+[ ]*\+*-*|Bin[^\n]*)$", re.MULTILINE)
_STAT_SUM = re.compile(r"^ \d+ files? changed[^\n]*$", re.MULTILINE)
_CHANGE = re.compile(r"^(?:[-+](?![-+]{2} )[^\n]*|@@[^\n]*)$", re.MULTILINE)
_SUBJECT = re.compile(r"\Acommit ([0-9a-f]{7,40})[^\n]*\n(?:[A-Z][\w-]+:[^\n]*\n)+\n[ ]{4}([^\n]+)")


def score(seen: Observed) -> float:
    """Where it begins like one."""
    if not seen.answers or (seen.cls == READ and seen.suffix not in {".diff", ".patch"}):
        return 0.0
    return 0.93 if _begins(seen.head) or (" changed" in seen.tail and _STAT_SUM.search(seen.tail)) else 0.0


def _begins(text: str) -> bool:
    """Whether a line begins a diff. (With a line end in front, which is found many times as fast as a beginning.)"""
    return _BEGINS.search(f"\n{text}") is not None


def sketch(seen: Observed) -> Sketch:
    """Counts, files; with room the changes themselves."""
    parts: list[Part] = []
    if said := _SUBJECT.match(seen.head):
        parts.append(Phrase(f"commit {said[1]} {said[2]}" if seen.roomy else f"commit: {said[2]}"))
    if not _begins(seen.text):
        return Sketch((*parts, *_stat(seen.text)))
    text = seen.text
    headers = _HEADER.findall(text)
    files = list(dict.fromkeys([*_GIT.findall(text), *(new if new != "/dev/null" else old for old, new in headers)]))
    added = len(re.findall(r"^\+", text, re.MULTILINE)) - len(headers)
    removed = len(re.findall(r"^-", text, re.MULTILINE)) - len(headers)
    changed = f"+{number(added)} -{number(removed)} lines"
    parts.append(Phrase(f"{changed} in {several(len(files), 'file')}" if files else changed))
    if files:
        parts.append(Names(files, share=0.7))
    if seen.roomy:
        parts.append(Lines([line[0] for line in _CHANGE.finditer(whole_lines(text, 20_000))]))
    return Sketch(tuple(parts))


def _stat(text: str) -> list[Part]:
    """``git diff --stat``: its own sum, and the files."""
    total = _STAT_SUM.search(text)
    files = [f"{name} {change.split(' ')[0]}" for name, change in _STAT.findall(text)]
    return [Phrase(total[0].strip() if total else several(len(files), "file")), Names(files)]
