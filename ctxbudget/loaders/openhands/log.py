"""What both versions share: events and their parts, batches, condensations, and counters that only grow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget import media
from ctxbudget.exchanges import compact
from ctxbudget.records.values import items, mapping, tokens
from ctxbudget.trace import Form, Kind, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ctxbudget.builder import Piece, TraceBuilder

COUNTERS = ("prompt_tokens", "cache_read_tokens", "cache_write_tokens", "completion_tokens", "reasoning_tokens")


class Log:
    """Remembers which parts an event brought, so that a condensation can take them back."""

    def __init__(self, build: TraceBuilder) -> None:
        """``build`` takes the parts."""
        self._build = build
        self._pieces: dict[str, list[Piece]] = {}
        self._batch: dict[str, str] = {}
        self._members: dict[str, list[str]] = {}
        self._summary: list[Piece] = []

    def keep(self, event: str, pieces: Iterable[Piece], batch: str | None = None) -> None:
        """The parts of an event; ``batch`` names the response whose calls, and their results, leave together."""
        self._pieces.setdefault(event, []).extend(pieces)
        if batch is not None:
            self._batch[event] = batch
            self._members.setdefault(batch, []).append(event)

    def batch_of(self, event: str) -> str | None:
        """The response that an event belongs to."""
        return self._batch.get(event)

    def between(self, first: Any, last: Any) -> list[str]:
        """The events of version 0, whose ids are numbers, from ``first`` to ``last``."""
        if type(first) is not int or type(last) is not int:
            return []
        if last - first < len(self._pieces):  # mostly a short stretch of a long log
            return [event for number in range(first, last + 1) if (event := str(number)) in self._pieces]
        return [event for event in self._pieces if event.isdecimal() and first <= int(event) <= last]

    def condense(self, forgotten: Iterable[str], summary: Any, line: int, trigger: str = "unknown") -> None:
        """Forget events, and the rest of their batches; a summary stands in their place."""
        gone: dict[str, None] = {}
        for event in forgotten:
            batch = self._batch.get(event)
            gone.update(dict.fromkeys([event] if batch is None else self._members[batch]))
        removed = [piece for event in gone for piece in self._pieces.pop(event, ())]
        told = summary if isinstance(summary, str) and summary else None
        if told is not None:
            removed += self._summary
        with self._build.compaction(line, trigger=trigger, removed=removed, form=Form.SUMMARY if told else None):
            if told is not None:
                self._build.message("user", line)
                self._summary = [self._build.add(Kind.SUMMARY, told)]


class Meter:
    """Counts that accumulate, brought back to one usage per call."""

    def __init__(self) -> None:
        self._before = (0,) * len(COUNTERS)

    def count(self, raw: Any) -> Usage | None:
        """What was added since the last reading; None where nothing was, or a counter fell (it began again)."""
        given = mapping(raw)
        if not given:
            return None
        now = tuple(tokens(given.get(name)) for name in COUNTERS)
        before, self._before = self._before, now
        if any(new < old for new, old in zip(now, before, strict=True)):
            before = (0,) * len(COUNTERS)
        return usage_of(dict(zip(COUNTERS, (new - old for new, old in zip(now, before, strict=True)), strict=True)))


def usage_of(raw: Any) -> Usage | None:
    """One call's counts: the prompt includes what was read from and written to the cache."""
    prompt, read, write, output, reasoning = (tokens(mapping(raw).get(name)) for name in COUNTERS)
    if not prompt + output:
        return None
    given = prompt - read - write if read + write <= prompt else prompt
    # 0 stands for unknown, too
    return Usage(given, read, write, output, reasoning or None, given + read + write + output)


def tool_texts(tools: Any) -> list[str]:
    """Tool definitions, one by one, as compact JSON."""
    return [compact(tool) for tool in items(tools) if isinstance(tool, dict)]


def pictures(build: TraceBuilder, urls: Any, call: str | None = None) -> Iterator[Piece]:
    """Images by their URLs, which mostly hold the data."""
    for block, url in enumerate(items(urls), 1):
        size = media.base64_size(url) if isinstance(url, str) and url.startswith("data:") else None
        yield build.add(Kind.MEDIA, "", block=block, size=size, call=call)


def text(value: Any) -> str:
    """The text, or nothing."""
    return value if isinstance(value, str) else ""
