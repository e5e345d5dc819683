"""Langfuse traces: the download of the trace page, the public API's answers, exported observations.

Where: wherever they were downloaded to (trace page: ``{trace, observations}``; ``GET /api/public/traces/{id}``; observations as a list or JSON Lines).
Seen: what the framework gave Langfuse: messages in any framework's words, replies, tool results, often tools.
Unseen: what the framework did not give: some give only the newest message, then the history is put together from the replies and the tools' answers of the trace.
Counts: per call, ``usageDetails``; its buckets are disjoint by rule, some exporters send inclusive ones: the total decides. ``total`` is always right.

Rules: langfuse 3 (``packages/shared/src/server/repositories``, its framework fixtures of 2025). A score called
correctness, success, reward or alike is the outcome.
"""  # noqa: E501 - a labelled line is one line

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ctxbudget import spans
from ctxbudget.loaders.langfuse.calls import TYPES, Calls
from ctxbudget.message_lists import first_records
from ctxbudget.providers.openai import requests
from ctxbudget.trace import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Start
    from ctxbudget.records import Reading
    from ctxbudget.spans import Span
    from ctxbudget.trace import Trace


def sniff(head: bytes, path: str) -> float:  # noqa: ARG001 - the bytes decide
    """A trace with its observations, or observations alone."""
    return 0.95 if any(_is_export(row) or _is_observation(row) for row in first_records(head)[:50]) else 0.0


def _is_export(row: Any) -> bool:
    match row:
        case {"trace": {"id": str()}} | {"observations": [dict(), *_]}:
            return "observations" in row
        case {"trace": dict() as trace}:  # the head may end inside the trace
            return {"projectId", "bookmarked"} <= trace.keys()
        case {"data": [dict(first), *_]}:
            return _is_observation(first)
    return False


def _is_observation(row: Any) -> bool:
    match row:
        case {"type": str(kind), "traceId": str(), "startTime": str()}:
            return kind in TYPES
        case {"type": str(kind), "trace_id": str(), "start_time": str()}:
            return kind in TYPES
    return False


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """Every trace of the file, named by its session or its own id."""
    skipped: Counter[str] = Counter()
    outcomes: dict[str, Outcome] = {}
    found: list[Span] = []
    for record in reading.unwrap():
        before = len(found)
        trace, rows = _rows(record.data)
        run = _text(trace, "sessionId", "session_id") or _text(trace, "id")
        for row in rows:
            found.append(Calls.span(row, run, record.line, len(found)))
        outcome = _outcome(trace.get("scores"))
        if run is not None and outcome is not None:
            outcomes.setdefault(run, outcome)
        skipped["record without observations, skipped"] += len(found) == before
    yield from spans.traces(reading, found, start, Calls(), requests, skipped, outcomes)


def _rows(data: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The trace a record is about, and its observations."""
    match data:
        case {"trace": dict() as trace, "observations": list(rows)}:
            pass
        case {"observations": list(rows)}:
            trace = data
        case {"data": list(rows)}:
            trace = {}
        case dict():
            trace, rows = {}, [data]
        case _:
            return {}, []
    return trace, [row for row in rows if _is_observation(row)]


def _outcome(scores: Any) -> Outcome | None:
    """The first score about the whole trace that says whether the task was done."""
    for score in scores if isinstance(scores, list) else []:
        match score:
            case {"name": str(name), "value": bool() | int() | float() as value} if spans.tells_outcome(name):
                if score.get("observationId") is None:
                    is_yes_no = score.get("dataType") == "BOOLEAN" or isinstance(value, bool)
                    return Outcome(bool(value) if is_yes_no else None, float(value), f"scores: {name}")
    return None


def _text(data: dict[str, Any], *names: str) -> str | None:
    return next((value for name in names if isinstance(value := data.get(name), str) and value), None)
