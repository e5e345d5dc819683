"""One record for each file, under whatever spelling of its path.

``same_path`` says whether two spellings may mean one file. Here the question is asked of all files at once, and a short
spelling counts only where it can mean one of them: with ``/a/x.py`` and ``/b/x.py`` known, ``x.py`` is neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from ctxbudget.resources.paths import is_absolute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_T = TypeVar("_T")

_DEEPEST = 32
"""Names at the end of an absolute path that a relative one may consist of."""


class Files(Generic[_T]):
    """Records by path. Asking costs as much as the path is deep, however many files are known."""

    def __init__(self, make: Callable[[], _T]) -> None:
        """``make`` gives an empty record."""
        self._make = make
        self._known: dict[str, _T] = {}
        self._ending: dict[str, list[str]] = {}

    def of(self, path: str) -> _T:
        """The record of exactly this spelling, made when it is first asked for."""
        record = self._known.get(path)
        if record is None:
            record = self._known[path] = self._make()
            for end in _ends(path) if is_absolute(path) else ():
                self._ending.setdefault(end, []).append(path)
        return record

    def same(self, path: str) -> Iterator[_T]:
        """Every record so far that must be of this file."""
        if path in self._known:
            yield self._known[path]
        if not is_absolute(path):
            longer = self._ending.get(path, [])
            if len(longer) == 1:
                yield self._known[longer[0]]
            return
        for end in _ends(path):
            if end in self._known and self._ending.get(end, [path]) == [path]:
                yield self._known[end]


def _ends(path: str) -> list[str]:
    """The relative paths that end an absolute one: ``b/c``, ``c`` for ``/b/c``."""
    names = [name for name in path.split("/") if name][-_DEEPEST:]
    ends = ("/".join(names[at:]) for at in range(len(names)))
    return [end for end in ends if end != path]
