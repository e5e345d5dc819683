"""The arguments of a call, whatever their spelling: which path, URL, query, command and lines they name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

Args = Mapping[str, Any] | str | None
"""As formats hold them: an object, its JSON text, the raw text of a custom tool or nothing."""

RAW = ""
"""Key of text that is not JSON: a shell command, a patch, the rest of a command line."""

PATHS = (
    "filepath", "absolutepath", "path", "filename", "file", "targetfile", "notebookpath", "relativepath",
    "targetnotebook", "relativeworkspacepath", "fileuri", "uri", "paths", "files", "filepaths", "pathinproject",
    "dirpath", "directorypath", "directory", "dir", "folder", "targetdirectory", "replacements", "resourcepath",
    "documenturi",
)  # fmt: skip
PLACES = (
    "path", "filepath", "dirpath", "directorypath", "directory", "dir", "folder", "targetdirectory",
    "targetdirectories", "paths", "searchpath", "file", "root",
)  # fmt: skip
GLOBS = ("glob", "include", "filepattern", "fileglob", "type", "includepattern", "includes")
URLS = ("url", "urls", "link", "href", "website", "uri")
QUERIES = (
    "pattern", "regex", "query", "q", "queries", "searchquery", "searchterm", "globpattern", "searchpattern", "search",
    "symbolname", "keyword", "keywords", "question",
)  # fmt: skip
COMMANDS = ("command", "cmd", "commands", "script", "commandline", "shellcommand")
CODE = ("code", "source", "input", "snippet", "codesnippet", "script", "cmd", "command")
SESSIONS = ("bashid", "shellid", "sessionid", "taskid", "id", "terminalid", "processid")
PATCHES = ("patch", "diff", "input", "patchtext", "diffs")
OLD = ("oldstring", "oldstr", "oldtext", "oldcontent", "search")
NEW = ("newstring", "newstr", "newtext", "newcontent", "replace", "replacement")
CONTENTS = ("content", "contents", "filetext", "text", "data", "body")
SUBJECTS = (
    "description", "subagenttype", "agent", "agentname", "name", "title", "question", "questions", "key", "prompt",
    "message", "fact", "skill", "text",
)  # fmt: skip

_NESTED = ("action", "arguments", "args", "kwargs", "parameters", "params", "input")
_FIRST = ("startline", "linestart", "lineoffset", "startlineoneindexed", "offset", "start", "from", "linenumber")
_LAST = ("endline", "lineend", "endlineoneindexedinclusive", "end", "to")
_COUNT = ("limit", "nlines", "maxlines", "linecount", "numlines")
_RANGE = ("viewrange", "linerange", "readrange", "range", "lines")
_KEY = re.compile(r"[\W_]+")
_DIGITS = re.compile(r"-?\d{1,9}\Z", re.ASCII)
_WRITTEN = re.compile(r"\s*[\[(]?\s*(-?\d{1,9})\s*[,:-]\s*(-?\d{1,9})\s*[\])]?\s*\Z", re.ASCII)
"""A range as text: ``[1, 40]`` of a tool that is called by tags, ``1-40``."""
_JSON = re.compile(r"\s*[\[{\"]")
_PAIR = re.compile(r'"([\w-]+)"\s*:\s*"((?:[^"\\]|\\.)*+)"')
_SALVAGED = 4_000
"""Characters of broken JSON (a stream that was cut) in which whole pairs of strings are looked for."""


def unpack(args: Args) -> dict[str, Any]:
    """Arguments under folded keys. JSON text is parsed, other text stands under ``RAW``, envelopes are opened."""
    given = {_KEY.sub("", str(key)).lower(): value for key, value in recorded(args).items()}
    for name in _NESTED:
        if isinstance(inner := given.get(name), Mapping):
            given = {**unpack(inner), **given}
    return given


def recorded(args: Args) -> Mapping[str, Any]:
    """Arguments under the keys they were recorded with."""
    if isinstance(args, str):
        return _parsed(args)
    return args if isinstance(args, Mapping) else {}


def _parsed(text: str) -> Mapping[str, Any]:
    """JSON, also JSON in a JSON string (two layers are met); what is whole of broken JSON; else the text itself."""
    value: Any = text
    for _ in range(2):
        if not isinstance(value, str) or not _JSON.match(value):
            break
        try:
            value = orjson.loads(value)
        except (orjson.JSONDecodeError, UnicodeEncodeError):
            return dict(_PAIR.findall(value[:_SALVAGED])) if value.lstrip().startswith('{"') else {RAW: value}
    return value if isinstance(value, Mapping) else {RAW: value}


def texts(value: Any, depth: int = 3) -> Iterator[str]:
    """The non-empty strings of a string, a number, a list of them, or of objects that name a path or text."""
    if isinstance(value, str):
        if value.strip():
            yield value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value) if abs(value) < 1e300 else "number"
    elif isinstance(value, list | tuple) and depth:
        for item in value:
            yield from texts(item, depth - 1)
    elif isinstance(value, Mapping) and depth:
        inner = {_KEY.sub("", str(key)).lower(): item for key, item in value.items()}
        for name in (*PATHS, *URLS, *SUBJECTS):
            if name in inner:
                yield from texts(inner[name], depth - 1)
                return


def every(given: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str, ...]:
    """All strings under the first of ``names`` that holds any, each once."""
    for name in names:
        if name in given and (found := dict.fromkeys(texts(given[name]))):
            return tuple(found)
    return ()


def first(given: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    """The first string under the first of ``names`` that holds any."""
    return next(iter(every(given, names)), None)


def lines(given: Mapping[str, Any]) -> tuple[int, int] | None:
    """First and last line asked for; -1 is the last line of the file.

    An ``offset`` is taken as 1-based (Claude Code, Codex, pi, Kimi); Gemini CLI and old OpenCode count from 0, and
    there the span is one line off.
    """
    if isinstance(files := given.get("files"), list) and len(files) == 1 and isinstance(files[0], Mapping):
        given = {_KEY.sub("", str(key)).lower(): value for key, value in files[0].items()}
    for name in _RANGE:
        pair = given.get(name)
        if isinstance(pair, str) and (written := _WRITTEN.match(pair)):
            pair = written.groups()
        if isinstance(pair, list | tuple) and len(pair) == 2:
            return _span(_number(pair[0]), _number(pair[1]), None)
    bounds = ([_number(given[name]) for name in names if name in given] for names in (_FIRST, _LAST, _COUNT))
    low, high, count = (next((number for number in numbers if number is not None), None) for numbers in bounds)
    return _span(low, high, count)


def _span(low: int | None, high: int | None, count: int | None) -> tuple[int, int] | None:
    if low is None and high is None and count is None:
        return None
    start = low if low and low > 0 else 1
    if high is not None:
        return start, (high if high >= start else -1)
    return start, (start + count - 1 if count and count > 0 else -1)


def _number(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float) and abs(value) < 1e9:
        return int(value)
    return int(value) if isinstance(value, str) and _DIGITS.match(value) else None
