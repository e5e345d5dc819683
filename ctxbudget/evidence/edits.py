"""The old text of edits: what each call took for granted about a file."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ctxbudget.evidence.actions import BY_TEXT
from ctxbudget.evidence.arguments import folded, leaves, objects
from ctxbudget.evidence.hunks import Part, hunks
from ctxbudget.evidence.sed import EDITORS, substitutions
from ctxbudget.evidence.standing import has_word
from ctxbudget.resources import EDIT
from ctxbudget.resources import arguments as known
from ctxbudget.resources.paths import normal
from ctxbudget.resources.programs import base_name

if TYPE_CHECKING:
    from ctxbudget.evidence.actions import Action

SHORTEST = 12
"""Characters of a line, without its margins, that count as evidence (docs/evidence.md, D1)."""

OLD = (*known.OLD, "targetcontent", "toreplace", "old")
"""Folded keys of old text; also of Windsurf, of OpenHands' ``edit_file_by_replace`` and of Kimi."""
NEW = (*known.NEW, "replacementcontent", "new")
_BY_PATTERN = ("useregex", "isregex", "regex")


def parts(action: Action) -> list[Part]:
    """The pieces of an edit, in order: several for MultiEdit, one for each hunk of a patch.

    A call of another class has none: a patch that is only written to a file was not applied.
    """
    if action.cls not in BY_TEXT:
        return []
    found = [Part(None, "", action.args)] if isinstance(action.args, str) and action.cls != EDIT else []
    if action.cls == EDIT:
        found += [part for given in objects(action.args) if (part := _pair(given)) is not None]
    for key, text in leaves(action.args):
        if key in known.COMMANDS or key == known.RAW:
            found += substitutions(text)
        if action.cls == EDIT and key not in OLD and key not in NEW:
            found += hunks(text)
    found += [part for command in _listed(action.args) for part in substitutions(command)]
    named = action.files if found else ()
    return [_placed(part, named) for part in found]


def _pair(given: Mapping[str, Any]) -> Part | None:
    """Old and new text side by side in one object. A regular expression is not old text."""
    old = next((given[name] for name in OLD if isinstance(given.get(name), str)), None)
    if old is None or any(given.get(name) is True for name in _BY_PATTERN):
        return None
    new = next((given[name] for name in NEW if isinstance(given.get(name), str)), "")
    return Part(known.first(given, known.PATHS), old, new)


def _listed(args: Any) -> Iterator[str]:
    """Editing commands that are given as a list of words, as Codex does; one in a shell's ``-c`` stands by itself."""
    given = folded(args) if isinstance(args, Mapping) else {}
    for words in (given.get(name) for name in known.COMMANDS):
        match words:
            case [str(program), *rest] if base_name(program) in EDITORS and all(isinstance(word, str) for word in rest):
                yield shlex.join(words)


def _placed(part: Part, named: tuple[str, ...]) -> Part:
    """With the file as the trace spells it: the one of the call's files that ends like the part's own name."""
    if part.file is not None and len(named) > 1:
        own = normal(part.file)
        near = (name for name in named if name == own or name.endswith(f"/{own}") or own.endswith(f"/{name}"))
        return Part(next(near, own), part.old, part.new)
    return Part(named[0] if named else part.file, part.old, part.new)


def needles(text: str) -> tuple[str, ...]:
    """The lines that count as evidence: without margins, ``SHORTEST`` or longer, with a word in them; each once."""
    lines = (line.strip() for line in text.split("\n"))
    return tuple(dict.fromkeys(line for line in lines if len(line) >= SHORTEST and has_word(line)))


def added(part: Part) -> set[str]:
    """The lines that a part puts in place and that were not there before, without their margins."""
    return {line.strip() for line in part.new.split("\n")}.difference(line.strip() for line in part.old.split("\n"))
