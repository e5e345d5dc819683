"""Chat messages → parts of a conversation."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ctxbudget import injected, media
from ctxbudget.exchanges import compact, parsed, plain
from ctxbudget.providers.openai.parts import encoded, is_media, parts, reasoning_details, text_of
from ctxbudget.providers.openai.tags import Written, cut, responses
from ctxbudget.providers.openai.usage import read_usage
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from ctxbudget.builder import Piece, TraceBuilder
    from ctxbudget.trace import Usage


class Messages:
    """Says the messages of one conversation to a builder.

    Calls without an id, and calls written as text, get one here, and are answered in their order: by messages of role
    ``tool`` or ``function``, or, where the model writes its calls as text, by the user message right behind.
    """

    def __init__(self, build: TraceBuilder) -> None:
        """``build`` takes the parts."""
        self.skipped: Counter[str] = Counter()
        self._build = build
        self._pieces: list[Piece] = []
        self._waiting: list[str] = []
        self._named = 0
        self._native = False
        self._written = False
        self._begun = False

    def message(self, message: Any, line: int) -> list[Piece]:
        """One message, and its parts; one without any keeps its place with an empty part."""
        self._pieces = []
        match message:
            case {"role": "system" | "developer"}:
                # what comes later is the harness speaking, not the fixed beginning
                self._simple(message, line, "system", Kind.INJECTED if self._begun else Kind.SYSTEM_PROMPT)
            case {"role": "assistant"}:
                self._reply(message, line)
            case {"role": "tool" | "function"}:
                self._results(message, line)
            case {"role": "user"} if self._written and self._waiting:
                self._observed(message, line)
            case {"role": "user"}:
                self._simple(message, line, "user", Kind.USER)
            case {"role": role}:
                self.skipped[f"role {str(role)[:40]!r}, kept as other text"] += 1
                self._simple(message, line, "user", Kind.OTHER)
            case _:
                self.skipped["message without a role, skipped"] += 1
        if isinstance(message, dict) and message.get("_pin") is True:
            for piece in self._pieces:
                piece.pinned = True
        return self._pieces

    def billed(self, message: dict[str, Any]) -> tuple[str | None, Usage | None, str | None]:
        """Some logs keep model and usage with the reply."""
        model = message.get("model")
        return model if isinstance(model, str) else None, read_usage(message.get("usage")), None

    # ── roles ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _simple(self, message: dict[str, Any], line: int, role: str, kind: Kind) -> None:
        self._begun = self._begun or role != "system"
        self._build.message(role, line)
        for block, part in parts(message.get("content")):
            self._part(kind, part, block)
        if not self._pieces:
            self._add(kind, "")

    def _reply(self, message: dict[str, Any], line: int) -> None:
        self._begun = True
        self._waiting, self._written = [], False
        self._build.message("assistant", line)
        self._thinking(message)
        calls = message.get("tool_calls")
        calls = calls if isinstance(calls, list) else []
        self._native = self._native or bool(calls)
        for block, part in parts(message.get("content")):
            self._said(part, block)
        for name in ("refusal", "audio"):
            match message.get(name):
                case str(text) | {"transcript": str(text)} if text:
                    self._add(None, text)
        for block, call in enumerate([*calls, message.get("function_call")]):
            self._call(call, block)
        if not self._pieces:
            self._add(None, "")

    def _results(self, message: dict[str, Any], line: int) -> None:
        self._begun = True
        self._build.message("tool", line)
        given, name = message.get("tool_call_id"), message.get("name")
        texts, media_parts = self._texts(message.get("content"))
        tool = name if isinstance(name, str) else None
        call = None if texts else self._answered(given)
        for text in texts if isinstance(given, str) else self._split(texts):
            call = self._answered(given)
            self._result(text, call, tool, failed=message.get("is_error") is True)
        for block, part in media_parts:
            self._media(part, block, call)

    def _observed(self, message: dict[str, Any], line: int) -> None:
        """What a text-mode agent is told about its calls, as a user message."""
        self._build.message("user", line)
        texts, media_parts = self._texts(message.get("content"))
        call = None if texts else self._answered(None)
        for piece in [piece for text in texts for piece in responses(text)]:
            call = self._answered(None)
            self._result(piece, call, None)
        for block, part in media_parts:
            self._media(part, block, call)
        self._waiting = []

    # ── parts ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _add(self, kind: Kind | None, text: str, block: int = 0, **more: Any) -> None:
        self._pieces.append(self._build.add(kind, text, block=block, **more))

    def _part(self, kind: Kind, part: Any, block: int) -> None:
        """A part of a message that is neither reply nor result."""
        if (text := text_of(part)) is not None:
            pieces = injected.split(text) if kind is Kind.USER else [(kind, text)]
            for own, piece in pieces:
                self._add(own, piece, block)
        elif is_media(part):
            self._media(part, block)
        else:
            self._unknown(part, block)

    def _said(self, part: Any, block: int) -> None:
        """A part of a reply."""
        match part:
            case {"type": "reasoning" | "thinking", "value": str(text)}:
                self._add(Kind.THINKING, text, block)
            case {"type": "thinking", "thinking": str(text)} | {"type": "reasoning", "text": str(text)}:
                self._add(Kind.THINKING, text, block)
            case {"type": "redacted_thinking", "data": str(data)}:
                self._add(Kind.THINKING, "", block, opaque=len(data))
            case {"type": "tool_call", "value": str(value)}:
                found = parsed(value)
                self._call(found if isinstance(found, dict) else {"name": "?", "arguments": value}, block)
            case {"type": "refusal", "refusal": str(text)}:
                self._add(None, text, block)
            case _ if (prose := text_of(part)) is not None:
                self._prose(prose, block)
            case _ if is_media(part):
                self._media(part, block)
            case _:
                self._unknown(part, block)

    def _prose(self, text: str, block: int) -> None:
        """Assistant text; where no call was made through the API so far, calls may be written in it."""
        if self._native or "<" not in text:
            if text:
                self._add(None, text, block)
            return
        for piece in cut(text):
            if isinstance(piece, Written):
                self._written = True
                self._call({"name": piece.tool, "arguments": piece.arguments}, block)
                self._pieces[-1].text = piece.text  # exactly what the model wrote
            elif piece:
                self._add(None, piece, block)

    def _thinking(self, message: dict[str, Any]) -> None:
        """Providers repeat the same reasoning under several names: the first that is there counts."""
        plain = next(
            (text for name in ("reasoning_content", "reasoning") if isinstance(text := message.get(name), str)), ""
        )
        details = message.get("reasoning_details") or message.get("thinking_blocks")
        shown, hidden = reasoning_details(details if isinstance(details, list) else [])
        if plain or shown:
            self._add(Kind.THINKING, plain or shown)
        if hidden:
            self._add(Kind.THINKING, "", opaque=hidden)

    def _call(self, call: Any, block: int) -> None:
        match call:
            case None:
                return
            case {"function": {"name": str(tool), **rest}}:
                pass
            case {"custom": {"name": str(tool), **rest}}:
                rest["arguments"] = rest.get("input")
            case {"function": str(tool), **rest} | {"name": str(tool), **rest}:
                pass
            case _:
                self.skipped["call without a function, skipped"] += 1
                return
        name = call.get("id")
        if not isinstance(name, str) or not name:
            self._named += 1
            name = f"call-{self._named}"
            self._waiting.append(name)
        self._pieces.append(self._build.call(tool, rest.get("arguments"), id=name, block=block))

    def _answered(self, given: Any) -> str | None:
        """Which call a result answers: the one it names, else the oldest one without an id that waits."""
        if isinstance(given, str) and (self._build.knows(given) or not self._waiting):
            return given
        return self._waiting.pop(0) if self._waiting else None

    def _split(self, texts: list[str]) -> list[str]:
        """Results of several calls in one message, as a JSON list with one item for each (LLaMA-Factory)."""
        items = parsed(texts[0]) if len(texts) == 1 and len(self._waiting) > 1 else None
        if isinstance(items, list) and len(items) == len(self._waiting):
            return [item if isinstance(item, str) else compact(item) for item in items]
        return texts

    def _result(self, text: str, call: str | None, tool: str | None, *, failed: bool = False) -> None:
        self._pieces.append(self._build.result(text, call=call, tool=tool, error=failed))

    def _texts(self, content: Any) -> tuple[list[str], list[tuple[int, Any]]]:
        """The text of a result as one string, and its media parts."""
        texts, others = [], []
        for block, part in parts(content):
            text = text_of(part)
            if text is None and is_media(part):
                others.append((block, part))
            else:
                texts.append(plain(part) if text is None else text)
        return (["\n".join(texts)] if texts or not others else []), others

    def _media(self, part: dict[str, Any], block: int, call: str | None = None) -> None:
        self._add(Kind.MEDIA, "", block, size=media.base64_size(encoded(part)), call=call)

    def _unknown(self, part: Any, block: int) -> None:
        name = part.get("type") if isinstance(part, dict) else type(part).__name__
        self.skipped[f"part of type {str(name)[:40]!r}, kept as other text"] += 1
        self._add(Kind.OTHER, plain(part), block)
