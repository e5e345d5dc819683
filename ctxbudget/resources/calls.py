"""The calls of known tools: which arguments of each class name the target."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson

from ctxbudget.resources import arguments, classes, patches, shell
from ctxbudget.resources.found import Found
from ctxbudget.resources.paths import is_url, normal
from ctxbudget.resources.programs import with_options

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Given = Mapping[str, Any]

_URL = re.compile(r"https?://[^\s<>\"'`)\]}]+")
_EDITOR = {
    "view": classes.READ, "read": classes.READ, "create": classes.CREATE, "write": classes.WRITE,
    "str_replace": classes.EDIT, "insert": classes.EDIT, "undo_edit": classes.EDIT, "edit_file": classes.EDIT,
    "delete": classes.WRITE,
}  # fmt: skip
"""The commands of Anthropic's text editor tool, of OpenHands' and of Goose's (``write``, ``edit_file``)."""
_FLAGS = {"a": "-A", "b": "-B", "c": "-C", "context": "-C", "i": "-i", "outputmode": ""}
"""Options of Claude Code's Grep, folded, that change what is found."""
_SHOWN = 100
"""Lines that SWE-agent's ``open`` shows (``WINDOW`` in its tool configuration)."""


def call_text(tool: str, args: arguments.Args) -> str:
    """``tool(key=value, …)`` with sorted keys: the identity of a call that names no file."""
    given = sorted((str(key), value) for key, value in arguments.recorded(args).items())
    shown = ", ".join(f"{key}={_shown(value)}" if key else _shown(value) for key, value in given)
    return f"{tool}({shown})"


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, default=str).decode()
    except (TypeError, orjson.JSONEncodeError):
        return str(type(value).__name__)


def paths(given: Given) -> tuple[str, ...]:
    """The files or directories that the arguments name, normalised; of raw text the first word."""
    named = arguments.every(given, arguments.PATHS)
    if not named and isinstance(raw := given.get(arguments.RAW), str):
        named = tuple(raw.split(maxsplit=1)[:1])
    return tuple(name if is_url(name) else normal(name) for name in named)


def _read(given: Given) -> Found:
    return Found(classes.READ, paths(given), arguments.lines(given))


def _window(given: Given) -> Found:
    """SWE-agent: the lines round the one asked for, the first ones without."""
    raw = str(given.get(arguments.RAW, "")).split()
    line = (arguments.lines({"start": raw[1]}) if len(raw) > 1 else None) or arguments.lines(given)
    low = max(1, line[0] - _SHOWN // 2) if line else 1
    return Found(classes.READ, paths(given), (low, low + _SHOWN - 1))


def _by_path(cls: str) -> Callable[[Given], Found]:
    return lambda given: Found(cls, paths(given))


def _search(given: Given) -> Found:
    """A pattern and where it is looked for. ``queries`` are those of OpenAI's vector store search."""
    if "queries" in given:
        return _retrieval(given)
    query = arguments.first(given, arguments.QUERIES) or arguments.first(given, ("filename", "name", arguments.RAW))
    where = arguments.every(given, arguments.PLACES) + arguments.every(given, arguments.GLOBS)
    named = dict.fromkeys(normal(name) for name in where if name not in {".", "./", query})
    if query is None and named:
        query, *rest = named
        return Found(classes.SEARCH, tuple(rest), label=query)
    options = [
        f"{flag} {given[name]}".strip() for name, flag in _FLAGS.items() if isinstance(given.get(name), int | str)
    ]
    limit = arguments.lines({"limit": given.get("headlimit")})
    return Found(classes.SEARCH, tuple(named), limit, label=query and with_options(query, options))


def _list(given: Given) -> Found:
    return Found(classes.LIST, paths(given) or (".",))


def _patch(given: Given) -> Found:
    """The files of the patch; a diff of one file may come with a path (Roo's ``apply_diff``)."""
    text = next((text for name in (*arguments.PATCHES, arguments.RAW) for text in arguments.texts(given.get(name))), "")
    named = patches.files(text) or (paths(given) if arguments.RAW not in given else ())
    return Found(classes.EDIT, tuple(normal(name) for name in named))


def _editor(given: Given) -> Found:
    command = str(given.get("command", ""))
    if arguments.RAW in given:
        command, _, rest = str(given[arguments.RAW]).strip().partition(" ")
        given = {arguments.RAW: rest}
    cls = _EDITOR.get(command)
    if cls == classes.READ:
        return _read(given)
    if cls is None:
        cls = classes.EDIT if arguments.first(given, arguments.OLD) or "insertline" in given else classes.WRITE
    return Found(cls, paths(given))


def run(given: Given) -> Found:
    """A shell call: its command read, or the session that it goes on with."""
    base = arguments.first(given, ("workdir", "cwd", "workingdirectory", "dir", "directory")) or ""
    for name in (*arguments.COMMANDS, arguments.RAW):
        value = given.get(name)
        if isinstance(value, str) and value.strip():
            return shell.command(value, normal(base) if base else "")
        if isinstance(value, list) and value:
            words = list(arguments.texts(value))
            return shell.command("\n".join(words) if name == "commands" else words, normal(base) if base else "")
    session = arguments.first(given, arguments.SESSIONS)
    return Found(classes.SHELL, label=f"session {session}" if session else None)


def _code(given: Given) -> Found:
    return Found(
        classes.SHELL, label=arguments.first(given, (*arguments.CODE, arguments.RAW)) or (paths(given) or (None,))[0]
    )


def _by_url(cls: str) -> Callable[[Given], Found]:
    """The URLs; Gemini's ``web_fetch`` has them in its prompt. On a page already open, what is done to it."""

    def find(given: Given) -> Found:
        urls = arguments.every(given, arguments.URLS)
        if not urls:
            prompt = arguments.first(given, ("prompt", arguments.RAW)) or ""
            urls = tuple(dict.fromkeys(_URL.findall(prompt[:10_000])))
        done = arguments.first(given, ("element", "elementid", "ref", "selector", "code", "id", "pattern"))
        return Found(cls, urls, label=None if urls else done)

    return find


def _retrieval(given: Given) -> Found:
    asked = arguments.every(given, (*arguments.QUERIES, "searchqueries", "objective", "prompt", "topic", arguments.RAW))
    where = arguments.every(given, ("repo", "repository", "collection", "index", "namespace"))
    return Found(
        classes.RETRIEVAL, where if asked else arguments.every(given, arguments.URLS), label=" | ".join(asked) or None
    )


def _computer(given: Given) -> Found:
    """Computer use: an action on the screen; only ``screenshot`` asks for nothing but a picture."""
    action = arguments.first(given, ("action", "type")) or ""
    return Found(classes.SCREENSHOT if action in {"screenshot", "zoom"} else classes.BROWSER, label=action or None)


def _by_subject(cls: str) -> Callable[[Given], Found]:
    def find(given: Given) -> Found:
        named = arguments.every(given, ("path", "filepath", "files"))
        subject = arguments.first(given, (*arguments.SUBJECTS, arguments.RAW))
        return Found(cls, tuple(normal(name) for name in named), label=None if named else subject)

    return find


def _nothing(cls: str) -> Callable[[Given], Found]:
    return lambda _given: Found(cls)


FINDERS: Mapping[str, Callable[[Given], Found]] = {
    classes.READ: _read,
    "window": _window,
    classes.SEARCH: _search,
    classes.LIST: _list,
    classes.EDIT: _by_path(classes.EDIT),
    "patch": _patch,
    classes.WRITE: _by_path(classes.WRITE),
    classes.CREATE: _by_path(classes.CREATE),
    "editor": _editor,
    classes.SHELL: run,
    "code": _code,
    classes.TEST: _by_subject(classes.TEST),
    classes.FETCH: _by_url(classes.FETCH),
    classes.RETRIEVAL: _retrieval,
    classes.BROWSER: _by_url(classes.BROWSER),
    "computer": _computer,
    classes.SCREENSHOT: _by_url(classes.SCREENSHOT),
    classes.IMAGE: _by_path(classes.IMAGE),
    classes.PLAN: _nothing(classes.PLAN),
    classes.DELEGATE: _by_subject(classes.DELEGATE),
    classes.ASK: _by_subject(classes.ASK),
    classes.MEMORY: _by_subject(classes.MEMORY),
    classes.OTHER: _by_subject(classes.OTHER),
}
"""A class, or a finer word of the vocabulary → how its target is found. ``act`` is always known by the whole call."""
