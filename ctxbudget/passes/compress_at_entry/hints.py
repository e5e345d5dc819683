"""What points at a part of a result: strings that were there before it, or came with it.

Four sources, the least telling first: words of the user's newest texts; lines that earlier edits put into the same
file; words of the reply that made the call; places (``path:12``) in search hits and tracebacks that name the file.
Only the newest part of the log is looked at, so that a turn costs what fits in a window.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from ctxbudget.resources import CHANGING, READ, arguments
from ctxbudget.trace import Kind
from ctxbudget.view import STRIDE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ctxbudget.trace import Fragment
    from ctxbudget.view import View

REMEMBERED: Final = 64
"""Texts whose telling words are remembered, the last ones."""
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
_MAY_TELL = re.compile(r"[A-Z_.\d](?:(?<=[a-z0-9][A-Z])|(?<=\w[_.])(?=\w)|(?<=\d)\d\d|(?<=[A-Z])[A-Z]{3})")
"""Without this no word of a text is one: most of what is said has none. (What such a word holds, found by a sign.)"""
_SLASHES = re.compile(r"[/\\]")
_AFTER = re.compile(r"\", line (\d{1,7})|:(\d{1,7})\b|\((\d{1,7})[,)]")
"""What says the line behind a path: Python's tracebacks, compilers and searches, .NET and TypeScript."""


class Log:
    """Where in the log of a view, which it follows, something may point at a result: numbers of fragments, in order."""

    def __init__(self, view: View) -> None:
        """What has entered so far."""
        self.log = view.log
        self.users: list[int] = []
        self.changes: dict[str, list[int]] = {}
        """Calls that changed a file, by its path."""
        self.results: list[int] = []
        """Results that are no copy of a file."""
        self._words: dict[str, list[str]] = {}
        for number, fragment in enumerate(view.log):
            self._note(number, fragment)

    def enter(self, place: int, fragment: Fragment, finished: bool) -> None:
        """A recorded fragment entered."""
        del finished
        self._note(place // STRIDE, fragment)

    def put(self, place: int, fragment: Fragment, by: str) -> None:
        """Stand-ins point at nothing."""

    def drop(self, fragment: Fragment, by: str) -> None:
        """What was there stays in the log."""

    def _note(self, number: int, fragment: Fragment) -> None:
        resource = fragment.resource
        if fragment.kind is Kind.USER:
            self.users.append(number)
        elif fragment.answers:
            if resource is None or resource.cls != READ:
                self.results.append(number)
        elif fragment.asks and resource is not None and resource.target and resource.cls in CHANGING:
            self.changes.setdefault(resource.target, []).append(number)

    def words(self, said: Fragment) -> list[str]:
        """The first telling words of a text: a user's, or of a reply, is asked about for each of its results."""
        if said.id not in self._words:
            if len(self._words) == REMEMBERED:
                del self._words[next(iter(self._words))]
            self._words[said.id] = _few(words(said.text))[::-1]
        return self._words[said.id]

    def newest(self, numbers: Sequence[int], at: int) -> Iterator[Fragment]:
        """Those of ``numbers`` among the ``LOOKED_AT`` fragments before ``at``, from the newest back."""
        stop = bisect_left(numbers, at)
        for number in reversed(numbers[bisect_left(numbers, at - LOOKED_AT) : stop]):
            yield self.log[number]

    def reply(self, call: Fragment, at: int) -> Iterator[Fragment]:
        """What was said in the reply that made a call, from the newest back."""
        for number in range(at - 1, -1, -1):
            one = self.log[number]
            if one.message == call.message and not one.asks:
                yield one
            elif one.message < call.message or number < at - LOOKED_AT:
                return


def hints(view: View, fragment: Fragment) -> tuple[str, ...]:
    """The hints for a result, the most telling last."""
    log = view.follower("hints", Log)
    at = view.place_of[fragment.id] // STRIDE
    call = next((one for one in view.units.born.get(fragment.unit, ()) if one.asks and one.call == fragment.call), None)
    users = islice(chain(log.newest(log.users, at), _task(view, at)), 3)
    path = fragment.resource.target if fragment.resource is not None and fragment.resource.cls == READ else None
    found = [
        *_few(word for one in users for word in log.words(one)),
        *(_few(line for one in log.newest(log.changes.get(path, ()), at) for line in _written(one)) if path else ()),
        *(_few(word for one in log.reply(call, at) for word in log.words(one)) if call is not None else ()),
        *(_few(_places(log.newest(log.results, at), path)) if path else ()),
    ]
    return tuple(dict.fromkeys(found))


def _task(view: View, at: int) -> Iterator[Fragment]:
    """The user's first text, where it is farther back than is looked."""
    first = view.log[view.overhead : view.overhead + 4]
    yield from (one for one in first if at > LOOKED_AT and one.kind is Kind.USER)


def _few(found: Iterable[str]) -> list[str]:
    """The first few, each once, in the opposite order: what comes first is the newest."""
    kept: dict[str, None] = {}
    for one in found:
        kept[one] = None
        if len(kept) == FEW:
            break
    return list(reversed(kept))


def words(text: str) -> Iterator[str]:
    """The words of a text that may be names: quoted ones, then the others."""
    text = text[:SCANNED]
    for match in _QUOTED.finditer(text) if "`" in text or '"' in text else ():
        yield match[1] or match[2]
    for match in _WORD.finditer(text) if _MAY_TELL.search(text) else ():
        word = match[0]
        if not (word.islower() and word.isalpha()) and _TELLING.search(word):
            yield word


def _written(one: Fragment) -> Iterator[str]:
    """The first line that an earlier edit put into the same file: it stands there now."""
    given = arguments.unpack(one.text[:SCANNED].removeprefix(one.tool or "").lstrip(" "))
    new = next((given[key] for key in arguments.NEW if isinstance(given.get(key), str)), "")
    old = next((given[key] for key in arguments.OLD if isinstance(given.get(key), str)), "")
    before = {line.strip() for line in old.split("\n")}
    yield from islice((line for each in new.split("\n") if (line := each.strip()) and line not in before), 2)


def _places(results: Iterable[Fragment], path: str) -> Iterator[str]:
    """``path:line`` wherever a result names the file and a line of it."""
    name = _SLASHES.split(path)[-1]
    for one in results:
        text = one.text
        at = text.find(name, 0, SCANNED)
        while at >= 0:
            line = _AFTER.match(text, at + len(name), SCANNED)
            if line:
                yield f"{name}:{line[1] or line[2] or line[3]}"
            at = text.find(name, at + len(name), SCANNED)
