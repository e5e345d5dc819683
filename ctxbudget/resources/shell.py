"""What a shell command does: the commands of a script, put together.

A script is named by what it changes; else by its tests; else by its readers, where reading is all it does; else it is
``shell``. So the output of a script that counts as ``read`` is the file, or the lines of ``span``, and nothing else.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ctxbudget.resources import classes, patches
from ctxbudget.resources.commands import only_looks, simple, stripped
from ctxbudget.resources.found import Found
from ctxbudget.resources.paths import is_url, normal
from ctxbudget.resources.programs import UNKNOWN, base_name
from ctxbudget.resources.script import Step, pipelines
from ctxbudget.resources.slices import cut, narrow

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "fish", "powershell", "pwsh", "cmd"})
_RUN = re.compile(r"-[a-zA-Z]*c\Z|/c\Z|-command\Z", re.IGNORECASE)
_CHANGES_DIRECTORY = frozenset({"cd", "pushd", "set-location", "sl"})
_PLAIN_FILTERS = frozenset({"cat", "nl", "less", "more", "bat", "out-string", "out-host"})
_REST = frozenset({"cmd", "powershell", "pwsh"})
"""Shells whose script is all that follows."""
_DEEPEST = 3
"""Shells inside shells that are followed."""


def command(given: str | Sequence[str], base: str = "") -> Found:
    """What a command does. ``given`` is a script or a list of words; ``base`` is the directory it starts in."""
    script = given if isinstance(given, str) else _joined([str(word) for word in given])
    return _run(script, base, 0)


def may_change(script: str) -> bool:
    """Whether a script could have changed something: False where every command in it only looks."""
    return any(step.writes or not only_looks(step.words) for pipeline in pipelines(script) for step in pipeline)


def _joined(words: list[str]) -> str:
    """A list of words as a script. The script of ``["bash", "-lc", script]`` is taken as it is."""
    if len(words) > 2 and base_name(words[0]) in _SHELLS and _RUN.match(words[1]):
        return words[2]
    if words[:1] == ["apply_patch"]:
        return "\n".join(words)
    return " ".join("'" + word.replace("'", "") + "'" if _needs_quotes(word) else word for word in words)


def _needs_quotes(word: str) -> bool:
    return not word or re.search(r"[^\w@%+=:,./-]", word) is not None


def _run(script: str, base: str, depth: int) -> Found:
    if "*** Begin Patch" in script and (named := patches.files(script)):
        base = _directory(script, base)
        return Found(classes.EDIT, tuple(normal(name, base) for name in named))
    found = []
    for pipeline in pipelines(script):
        words = stripped(pipeline[0].words)
        if words and base_name(words[0]) in _CHANGES_DIRECTORY:
            base = normal(words[1], base) if words[1:] and words[1] != "-" else ""
        elif (one := _pipeline(pipeline, script, base, depth)) is not None:
            found.append(one)
    return _together(found, script)


def _directory(script: str, base: str) -> str:
    """Where a leading ``cd`` leads: patches name their files from there."""
    first = pipelines(script.partition("*** Begin Patch")[0])[:1]
    words = first[0][0].words if first else []
    return normal(words[1], base) if len(words) > 1 and words[0] == "cd" else base


def _pipeline(steps: list[Step], script: str, base: str, depth: int) -> Found | None:
    found = _one(steps[0], script, base, depth)
    for step in steps[1:]:
        found = _one(step, script, base, depth) if found is None else _filtered(found, step, base)
    return found


def _one(step: Step, script: str, base: str, depth: int) -> Found | None:
    """One command, its files placed; the script inside ``bash -c`` counts as the command."""
    words = stripped(step.words)
    name = base_name(words[0]) if words else ""
    if name in _SHELLS and depth < _DEEPEST:
        place = next((place for place, word in enumerate(words[:-1]) if place and _RUN.match(word)), None)
        if place is not None:
            return _run(" ".join(words[place + 1 :]) if name in _REST else words[place + 1], base, depth + 1)
    if (name == "patch" or words[:2] == ["git", "apply"]) and patches.is_patch(script):
        return _placed(Found(classes.EDIT, patches.files(script)), base)
    found = simple(step)
    return found and _placed(found, base)


def _placed(found: Found, base: str) -> Found:
    """The same with its files normalised from the directory that the script is in.

    A variable may stand for any file, so reading ``$f`` is not a read of something known.
    """
    if not found.names:
        return replace(found, names=(base,)) if base and found.cls in {classes.SEARCH, classes.LIST} else found
    if found.cls in classes.READING and any("$" in name or "`" in name for name in found.names):
        return UNKNOWN
    return replace(found, names=tuple(name if is_url(name) else normal(name, base) for name in found.names))


def _filtered(found: Found, step: Step, base: str) -> Found:
    """What a pipe makes of it: fewer lines of a file are still a read; anything else made of it is not the file."""
    words = stripped(step.words)
    name = base_name(words[0]) if words else ""
    if found.cls == classes.TEST:
        return found
    after = simple(step) if step.writes or name in {"tee", "tee-object", "out-file", "set-content"} else None
    if after is not None:
        return _placed(after, base)
    if found.cls not in classes.READING:
        return found
    if (lines := cut(name, words[1:])) is not None and not lines[1]:
        return replace(found, span=narrow(found.span, lines[0]))
    if name in _PLAIN_FILTERS or found.cls == classes.FETCH or not words:
        return found
    if found.cls == classes.READ:
        looked = simple(step)
        searched = looked is not None and looked.cls == classes.SEARCH and not looked.names
        return Found(classes.SEARCH, found.names, label=looked.label) if looked is not None and searched else UNKNOWN
    fed = words[1:] if name == "xargs" else words
    while fed and (fed[0].startswith("-") or fed[0].isdigit()):
        fed = fed[1:]
    if fed and not only_looks(fed):
        return UNKNOWN
    return replace(found, label=f"{found.label or ''} | {' '.join(words)}".strip())


def _together(found: list[Found], script: str) -> Found:
    """The script by its strongest command: a change, a test, something unknown, housekeeping, then reading."""
    changes = [one for one in found if one.cls in classes.CHANGING and not one.weak]
    if changes:
        return replace(changes[0], names=tuple(dict.fromkeys(name for one in changes for name in one.names)))
    tests = [one for one in found if one.cls == classes.TEST]
    if tests:
        return tests[0]
    kinds = {one.cls for one in found}
    if not found or classes.SHELL in kinds:
        return Found(classes.SHELL, label=script)
    weak = [one for one in found if one.weak and one.names]
    if weak:
        return replace(weak[-1], names=tuple(dict.fromkeys(name for one in reversed(weak) for name in one.names)))
    if len(found) == 1:
        return found[0]
    return _reading(found) if len(kinds) == 1 else Found(classes.SHELL, label=script)


def _reading(found: list[Found]) -> Found:
    """Several reads, or several searches: one target that no single one of them shares."""
    names = tuple(dict.fromkeys(name for one in found for name in one.names))
    spans = {one.span for one in found}
    if spans == {None} and all(one.label is None for one in found):
        return Found(found[0].cls, names)
    shown = (f"{one.target}{f':{one.span[0]}-{one.span[1]}' if one.span else ''}" for one in found)
    return Found(found[0].cls, names, title="; ".join(shown))
