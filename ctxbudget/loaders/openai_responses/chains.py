"""Responses that name the one before (``previous_response_id``), and plain lists of items."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ctxbudget.exchanges.conversation import Conversation
from ctxbudget.loaders.openai_responses.groups import grouped
from ctxbudget.loaders.openai_responses.requests import exchange, speaker, taken_apart

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ctxbudget.builder import Start
    from ctxbudget.exchanges import Exchange
    from ctxbudget.records import Reading, Record
    from ctxbudget.trace import Trace

Fields = dict[str, Any]


def is_chained(found: Sequence[Fields]) -> bool:
    """Whether responses of the file go on with others of it, or stand there without what was asked."""
    ids: set[Any] = set()
    before: list[Any] = []
    whole = False
    for data in found:
        request, response = taken_apart(data)
        before.append(_before(request, response))
        ids.add(response.get("id") if response and isinstance(response.get("id"), str) else None)
        whole = whole or (request is not None and before[-1] is None)
    return any(name is not None and name in ids for name in before) or not whole


def chained(found: Iterable[Record], reading: Reading, start: Start) -> Iterator[Trace]:
    """Each chain of responses as one conversation. One that forks off goes its own way, without what was before."""
    ends: dict[str, Conversation] = {}
    order: list[Conversation] = []
    skipped: Counter[str] = Counter()
    for record in found:
        call = exchange(record.data, skipped) if isinstance(record.data, dict) else None
        if call is None:
            continue
        request, response = taken_apart(record.data)
        before = _before(request, response)
        conversation = ends.pop(before, None) if before is not None else None
        if conversation is None:
            build = start()
            conversation = Conversation(build, speaker(build), record.line)
            order.append(conversation)
            if before is not None:
                build.warn("history-absent", "the items before the first request are not in the file", record.line)
        _go_on(conversation, call, record.line)
        if call.key is not None:
            ends[call.key] = conversation
    for number, conversation in enumerate(order):
        if len(order) > 1:
            conversation.build.label = str(conversation.line)
        yield conversation.finish(reading, skipped if number == 0 else Counter())


def item_list(found: Iterable[Record], reading: Reading, start: Start) -> Trace:
    """Items, one in each record: one conversation."""
    build = start()
    conversation = Conversation(build, speaker(build), 1)
    records = [record for record in found if isinstance(record.data, dict)]
    for group in grouped([record.data for record in records], [record.line for record in records]):
        conversation.say(group, group["lines"][0])
    return conversation.finish(reading, Counter())


def _go_on(conversation: Conversation, call: Exchange, line: int) -> None:
    conversation.request(call, line)
    for message in call.messages:
        conversation.say(message, line)
    if call.called:
        conversation.answer(call, line)


def _before(request: Fields | None, response: Fields | None) -> str | None:
    for place in (request, response):
        if place is not None and isinstance(name := place.get("previous_response_id"), str):
            return name
    return None
