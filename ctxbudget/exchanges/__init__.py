"""Requests of a log → conversations: each request repeats the one before, and is said to a builder only once.

Three kinds of file come down to the same thing: one conversation (its messages, perhaps line by line), many finished
conversations, and a log of model calls, where every request holds the whole history. A request belongs to the
conversation whose latest request it begins with. If it only shares that one's beginning and its last messages, the
agent compacted in between, and what differs becomes a recorded edit; a request that shares less begins a conversation.
What a message means is the loader's business: it brings a ``Speaker``.
"""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from ctxbudget.errors import EmptyTrace
from ctxbudget.exchanges.conversation import Conversation
from ctxbudget.exchanges.exchange import Exchange, Provider, Speaker, is_reply
from ctxbudget.exchanges.logged import Logged, compact, events, logged, parsed, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Start
    from ctxbudget.records import Reading
    from ctxbudget.trace import Trace

__all__ = [
    "Exchange",
    "Logged",
    "Provider",
    "Speaker",
    "compact",
    "events",
    "is_reply",
    "logged",
    "parsed",
    "plain",
    "traces",
]

OPEN_CONVERSATIONS = 8
"""How many of the latest conversations are compared with a compacted request."""


class Log:
    """The conversations of one file."""

    def __init__(self, start: Start, provider: Provider) -> None:
        """``start`` begins a trace."""
        self.conversations: list[Conversation] = []
        self.skipped: Counter[str] = Counter()
        self.has_calls = False
        self._start = start
        self._provider = provider
        self._open: dict[bytes, Conversation] = {}
        self._seen: set[tuple[str, bytes]] = set()
        self._single: Conversation | None = None

    def add(self, data: Any, line: int, numbered: bool) -> None:
        """One record: a message, a call, a conversation, or a list of these."""
        match data:
            case {"role": str()}:
                self._single = self._single or self._begin(line)
                self._single.say(data, line)
            case list():
                for at, item in enumerate(data, 1):
                    if isinstance(item, list):
                        self.skipped["list in a list, skipped"] += 1
                    else:
                        self.add(item, at if numbered else line, False)
            case dict():
                if exchange := self._provider.exchange(data, self.skipped):
                    self._exchange(exchange, line, numbered)
            case _:
                self.skipped[f"record of type {type(data).__name__}, skipped"] += 1

    def _begin(self, line: int) -> Conversation:
        build = self._start()
        conversation = Conversation(build, self._provider.speaker(build), line)
        self.conversations.append(conversation)
        return conversation

    def _exchange(self, exchange: Exchange, line: int, numbered: bool) -> None:
        marks = [mark(self._provider.identity(message)) for message in exchange.messages]
        if exchange.finished:
            self._begin(line).continue_with(exchange, marks, line, numbered)
            return
        keys = list(_running(marks, b"tools" if exchange.has_tools else b""))
        if exchange.key is not None:
            if (exchange.key, keys[-1]) in self._seen:
                self.skipped["repeated record, skipped"] += 1
                return
            self._seen.add((exchange.key, keys[-1]))
        self.has_calls |= exchange.called
        conversation = self._continued(exchange, keys) or self._revised(exchange, marks, line) or self._begin(line)
        conversation.continue_with(exchange, marks, line, numbered)
        if self._open.get(conversation.key) is conversation:
            del self._open[conversation.key]
        conversation.key = keys[-1]
        self._open[conversation.key] = conversation

    def _continued(self, exchange: Exchange, keys: list[bytes]) -> Conversation | None:
        """The conversation whose latest request this one begins with; the same messages again are a retry."""
        found = next((self._open[key] for key in reversed(keys[1:]) if key in self._open), None)
        again = found is not None and len(found.marks) == len(exchange.messages)
        return None if again and found is not None and not found.has_overhead(exchange) else found

    def _revised(self, exchange: Exchange, marks: list[bytes], line: int) -> Conversation | None:
        """A conversation of which this request is the continuation after a compaction."""
        latest = islice(reversed(self._open.values()), OPEN_CONVERSATIONS)
        same = (one for one in latest if one.has_tools == exchange.has_tools)
        return next((one for one in same if one.revise(exchange, marks, line)), None)


def traces(reading: Reading, start: Start, provider: Provider) -> Iterator[Trace]:
    """The conversations of a file; if there are more, each has its line as label, and in a log the longest one with
    tools, an agent's main loop, comes first.
    """
    log = Log(start, provider)
    records = reading.unwrap()
    first = list(islice(records, 2))
    for record in chain(first, records):
        log.add(record.data, record.line, numbered=len(first) == 1)
    if not log.conversations:
        raise EmptyTrace(f"{reading.path}: no message in it", hint="nothing was measured")
    order = log.conversations
    if log.has_calls:
        main = max(order, key=lambda one: (one.has_tools, len(one.marks)))
        order = [main, *(one for one in order if one is not main)]
    for at, conversation in enumerate(order):
        if len(order) > 1:
            conversation.build.label = str(conversation.line)
        yield conversation.finish(reading, log.skipped if at == 0 else Counter())


def mark(identity: Any) -> bytes:
    """A short digest of a message's identity."""
    return blake2b(compact(identity, sort=True).encode(), digest_size=16).digest()


def _running(marks: list[bytes], key: bytes) -> Iterator[bytes]:
    """Digests of the first 0, 1, 2 … messages, beginning with ``key``."""
    yield key
    for own in marks:
        key = blake2b(key + own, digest_size=16).digest()
        yield key
