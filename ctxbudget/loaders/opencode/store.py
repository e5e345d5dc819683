"""The database of OpenCode, as the sessions that an export would hold."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from ctxbudget import branches, sqlite
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

    def __init__(self, database: sqlite.Database, only: str | None = None) -> None:
        """Reads every row once; where ``only`` is the id of a session, no messages of others."""
        self._sessions = {row["id"]: row for row in database.rows("session", "time_created", "id") if _named(row)}
        own = branches.members(_parents(self._sessions), only)
        wanted = {} if own is None else {"session_id": own}
        self._messages = _by(database.rows("message", "time_created", "id", only=wanted), "session_id")
        self._parts = _by(database.rows("part", "id", only=wanted), "message_id")
        self._ok: Counter[str] = Counter()
        self._bad: Counter[str] = Counter()
        for orphan in self._messages:
            self._sessions.setdefault(orphan, {"id": orphan})
        roots, self.children = branches.families(_parents(self._sessions))
        """Sub-agents by the session above."""
        self.roots = [name for name in roots if own is None or name == only]
        """Sessions that are no sub-agent of one that is here, oldest first."""

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
    for name in branches.families(_parents(rows))[0]:
        modified = sqlite.moment(rows[name].get("time_updated"), 1_000)
        yield Stored(name, string(rows[name].get("directory")), modified)


def _parents(sessions: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {name: row.get("parent_id") for name, row in sessions.items()}


def _named(row: dict[str, Any]) -> bool:
    return isinstance(row.get("id"), str)


def _by(rows: list[dict[str, Any]], key: str) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        if isinstance(row.get(key), str):
            found[row[key]].append(row)
    return found
