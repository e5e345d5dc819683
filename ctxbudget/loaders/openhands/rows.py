"""Rows of evaluation output: one task each, with its history, its usage and its result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget.loaders.openhands.log import usage_of
from ctxbudget.records import Record
from ctxbudget.records.values import items, mapping, string
from ctxbudget.trace import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import TraceBuilder

REPORTS = (("report",), ("test_result", "report"), ("test_result",), ("test_result", "result"))
"""Where benchmarks put ``resolved``."""


def is_row(data: dict[str, Any]) -> bool:
    """Whether a record is a task with its history."""
    return isinstance(data.get("history"), list) and ("instance_id" in data or "test_result" in data)


def name(row: dict[str, Any]) -> str | None:
    """The task's name."""
    given = row.get("instance_id")
    return str(given) if isinstance(given, int) else string(given)


def history(row: dict[str, Any], line: int) -> list[Record]:
    """The events; old output has pairs of an action and its observation. All are on the row's line."""
    return [Record(event, line) for event in _flat(row.get("history"))]


def _flat(given: Any, depth: int = 0) -> Iterator[Any]:
    for item in items(given):
        if isinstance(item, list) and depth < 2:
            yield from _flat(item, depth + 1)
        else:
            yield item


def add_facts(build: TraceBuilder, row: dict[str, Any]) -> None:
    """Model and window from the settings, and the outcome."""
    settings = _inner(row, "metadata", "llm_config")
    build.model = string(settings.get("model"))
    limit = settings.get("max_input_tokens")
    build.window = limit if type(limit) is int and limit > 0 else None
    build.session = name(row)
    for place in REPORTS:
        resolved = _inner(row, *place).get("resolved")
        if isinstance(resolved, bool):
            build.outcome = Outcome(resolved, float(resolved), ".".join((*place, "resolved")))
            return


def add_rest(build: TraceBuilder, row: dict[str, Any], billed: set[str]) -> None:
    """Calls that were paid for and left no event: refused replies, condensers."""
    for raw in items(_inner(row, "metrics").get("token_usages")):
        usage = usage_of(raw)
        key = string(mapping(raw).get("response_id"))
        if usage is not None and key is not None and key not in billed:
            billed.add(key)
            build.bill(key, string(raw.get("model")), usage, purpose="abandoned")


def _inner(row: dict[str, Any], *names: str) -> dict[str, Any]:
    value: Any = row
    for one in names:
        value = mapping(value).get(one)
    return mapping(value)
