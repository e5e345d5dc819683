"""Goose sessions: its database (~/.local/share/goose/sessions/sessions.db), older .jsonl files, and JSON exports.

Where: ``~/.local/share/goose/sessions/sessions.db`` (SQLite, since 1.10, all sessions of the machine); before that ``<session>.jsonl`` in the same folder; ``goose session export --format json`` gives one session.
Seen: user texts, replies with thinking and calls, results, images, compactions, sub-agents (sessions of their own), the model and its window where they were set.
Unseen: system prompt, tool schemas and the text that extensions add to every prompt.
Counts: usage of every call in the database (with the message, or in ``usage_ledger``), inclusive: input holds the cache; a .jsonl file has the sums and the last call's.

Rules: block/goose ``crates/goose/src`` (``conversation/message``, ``context_mgmt/mod.rs``, ``session``), to 2026. A
message with ``agentVisible`` false is in no later prompt; a compaction leaves behind the old messages a summary that
only the agent sees, a reply that says so, and a copy of the last user message. Parallel calls of one reply are stored
as one message for each, all with the thinking of the reply. Streamed thinking is one block for each token.
"""  # noqa: E501 - a labelled line is one line

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ctxbudget import sqlite
from ctxbudget.errors import EmptyTrace
from ctxbudget.loaders.goose.session import Teller
from ctxbudget.loaders.goose.store import Store, documents, stored
from ctxbudget.message_lists import opening

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Start
    from ctxbudget.records import Reading
    from ctxbudget.trace import Parse, Trace

__all__ = ["load", "sniff", "stored"]

TABLES = frozenset({"sessions", "messages"})


def sniff(head: bytes, path: str) -> float:
    """A database with its tables, a first line that names the working folder, or messages with its own blocks."""
    tables = sqlite.tables(head, path)
    if tables >= TABLES:
        return 0.95 if "schema_version" in tables or b"content_json" in head else 0.2
    values = opening(head)[:50]
    for value in values:
        match value:
            case {"working_dir": str(), "conversation": list()}:
                return 0.95
            case {"working_dir": str()} if "role" not in value and ("description" in value or "total_tokens" in value):
                return 0.95
            case {"role": str(), "created": int(), "content": [{"type": str(kind)}, *_]} if kind in OWN_BLOCKS:
                return 0.9
    return 0.0


OWN_BLOCKS = frozenset({"toolRequest", "toolResponse", "frontendToolRequest", "redactedThinking"})


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """The session of a file; all sessions of a database, each called by its id, sub-agents as children."""
    if reading.head.startswith(sqlite.MAGIC):
        with sqlite.opened(reading) as database:
            store = Store(database, reading.only)
        if store.is_empty and not reading.warnings:
            raise EmptyTrace(f"{reading.path}: no message in it", hint="nothing was measured")
        for name in store.roots:
            yield _member(store, name, start)
        return
    found = documents(reading)
    for data in found:
        yield _trace(data, start, data["session"].get("id") if len(found) > 1 else None, reading.parse)


def _member(store: Store, name: str, start: Start) -> Trace:
    children = [_member(store, child, start) for child in store.children.get(name, [])]
    return _trace(store.session(name), start, name, store.parse(name), children)


def _trace(data: dict[str, Any], start: Start, label: Any, parse: Parse, children: list[Trace] | None = None) -> Trace:
    build = start(label=label if isinstance(label, str) else None)
    build.agent = "goose"
    skipped: Counter[str] = Counter()
    Teller(build, skipped).session(data)
    for child in children or []:
        build.child(child)
    if damaged := parse.records_bad:
        build.warn("damaged-row", f"{damaged} row(s) hold no JSON that is a message, left out")
    for name, count in sorted(skipped.items()):
        build.warn("unknown-record", f"{name} ({count})")
    return build.finish(parse, skipped)
