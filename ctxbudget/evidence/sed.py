"""Edits by ``sed -i`` and ``perl -pi``: patterns that are plain text are text that had to be in the file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ctxbudget.evidence.hunks import Part
from ctxbudget.resources.commands import stripped
from ctxbudget.resources.programs import base_name
from ctxbudget.resources.script import pipelines

if TYPE_CHECKING:
    from collections.abc import Iterator

EDITORS = frozenset({"sed", "gsed", "perl"})
"""Programs that edit in place."""

_START = r"(?:^|[;\n{}])\s*(?:[\d,$]+\s*)?"
_SUBSTITUTE = re.compile(
    _START + r"(?:/(?:\\.|[^/\\\n])+/\s*)?s([/|#,:!@%~+_])((?:\\.|(?!\1)[^\\\n])+)\1((?:\\.|(?!\1)[^\\])*)\1", re.DOTALL
)
_ADDRESS = re.compile(_START + r"/((?:\\.|[^/\\\n])+)/\s*[acids]")
_IN_PLACE = re.compile(r"-[a-zA-Z]*i|--in-place")
_ESCAPED = re.compile(r"\\(.)")
_BASIC = frozenset("*[]")
_EXTENDED = frozenset("*[]+?(){}|")


def substitutions(command: str) -> Iterator[Part]:
    """What the command's in-place edits replaced, where the pattern is plain text; the files are the command's."""
    for step in (step for pipeline in pipelines(command) for step in pipeline):
        words = stripped(step.words)
        name = base_name(words[0]) if words else ""
        if name not in EDITORS or not any(_IN_PLACE.match(word) for word in words[1:]):
            continue
        extended = name == "perl" or any(re.match(r"-\w*[Er]|--regexp-extended", word) for word in words[1:])
        for word in words[1:]:
            yield from _parts(word, extended=extended)


def _parts(script: str, *, extended: bool) -> Iterator[Part]:
    found = [(hit[2], hit[3]) for hit in _SUBSTITUTE.finditer(script)]
    found += [(hit[1], "") for hit in _ADDRESS.finditer(script)]
    for pattern, put in found:
        if (old := literal(pattern, extended=extended)) is not None:
            yield Part(None, old, _ESCAPED.sub(r"\1", put))


def literal(pattern: str, *, extended: bool = False) -> str | None:
    """The text that a pattern stands for; None where it can match more than one.

    A full stop counts as itself: models leave it unescaped in text. ``^`` in front and ``$`` behind are dropped.
    """
    pattern = pattern.removeprefix("^")
    if pattern.endswith("$") and not pattern.endswith("\\$"):
        pattern = pattern[:-1]
    special = _EXTENDED if extended else _BASIC
    bare = _ESCAPED.sub("", pattern)
    if any(char in special for char in bare):
        return None
    marks = {hit[1] for hit in _ESCAPED.finditer(pattern)}
    if any(mark.isalnum() or (not extended and mark in "+?(){}|") for mark in marks):
        return None
    return _ESCAPED.sub(r"\1", pattern)
