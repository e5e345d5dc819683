"""Entries of a pi session, and which of them are in the live context."""

from __future__ import annotations

from bisect import bisect_left
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


class Path:
    """Entries in the order of the live branch."""

    def __init__(self, entries: list[Entry]) -> None:
        self._entries = entries
        self._named: dict[str, int] = {}
        for at, entry in enumerate(entries):
            if name := string(entry.data.get("id")):
                self._named.setdefault(name, at)

    def first_kept(self, at: int) -> int:
        """From where on the compaction ``at`` that place kept entries; its own place if it names none before it."""
        data = self._entries[at].data
        name, index = string(data.get("firstKeptEntryId")), data.get("firstKeptEntryIndex")
        named = self._named.get(name, at) if name is not None else at
        counted = bisect_left(self._entries, index, key=lambda entry: entry.place) if type(index) is int else at
        return min(at, named, counted)


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
