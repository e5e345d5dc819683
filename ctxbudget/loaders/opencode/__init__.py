"""OpenCode sessions: its database (~/.local/share/opencode/opencode.db), or what ``opencode export`` writes.

Where: ``~/.local/share/opencode/opencode.db`` (SQLite, all sessions of the machine); ``opencode export ID`` gives one session as JSON.
Seen: user texts and files, replies with reasoning, every call with its result, images, compactions and the results that were cleared later, sub-agents (sessions of their own), what was undone, the model of every call.
Unseen: system prompt, tool schemas, the window.
Counts: usage of every call, exclusive: prompt = input + cache.read + cache.write; ``total``, where it is written, says whether output holds the reasoning.

Rules: sst/opencode ``packages/opencode/src/session`` (``message-v2.ts``, ``compaction.ts``), to 1.18. A
compaction is a user message with a part of that type and the reply marked ``summary`` to it; both stand before the messages it kept
(``tail_start_id``). A tool output with ``time.compacted`` is replaced by one line from then on. Undone messages stay
in the store behind the message that ``revert`` names.
"""  # noqa: E501 - a labelled line is one line

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from ctxbudget import sqlite
from ctxbudget.errors import EmptyTrace
from ctxbudget.loaders.opencode.session import Teller
from ctxbudget.loaders.opencode.store import Store, stored
from ctxbudget.message_lists import opening

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Start
    from ctxbudget.records import Reading
    from ctxbudget.trace import Parse, Trace

__all__ = ["load", "sniff", "stored"]

TABLES = frozenset({"session", "message", "part"})

_EXPORT = re.compile(rb'\s*\[?\s*\{\s*"info"\s*:\s*\{\s*"id"\s*:\s*"ses_')


def sniff(head: bytes, path: str) -> float:
    """A database with its three tables, or a document whose ``info`` has the id of a session."""
    if sqlite.tables(head, path) >= TABLES:
        return 0.95
    if _EXPORT.match(head):
        return 0.95
    for value in opening(head)[:5]:
        match value:
            case {"info": {"id": str(session)}, "messages": _} | [{"info": {"id": str(session)}, "messages": _}, *_]:
                return 0.95 if session.startswith("ses_") else 0.3
    return 0.0


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """The session of an export; all sessions of a database, each called by its id, sub-agents as children."""
    if reading.head.startswith(sqlite.MAGIC):
        with sqlite.opened(reading) as database:
            store = Store(database, reading.only)
        if store.is_empty and not reading.warnings:
            raise EmptyTrace(f"{reading.path}: no message in it", hint="nothing was measured")
        for name in store.roots:
            yield _member(store, name, start)
        return
    found = [record.data for record in reading.unwrap() if isinstance(record.data, dict)]
    for data in found:
        match data:
            case {"info": {"id": str(name)}} if len(found) > 1:
                yield _trace(data, start, name, reading.parse)
            case _:
                yield _trace(data, start, None, reading.parse)


def _member(store: Store, name: str, start: Start) -> Trace:
    children = [_member(store, child, start) for child in store.children.get(name, [])]
    return _trace(store.session(name), start, name, store.parse(name), children)


def _trace(
    data: dict[str, Any], start: Start, label: str | None, parse: Parse, children: list[Trace] | None = None
) -> Trace:
    build = start(label=label)
    build.agent = "opencode"
    skipped: Counter[str] = Counter()
    Teller(build, skipped).session(data)
    for child in children or []:
        build.child(child)
    if damaged := parse.records_bad:
        build.warn("damaged-row", f"{damaged} row(s) hold no JSON object, left out")
    for name, count in sorted(skipped.items()):
        build.warn("unknown-record", f"{name} ({count})")
    return build.finish(parse, skipped)
