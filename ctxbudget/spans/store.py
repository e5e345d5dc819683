"""Databases of spans: VS Code Copilot Chat's ``agent-traces.db``, and Phoenix's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget.exchanges import parsed
from ctxbudget.records import Record
from ctxbudget.spans.attributes import INSTANT_DIGITS
from ctxbudget.spans.exported import Exported, exported

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.sqlite import Database

COPILOT = frozenset({"spans", "span_attributes", "span_events"})
"""Tables of microsoft/vscode-copilot-chat's span store (schema 1, 2026)."""

PHOENIX = frozenset({"spans", "traces", "projects"})
"""Tables of Arize-ai/phoenix (``phoenix.db``, 4 to 12)."""

NUMBERS = ("gen_ai.usage.", "copilot_chat.request.max_")
"""Beginnings of attributes that are numbers, though the table keeps every value as text."""


def stored(database: Database) -> Iterator[Exported]:
    """The spans of a database, in the order in which they began; the line is the number of the span."""
    rows = database.rows("spans", "start_time_ms", "start_time")
    told = _copilot(database, rows) if "span_attributes" in database.tables else _phoenix(database, rows)
    for number, span in enumerate(told, 1):
        yield from exported(Record(span, number))


def _copilot(database: Database, rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Attributes and events have tables of their own."""
    given: dict[Any, dict[str, Any]] = {}
    for row in database.rows("span_attributes"):
        if isinstance(row.get("key"), str):
            given.setdefault(row.get("span_id"), {})[row["key"]] = _value(row["key"], row.get("value"))
    events: dict[Any, list[Any]] = {}
    for row in database.rows("span_events", "timestamp_ms"):
        attributes = row.get("attributes")
        inner = parsed(attributes) if isinstance(attributes, str) else None
        events.setdefault(row.get("span_id"), []).append({"name": row.get("name"), "attributes": inner})
    for row in rows:
        name = row.get("span_id")
        yield {
            **row,
            "start_time": row.get("start_time_ms"),
            "attributes": {"gen_ai.operation.name": row.get("operation_name"), **given.get(name, {})},
            "events": events.get(name),
        }


def _value(key: str, value: Any) -> Any:
    is_number = isinstance(value, str) and value.isdecimal() and len(value) < INSTANT_DIGITS
    return int(value) if is_number and key.startswith(NUMBERS) else value


def _phoenix(database: Database, rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Attributes and events are JSON; the trace is told by its row."""
    traces = {row.get("id"): row.get("trace_id") for row in database.rows("traces")}
    for row in rows:
        inner = {name: parsed(row[name]) for name in ("attributes", "events") if isinstance(row.get(name), str)}
        yield {**row, "trace_id": traces.get(row.get("trace_rowid")), **inner}
