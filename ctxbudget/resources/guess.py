"""Calls of tools nobody here knows: by what their arguments are, then by the words of their name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget.resources import arguments, classes, patches
from ctxbudget.resources.calls import FINDERS, call_text, paths, run
from ctxbudget.resources.found import Found
from ctxbudget.resources.names import tail, vocabulary, words
from ctxbudget.resources.paths import is_url

if TYPE_CHECKING:
    from collections.abc import Mapping


def guess(tool: str, given: Mapping[str, Any], args: arguments.Args) -> Found:
    """The class and target of a tool that no vocabulary lists; ``given`` are its ``args`` unpacked.

    Arguments that can mean only one thing decide first (old and new text, a patch, a command); then a word of the
    name; then a URL, a path with or without content, a pattern, a query. ``get_user(id=7)`` is ``retrieval`` and is
    known by the whole call: two tools may give two things for one id.
    """
    files = () if arguments.RAW in given else paths(given)
    sure = _sure(given, files)
    if sure is not None:
        return sure
    cls = _by_name(tool, bool(files)) or _by_arguments(given, files)
    if cls == classes.RETRIEVAL and arguments.first(given, arguments.URLS):
        cls = classes.FETCH
    if cls in {classes.ACT, classes.RETRIEVAL, classes.OTHER} or (cls == classes.SHELL and not _command(given)):
        return Found(cls, label=call_text(tail(tool), args))
    return FINDERS[cls](given)


def _sure(given: Mapping[str, Any], files: tuple[str, ...]) -> Found | None:
    for name in (*arguments.PATCHES, arguments.RAW):
        if isinstance(text := given.get(name), str) and patches.is_patch(text):
            return FINDERS["patch"](given)
    if files and arguments.first(given, arguments.OLD) is not None and any(name in given for name in arguments.NEW):
        return Found(classes.EDIT, files)
    if _command(given):
        single = given.get("command")
        editing = (
            files and isinstance(single, str) and single in {"view", "create", "str_replace", "insert", "undo_edit"}
        )
        return FINDERS["editor"](given) if editing else run(given)
    return None


def _command(given: Mapping[str, Any]) -> bool:
    return any(
        isinstance(given.get(name), str | list) and given[name]
        for name in ("command", "cmd", "commands", "commandline")
    )


def _by_name(tool: str, with_path: bool) -> str | None:
    verbs = vocabulary().verbs
    for word in words(tool):
        if word in verbs:
            return verbs[word][0 if with_path else 1]
    return None


def _by_arguments(given: Mapping[str, Any], files: tuple[str, ...]) -> str:
    if arguments.first(given, ("url", "urls")) or any(map(is_url, files)):
        return classes.FETCH
    if files and arguments.first(given, arguments.CONTENTS) is not None:
        return classes.WRITE
    if arguments.first(given, ("pattern", "regex", "glob", "globpattern")):
        return classes.SEARCH
    if files:
        return classes.READ
    return classes.RETRIEVAL if arguments.first(given, ("query", "q", "queries", "searchquery")) else classes.OTHER
