"""How many tests passed, failed and were skipped, in the words of one vocabulary, from the summary of any runner."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ctxbudget.digests._wording import number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ctxbudget.digests._frameworks import Framework

_WORDS = {
    "failed": "failed", "fail": "failed", "failing": "failed", "failures": "failed", "failure": "failed",
    "errors": "error", "error": "error", "passed": "passed", "pass": "passed", "passing": "passed", "ok": "passed",
    "skipped": "skipped", "ignored": "skipped", "pending": "skipped", "todo": "todo", "xfailed": "xfailed",
    "xpassed": "xpassed", "tests": "test", "test": "test", "examples": "test", "example": "test", "cases": "test",
    "total": "test", "run": "test", "completed": "test", "assertions": "assertion", "assertion": "assertion",
    "doctests": "doctest", "doctest": "doctest", "deselected": "deselected", "excluded": "excluded",
}  # fmt: skip
_ORDER = ("failed", "error", "passed", "skipped")
_PLURALS = frozenset({"error", "test", "assertion", "doctest", "package ok", "package failed"})
_NUMBER_FIRST = re.compile(r"(?<![\w.:/-])(\d+(?:,\d{3})*) (?:tests? (?=passed|failed|skipped))?([A-Za-z]+)")
_WORD_FIRST = re.compile(r"([A-Za-z]+)(?: run)?[:=][ \t]*(\d+(?:,\d{3})*)(?![\d.]*\w)")
_TAP = re.compile(r"^# (\w+) (\d+)$", re.MULTILINE)
_VITEST_TOTAL = re.compile(r"\((\d+)\)\s*\Z")
_GO_TEST = re.compile(r"^[ \t]*--- (PASS|FAIL|SKIP): ", re.MULTILINE)
_GO_PACKAGE = re.compile(r"^(ok|FAIL)[ \t]+[\w./-]+[ \t]+(?:[\d.]+s|\()", re.MULTILINE)
_NEAR = 20_000
"""Characters at the end in which a summary is looked for first."""


def counts(framework: Framework, text: str) -> dict[str, str]:
    """Counts by word, as the runner wrote them. Those of several summaries (cargo) are added up, Go's marks counted."""
    match framework.name:
        case "go":
            return _go(text)
        case "cargo":
            return _added([_pairs(match[1]) for match in framework.summary.finditer(text)])
        case "mocha":
            return _pairs(" ".join(match[0] for match in framework.summary.finditer(text)))
        case "tap":
            return {_WORDS[word]: value for word, value in _TAP.findall(text) if word in _WORDS}
    said = summary(framework, text)
    found = _pairs(said)
    if framework.name == "vitest" and (total := _VITEST_TOTAL.search(said)):
        found["test"] = total[1]
    if framework.name == "unittest":
        bad = sum(value(found.get(word, "0")) for word in ("failed", "error", "skipped"))
        found["passed"] = number(max(0, value(found.get("test", "0")) - bad))
    return found


def summary(framework: Framework, text: str) -> str:
    """The last summary, looked for at the end first."""
    found = None
    for match in framework.summary.finditer(text, max(0, len(text) - _NEAR)):
        found = match
    found = found or framework.summary.search(text)
    return " ".join(group for group in found.groups() or (found[0],) if group) if found else ""


def said(counted: dict[str, str]) -> str:
    """``2 failed, 41 passed``. Zeros are left out, except where it is all there is to say that nothing failed."""
    if not any(word in counted for word in ("failed", "passed", "error", "test")):
        return ""
    rest = (word for word in counted if word not in _ORDER and not (word == "test" and "passed" in counted))
    told = [
        f"{counted[word]} {_plural(word, counted[word])}" for word in (*_ORDER, *rest) if value(counted.get(word, "0"))
    ]
    if "passed" not in counted and value(counted.get("failed", "1")) == 0:
        told.append("0 failed")
    return ", ".join(told)


def value(written: str) -> int:
    """The number that was written; 0 where it is none."""
    digits = written.replace(",", "")
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 16 else 0


def _plural(word: str, count: str) -> str:
    first, _, rest = word.partition(" ")
    return word if count == "1" or word not in _PLURALS else f"{first}s {rest}".strip()


def _pairs(text: str) -> dict[str, str]:
    """``3 failed``, ``failures=3``, ``Failures: 3`` → ``failed: 3``."""
    found = [(word, count) for count, word in _NUMBER_FIRST.findall(text)] + _WORD_FIRST.findall(text)
    counted: dict[str, str] = {}
    for word, count in found:
        if (known := _WORDS.get(word.lower())) is not None:
            counted.setdefault(known, count)
    return counted


def _added(every: list[dict[str, str]]) -> dict[str, str]:
    words = dict.fromkeys(word for counted in every for word in counted)
    return {word: _total(counted.get(word, "0") for counted in every) for word in words}


def _total(written: Iterable[str]) -> str:
    return number(sum(map(value, written)))


def _go(text: str) -> dict[str, str]:
    marks, packages = _GO_TEST.findall(text), _GO_PACKAGE.findall(text)
    counted = {word: marks.count(mark) for word, mark in (("failed", "FAIL"), ("passed", "PASS"), ("skipped", "SKIP"))}
    counted |= {"package ok": packages.count("ok"), "package failed": packages.count("FAIL")}
    return {word: number(count) for word, count in counted.items() if count}
