"""A Kimi conversation as it goes on: messages, steps with their calls and results, compactions."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ctxbudget import injected, media
from ctxbudget.exchanges import plain
from ctxbudget.loaders.kimi.steps import Call, Message, Result, Step
from ctxbudget.records.values import items, mapping, string
from ctxbudget.trace import Form, Kind

if TYPE_CHECKING:
    from ctxbudget.builder import Piece, TraceBuilder
    from ctxbudget.trace import Usage


class Talk:
    """Says a conversation to a builder, and keeps what is in the context: parts, and whether they are the user's."""

    def __init__(self, build: TraceBuilder) -> None:
        """``build`` takes the parts."""
        self.build = build
        self.skipped: Counter[str] = Counter()
        self.model: str | None = None
        self._step: Step | None = None
        self._live: list[tuple[list[Piece], bool]] = []
        self._spent: Counter[str] = Counter()

    def system(self, text: str, tools: list[str], line: int) -> list[Piece]:
        """The system prompt and the schemas of the tools."""
        self.build.message("system", line)
        pieces = [self.build.add(Kind.SYSTEM_PROMPT, text)] if text else []
        return pieces + [self.build.add(Kind.TOOL_DEFINITIONS, tool, block=at) for at, tool in enumerate(tools, 1)]

    def message(self, content: Any, line: int, kind: Kind = Kind.USER) -> None:
        """A message of the user's, or one that the client put there."""
        if self._step is not None and not self._step.ended:
            self._step.after.append(Message(line, kind, content))
            return
        self._flush()
        self._live.append((self._sent(Message(line, kind, content)), kind is Kind.USER))

    # ── a step ─────────────────────────────────────────────────────────────────────────────────────────────────

    def begin(self, line: int) -> None:
        """A step begins."""
        self._flush()
        self._step = Step(line, model=self.model)

    def asked(self, model: str | None) -> None:
        """The request of the step that goes on was made of this model."""
        self.model = model or self.model
        if self._step is not None and not self._step.ended:
            self._step.model = self.model

    def part(self, part: Any, line: int) -> None:
        """A part of the reply."""
        self._open(line).parts.append((line, part))

    def call(self, call: Call) -> None:
        """A call of the reply."""
        self._open(call.line).parts.append(call)

    def more(self, piece: str) -> None:
        """More of the arguments of the latest call."""
        parts = reversed(self._step.parts) if self._step else ()
        if (called := next((part for part in parts if isinstance(part, Call)), None)) is not None:
            called.more.append(piece)

    def result(self, result: Result) -> None:
        """A result; it may come before the step has ended."""
        if self._step is not None:
            self._step.results.append(result)
        else:
            self._live.append((self._answered([result]), False))

    def done(self, usage: Usage | None, key: str | None) -> None:
        """The reply is whole; its results may still come."""
        if self._step is not None:
            self._step.usage, self._step.key, self._step.ended = usage, key, True

    def end(self) -> None:
        """Nothing follows."""
        self._flush()
        self.build.model = max(self._spent, key=lambda name: (self._spent[name], name), default=self.model)

    def _open(self, line: int) -> Step:
        if self._step is None:
            self._step = Step(line, model=self.model)
        return self._step

    def _flush(self) -> None:
        step, self._step = self._step, None
        if step is None:
            return
        if step.parts or step.ended:
            self._say(step)
        if step.results:
            self._live.append((self._answered(step.results), False))
        for message in step.after:
            self._live.append((self._sent(message), message.kind is Kind.USER))

    def _say(self, step: Step) -> None:
        build = self.build
        if step.model is not None:
            self._spent[step.model] += step.usage.prompt + 1 if step.usage else 1
        build.turn(model=step.model, usage=step.usage, line=step.line, key=step.key)
        build.message("assistant", step.line)
        pieces = []
        for at, part in enumerate(step.parts):
            if isinstance(part, Call):
                made = build.call(part.tool, part.whole, id=part.id, block=at, line=part.line)
                pieces.append(made)
            else:
                pieces += self._replied(part[1], at, part[0])
        self._live.append((pieces, False))

    # ── parts ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _replied(self, part: Any, at: int, line: int) -> list[Piece]:
        match part:
            case {"type": "think", "think": str(text)}:
                sealed = string(part.get("encrypted")) or ""
                return [self.build.add(Kind.THINKING, text, block=at, line=line, opaque=len(sealed))]
            case str(text) | {"type": "text", "text": str(text)}:
                return [self.build.add(None, text, block=at, line=line)] if text else []
        return self._other(part, at, None)

    def _sent(self, message: Message) -> list[Piece]:
        self.build.message("user", message.line)
        pieces: list[Piece] = []
        for at, part in enumerate(_parts(message.content)):
            match part:
                case str(text) | {"type": "text", "text": str(text)}:
                    found = injected.split(text) if message.kind is Kind.USER else [(message.kind, text)]
                    pieces += [self.build.add(kind, piece, block=at) for kind, piece in found]
                case _:
                    pieces += self._other(part, at, None)
        return pieces

    def _answered(self, results: list[Result]) -> list[Piece]:
        self.build.message("tool", results[0].line)
        pieces: list[Piece] = []
        for result in results:
            parts = _parts(result.content)
            texts = [text for part in parts if (text := _text(part)) is not None]
            others = [part for part in parts if _text(part) is None]
            if texts or not others:
                text = "\n".join(texts)
                pieces.append(self.build.result(text, call=result.call, error=result.failed, line=result.line))
            for at, part in enumerate(others, 1):
                pieces += self._other(part, at, result.call)
        return pieces

    def _other(self, part: Any, at: int, call: str | None) -> list[Piece]:
        match part:
            case {"type": "image_url" | "audio_url" | "video_url" | "image"}:
                link = mapping(part.get("image_url") or part.get("imageUrl") or part.get("source"))
                data = string(link.get("url")) or string(link.get("data")) or ""
                size = media.base64_size(data) if data and "://" not in data[:12] else None
                return [self.build.add(Kind.MEDIA, "", block=at, size=size, call=call)]
        name = mapping(part).get("type")
        self.skipped[f"part of type {str(name)[:40]!r}, kept as other text"] += 1
        return [self.build.add(Kind.OTHER, plain(part), block=at, call=call)]

    # ── compactions ────────────────────────────────────────────────────────────────────────────────────────────

    def compact(
        self,
        line: int,
        summary: str | None,
        *,
        trigger: str = "unknown",
        kept: int = 0,
        sizes: tuple[int | None, int | None] = (None, None),
    ) -> None:
        """A summary (None: it is not told) in place of all but the latest ``kept`` messages of the user."""
        self._flush()
        own = [at for at, (_, users) in enumerate(self._live) if users]
        stays = set(own[len(own) - kept :] if 0 < kept <= len(own) else own if kept else [])
        gone = [piece for at, (pieces, _) in enumerate(self._live) if at not in stays for piece in pieces]
        left = [pair for at, pair in enumerate(self._live) if at in stays]
        with self.build.compaction(
            line,
            trigger=trigger,
            pre_tokens=sizes[0],
            post_tokens=sizes[1],
            removed=gone,
            form=None if summary is None else Form.SUMMARY,
        ):
            if summary is not None:
                self.build.message("user", line)
                left.append(([self.build.add(Kind.SUMMARY, summary)], False))
        self._live = left


def _parts(content: Any) -> list[Any]:
    return [content] if isinstance(content, str) else items(content)


def _text(part: Any) -> str | None:
    match part:
        case str(text) | {"type": "text", "text": str(text)}:
            return text
    return None
