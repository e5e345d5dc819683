"""A run of tests: how many passed, failed and were skipped; the names of failures, each with its first error line."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from ctxbudget.digests import command
from ctxbudget.digests._frameworks import FRAMEWORKS, GENERIC, GO
from ctxbudget.digests._parts import Ends, Lines, Names, Phrase
from ctxbudget.digests._sketch import Sketch
from ctxbudget.digests._wording import clip, flat, number
from ctxbudget.resources import EDIT, FETCH, LIST, PLAN, READ, RETRIEVAL, SEARCH, TEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.digests._frameworks import Framework
    from ctxbudget.digests._observed import Observed
    from ctxbudget.digests._parts import Part

_NEVER = frozenset({READ, SEARCH, LIST, FETCH, RETRIEVAL, EDIT, PLAN})
_WORDS = {
    "failed": "failed", "fail": "failed", "failing": "failed", "failures": "failed", "failure": "failed",
    "errors": "errors", "error": "errors", "passed": "passed", "pass": "passed", "passing": "passed", "ok": "passed",
    "skipped": "skipped", "ignored": "skipped", "pending": "skipped", "todo": "todo", "xfailed": "xfailed",
    "xpassed": "xpassed", "tests": "tests", "test": "tests", "examples": "tests", "example": "tests", "cases": "tests",
    "total": "tests", "run": "tests", "completed": "tests", "assertions": "assertions", "doctests": "doctests",
    "deselected": "deselected", "excluded": "excluded",
}  # fmt: skip
_ORDER = ("failed", "errors", "passed", "skipped")
_NUMBER_FIRST = re.compile(r"(?<![\w.:/-])(\d[\d,]*) (?:tests? (?=passed|failed|skipped))?([A-Za-z]+)")
_WORD_FIRST = re.compile(r"([A-Za-z]+)(?: run)?[:=][ \t]*(\d[\d,]*)(?![\d.]*\w)")
_TAP = re.compile(r"^# (\w+) (\d+)$", re.MULTILINE)
_VITEST_TOTAL = re.compile(r"\((\d+)\)\s*\Z")
_REACH = 3_000
"""Characters behind a failure's name in which its error stands."""
_MOST = 200
"""Failures whose errors are looked up."""


def score(seen: Observed) -> float:
    """By the summary of a runner, wherever a command printed it."""
    if not seen.fragment.answers or (seen.cls in _NEVER and seen.suffix not in {".log", ".out", ".txt"}):
        return 0.0
    found = _framework(seen)
    if found is None:
        return 0.0
    return 0.92 if found is not GENERIC or seen.cls == TEST else 0.7


def sketch(seen: Observed) -> Sketch:
    """Counts first, then failures; a run without either is shown by its ends."""
    framework = _framework(seen)
    if framework is None:
        return command.sketch(seen)
    counts = _go_counts(seen.text) if framework is GO else _counts(framework, seen.text)
    said = "" if framework is GENERIC else _said(counts)
    said = said or flat(_last(framework.summary, seen.text) or "")
    parts: list[Part] = [Phrase(clip(said, 160))]
    failures = list(_failures(framework, seen.text, 240 if seen.roomy else 110))
    if failures:
        total = max(len(failures), *(_value(counts.get(word, "0")) for word in ("failed", "errors")))
        parts.append(Lines(failures, "failed:") if seen.roomy else Names(failures, "failed: ", total=total))
    elif not counts.get("failed", "0").strip("0") or framework is GENERIC:
        parts += _rest(seen, framework)
    return Sketch(tuple(parts))


def _framework(seen: Observed) -> Framework | None:
    """The runner whose summary stands near the end (or, for want of that, at the beginning)."""
    for text in (seen.tail, seen.head):
        for framework in (*FRAMEWORKS, GO):
            if framework.summary.search(text):
                return framework
    if seen.cls in {TEST, "shell", ""} and GENERIC.summary.search(seen.tail[-1_000:]):
        return GENERIC
    return None


def _last(pattern: re.Pattern[str], text: str) -> str | None:
    """The last match, looked for at the end first."""
    found = None
    for match in pattern.finditer(text[-20_000:]):
        found = match
    found = found or pattern.search(text)
    return found and " ".join(group for group in match_groups(found) if group)


def match_groups(match: re.Match[str]) -> tuple[str, ...]:
    """The groups of a match, or the whole of it where it has none."""
    return match.groups() or (match[0],)


def _counts(framework: Framework, text: str) -> dict[str, str]:
    """Counts by word, as the runner wrote them; those of several summaries (cargo) are added up."""
    if framework.name == "cargo":
        return _added(_pairs(match[1]) for match in framework.summary.finditer(text))
    if framework.name == "mocha":
        return _pairs(" ".join(match[0] for match in framework.summary.finditer(text)))
    if framework.name == "tap":
        return {_WORDS[word]: value for word, value in _TAP.findall(text) if word in _WORDS}
    said = _last(framework.summary, text) or ""
    counts = _pairs(said)
    if framework.name == "vitest" and (total := _VITEST_TOTAL.search(said)):
        counts["tests"] = total[1]
    if framework.name == "unittest":
        bad = sum(_value(counts.get(word, "0")) for word in ("failed", "errors", "skipped"))
        counts["passed"] = number(max(0, _value(counts.get("tests", "0")) - bad))
    return counts


def _pairs(said: str) -> dict[str, str]:
    """``3 failed``, ``failures=3``, ``Failures: 3`` → ``failed: 3``."""
    found = [(word, value) for value, word in _NUMBER_FIRST.findall(said)] + _WORD_FIRST.findall(said)
    counts: dict[str, str] = {}
    for word, value in found:
        if (known := _WORDS.get(word.lower())) is not None:
            counts.setdefault(known, value.rstrip(","))
    return counts


def _added(several: Iterator[dict[str, str]]) -> dict[str, str]:
    every = list(several)
    words = dict.fromkeys(word for counts in every for word in counts)
    return {word: number(sum(_value(counts.get(word, "0")) for counts in every)) for word in words}


def _go_counts(text: str) -> dict[str, str]:
    marks = re.findall(r"^[ \t]*--- (PASS|FAIL|SKIP): ", text, re.MULTILINE)
    counts = {word: marks.count(mark) for word, mark in (("failed", "FAIL"), ("passed", "PASS"), ("skipped", "SKIP"))}
    packages = re.findall(r"^(ok|FAIL)[ \t]+[\w./-]+[ \t]+(?:[\d.]+s|\()", text, re.MULTILINE)
    counts |= {"packages ok": packages.count("ok"), "packages failed": packages.count("FAIL")}
    return {word: number(count) for word, count in counts.items() if count}


def _said(counts: dict[str, str]) -> str:
    """``2 failed, 41 passed``; zeros are left out, except that nothing failed where that is all there is to say."""
    words = [*_ORDER, *(word for word in counts if word not in _ORDER and not (word == "tests" and "passed" in counts))]
    told = [f"{counts[word]} {word}" for word in words if counts.get(word, "0").strip("0,")]
    if not any(word in counts for word in ("failed", "passed", "errors")) and "tests" not in counts:
        return ""
    if "failed" in counts and "passed" not in counts and not counts["failed"].strip("0"):
        told.append("0 failed")
    return ", ".join(told)


def _value(written: str) -> int:
    digits = written.replace(",", "")
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 16 else 0


def _failures(framework: Framework, text: str, longest: int) -> Iterator[str]:
    """Each failing test once, with the first line of its error."""
    named: dict[str, str] = {}
    for pattern in (framework.failure, *([framework.rest] if framework.rest is not None else [])):
        for match in pattern.finditer(text):
            name = flat(match[1])
            said = match[2] if match.lastindex and match.lastindex > 1 else ""
            if not named.get(name):
                named[name] = said or (_error(framework, text, match) if len(named) < _MOST else "")
        if named:
            break
    for name, said in islice(named.items(), _MOST):
        yield clip(f"{name} ({flat(said)})" if said else name, longest)


def _error(framework: Framework, text: str, match: re.Match[str]) -> str:
    """The first error line behind a failure's name; for pytest's short summary, in the section of that name."""
    start = match.end()
    if framework.name in {"pytest", "cargo"}:
        short = match[1].rpartition("::")[2] if framework.name == "pytest" else match[1]
        rule = "_ " if framework.name == "pytest" else "---- "
        start = max(text.find(f"{rule}{short}"), text.find(f"{rule}{match[1]}"))
        if start < 0:
            return ""
    stop = start + _REACH
    following = framework.failure.search(text, match.end()) if start == match.end() else None
    found = framework.error.search(text, start, min(stop, following.start()) if following else stop)
    if found is None:
        return ""
    return next((group for group in found.groups() if group), found[0].partition("\n")[2] or found[0])


def _rest(seen: Observed, framework: Framework) -> list[Part]:
    """What else a passing run said: its warnings, where there is room."""
    if not seen.roomy and framework is not GENERIC:
        return []
    return [Ends(seen.text)] if seen.roomy or len(seen.text) < 400 else []
