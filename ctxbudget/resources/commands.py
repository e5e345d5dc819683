"""Single commands of a script: which class each is, and what it works on."""

from __future__ import annotations

import re

from ctxbudget.resources import classes
from ctxbudget.resources.found import Found
from ctxbudget.resources.names import vocabulary
from ctxbudget.resources.programs import PROGRAMS, UNKNOWN, base_name, operands
from ctxbudget.resources.script import Step
from ctxbudget.resources.slices import cut

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_SCRIPT_RUNNERS = frozenset({"npm", "yarn", "pnpm", "bun"})


def stripped(words: list[str]) -> list[str]:
    """The words without assignments and programs in front: ``FOO=1 sudo timeout 30 uv run pytest`` is ``pytest``."""
    shell = vocabulary().shell
    place = 0
    while place < len(words):
        word = words[place]
        following = f"{base_name(word)} {words[place + 1]}" if place + 1 < len(words) else ""
        if following in shell["runners"]:
            place += 2
        elif base_name(word) in shell["wrappers"]:
            place += 1
        elif not (_ASSIGNMENT.match(word) or (place and (word.startswith("-") or word[:1].isdigit()))):
            break
        else:
            place += 1
    return words[place:]


def is_test(words: list[str]) -> bool:
    """Whether the command runs tests."""
    shell = vocabulary().shell
    name = base_name(words[0])
    if name in shell["tests"]:
        return True
    rest = [word for word in words[1:] if not word.startswith("-")]
    if name.startswith(("python", "pypy")) or name == "py":
        module = words[words.index("-m") + 1 :] if "-m" in words else rest
        if not module:
            return False
        first = base_name(module[0])
        return first in shell["tests"] or f"{first} {' '.join(module[1:2])}" in shell["test_commands"]
    if name in _SCRIPT_RUNNERS and rest:
        script = rest[1] if rest[0] == "run" and rest[1:] else rest[0]
        return script in {"test", "t"} or script.startswith("test:")
    return bool(rest) and f"{name} {rest[0]}" in shell["test_commands"]


def simple(step: Step) -> Found | None:
    """What one command is about; None where it says nothing (``cd``, ``echo``), ``UNKNOWN`` where it is not known."""
    words = stripped(step.words)
    if not words:
        return Found(classes.WRITE, tuple(step.writes)) if step.writes else None
    if is_test(words):
        return Found(classes.TEST, label=" ".join(words))
    if step.writes:
        return Found(classes.WRITE, tuple(step.writes))
    name = base_name(words[0])
    if (lines := cut(name, words[1:])) is not None:
        return Found(classes.READ, tuple(lines[1]), lines[0]) if lines[1] else UNKNOWN
    if (handler := PROGRAMS.get(name)) is not None:
        return handler(words[1:])
    return None if name in vocabulary().shell["neutral"] else UNKNOWN


def only_looks(words: list[str]) -> bool:
    """Whether a command brings nothing but output: a reader, a search, a list, or a program known to be harmless."""
    words = stripped(words)
    if not words:
        return True
    name, shell = base_name(words[0]), vocabulary().shell
    if name in shell["harmless"] or name in shell["neutral"]:
        return True
    if name == "git" and words[1:] and next(iter(operands(words[1:])), "") in shell["harmless_git"]:
        return True
    found = simple(Step(words))
    return found is None or found.cls in classes.READING
