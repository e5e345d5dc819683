"""What points at a part of a result: strings that were there before it, or came with it.

Four sources, the least telling first: words of the user's newest texts; lines that earlier edits put into the same
file; words of the reply that made the call; places (``path:12``) in search hits and tracebacks that name the file.
Only the newest part of the log is looked at, so that a turn costs what fits in a window.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Final

from ctxbudget.resources import CHANGING, READ, arguments
from ctxbudget.trace import Kind
from ctxbudget.view import STRIDE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ctxbudget.trace import Fragment
    from ctxbudget.view import View

LOOKED_AT: Final = 200
"""Fragments of the log, from the newest back."""
SCANNED: Final = 60_000
"""Characters of each."""
FEW: Final = 16
"""Hints of one source; a digest looks at 64 in all."""

_QUOTED = re.compile(r"`([^`\n]{3,80})`|\"([^\"\n]{3,80})\"")
_WORD = re.compile(r"[^\W\d]\w*(?:[.-]\w+)*|#?\d[\d.,_-]*\d")
_TELLING = re.compile(r"[a-z0-9][A-Z]|\w[_.]\w|\d{3}|\A[A-Z]{4,}\Z")
"""Compound words, numbers of three digits and words in capitals: what is a name in most texts."""
_AFTER = re.compile(r"\", line (\d{1,7})|:(\d{1,7})\b|\((\d{1,7})[,)]")
"""What says the line behind a path: Python's tracebacks, compilers and searches, .NET and TypeScript."""


def hints(view: View, fragment: Fragment) -> tuple[str, ...]:
    """The hints for a result, the most telling last."""
    call = next((one for one in view.units.born.get(fragment.unit, ()) if one.asks and one.call == fragment.call), None)
    newest = list(_newest(view, fragment))
    users = [one for one in newest if one.kind is Kind.USER][:3]
    said = [one for one in newest if call is not None and one.message == call.message and not one.asks]
    path = fragment.resource.target if fragment.resource is not None and fragment.resource.cls == READ else None
    found = [
        *_few(word for one in users for word in words(one.text)),
        *(_few(line for one in newest for line in _written(one, path)) if path else ()),
        *_few(word for one in said for word in words(one.text)),
        *(_few(place for one in newest for place in _places(one, path)) if path else ()),
    ]
    return tuple(dict.fromkeys(found))


def _newest(view: View, fragment: Fragment) -> Iterator[Fragment]:
    """The log before a fragment, from the newest back, with the user's first text behind it: the task."""
    at = bisect_left(range(len(view.log)), view.place_of[fragment.id] // STRIDE)
    yield from islice((view.log[place] for place in range(at - 1, -1, -1)), LOOKED_AT)
    first = view.log[view.overhead : view.overhead + 4]
    yield from (one for one in first if one.kind is Kind.USER and at > LOOKED_AT)


def _few(found: Iterable[str]) -> Iterator[str]:
    """The first few, each once, in the opposite order: what comes first is the newest."""
    kept: deque[str] = deque(maxlen=FEW)
    kept.extendleft(islice(dict.fromkeys(found), FEW))
    yield from kept


def words(text: str) -> Iterator[str]:
    """The words of a text that may be names: quoted ones, then the others."""
    text = text[:SCANNED]
    for match in _QUOTED.finditer(text):
        yield match[1] or match[2]
    yield from (word for word in _WORD.findall(text) if _TELLING.search(word))


def _written(one: Fragment, path: str) -> Iterator[str]:
    """The first line that an earlier edit put into the same file: it stands there now."""
    if not one.asks or one.resource is None or one.resource.cls not in CHANGING or one.resource.target != path:
        return
    given = arguments.unpack(one.text[:SCANNED].removeprefix(one.tool or "").lstrip(" "))
    new = next((given[key] for key in arguments.NEW if isinstance(given.get(key), str)), "")
    old = next((given[key] for key in arguments.OLD if isinstance(given.get(key), str)), "")
    before = {line.strip() for line in old.split("\n")}
    yield from islice((line for each in new.split("\n") if (line := each.strip()) and line not in before), 2)


def _places(one: Fragment, path: str) -> Iterator[str]:
    """``path:line`` wherever a result names the file and a line of it."""
    if not one.answers or one.form is not None or (one.resource is not None and one.resource.cls == READ):
        return
    name = re.split(r"[/\\]", path)[-1]
    text = one.text[:SCANNED]
    at = text.find(name)
    while at >= 0:
        line = _AFTER.match(text, at + len(name))
        if line:
            yield f"{name}:{line[1] or line[2] or line[3]}"
        at = text.find(name, at + len(name))
