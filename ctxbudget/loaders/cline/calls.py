"""What calls cost, and which messages they left out: told by the messages of the screen, or by the replies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ctxbudget.exchanges import parsed
from ctxbudget.records.values import mapping, string, tokens
from ctxbudget.trace import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

REQUEST = "api_req_started"


class Call(NamedTuple):
    """One request as the screen tells it: ``failed`` ones before it, and the range of messages that it left out."""

    usage: Usage | None
    model: str | None
    deleted: tuple[int, int] | None
    failed: tuple[Usage, ...] = ()


def calls_of(shown: list[Any], messages: list[Any]) -> dict[int, Call]:
    """The calls by the index of the message that is their reply.

    Screens name the last message before the reply; older ones do not, and are used where there are as many requests
    as replies.
    """
    found = [*requests(shown)]
    replies = [at for at, message in enumerate(messages) if mapping(message).get("role") == "assistant"]
    if all(index is None for index, _ in found):
        return {at: call for at, (_, call) in zip(replies, found, strict=True)} if len(found) == len(replies) else {}
    calls: dict[int, Call] = {}
    for index, call in found:
        if index is None:
            continue
        earlier = calls.get(index + 1)
        lost = (*earlier.failed, earlier.usage) if earlier is not None and earlier.usage is not None else ()
        calls[index + 1] = call._replace(failed=lost)
    return calls


def requests(shown: list[Any]) -> Iterator[tuple[int | None, Call]]:
    """Each request with the index of the message before it. The range it left out is noted in the messages behind."""
    exclusive = is_exclusive(shown)
    waiting: tuple[int | None, Call] | None = None
    for message in shown:
        match message:
            case {"say": "api_req_started", "text": str(text)}:
                if waiting is not None:
                    yield waiting
                index = message.get("conversationHistoryIndex")
                call = Call(read_usage(parsed(text), exclusive=exclusive), model_of(message), _range(message))
                waiting = (index if type(index) is int else None, call)
            case dict() if waiting is not None and (deleted := _range(message)):
                waiting = (waiting[0], waiting[1]._replace(deleted=deleted))
    if waiting is not None:
        yield waiting


def is_exclusive(shown: Iterable[Any]) -> bool:
    """Whether ``tokensIn`` leaves the cache out: then some request read more from the cache than it says it took."""
    for message in shown:
        match message:
            case {"say": "api_req_started", "text": str(text)}:
                facts = mapping(parsed(text))
                read, written = tokens(facts.get("cacheReads")), tokens(facts.get("cacheWrites"))
                if read + written > tokens(facts.get("tokensIn")):
                    return True
    return False


def read_usage(facts: Any, *, exclusive: bool) -> Usage | None:
    """The counts of a request; one that was never answered has none."""
    facts = mapping(facts)
    given, output = tokens(facts.get("tokensIn")), tokens(facts.get("tokensOut"))
    read, write = tokens(facts.get("cacheReads")), tokens(facts.get("cacheWrites"))
    if not exclusive:
        given -= read + write
    total = given + read + write + output
    return Usage(given, read, write, output, None, total) if total else None


def read_metrics(raw: Any) -> Usage | None:
    """The counts that a reply has itself: input holds the cache."""
    facts = mapping(raw)
    inner = mapping(facts.get("tokens"))
    given = tokens(facts.get("inputTokens")) or tokens(inner.get("prompt"))
    output = tokens(facts.get("outputTokens")) or tokens(inner.get("completion"))
    read = tokens(facts.get("cacheReadTokens")) or tokens(inner.get("cached"))
    write = tokens(facts.get("cacheWriteTokens"))
    if read + write <= given:
        given -= read + write
    total = given + read + write + output
    return Usage(given, read, write, output, None, total) if total else None


def model_of(message: dict[str, Any]) -> str | None:
    """The model of a reply or a request."""
    info = mapping(message.get("modelInfo"))
    return string(info.get("modelId")) or string(info.get("id"))


def _range(message: dict[str, Any]) -> tuple[int, int] | None:
    match message.get("conversationHistoryDeletedRange"):
        case [int(first), int(last)] if 0 <= first <= last:
            return first, last
    return None
