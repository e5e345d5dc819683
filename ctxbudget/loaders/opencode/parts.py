"""Parts of OpenCode messages, and what a call cost."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from ctxbudget import injected, media
from ctxbudget.exchanges import plain
from ctxbudget.records.values import items, mapping, string, tokens
from ctxbudget.trace import Kind, Usage

if TYPE_CHECKING:
    from collections import Counter

    from ctxbudget.builder import Piece, TraceBuilder

BOOKKEEPING = frozenset({"agent", "compaction", "patch", "retry", "snapshot", "step-finish", "step-start"})
"""Types of parts of which nothing is sent."""
AS_TEXT = frozenset({"text/plain", "application/x-directory"})
"""Files whose content comes again as a text part."""
READ = "Called the "
"""A text part that begins so tells which tool read an attached file; its output is the next text part."""
INTERRUPTED = "[Tool execution was interrupted]"
"""What is sent as the result of a call that never ended."""
SUBTASK = "The following tool was executed by the user"


class Parts:
    """Says the parts of messages to a builder."""

    def __init__(self, build: TraceBuilder, skipped: Counter[str]) -> None:
        """``skipped`` counts types of parts that are not known."""
        self._build = build
        self._skipped = skipped
        self._pieces: list[Piece] = []
        self._cleared: list[tuple[int, int]] = []
        self._results: list[Piece] = []
        self._named = 0

    def user(self, parts: list[tuple[int, dict[str, Any]]], line: int) -> list[Piece]:
        """What the user sent: texts, files, and texts that the client put beside them (``synthetic``)."""
        self._pieces = []
        self._build.message("user", line)
        follows = False
        for block, part in parts:
            match part:
                case {"type": "text", "ignored": True}:
                    continue
                case {"type": "text", "text": str(text), "synthetic": True}:
                    self._add(Kind.RESULT if follows else Kind.INJECTED, text, block)
                    follows = text.startswith(READ)
                    continue
                case {"type": "text", "text": str(text)}:
                    for kind, piece in injected.split(text):
                        self._add(kind, piece, block)
                case {"type": "file"}:
                    self._file(part, block)
                case {"type": "subtask"}:
                    self._add(Kind.INJECTED, SUBTASK, block)
                case _:
                    self._unknown(part)
            follows = False
        return self._pieces

    def reply(self, parts: list[tuple[int, dict[str, Any]]], line: int, *, ended: bool = True) -> list[Piece]:
        """What the model wrote, and then the results of its calls, which are stored with them. ``ended``: the
        conversation went on, so that every call had a result."""
        self._pieces = []
        self._build.message("assistant", line)
        calls: list[tuple[int, dict[str, Any], str]] = []
        for block, part in parts:
            match part:
                case {"type": "text", "text": str(text)}:
                    if text:
                        self._add(None, text, block)
                case {"type": "reasoning"}:
                    shown = string(part.get("text")) or ""
                    self._add(Kind.THINKING, shown, block, opaque=_sealed(part.get("metadata")))
                case {"type": "tool", "tool": str(tool)}:
                    calls.append((block, part, self._call(part, tool, block)))
                case {"type": "file"}:
                    self._file(part, block)
                case _:
                    self._unknown(part)
        if calls:
            self._build.message("tool", line)
        for block, part, call in calls:
            self._result(mapping(part.get("state")), call, block, ended)
        return self._pieces

    def cleared(self, now: Any) -> list[Piece]:
        """The parts of results that were cleared up to ``now``, ms since 1970; each is given once."""
        moment = now if type(now) is int else 0
        due: list[int] = []
        while self._cleared and self._cleared[0][0] <= moment:
            due.append(heappop(self._cleared)[1])
        return [self._results[number] for number in sorted(due)]

    def _call(self, part: dict[str, Any], tool: str, block: int) -> str:
        call = part.get("callID")
        if not isinstance(call, str) or not call or self._build.knows(call):
            self._named += 1
            call = f"call-{self._named}"
        self._pieces.append(self._build.call(tool, mapping(part.get("state")).get("input"), id=call, block=block))
        return call

    def _result(self, state: dict[str, Any], call: str, block: int, ended: bool) -> None:
        match state:
            case {"status": "completed", "output": output}:
                put = [self._build.result(plain(output), call=call, block=block)]
                files = [file for file in items(state.get("attachments")) if isinstance(file, dict)]
                put += [self._media(file, block, call) for file in files]
                self._pieces += put
                since = mapping(state.get("time")).get("compacted")
                if isinstance(since, int) and since > 0:
                    self._clear_later(put, since)
            case {"status": "error", "metadata": {"interrupted": True, "output": str(text)}}:
                self._pieces.append(self._build.result(text, call=call, block=block))
            case {"status": "error"}:
                self._pieces.append(self._build.result(plain(state.get("error")), call=call, error=True, block=block))
            case _ if ended:
                self._pieces.append(self._build.result(INTERRUPTED, call=call, error=True, block=block))

    def _clear_later(self, pieces: list[Piece], since: int) -> None:
        for piece in pieces:
            heappush(self._cleared, (since, len(self._results)))
            self._results.append(piece)

    def _file(self, part: dict[str, Any], block: int) -> None:
        if str(part.get("mime")) not in AS_TEXT:
            self._pieces.append(self._media(part, block, None))

    def _media(self, part: dict[str, Any], block: int, call: str | None) -> Piece:
        url = part.get("url")
        size = media.base64_size(url) if isinstance(url, str) and url.startswith("data:") else None
        return self._build.add(Kind.MEDIA, "", block=block, size=size, call=call)

    def _add(self, kind: Kind | None, text: str, block: int, *, opaque: int = 0) -> None:
        self._pieces.append(self._build.add(kind, text, block=block, opaque=opaque))

    def _unknown(self, part: dict[str, Any]) -> None:
        if part.get("type") not in BOOKKEEPING:
            self._skipped[f"part of type {str(part.get('type'))[:40]!r}, skipped"] += 1


def read_usage(raw: Any) -> Usage | None:
    """``input`` is the uncached part; reasoning comes on top of ``output``, unless ``total`` says otherwise."""
    if not isinstance(raw, dict):
        return None
    cache = mapping(raw.get("cache"))
    given, output, reasoning = (tokens(raw.get(name)) for name in ("input", "output", "reasoning"))
    read, write = tokens(cache.get("read")), tokens(cache.get("write"))
    if tokens(raw.get("total")) != given + read + write + output:
        output += reasoning
    total = given + read + write + output
    return Usage(given, read, write, output, reasoning, total) if total else None


def _sealed(metadata: Any) -> int:
    """The length of what providers want back with their reasoning: signatures, encrypted reasoning."""
    kept = [value for own in mapping(metadata).values() for value in mapping(own).items()]
    names = {"signature", "redactedData", "reasoningEncryptedContent"}
    return sum(len(value) for name, value in kept if name in names and isinstance(value, str))
