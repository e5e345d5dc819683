"""One trace in the making: messages are said to the builder once, later requests only tell what they add or change."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from ctxbudget.exchanges.exchange import Exchange, is_reply
from ctxbudget.trace import Form, Kind

if TYPE_CHECKING:
    from collections import Counter

    from ctxbudget.builder import Piece, TraceBuilder
    from ctxbudget.exchanges.exchange import Speaker
    from ctxbudget.records import Reading
    from ctxbudget.trace import Trace

Sizes = tuple[int | None, int | None]
"""Tokens before and after a compaction, where the log says them."""

LEAST_TAIL = 2
"""Messages at the end that a compacted request must share with the one before: one alone ("go on") proves nothing."""


class Conversation:
    """One trace in the making, and what its latest request held."""

    def __init__(self, build: TraceBuilder, speaker: Speaker, line: int) -> None:
        """``line`` is where it begins."""
        self.build = build
        self.line = line
        self.has_tools = False
        self.marks: list[bytes] = []
        self.key = b""
        self._speaker = speaker
        self._pieces: list[list[Piece]] = []
        self._overhead: dict[tuple[Kind, str], Piece] = {}
        self._told = False
        self._asked = False
        self._held: tuple[Any, int] | None = None

    def say(self, message: Any, line: int, mark: bytes = b"") -> None:
        """The next message."""
        reply = is_reply(message)
        if reply and not self._asked:
            model, usage, key = self._speaker.billed(message)
            self.build.model = self.build.model or model
            self.build.turn(model=model or self.build.model, usage=usage, line=line, key=key)
        self._asked = False
        self.marks.append(mark)
        self._pieces.append(self._speaker.message(message, line))

    def request(self, exchange: Exchange, line: int) -> None:
        """What a request brings beside its messages."""
        self._facts(exchange, line)
        self._change_overhead(exchange.overhead, line)

    def answer(self, exchange: Exchange, line: int) -> None:
        """A call with everything said so far, and its reply."""
        self.build.turn(model=exchange.model, usage=exchange.usage, line=line, key=exchange.key)
        self._asked = True
        if exchange.reply is not None:
            self.say(exchange.reply, line)

    def continue_with(self, exchange: Exchange, marks: list[bytes], line: int, numbered: bool) -> None:
        """A request that begins with all messages said so far. ``numbered``: its messages are the records."""
        known = len(self.marks)
        self.request(exchange, line)
        fresh = exchange.messages[known:]
        self._held = None
        self._asked = self._asked and (not fresh or is_reply(fresh[0]))
        for at, message in enumerate(fresh, known):
            self.say(message, at + 1 if numbered else line, marks[at])
        if exchange.called:
            self.build.turn(model=exchange.model, usage=exchange.usage, line=line, key=exchange.key)
            self._asked = True
            self._held = (exchange.reply, line) if exchange.reply is not None else None

    def revise(self, exchange: Exchange, marks: list[bytes], line: int) -> bool:
        """A request of the same conversation after a compaction: say what went and came; False if it is another."""
        change = _change(self.marks, marks)
        if change is None:
            return False
        start, stop, came = change
        middle = list(zip(exchange.messages[start:came], marks[start:came], strict=True))
        if stop == came:  # shortened where they stand
            for at, (message, mark) in enumerate(middle, start):
                if mark != self.marks[at]:
                    self._edit(at, at + 1, [(message, mark)], line, "elision")
        else:
            self._edit(start, stop, middle, line, "unknown")
        return True

    @property
    def overhead(self) -> list[tuple[Kind, str]]:
        """System prompt and tools that the latest request brought beside its messages."""
        return list(self._overhead)

    @property
    def held(self) -> Any:
        """The reply to the latest request, which no request has shown yet; None where there is none."""
        return self._held[0] if self._held is not None else None

    def say_held(self, mark: bytes) -> None:
        """That reply, where no later request will show it."""
        if self._held is not None:
            self.say(*self._held, mark)
            self._held = None

    def compact(self, exchange: Exchange, marks: list[bytes], line: int, sizes: Sizes) -> None:
        """A request of which the log itself says that it follows a compaction: whatever differs went or came."""
        known, old = _common(self.marks, marks), set(self.marks)
        if known == len(self.marks):
            return
        start, stop, came = _change(self.marks, marks, 1) or (known, len(self.marks), len(marks))
        middle = list(zip(exchange.messages[start:came], marks[start:came], strict=True))
        self._edit(start, stop, middle, line, "auto", sizes)
        for mark, pieces in zip(marks[start:came], self._pieces[start:came], strict=True):
            for piece in pieces:
                if piece.kind is Kind.USER and mark not in old:
                    piece.kind = Kind.SUMMARY

    def _edit(
        self, start: int, stop: int, came: list[tuple[Any, bytes]], line: int, trigger: str, sizes: Sizes = (None, None)
    ) -> None:
        removed = list(chain.from_iterable(self._pieces[start:stop]))
        form = Form.TRUNCATED if trigger == "elision" else Form.SUMMARY if came else None
        pre, post = sizes
        with self.build.compaction(line, trigger=trigger, removed=removed, form=form, pre_tokens=pre, post_tokens=post):
            pieces = [self._speaker.message(message, line) for message, _ in came]
        self._pieces[start:stop] = pieces
        self.marks[start:stop] = [mark for _, mark in came]

    def has_overhead(self, exchange: Exchange) -> bool:
        """Whether the request brings the same system prompt and tools as the one before."""
        return self._overhead.keys() == set(exchange.overhead)

    def _facts(self, exchange: Exchange, line: int) -> None:
        build = self.build
        self.has_tools = exchange.has_tools
        build.model = build.model or exchange.model
        build.agent = build.agent or exchange.agent
        build.window = build.window or exchange.window
        build.session = build.session or exchange.session
        if not self._told:
            for code, message in exchange.notes:
                build.warn(code, message, line)
        self._told = True

    def _change_overhead(self, overhead: list[tuple[Kind, str]], line: int) -> None:
        """System prompt and tools: the first request brings them, a later one may change them."""
        new = [item for item in dict.fromkeys(overhead) if item not in self._overhead]
        lasting = set(overhead)
        gone = [item for item in self._overhead if item not in lasting]
        if gone:
            removed = [self._overhead.pop(item) for item in gone]
            with self.build.compaction(line, trigger="elision", by="request", form=None, removed=removed):
                self._add_overhead(new, line)
        else:
            self._add_overhead(new, line)

    def _add_overhead(self, items: list[tuple[Kind, str]], line: int) -> None:
        if items:
            self.build.message("system", line)
        for block, (kind, text) in enumerate(items):
            self._overhead[kind, text] = self.build.add(kind, text, block=block)

    def finish(self, reading: Reading, extra: Counter[str]) -> Trace:
        """The trace; ``extra`` counts records of the file that are in no conversation."""
        if self._held is not None:
            self.say(*self._held)
        if not self.marks:
            self.build.warn("no-messages", "no messages: there is nothing in this context")
        skipped = self._speaker.skipped + extra
        for name, count in sorted(skipped.items()):
            self.build.warn("unknown-record", f"{name} ({count})")
        return self.build.finish(reading.parse, skipped)


def _common(old: list[bytes], new: list[bytes]) -> int:
    """How many messages both begin with."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(old), len(new)))


def _change(old: list[bytes], new: list[bytes], least: int = LEAST_TAIL) -> tuple[int, int, int] | None:
    """Where two requests differ: ``old[start:stop]`` went and ``new[start:came]`` came, the last of ``old`` stayed.

    None where fewer than ``least`` messages at the end of ``old`` stayed.
    """
    start = _common(old, new)
    last = next((at for at in range(len(new) - 1, start - 1, -1) if old and new[at] == old[-1]), None)
    if last is None:
        return None
    tail = 0
    while tail <= last - start and tail < len(old) - start and new[last - tail] == old[-1 - tail]:
        tail += 1
    stop = len(old) - tail
    return (start, stop, last - tail + 1) if tail >= least and stop > start else None
