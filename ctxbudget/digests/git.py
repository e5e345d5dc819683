"""What git says of itself: commits of a log, changed files of a status."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ctxbudget.digests._parts import Lines, Names, Phrase
from ctxbudget.digests._sketch import Sketch
from ctxbudget.digests._wording import number, several
from ctxbudget.resources import READ

if TYPE_CHECKING:
    from ctxbudget.digests._observed import Observed
    from ctxbudget.digests._parts import Part

SUREST = 0.94
_ASKED = re.compile(r"\bgit(?: -\S+(?: (?!-)\S+)?)*?[ (](log|status|reflog|stash list|branch)\b")
_COMMIT = re.compile(r"^commit ([0-9a-f]{7,40})[^\n]*\n(?:[A-Z][\w-]+:[^\n]*\n)+\n?[ ]{4}([^\n]+)", re.MULTILINE)
_SHORT_COMMIT = re.compile(r"^[ *|\\/_]*([0-9a-f]{7,40}) ([^\n]+)$", re.MULTILINE)
_SHORT_STATUS = re.compile(r"^([ MADRCTU?!]{2}) (\S[^\n]*)$", re.MULTILINE)
_BRANCH = re.compile(r"^(?:On branch |## )([^\n]+)$", re.MULTILINE)
_SECTION = re.compile(
    r"^(Changes to be committed|Changes not staged for commit|Untracked files|Unmerged paths):", re.MULTILINE
)
_LISTED = re.compile(r"^\t(?:(?:[a-z][a-z ]+):[ ]+)?([^\n]+)$", re.MULTILINE)
_SAID = {
    "Changes to be committed": "staged",
    "Changes not staged for commit": "not staged",
    "Untracked files": "untracked",
    "Unmerged paths": "unmerged",
}
_LONG_ID = 20
_CLEAN = "nothing to commit"


def score(seen: Observed) -> float:
    """By the command and by what it printed."""
    if not seen.answers or seen.cls == READ:
        return 0.0
    asked = _ASKED.search(seen.target)
    if _COMMIT.match(seen.head) and not re.search(r"^diff --git ", seen.head, re.MULTILINE):
        return 0.94 if asked or len(_COMMIT.findall(seen.head)) > 1 else 0.6
    if seen.head.startswith(("On branch ", "HEAD detached", "## ")) and asked:
        return 0.94
    if asked is None or not seen.top:
        return 0.0
    shape = _SHORT_STATUS if asked[1] == "status" else _SHORT_COMMIT
    return 0.94 if shape.match(seen.top[0]) else 0.0


def sketch(seen: Observed) -> Sketch:
    """Commits, newest first; or branch and files by their state."""
    commits = _COMMIT.findall(seen.text)
    if not commits and not _BRANCH.search(seen.head) and not _SHORT_STATUS.match(seen.head):
        commits = _SHORT_COMMIT.findall(seen.text)
    if commits:
        named = seen.roomy or len(commits[0][0]) < _LONG_ID  # whole or not at all, and forty digits cost as many tokens
        told = [f"{sha} {subject.strip()}" if named else subject.strip() for sha, subject in commits]
        return Sketch((Phrase(several(len(commits), "commit")), Lines(told)))
    return Sketch(tuple(_status(seen.text)))


def _status(text: str) -> list[Part]:
    branch = _BRANCH.search(text)
    parts: list[Part] = [Phrase(f"on {branch[1].strip()}")] if branch else []
    if short := _SHORT_STATUS.findall(text):
        files = [(("untracked" if mark == "??" else "changed"), name) for mark, name in short if mark != "##"]
    else:
        files = [(_SAID[title], name) for title, body in _sections(text) for name in _LISTED.findall(body)]
    for state in dict.fromkeys(state for state, _ in files):
        names = [name for its, name in files if its == state]
        parts.append(Names(names, before=f"{number(len(names))} {state}: "))
    if not files and _CLEAN in text:
        parts.append(Phrase(_CLEAN))
    return parts


def _sections(text: str) -> list[tuple[str, str]]:
    found = list(_SECTION.finditer(text))
    ends = [*(section.start() for section in found[1:]), len(text)]
    return [(section[1], text[section.end() : end]) for section, end in zip(found, ends, strict=False)]
