"""The model calls of one run, or of one sub-agent: its conversations in the making."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ctxbudget.exchanges import Log, chained, mark, parsed, running

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from ctxbudget.builder import Start
    from ctxbudget.exchanges import Conversation, Exchange, Provider
    from ctxbudget.records import Reading
    from ctxbudget.trace import Outcome, Trace


_AWKWARD = re.compile(r"[^\w.:@+=/-]+")

MOST_NAME = 100
"""Characters of a label; session ids are text that somebody chose."""

MOST_WAITING = 256
"""Calls that may still be answered; a tool's span is no answer to what was asked long ago."""


class Group:
    """Calls that belong together. ``answers`` takes what tools answered since the last call."""

    def __init__(self, name: str, above: str | None, run: str, start: Start, provider: Provider) -> None:
        """``above`` is the name of the group that a sub-agent belongs to, None for a run."""
        self.name = name
        self.label = name
        self.above = above
        self.children: list[Trace] = []
        self.answers: list[dict[str, Any]] = []
        self.has_begun = False
        self.outcome: Outcome | None = None
        self._run = run
        self._provider = provider
        self._log = Log(start, provider)
        self._latest: Conversation | None = None
        self._waiting: list[dict[str, Any]] = []
        self._digest = b""

    @property
    def conversations(self) -> list[Conversation]:
        """Begun so far; the main one (the longest with tools) first."""
        return self._log.ordered()

    @property
    def end(self) -> bytes:
        """A digest of all that the latest call and its reply hold."""
        return self._digest

    def beginnings(self, exchange: Exchange) -> Iterator[bytes]:
        """Digests of the beginnings of a request, the longest first, as ``end`` gives them."""
        yield from reversed(list(running(self._marks(exchange.messages), b""))[1:])

    def _marks(self, messages: list[Any]) -> list[bytes]:
        return [mark(self._provider.identity(message)) for message in messages]

    def add(self, exchange: Exchange, line: int) -> None:
        """The next call. One with a reply but no history goes on from what went before."""
        self.has_begun = True
        exchange.session = exchange.session or self._run or None
        if exchange.reply is not None and not exchange.messages and self._latest is not None:
            said = self._answered()
            self._log.extend(self._latest, exchange, said, line)
            self._told(said, exchange.reply)
        else:
            marks = self._marks(exchange.messages)
            taken = self._log.take(exchange, line, marks=marks)
            if not exchange.is_silent:
                self._latest = taken or self._latest
                *_, self._digest = running(marks, b"")
                self._waiting = _open_calls(exchange.messages)
                self._told([], exchange.reply)
        self.answers = []

    def _told(self, said: list[dict[str, Any]], reply: Any) -> None:
        """What came since the latest request, and the reply to this one."""
        fresh = said if reply is None else [*said, reply]
        for own in self._marks(fresh):
            self._digest = chained(self._digest, own)
        self._waiting = [*self._waiting, *_open_calls(fresh)][-MOST_WAITING:]

    def _answered(self) -> list[dict[str, Any]]:
        """What the tools answered since the latest call, as messages to the calls that waited for it."""
        found = []
        for answer in self.answers:
            call = asked(self._waiting, answer)
            if call is not None:
                self._waiting.remove(call)
                said = {"role": "tool", "tool_call_id": call.get("id"), "content": answer["content"]}
                found.append(said | ({"is_error": True} if answer.get("is_error") else {}))
        return found

    def finish(self, reading: Reading, extra: Counter[str], *, named: bool) -> list[Trace]:
        """The traces; the sub-agents belong to the main one."""
        found = []
        for number, conversation in enumerate(self.conversations, 1):
            if named:
                conversation.build.label = self._label(number, conversation)
            if number == 1:
                conversation.build.outcome = self.outcome
                for child in self.children:
                    conversation.build.child(child)
            found.append(conversation.finish(reading, extra))
            extra = type(extra)()
        return found

    def _label(self, number: int, conversation: Conversation) -> str:
        """The label of the group, numbered from its second conversation on; without one, the line it begins at."""
        if not self.label:
            return str(conversation.line)
        name = _AWKWARD.sub("-", self.label)[:MOST_NAME]
        return name if number == 1 else f"{name}.{number}"


def calls_in(history: list[Any]) -> list[dict[str, Any]]:
    """The calls in a history, in order."""
    listed = (message.get("tool_calls") for message in history)
    return [call for calls in listed if isinstance(calls, list) for call in calls if isinstance(call, dict)]


def _open_calls(history: list[Any]) -> list[dict[str, Any]]:
    """Calls in a history that nothing has answered yet."""
    given = (message.get("tool_call_id") for message in history if message.get("role") == "tool")
    answered = {name for name in given if isinstance(name, str)}
    return [call for call in calls_in(history) if not isinstance(call.get("id"), str) or call["id"] not in answered]


def asked(waiting: list[dict[str, Any]], answer: dict[str, Any]) -> dict[str, Any] | None:
    """The call that a tool's answer belongs to: by id, by name and arguments, by name; None for a tool that no call
    asked for, as one that a tool used."""
    for keys in (("id",), ("name", "arguments"), ("name",)):
        wanted = [_same(answer.get(key)) for key in keys]
        if all(part is not None for part in wanted):
            found = next((call for call in waiting if [_of(call, key) for key in keys] == wanted), None)
            if found is not None:
                return found
    return None


def _of(call: dict[str, Any], key: str) -> Any:
    function = call.get("function")
    return _same(call.get("id") if key == "id" else function.get(key) if isinstance(function, dict) else None)


def _same(value: Any) -> Any:
    """Arguments are compared as data, however they were written."""
    inner = parsed(value) if isinstance(value, str) else None
    return value if inner is None else inner
