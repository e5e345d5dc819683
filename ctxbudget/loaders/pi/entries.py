"""Entries of a pi session, and which of them are in the live context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ctxbudget.branches import Link, live
from ctxbudget.records.values import string

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable

    from ctxbudget.records import Record


class Entry(NamedTuple):
    """One record. ``place`` is its number among all records of the file, from 0, the session's own line included."""

    data: dict[str, Any]
    line: int
    place: int

    def kept(self, path: list[Entry]) -> list[Entry]:
        """What this compaction kept of the ``path`` it stands on; nothing where it names no entry before it."""
        own = next(at for at, entry in enumerate(path) if entry is self)
        first = self.data.get("firstKeptEntryId")
        index = self.data.get("firstKeptEntryIndex")
        for at, entry in enumerate(path[:own]):
            if (first is not None and entry.data.get("id") == first) or (type(index) is int and entry.place >= index):
                return path[at:own]
        return []


def read_entries(records: Iterable[Record], skipped: Counter[str]) -> tuple[dict[str, Any], list[Entry]]:
    """The session's own line (empty if it is missing), and the entries in file order.

    ``skipped`` counts what is no part of any context; such entries stay in the tree.
    """
    header: dict[str, Any] = {}
    entries: list[Entry] = []
    for place, record in enumerate(records):
        data = record.data
        if not isinstance(data, dict):
            skipped["not an object"] += 1
            continue
        kind = data.get("type")
        if kind not in ("message", "compaction", "branch_summary", "custom_message"):
            skipped[str(kind)[:40] if kind else "no type"] += 1
        if kind == "session":
            header = header or data
        elif kind is not None:
            entries.append(Entry(data, record.line, place))
    return header, entries


def path_of(entries: list[Entry]) -> list[Entry]:
    """The path from the last entry back to its root, in order; all entries where the file is no tree."""
    if not any("parentId" in entry.data for entry in entries):
        return entries
    return [entries[at] for at in live([_link(entry.data) for entry in entries])]


def _link(data: dict[str, Any]) -> Link:
    parent = data.get("parentId")
    return Link(string(data.get("id")), string(parent), parent is None and "parentId" in data)
