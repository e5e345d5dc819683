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
    from collections.abc import Iterable, Iterator

    from ctxbudget.builder import Start
    from ctxbudget.exchanges.conversation import Sizes
    from ctxbudget.records import Reading
    from ctxbudget.trace import Trace

__all__ = [
    "Conversation",
    "Exchange",
    "Log",
    "Logged",
    "Provider",
    "Speaker",
    "chained",
    "compact",
    "events",
    "is_reply",
    "logged",
    "mark",
    "parsed",
    "plain",
    "running",
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
        self._latest: dict[bytes, tuple[list[bytes], list[bytes]]] = {}
        self._single: Conversation | None = None
        self._silent: dict[str | None, Conversation] = {}

    def add(self, data: Any, line: int, numbered: bool) -> None:
        """One record: a message, a call, a conversation, or a list of these."""
        match data:
            case {"role": str()}:
                self._single = self._single or self.begin(line)
                self._single.say(data, line)
            case list():
                for at, item in enumerate(data, 1):
                    if isinstance(item, list):
                        self.skipped["list in a list, skipped"] += 1
                    else:
                        self.add(item, at if numbered else line, False)
            case dict():
                if exchange := self._provider.exchange(data, self.skipped):
                    self.take(exchange, line, numbered)
            case _:
                self.skipped[f"record of type {type(data).__name__}, skipped"] += 1

    def ordered(self) -> list[Conversation]:
        """The conversations; in a log the longest one with tools, an agent's main loop, comes first."""
        if not self.has_calls:
            return self.conversations
        main = max(self.conversations, key=lambda one: (one.has_tools, len(one.marks)))
        return [main, *(one for one in self.conversations if one is not main)]

    def begin(self, line: int) -> Conversation:
        """A conversation that nothing continues but what is said to it."""
        build = self._start()
        conversation = Conversation(build, self._provider.speaker(build), line)
        self.conversations.append(conversation)
        return conversation

    def take(
        self, exchange: Exchange, line: int, numbered: bool = False, marks: list[bytes] | None = None
    ) -> Conversation | None:
        """The next call of the log, or a finished conversation: which one it belongs to, None for a repeated record.

        ``numbered``: its messages are the records. ``marks``: of its messages, where they are known already.
        """
        if exchange.is_silent:
            self.has_calls = True
            silent = self._silent.get(exchange.session) or self.begin(line)
            self._silent[exchange.session] = silent
            silent.continue_with(exchange, [], line, numbered)
            return silent
        if marks is None:
            marks = [mark(self._provider.identity(message)) for message in exchange.messages]
        if exchange.finished:
            conversation = self.begin(line)
            conversation.continue_with(exchange, marks, line, numbered)
            return conversation
        keys = self._keys(marks, b"tools" if exchange.has_tools else b"")
        if exchange.key is not None:
            if (exchange.key, keys[-1]) in self._seen:
                self.skipped["repeated record, skipped"] += 1
                return None
            self._seen.add((exchange.key, keys[-1]))
        self.has_calls |= exchange.called
        conversation = self._continued(exchange, keys) or self._revised(exchange, marks, line) or self.begin(line)
        conversation.continue_with(exchange, marks, line, numbered)
        self._stand(conversation, keys[-1])
        return conversation

    def follow(
        self, conversation: Conversation, exchange: Exchange, line: int, sizes: Sizes, unseen: Iterable[Any] = ()
    ) -> Conversation:
        """The next call of a conversation of which the log itself says that it was compacted before; ``sizes`` are
        its tokens before and after, ``unseen`` messages that no request shows: results of the latest reply's calls."""
        marks = [mark(self._provider.identity(message)) for message in exchange.messages]
        if (reply := conversation.held) is not None and (own := mark(self._provider.identity(reply))) not in marks:
            conversation.say_held(own)
            for message in unseen:
                conversation.say(message, line, mark(self._provider.identity(message)))
        conversation.compact(exchange, marks, line, sizes)
        conversation.continue_with(exchange, marks, line, False)
        self._stand(conversation, self._keys(marks, b"tools" if exchange.has_tools else b"")[-1])
        return conversation

    def _keys(self, marks: list[bytes], seed: bytes) -> list[bytes]:
        """What the first 0, 1, 2 … messages are known by. A request mostly begins with all of the one before: only
        what it adds is worked out."""
        known, keys = self._latest.get(seed, ([], [seed]))
        same = len(known) if marks[: len(known)] == known else 0
        keys = [*keys[:same], *running(marks[same:], keys[same])]
        self._latest[seed] = marks, keys
        return keys

    def extend(self, conversation: Conversation, exchange: Exchange, fresh: list[Any], line: int) -> None:
        """The next call of a conversation where the log holds no history: ``fresh`` is what was said since its latest
        reply. What was said before is not looked at again."""
        key = conversation.key
        if (reply := conversation.held) is not None:
            own = mark(self._provider.identity(reply))
            conversation.say_held(own)
            key = chained(key, own)
        for message in fresh:
            own = mark(self._provider.identity(message))
            conversation.say(message, line, own)
            key = chained(key, own)
        exchange.overhead = exchange.overhead or conversation.overhead
        conversation.continue_with(exchange, [], line, numbered=False)
        self._stand(conversation, key)

    def _stand(self, conversation: Conversation, key: bytes) -> None:
        """Where the conversation stands now, for its next request to be recognised."""
        if self._open.get(conversation.key) is conversation:
            del self._open[conversation.key]
        conversation.key = key
        self._open[key] = conversation

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
    order = log.ordered()
    for at, conversation in enumerate(order):
        if len(order) > 1:
            conversation.build.label = str(conversation.line)
        yield conversation.finish(reading, log.skipped if at == 0 else Counter())


def mark(identity: Any) -> bytes:
    """A short digest of a message's identity."""
    return blake2b(compact(identity, sort=True).encode(), digest_size=16).digest()


def running(marks: list[bytes], key: bytes) -> Iterator[bytes]:
    """Digests of the first 0, 1, 2 … messages, beginning with ``key``."""
    yield key
    for own in marks:
        key = chained(key, own)
        yield key


def chained(key: bytes, own: bytes) -> bytes:
    """The digest of the messages before and one more."""
    return blake2b(key + own, digest_size=16).digest()
