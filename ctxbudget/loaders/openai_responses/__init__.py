"""OpenAI Responses: requests, responses and their logs, lists of items, and what the Agents SDK stores.

Where: logs of programs on the Responses API; with the Agents SDK wherever its ``SQLiteSession`` (tables ``agent_sessions``, ``agent_messages``), the JSON of a ``RunState`` or its own traces (``trace.span``) were put.
Seen: every item: messages, calls with results, tools that ran at OpenAI's (MCP and code with results, searches without), images, compactions; instructions and tools, which a response repeats.
Unseen: reasoning (sealed, and not sent again), pages that a search read, the input of a lone response, items before a ``previous_response_id`` that is not in the file; in a session also system prompt and tools.
Counts: usage of every response, inclusive; a run state has it too; lists of items and sessions have none. Spans of the SDK's traces have it of every call, but messages only of chat models.

Rules: platform.openai.com, "Responses" and "Compaction" (2026); openai/openai-agents-python 0.4 (``memory``,
``run_state.py``). Items of the model between two inputs are one reply. A ``compaction`` item stands for all before it. Behind what a tool
answered at OpenAI's the model was asked again within the response: a turn of its own, whose prompt the usage counts
(checked: it holds the results).
"""  # noqa: E501 - a labelled line is one line

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Any, cast

from ctxbudget import exchanges, sqlite
from ctxbudget.loaders.openai_responses import requests, spans
from ctxbudget.loaders.openai_responses.chains import chained, is_chained, item_list
from ctxbudget.loaders.openai_responses.groups import is_item, is_telling
from ctxbudget.loaders.openai_responses.sessions import is_run_state, run_state, sessions
from ctxbudget.loaders.openai_responses.spans import is_span
from ctxbudget.message_lists import first_records

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from ctxbudget.builder import Start
    from ctxbudget.records import Reading, Record
    from ctxbudget.trace import Trace

TABLES = frozenset({"agent_sessions", "agent_messages"})

FIRST = 50
"""Records by which it is told what kind of file it is."""

PARAMETERS = frozenset({
    "instructions", "tools", "max_output_tokens", "reasoning", "previous_response_id", "store", "conversation",
})  # fmt: skip
"""What a request may have beside ``input``: a request for embeddings has only that."""


def sniff(head: bytes, path: str) -> float:
    """``object: response``, requests with ``input``, items of the API's own types, a database of the Agents SDK."""
    if sqlite.tables(head, path) >= TABLES:
        return 0.95
    return max(map(_score, first_records(head)), default=0)


def _score(record: Any) -> float:
    match record:
        case {"object": "response"} | {"request": _, "response": {"object": "response"}}:
            return 0.95
        case {"type": str(event), "response": {"object": "response"}} if event.startswith("response."):
            return 0.95
        case {"request": {"input": list() | str()} as request} if "messages" not in request:
            return 0.85
        case {"input": list(items)} if "messages" not in record and all(map(is_item, items[:20])):
            return 0.85
        case {"input": str(), "model": str()} if PARAMETERS & record.keys():
            return 0.8
        case dict() if is_run_state(record) or is_span(record):
            return 0.95
        case dict() if is_telling(record):
            return 0.85
    return 0.0


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """Each session of a database; else each conversation, which requests of a log, or responses that name the one
    before, go on with."""
    if reading.head.startswith(sqlite.MAGIC):
        with sqlite.opened(reading) as database:
            yield from sessions(database, reading, start)
        return
    records = cast("Generator[Record]", reading.unwrap())
    first = list(islice(records, FIRST))
    told = [record.data for record in first if isinstance(record.data, dict)]
    if told and is_run_state(told[0]):
        rest = [*first, *records]
        for record in rest:
            yield run_state(record, reading, start, alone=len(rest) == 1)
    elif told and all(map(is_item, told)):
        yield item_list(chain(first, records), reading, start)
    elif not any(map(is_span, told)) and is_chained(told):
        yield from chained(chain(first, records), reading, start)
    else:
        records.close()  # else its counts would come on top of the second reading's
        yield from exchanges.traces(reading, start, spans if any(map(is_span, told)) else requests)
