"""Which call changed which file last, as far as calls say so.

A change is a successful edit, write or creation that names the file. What an unknown command, a formatter or the user
changed is not seen; so a copy that is called stale is stale, and one that is not may be.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxbudget.resources import same_path

if TYPE_CHECKING:
    from ctxbudget.evidence.needs import Need


@dataclass(frozen=True, slots=True)
class Change:
    """A call that changed a file, and the text it put there as far as it shows it."""

    place: int
    id: str
    new: tuple[str, ...]


class Changes:
    """Filled in the order of the log: what was noted so far, asked by file and place."""

    def __init__(self) -> None:
        """Nothing changed."""
        self._files: dict[str, dict[str, list[Change]]] = {}
        self._by: dict[str, Change] = {}
        self._places: list[int] = []
        self._ids: list[str] = []

    def note(self, need: Need) -> None:
        """What a call changed, once it was made."""
        action = need.action
        if action.may_change:
            self._places.append(action.place)
            self._ids.append(action.call.id)
        if action.changes_files:
            new = tuple(part.new for part in need.parts) or (action.call.text,)
            change = self._by[action.call.id] = Change(action.place, action.call.id, new)
            for file in action.files:
                self._files.setdefault(_base(file), {}).setdefault(file, []).append(change)

    def by(self, call: str) -> Change | None:
        """What a call changed; None where it changed no file."""
        return self._by.get(call)

    def of(self, file: str, stop: int) -> Change | None:
        """The last change of the file before ``stop``."""
        last: Change | None = None
        for name, noted in self._files.get(_base(file), {}).items():
            if same_path(name, file):
                before = bisect_left(noted, stop, key=lambda change: change.place)
                if before and (last is None or noted[before - 1].place > last.place):
                    last = noted[before - 1]
        return last

    def any(self, start: int, stop: int) -> str | None:
        """The last call between two places, both excluded, that could have changed anything at all."""
        before = bisect_left(self._places, stop)
        return self._ids[before - 1] if before and self._places[before - 1] > start else None


def _base(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1]
