"""The database of OpenCode, as the sessions that an export would hold."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from ctxbudget import sqlite
from ctxbudget.exchanges import parsed
from ctxbudget.loaders import Stored
from ctxbudget.records import read
from ctxbudget.records.values import string
from ctxbudget.trace import Parse

if TYPE_CHECKING:
    from collections.abc import Iterator


class Store:
    """Sessions, messages and parts by what they belong to.

    A row's JSON is parsed when its session is asked for, which is once: then the rows are given up, since all of them
    and all traces together are twice a large store.
    """

    def __init__(self, database: sqlite.Database) -> None:
        """Reads every row once."""
        self._sessions = {row["id"]: row for row in database.rows("session", "time_created", "id") if _named(row)}
        self._messages = _by(database.rows("message", "time_created", "id"), "session_id")
        self._parts = _by(database.rows("part", "id"), "message_id")
        self._ok: Counter[str] = Counter()
        self._bad: Counter[str] = Counter()
        for orphan in self._messages:
            self._sessions.setdefault(orphan, {"id": orphan})
        self.roots, self.children = sqlite.families({k: row.get("parent_id") for k, row in self._sessions.items()})
        """Sessions that are no sub-agent of one that is here, oldest first; sub-agents by the session above."""

    @property
    def is_empty(self) -> bool:
        """Whether it holds no message at all."""
        return not self._messages

    def session(self, name: str) -> dict[str, Any]:
        """One session in the shape of an export."""
        row = self._sessions[name]
        revert = row.get("revert")
        info = {**row, "revert": parsed(revert) if isinstance(revert, str) else None}
        return {"info": info, "messages": [*self._told(name)]}

    def parse(self, name: str) -> Parse:
        """Rows read and rows lost of a session that was asked for."""
        return Parse(records_ok=self._ok[name], records_bad=self._bad[name], damaged_places=self._bad[name])

    def _told(self, name: str) -> Iterator[dict[str, Any]]:
        for row in self._messages.pop(name, []):
            info = self._data(name, row)
            if info is None:
                continue
            parts = [self._data(name, part) for part in self._parts.pop(str(row["id"]), [])]
            yield {"info": info, "parts": [part for part in parts if part is not None]}

    def _data(self, name: str, row: dict[str, Any]) -> dict[str, Any] | None:
        data = row.get("data")
        found = parsed(data) if isinstance(data, str) else None
        if not isinstance(found, dict):
            self._bad[name] += 1
            return None
        self._ok[name] += 1
        return {**found, "id": row.get("id")}


def stored(path: str) -> Iterator[Stored]:
    """The sessions that a database lists, sub-agents left out."""
    with sqlite.opened(read(path)) as database:
        rows = {row["id"]: row for row in database.rows("session", "time_created", "id") if _named(row)}
    for name in sqlite.families({key: row.get("parent_id") for key, row in rows.items()})[0]:
        modified = sqlite.moment(rows[name].get("time_updated"), 1_000)
        yield Stored(name, string(rows[name].get("directory")), modified)


def _named(row: dict[str, Any]) -> bool:
    return isinstance(row.get("id"), str)


def _by(rows: list[dict[str, Any]], key: str) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        if isinstance(row.get(key), str):
            found[row[key]].append(row)
    return found
