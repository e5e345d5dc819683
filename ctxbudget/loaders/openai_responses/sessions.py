"""What the Agents SDK stores: sessions in SQLite, and the state of a run as JSON."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson

from ctxbudget.exchanges import Exchange
from ctxbudget.exchanges.conversation import Conversation
from ctxbudget.loaders.openai_responses.groups import ANSWERS, call_of, grouped
from ctxbudget.loaders.openai_responses.requests import speaker
from ctxbudget.providers.openai.usage import read_items_usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Start, TraceBuilder
    from ctxbudget.records import Reading, Record
    from ctxbudget.sqlite import Database
    from ctxbudget.trace import Trace

Fields = dict[str, Any]

RUN = frozenset({"current_agent", "currentAgent", "original_input", "originalInput"})


def sessions(database: Database, reading: Reading, start: Start) -> Iterator[Trace]:
    """Each session of the database, called by its id, in the order in which they began."""
    kept: dict[str, list[tuple[int, Any]]] = {}
    known = {str(row.get("session_id")) for row in database.rows("agent_sessions")}
    wanted = {"session_id": {reading.only}} if reading.only in known else {}
    for row in database.rows("agent_messages", "id", only=wanted):
        name, number = str(row.get("session_id")), row.get("id")
        kept.setdefault(name, []).append((number if type(number) is int else 0, row.get("message_data")))
    for name, rows in kept.items():
        build = start(label=name if len(kept) > 1 or wanted else None)
        build.session = name
        conversation = _begun(build)
        items, numbers = _items(build, rows)
        for group in grouped(items, numbers):
            conversation.say(group, group["lines"][0])
        trace = conversation.finish(reading, Counter())
        lost = len(rows) - len(items)
        yield replace(trace, parse=replace(trace.parse, records_ok=len(items), records_bad=lost))


def _items(build: TraceBuilder, rows: list[tuple[int, Any]]) -> tuple[list[Fields], list[int]]:
    items: list[Fields] = []
    numbers: list[int] = []
    for number, text in rows:
        try:
            item = orjson.loads(text) if isinstance(text, str | bytes) else None
        except orjson.JSONDecodeError:
            item = None
        if isinstance(item, dict):
            items.append(item)
            numbers.append(number)
        else:
            build.warn("damaged-row", "a row holds no item, left out", number)
    return items, numbers


def is_run_state(data: Any) -> bool:
    """Whether it is a ``RunState``, in the names of the Python or of the JavaScript SDK; the input may be far below."""
    return isinstance(data, dict) and "$schemaVersion" in data and not RUN.isdisjoint(data)


def run_state(record: Record, reading: Reading, start: Start, *, alone: bool) -> Trace:
    """A run: its input, then each response with the outputs of its calls."""
    data = record.data if isinstance(record.data, dict) else {}
    build = start(label=None if alone else str(record.line))
    conversation = _begun(build)
    for message in grouped(data.get("original_input", data.get("originalInput"))):
        conversation.say(message, record.line)
    answers = _answers(data)
    responses = data.get("model_responses", data.get("modelResponses"))
    for response in responses if isinstance(responses, list) else []:
        if not isinstance(response, dict):
            continue
        output = response.get("output")
        items = output if isinstance(output, list) else []
        key = response.get("response_id", response.get("responseId"))
        call = Exchange([], called=True, key=key if isinstance(key, str) else None)
        call.usage = read_items_usage(response.get("usage"))
        call.reply = {"role": "assistant", "items": items}
        conversation.answer(call, record.line)
        for item in items:
            answer = answers.pop(call_of(item), None)
            if answer is not None:
                conversation.say({"role": "tool", "items": [answer]}, record.line)
    return conversation.finish(reading, Counter())


def _begun(build: TraceBuilder) -> Conversation:
    build.agent = "openai-agents"
    return Conversation(build, speaker(build), 1)


def _answers(data: Fields) -> dict[str | None, Fields]:
    """Outputs of calls, by call, among everything the run made."""
    found: dict[str | None, Fields] = {}
    for name in ("session_items", "generated_items", "generatedItems"):
        made = data.get(name)
        for entry in made if isinstance(made, list) else []:
            item = entry.get("raw_item", entry.get("rawItem")) if isinstance(entry, dict) else None
            if isinstance(item, dict) and str(item.get("type")).endswith(ANSWERS):
                found.setdefault(call_of(item), item)
    found.pop(None, None)
    return found
