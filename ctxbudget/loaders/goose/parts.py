"""Blocks of Goose messages, and what a call cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget import injected, media
from ctxbudget.exchanges import plain
from ctxbudget.records.values import items, mapping, string, tokens
from ctxbudget.trace import Kind, Usage

if TYPE_CHECKING:
    from collections import Counter

    from ctxbudget.builder import Piece, TraceBuilder

BOOKKEEPING = frozenset({"systemNotification", "toolConfirmationRequest", "actionRequired", "conversationCompacted"})
"""Types of blocks that only the client shows; a message of these alone was never sent."""
FAILED_CALL = "invalid_call"
"""The name given to a call that could not be read: the model's mistake is all that is stored."""


class Parts:
    """Says the blocks of messages to a builder."""

    def __init__(self, build: TraceBuilder, skipped: Counter[str]) -> None:
        """``skipped`` counts types of blocks that are not known."""
        self._build = build
        self._skipped = skipped
        self._pieces: list[Piece] = []

    def user(self, message: dict[str, Any], line: int) -> list[Piece]:
        """Texts and images of the user, results of tools."""
        self._pieces = []
        results = any(mapping(block).get("type") == "toolResponse" for block in message["content"])
        self._build.message("tool" if results else "user", line)
        for number, block in enumerate(message["content"]):
            match block:
                case {"type": "text", "text": str(text)} if _is_for_model(block):
                    for kind, piece in injected.split(text):
                        self._add(kind, piece, number)
                case {"type": "toolResponse", "id": str(call)}:
                    self._result(mapping(block.get("toolResult")), call, number)
                case {"type": "image"}:
                    self._image(block, number, None)
                case _:
                    self._unknown(block)
        return self._pieces

    def reply(self, message: dict[str, Any], line: int, *, repeated: bool) -> list[Piece]:
        """What the model wrote; the thinking not again where it is ``repeated``."""
        self._pieces = []
        self._build.message("assistant", line)
        shown, sealed, number = thinking_of(message)
        if (shown or sealed) and not repeated:
            self._add(Kind.THINKING, shown, number, opaque=sealed)
        for at, block in enumerate(message["content"]):
            match block:
                case {"type": "thinking" | "redactedThinking" | "reasoning"}:
                    continue
                case {"type": "text", "text": str(text)}:
                    if text:
                        self._add(None, text, at)
                case {"type": "toolRequest" | "frontendToolRequest", "id": str(call)}:
                    self._call(mapping(block.get("toolCall")), call, at)
                case {"type": "toolResponse", "id": str(call)}:
                    self._result(mapping(block.get("toolResult")), call, at)
                case {"type": "image"}:
                    self._image(block, at, None)
                case _:
                    self._unknown(block)
        return self._pieces

    def summary(self, message: dict[str, Any], line: int) -> list[Piece]:
        """What the client put in place of older messages."""
        return self._written(message, line, "user", Kind.SUMMARY)

    def note(self, message: dict[str, Any], line: int) -> list[Piece]:
        """What the client wrote in the model's name."""
        return self._written(message, line, "assistant", Kind.INJECTED)

    def _written(self, message: dict[str, Any], line: int, role: str, kind: Kind) -> list[Piece]:
        self._pieces = []
        self._build.message(role, line)
        for number, block in enumerate(message["content"]):
            match block:
                case {"type": "text", "text": str(text)}:
                    self._add(kind, text, number)
        return self._pieces

    def _call(self, call: dict[str, Any], name: str, number: int) -> None:
        match call:
            case {"value": {"name": str(tool), **rest}}:
                self._pieces.append(self._build.call(tool, rest.get("arguments"), id=name, block=number))
            case _:
                wrong = plain(call.get("error", ""))
                self._pieces.append(self._build.call(FAILED_CALL, wrong, id=name, block=number))

    def _result(self, result: dict[str, Any], call: str, number: int) -> None:
        """Texts as one part, images each on their own; what is meant for the user alone is left out."""
        if "value" not in result:
            wrong = plain(result.get("error", ""))
            self._pieces.append(self._build.result(wrong, call=call, error=True, block=number))
            return
        value = result["value"]
        content = value if isinstance(value, list) else items(mapping(value).get("content"))
        sent = [item for item in content if isinstance(item, dict) and _is_for_model(item)]
        images = [item for item in sent if item.get("type") == "image"]
        texts = [_text_of(item) for item in sent if item.get("type") != "image"]
        if texts or not images:
            failed = mapping(value).get("isError") is True
            self._pieces.append(self._build.result("\n".join(texts), call=call, error=failed, block=number))
        for image in images:
            self._image(image, number, call)

    def _image(self, block: dict[str, Any], number: int, call: str | None) -> None:
        data = string(block.get("data"))
        size = media.base64_size(data) if data else None
        self._pieces.append(self._build.add(Kind.MEDIA, "", block=number, size=size, call=call))

    def _add(self, kind: Kind | None, text: str, number: int, *, opaque: int = 0) -> None:
        self._pieces.append(self._build.add(kind, text, block=number, opaque=opaque))

    def _unknown(self, block: Any) -> None:
        name = mapping(block).get("type")
        if not isinstance(name, str) or name not in BOOKKEEPING:
            self._skipped[f"block of type {str(name)[:40]!r}, skipped"] += 1


def thinking_of(message: dict[str, Any]) -> tuple[str, int, int]:
    """The thinking of a reply, its blocks joined (a streamed one is stored token by token); the length of what is
    sealed in it; the number of its first block."""
    shown, sealed, first = [], 0, -1
    for number, block in enumerate(message["content"]):
        match block:
            case {"type": "thinking", "thinking": str(text)} | {"type": "reasoning", "text": str(text)}:
                shown.append(text)
                sealed += len(string(block.get("signature")) or "")
            case {"type": "redactedThinking", "data": str(data)}:
                sealed += len(data)
            case _:
                continue
        first = number if first < 0 else first
    return "".join(shown), sealed, max(first, 0)


def read_usage(raw: Any) -> Usage | None:
    """Input holds the cache (Goose adds it up for providers that keep it apart), unless ``total`` says otherwise."""
    facts = mapping(raw)
    given, output, total = (_count(facts, name) for name in ("input", "output", "total"))
    read, write = (_count(facts, f"cache_{way}") or _count(facts, f"cache_{way}_input") for way in ("read", "write"))
    if not given and not output:
        return Usage(total=total, split=False) if total else None
    if read + write <= given and total != given + read + write + output:
        given -= read + write
    return Usage(given, read, write, output, None, given + read + write + output)


def _count(facts: dict[str, Any], name: str) -> int:
    """``cache_read`` as ``cache_read_tokens`` or ``cacheReadTokens``."""
    first, *rest = name.split("_")
    camel = first + "".join(part.title() for part in rest)
    return tokens(facts.get(f"{name}_tokens")) or tokens(facts.get(f"{camel}Tokens"))


def _is_for_model(item: dict[str, Any]) -> bool:
    """What is annotated for other audiences than the model (MCP) is not sent."""
    audience = mapping(item.get("annotations")).get("audience")
    return not isinstance(audience, list) or "assistant" in audience


def _text_of(item: dict[str, Any]) -> str:
    match item:
        case {"type": "text", "text": str(text)} | {"type": "resource", "resource": {"text": str(text)}}:
            return text
        case {"type": "resource", "resource": {"uri": uri}}:
            return plain(uri)
    return plain(item)
