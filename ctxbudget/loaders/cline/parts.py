"""Messages of Cline and Roo, which are Anthropic's in shape → parts of a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget import media
from ctxbudget.exchanges import plain
from ctxbudget.loaders.cline.written import HEADING, calls, results, split
from ctxbudget.records.values import items, mapping, string
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections import Counter

    from ctxbudget.builder import Piece, TraceBuilder


class Parts:
    """Says messages to a builder; calls written as text get names, and are answered in their order."""

    def __init__(self, build: TraceBuilder, skipped: Counter[str]) -> None:
        """``skipped`` counts types of blocks that are not known."""
        self._build = build
        self._skipped = skipped
        self._pieces: list[Piece] = []
        self._waiting: list[str] = []
        self._named = 0
        self._open: str | None = None

    def user(self, content: Any, line: int) -> list[Piece]:
        """What was sent: the user's words and what the client puts around them, results, files, images."""
        self._pieces, self._open = [], None
        blocks = [content] if isinstance(content, str) else items(content)
        answers = any(mapping(block).get("type") == "tool_result" for block in blocks)
        self._build.message("tool" if answers else "user", line)
        for number, block in enumerate(blocks):
            match block:
                case str(text) | {"type": "text", "text": str(text)}:
                    self._sent(text, number)
                case {"type": "tool_result"}:
                    self._result(block, number)
                case {"type": "file", "content": str(text)}:
                    self._add(Kind.RESULT, text, number)
                case {"type": "image"}:
                    self._image(block, number, self._open)
                case _:
                    self._unknown(block)
        self._waiting = []
        return self._pieces

    def reply(self, content: Any, line: int, message: dict[str, Any]) -> list[Piece]:
        """What the model wrote."""
        self._pieces, self._waiting = [], []
        self._build.message("assistant", line)
        blocks = [content] if isinstance(content, str) else items(content)
        native = any(mapping(block).get("type") == "tool_use" for block in blocks)
        self._thought(message)
        for number, block in enumerate(blocks):
            match block:
                case str(text) | {"type": "text", "text": str(text)}:
                    self._said(text, number, native)
                case {"type": "thinking", "thinking": str(text)} | {"type": "reasoning", "text": str(text)}:
                    self._add(Kind.THINKING, text, number, opaque=len(string(block.get("signature")) or ""))
                case {"type": "redacted_thinking" | "reasoning"}:
                    sealed = string(block.get("data")) or string(block.get("encrypted_content")) or ""
                    self._add(Kind.THINKING, "", number, opaque=len(sealed))
                case {"type": "tool_use", "name": str(tool)}:
                    name = string(block.get("id"))
                    self._pieces.append(self._build.call(tool, block.get("input"), id=name, block=number))
                case {"type": "image"}:
                    self._image(block, number, None)
                case _:
                    self._unknown(block)
        return self._pieces

    def call(self, tool: str, given: dict[str, Any], number: int = 0) -> Piece:
        """A call without a name of its own."""
        self._named += 1
        self._waiting.append(f"call-{self._named}")
        return self._build.call(tool, given, id=self._waiting[-1], block=number)

    def written(self, content: Any, line: int, kind: Kind) -> list[Piece]:
        """A summary or a notice that the client put in place of messages."""
        self._pieces = []
        self._build.message("user", line)
        for number, block in enumerate([content] if isinstance(content, str) else items(content)):
            match block:
                case str(text) | {"type": "text", "text": str(text)}:
                    self._add(kind, text, number)
        return self._pieces

    def _thought(self, message: dict[str, Any]) -> None:
        """Roo keeps reasoning of some providers with the message, or as a message of its own."""
        shown = string(message.get("reasoning_content")) or ""
        sealed = string(message.get("encrypted_content")) or ""
        if shown or sealed:
            self._add(Kind.THINKING, shown, 0, opaque=len(sealed))

    def _said(self, text: str, number: int, native: bool) -> None:
        if native or "<" not in text:
            if text:
                self._add(None, text, number)
            return
        for piece, tool, given in calls(text):
            if tool is None:
                self._add(None, piece, number)
                continue
            self._pieces.append(self.call(tool, given, number))
            self._pieces[-1].text = piece  # exactly what the model wrote

    def _sent(self, text: str, number: int) -> None:
        """A text; one behind the bare heading of a result is that result."""
        note = text.startswith(("<environment_details>", "<feedback>", "# ")) or HEADING.match(text)
        if self._open is not None and not note:
            self._pieces.append(self._build.result(text, call=self._open, block=number))
            return
        self._open = None
        for is_result, piece in results(text):
            if is_result and (call := self._answered()) is not None:
                self._pieces.append(self._build.result(piece, call=call, block=number))
                self._open = call if HEADING.fullmatch(piece.strip()) else None
            else:
                for kind, own in split(piece):
                    self._add(kind, own, number)

    def _answered(self) -> str | None:
        return self._waiting.pop(0) if self._waiting else None

    def _result(self, block: dict[str, Any], number: int) -> None:
        content, call = block.get("content"), string(block.get("tool_use_id")) or "?"
        found = [content] if isinstance(content, str) else items(content)
        images = [mapping(item) for item in found if mapping(item).get("type") == "image"]
        texts = [_text_of(item) for item in found if mapping(item).get("type") != "image"]
        if texts or not images:
            failed = block.get("is_error") is True or _failed(found)
            self._pieces.append(self._build.result("\n".join(texts), call=call, error=failed, block=number))
        for image in images:
            self._image(image, number, call)

    def _image(self, block: dict[str, Any], number: int, call: str | None) -> None:
        data = string(mapping(block.get("source")).get("data")) or string(block.get("data"))
        size = media.base64_size(data) if data else None
        self._pieces.append(self._build.add(Kind.MEDIA, "", block=number, size=size, call=call))

    def _add(self, kind: Kind | None, text: str, number: int, *, opaque: int = 0) -> None:
        self._pieces.append(self._build.add(kind, text, block=number, opaque=opaque))

    def _unknown(self, block: Any) -> None:
        name = mapping(block).get("type")
        self._skipped[f"block of type {str(name)[:40]!r}, skipped"] += 1


def _text_of(item: Any) -> str:
    match item:
        case {"type": "text", "text": str(text)}:
            return text
    return plain(item)


def _failed(found: list[Any]) -> bool:
    """The SDK says of each part of a result whether it succeeded."""
    return any(mapping(item).get("success") is False for item in found)
