"""Messages made of blocks → parts of a conversation."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ctxbudget import injected, media
from ctxbudget.exchanges import plain
from ctxbudget.providers.anthropic.blocks import base64_of, hidden_length, texts_of
from ctxbudget.providers.anthropic.usage import read_usage
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Piece, TraceBuilder
    from ctxbudget.trace import Usage


class Messages:
    """Says the messages of one conversation to a builder."""

    def __init__(self, build: TraceBuilder) -> None:
        """``build`` takes the parts."""
        self.skipped: Counter[str] = Counter()
        self._build = build
        self._pieces: list[Piece] = []
        self._line = 0

    def message(self, message: Any, line: int) -> list[Piece]:
        """One message, and its parts; one without any keeps its place with an empty part."""
        self._pieces, self._line = [], line
        match message:
            case {"role": "assistant"}:
                self._reply(message)
            case {"role": "user"}:
                self._sent(message, "user", Kind.USER)
            case {"role": "system"}:
                self._sent(message, "system", Kind.SYSTEM_PROMPT)
            case {"role": role}:
                self.skipped[f"role {str(role)[:40]!r}, kept as other text"] += 1
                self._sent(message, "user", Kind.OTHER)
            case _:
                self.skipped["message without a role, skipped"] += 1
        if isinstance(message, dict) and message.get("_pin") is True:
            for piece in self._pieces:
                piece.pinned = True
        return self._pieces

    def billed(self, message: dict[str, Any]) -> tuple[str | None, Usage | None, str | None]:
        """A response, and what some logs store, has model, usage and id itself."""
        model, key = message.get("model"), message.get("id")
        final = "stop_reason" not in message or message["stop_reason"] is not None
        usage = read_usage(message.get("usage"), final=final)
        return model if isinstance(model, str) else None, usage, key if isinstance(key, str) else None

    # ── what the model is sent ─────────────────────────────────────────────────────────────────────────────────

    def _sent(self, message: dict[str, Any], role: str, kind: Kind) -> None:
        self._build.message(role, self._line)
        for number, block in _blocks(message.get("content")):
            match block:
                case str(text) | {"type": "text", "text": str(text)}:
                    for own, piece in injected.split(text) if kind is Kind.USER else [(kind, text)]:
                        self._add(own, piece, number)
                case {"type": str(name)} if name.endswith("tool_result"):
                    self._result(block, number)
                case {"type": "search_result"}:
                    self._add(Kind.RETRIEVAL, "\n".join(texts_of(block.get("content"))), number)
                case {"type": "image" | "document"}:
                    self._media(block, number)
                case _:
                    self._unknown(block, number)
        if not self._pieces:
            self._add(kind, "")

    def _result(self, block: dict[str, Any], number: int) -> None:
        """A result: its texts as one part, its images and files each on their own, encrypted pages by their length."""
        content, call = block.get("content"), block.get("tool_use_id")
        call = call if isinstance(call, str) else None
        items = content if isinstance(content, list) else [content]
        files = [item for item in items if isinstance(item, dict) and _is_media(item)]
        texts = texts_of([item for item in items if not _is_media(item)])
        if texts or not files:
            failed = block.get("is_error") is True or _failed(content)
            self._pieces.append(self._build.result("\n".join(texts), call=call, error=failed, block=number))
        for file in files:
            self._media(file, number, call)
        if hidden := hidden_length(content):
            self._add(Kind.RESULT, "", number, opaque=hidden, call=call)

    def _media(self, block: dict[str, Any], number: int, call: str | None = None) -> None:
        """An image or a document: by its size, never by the length of its base64; plain text is text."""
        match block.get("source"):
            case {"type": "text", "data": str(text)}:
                self._add(Kind.RESULT, text, number, call=call)
            case {"type": "content", "content": content}:
                self._add(Kind.RESULT, "\n".join(texts_of(content)), number, call=call)
            case _:
                self._add(Kind.MEDIA, "", number, size=media.base64_size(base64_of(block)), call=call)

    # ── what the model wrote ───────────────────────────────────────────────────────────────────────────────────

    def _reply(self, message: dict[str, Any]) -> None:
        self._build.message("assistant", self._line)
        answered = False
        for number, block in _blocks(message.get("content")):
            match block:
                case {"type": str(name)} if name.endswith("tool_result"):
                    # a tool that ran at the provider's: its result is not the model's own words
                    self._build.message("tool", self._line)
                    self._result(block, number)
                    answered = True
                    continue
            if answered:
                self._build.go_on(self._line)
                self._build.message("assistant", self._line)
                answered = False
            self._said(block, number)
        if not self._pieces:
            self._add(None, "")

    def _said(self, block: Any, number: int) -> None:
        match block:
            case str(text) | {"type": "text", "text": str(text)}:
                if text:
                    self._add(None, text, number)
            case {"type": "thinking", "thinking": str(text)}:
                signature = block.get("signature")
                self._add(Kind.THINKING, text, number, opaque=len(signature) if isinstance(signature, str) else 0)
            case {"type": "redacted_thinking", "data": str(data)}:
                self._add(Kind.THINKING, "", number, opaque=len(data))
            case {"type": str(name), "name": str(tool)} if name.endswith("tool_use"):
                call = block.get("id")
                call = call if isinstance(call, str) else None
                self._pieces.append(self._build.call(tool, block.get("input"), id=call, block=number))
            case {"type": "compaction", "content": str(summary)}:
                with self._build.compaction(self._line, trigger="auto"):
                    self._add(Kind.SUMMARY, summary, number)
            case {"type": "image" | "document"}:
                self._media(block, number)
            case _:
                self._unknown(block, number)

    # ── both ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _add(self, kind: Kind | None, text: str, number: int = 0, **more: Any) -> None:
        self._pieces.append(self._build.add(kind, text, block=number, **more))

    def _unknown(self, block: Any, number: int) -> None:
        name = block.get("type") if isinstance(block, dict) else type(block).__name__
        self.skipped[f"block of type {str(name)[:40]!r}, kept as other text"] += 1
        self._add(Kind.OTHER, plain(block), number)


def _blocks(content: Any) -> Iterator[tuple[int, Any]]:
    if isinstance(content, list):
        yield from enumerate(content)
    elif content is not None and content != "":
        yield 0, content


def _is_media(item: Any) -> bool:
    match item:
        case {"type": "image" | "document"}:
            return True
    return False


def _failed(content: Any) -> bool:
    match content:
        case {"error_code": _}:
            return True
    return False
