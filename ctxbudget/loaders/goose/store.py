"""Where Goose keeps sessions, old and new, in one shape: facts of the session, its messages, its ledger."""

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

    from ctxbudget.records import Reading


class Store:
    """The database; a row's JSON is parsed when its session is asked for, which is once: then the rows are given up."""

    def __init__(self, database: sqlite.Database, only: str | None = None) -> None:
        """Reads every row once; where ``only`` is the id of a session, no messages of others."""
        found = database.rows("sessions", "created_at", "id")
        self._sessions = {row["id"]: row for row in found if isinstance(row.get("id"), str)}
        own = branches.members(_parents(self._sessions), only)
        wanted = {} if own is None else {"session_id": own}
        self._messages = _by_session(database.rows("messages", "id", only=wanted))
        self._ledger = _by_session(database.rows("usage_ledger", "id", only=wanted))
        for orphan in self._messages:
            self._sessions.setdefault(orphan, {"id": orphan})
        roots, self.children = branches.families(_parents(self._sessions))
        """Sub-agents by the session above."""
        self.roots = [name for name in roots if own is None or name == only]
        """Sessions that are no sub-agent of one that is here, oldest first."""
        self._ok: Counter[str] = Counter()
        self._bad: Counter[str] = Counter()

    @property
    def is_empty(self) -> bool:
        """Whether it holds no message at all."""
        return not self._messages

    def session(self, name: str) -> dict[str, Any]:
        """One session: ``session``, ``messages`` and ``ledger``; the number of a message is its row."""
        row = self._sessions[name]
        settings = row.get("model_config_json")
        session = {**row, "model_config": parsed(settings) if isinstance(settings, str) else None}
        return {"session": session, "messages": [*self._told(name)], "ledger": self._ledger.get(name, [])}

    def parse(self, name: str) -> Parse:
        """Rows read and rows lost of a session that was asked for."""
        return Parse(records_ok=self._ok[name], records_bad=self._bad[name], damaged_places=self._bad[name])

    def _told(self, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
        for number, row in enumerate(self._messages.pop(name, []), 1):
            content, metadata = row.get("content_json"), row.get("metadata_json")
            blocks = parsed(content) if isinstance(content, str) else None
            if not isinstance(blocks, list):
                self._bad[name] += 1
                continue
            self._ok[name] += 1
            facts = parsed(metadata) if isinstance(metadata, str) else None
            yield (
                number,
                {
                    "id": row.get("message_id"),
                    "role": row.get("role"),
                    "created": row.get("created_timestamp"),
                    "content": blocks,
                    "metadata": facts,
                },
            )


def documents(reading: Reading) -> list[dict[str, Any]]:
    """Sessions of text files: an export each, or the lines of one session behind a line of facts."""
    session: dict[str, Any] = {}
    messages: list[tuple[int, Any]] = []
    found: list[dict[str, Any]] = []
    for record in reading.unwrap():
        match record.data:
            case {"conversation": list(told), **rest}:
                found.append({"session": rest, "messages": [*enumerate(told, 1)], "ledger": []})
            case {"role": _}:
                messages.append((record.line, record.data))
            case dict():
                session = session or record.data
    if messages or (session and not found):
        found.insert(0, {"session": session, "messages": messages, "ledger": []})
    return found


def stored(path: str) -> Iterator[Stored]:
    """The sessions that a database lists, sub-agents left out."""
    with sqlite.opened(read(path)) as database:
        found = database.rows("sessions", "created_at", "id")
    rows = {row["id"]: row for row in found if isinstance(row.get("id"), str)}
    for name in branches.families(_parents(rows))[0]:
        yield Stored(name, string(rows[name].get("working_dir")), sqlite.moment(rows[name].get("updated_at")))


def _parents(sessions: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {name: row.get("parent_session_id") for name, row in sessions.items()}


def _by_session(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        if isinstance(row.get("session_id"), str):
            found[row["session_id"]].append(row)
    return found
