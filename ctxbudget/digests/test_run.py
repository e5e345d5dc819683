"""A run of tests: how many passed, failed and were skipped; the names of failures, each with its first error line."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from ctxbudget.digests import command
from ctxbudget.digests._frameworks import FRAMEWORKS, GENERIC, GO
from ctxbudget.digests._parts import Lines, Names, Phrase
from ctxbudget.digests._passage import Passage
from ctxbudget.digests._sketch import Sketch
from ctxbudget.digests._test_counts import counts, said, summary, value
from ctxbudget.digests._wording import clip, flat
from ctxbudget.resources import EDIT, FETCH, LIST, PLAN, READ, RETRIEVAL, SEARCH, SHELL, TEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.digests._frameworks import Framework
    from ctxbudget.digests._observed import Observed
    from ctxbudget.digests._parts import Part

SUREST = 0.92
_NEVER = frozenset({READ, SEARCH, LIST, FETCH, RETRIEVAL, EDIT, PLAN})
_SAVED = frozenset({".log", ".out", ".txt"})
"""Endings of files that the output of a run may have been saved in."""
_SIGN = re.compile(f"\\n(?:{'|'.join(framework.begins for framework in (*FRAMEWORKS, GO))})")
"""How the line of a summary begins: most texts have no such line."""
_TELLS = re.compile(r"pass|fail|test|example|\bok\b", re.IGNORECASE)
"""Without this there is no summary."""
_GENERIC_REACH = 1_000
_REACH = 3_000
"""Characters behind a failure's name in which its error stands."""
_MOST = 200
"""Failures whose errors are looked up."""
_SHORT = 400
"""Characters of an output that may as well be shown."""
_WARNING = re.compile(r"^[^\n]*\b[Ww]arning\b[^\n]*$", re.MULTILINE)


def score(seen: Observed) -> float:
    """By the summary of a runner, wherever a command printed it."""
    if not seen.answers or (seen.cls in _NEVER and seen.suffix not in _SAVED):
        return 0.0
    found = _framework(seen)
    if found is None:
        return 0.0
    return 0.92 if found is not GENERIC or seen.cls == TEST else 0.7


def sketch(seen: Observed) -> Sketch:
    """Counts first, then failures."""
    framework = _framework(seen)
    if framework is None:
        return command.sketch(seen)
    counted = counts(framework, seen.text)
    told = "" if framework is GENERIC else said(counted)
    parts: list[Part] = [Phrase(clip(told or flat(summary(framework, seen.text)), 160))]
    if failures := list(_failures(framework, seen.text)):
        parts.append(_named(failures, max(value(counted.get(word, "0")) for word in ("failed", "error")), seen.roomy))
    elif seen.roomy and (warnings := _warnings(seen.text)):
        parts.append(Lines(warnings, "warnings:"))
    elif len(seen.text) < _SHORT and framework is GENERIC:
        parts.append(Passage(seen.text))
    return Sketch(tuple(parts))


def _framework(seen: Observed) -> Framework | None:
    """The runner whose summary stands near the end (or, for want of that, at the beginning)."""
    for text in seen.ends:
        if _SIGN.search(f"\n{text}") and _TELLS.search(text):
            for framework in (*FRAMEWORKS, GO):
                if framework.summary.search(text):
                    return framework
    last = seen.tail[-_GENERIC_REACH:] if seen.cls in {TEST, SHELL, ""} else ""
    return GENERIC if ("pass" in last or "fail" in last) and GENERIC.summary.search(last) else None


def _named(failures: list[tuple[str, str]], total: int, roomy: bool) -> Part:
    """The failures, each with its error; where there is little room, only the first with its error."""
    longest = 240 if roomy else 110
    told = [clip(f"{name} ({flat(error)})" if error else name, longest) for name, error in failures]
    if roomy:
        return Lines(told, "failed:")
    brief = [told[0], *(clip(name, longest) for name, _ in failures[1:])]
    return Names(told, "failed: ", total=max(total, len(told)), brief=brief)


def _failures(framework: Framework, text: str) -> Iterator[tuple[str, str]]:
    """Each failing test once, with the first line of its error."""
    named: dict[str, str] = {}
    for pattern in (framework.failure, *([framework.rest] if framework.rest is not None else [])):
        for match in pattern.finditer(text):
            name = flat(match[1])
            error = match[2] if match.lastindex and match.lastindex > 1 else ""
            if not named.get(name):
                named[name] = error or (_error(framework, text, match) if len(named) < _MOST else "")
        if named:
            break
    yield from named.items()


def _error(framework: Framework, text: str, match: re.Match[str]) -> str:
    """The first error line behind a failure's name, or in the section of that name where the runner writes one."""
    if framework.section:
        name = match[1].rpartition("::")[2] if framework.name == "pytest" else match[1]
        start = max(text.find(f"{framework.section} {name}"), text.find(f"{framework.section} {match[1]}"))
        stop = start + _REACH
    else:
        start = match.end()
        following = framework.failure.search(text, start)
        stop = min(start + _REACH, following.start() if following else len(text))
    found = framework.error.search(text, start, stop) if start >= 0 else None
    if found is None:
        return ""
    return next((group for group in found.groups() if group), found[0].partition("\n")[2] or found[0])


def _warnings(text: str) -> list[str]:
    """The lines that warn of something, each once."""
    found = (clip(match[0].strip(), 200) for match in islice(_WARNING.finditer(text), _MOST))
    return list(islice(dict.fromkeys(found), 10))
