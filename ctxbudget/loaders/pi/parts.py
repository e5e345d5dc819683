"""Messages of a pi session → parts of a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget import injected, media
from ctxbudget.records.values import string, tokens
from ctxbudget.trace import Kind, Usage

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from ctxbudget.builder import Piece, TraceBuilder


class Parts:
    """Says messages to a builder, and gives back their pieces."""

    def __init__(self, build: TraceBuilder, skipped: Counter[str]) -> None:
        """``skipped`` counts blocks of messages that are not read."""
        self._build = build
        self._skipped = skipped

    def system(self, prompt: str, line: int) -> list[Piece]:
        """The system prompt, where oh-my-pi keeps it."""
        self._build.message("system", line)
        return [self._build.add(Kind.SYSTEM_PROMPT, prompt)]

    def summary(self, text: Any, line: int) -> list[Piece]:
        """The summary of what a compaction removed, or of a branch that was left."""
        self._build.message("user", line)
        return [self._build.add(Kind.SUMMARY, text if isinstance(text, str) else "")]

    def sent(self, data: dict[str, Any], line: int) -> list[Piece]:
        """What an entry sends to the model, which is no reply; often nothing."""
        match data:
            case {"type": "message", "message": {"role": "user"} as message}:
                return list(self._user(message.get("content"), line, Kind.USER))
            case {"type": "message", "message": {"role": "toolResult"} as message}:
                return list(self._result(message, line))
            case {"type": "message", "message": {"role": "bashExecution"} as message}:
                return self._command(message, line)
            case {"type": "message", "message": {"role": "custom" | "hookMessage" | "developer"} as message}:
                return list(self._user(message.get("content"), line, Kind.INJECTED))
            case {"type": "custom_message"}:
                return list(self._user(data.get("content"), line, Kind.INJECTED))
            case {"type": "branch_summary", "summary": str(text)} if text:
                return self.summary(text, line)
            case {"type": "message", "message": {"role": "branchSummary" | "compactionSummary", "summary": str(text)}}:
                return self.summary(text, line)
            case {"type": "message", "message": {"role": str(role)}}:
                self._skipped[f"message of role {role[:40]}"] += 1
            case {"type": "message"}:
                self._skipped["message without role"] += 1
        return []

    def reply(self, content: Any, *, failed: bool) -> list[Piece]:
        """The blocks of a reply; of one that ``failed`` the calls were never sent on."""
        found: list[Piece] = []
        for block, part in _blocks(content):
            match part:
                case {"type": "toolCall"} if failed:
                    continue
                case {"type": "toolCall"}:
                    tool = string(part.get("name")) or "?"
                    known = string(part.get("id"))
                    found.append(self._build.call(tool, part.get("arguments"), id=known, block=block))
                case {"type": "thinking", "thinking": str(text)}:
                    sealed = part.get("thinkingSignature")
                    opaque = len(sealed) if isinstance(sealed, str) else 0
                    found.append(self._build.add(Kind.THINKING, text, block=block, opaque=opaque))
                case {"type": "text", "text": str(text)}:
                    found.append(self._build.add(None, text, block=block))
                case _:
                    found.extend(self._other(block, part, None))
        return found

    def _user(self, content: Any, line: int, kind: Kind) -> Iterator[Piece]:
        self._build.message("user", line)
        for block, part in _blocks(content):
            if (text := _text(part)) is None:
                yield from self._other(block, part, None)
            elif kind is Kind.USER:
                for own, piece in injected.split(text):
                    yield self._build.add(own, piece, block=block)
            else:
                yield self._build.add(kind, text, block=block)

    def _result(self, message: dict[str, Any], line: int) -> Iterator[Piece]:
        """A result: its texts as one part, its images each on their own."""
        self._build.message("tool", line)
        known, tool = string(message.get("toolCallId")), string(message.get("toolName"))
        blocks = list(_blocks(message.get("content")))
        texts = [text for _, part in blocks if (text := _text(part)) is not None]
        others = [(block, part) for block, part in blocks if _text(part) is None]
        if texts or not others:
            error = message.get("isError") is True
            yield self._build.result("\n".join(texts), call=known, tool=tool, error=error)
        for block, part in others:
            yield from self._other(block, part, known)

    def _command(self, message: dict[str, Any], line: int) -> list[Piece]:
        """A shell command that the user ran beside the agent (``!``); with ``!!`` it is kept from the model."""
        if message.get("excludeFromContext") is True:
            self._skipped["command kept from the model"] += 1
            return []
        command, output, code = (message.get(name) for name in ("command", "output", "exitCode"))
        shown = f"```\n{output}\n```" if isinstance(output, str) and output else "(no output)"
        failed = type(code) is int and code != 0
        end = f"\n\nCommand exited with code {code}" if failed else ""
        self._build.message("user", line)
        piece = self._build.add(Kind.RESULT, f"Ran `{command}`\n{shown}{end}")
        piece.error = failed
        return [piece]

    def _other(self, block: int, part: Any, call: str | None) -> Iterator[Piece]:
        match part:
            case {"type": "image"}:
                data = part.get("data")
                # oh-my-pi keeps large images in files of their own, and a reference here
                size = media.base64_size(data) if isinstance(data, str) and not data.startswith("blob:") else None
                yield self._build.add(Kind.MEDIA, "", block=block, size=size, call=call)
            case {"type": str(kind)}:
                self._skipped[f"block of type {kind[:40]}"] += 1
            case _:
                self._skipped["block without type"] += 1


def read_usage(raw: Any) -> Usage | None:
    """The counts of a call, disjoint already; None where there are none but zeros."""
    if not isinstance(raw, dict):
        return None
    given, read, write, output = (tokens(raw.get(name)) for name in ("input", "cacheRead", "cacheWrite", "output"))
    total = given + read + write + output
    return Usage(given, read, write, output, None, total) if total else None


def _blocks(content: Any) -> Iterator[tuple[int, Any]]:
    if isinstance(content, list):
        yield from enumerate(content)
    elif isinstance(content, str):
        yield 0, content


def _text(part: Any) -> str | None:
    match part:
        case str() | {"type": "text", "text": str()}:
            return part if isinstance(part, str) else str(part["text"])
    return None
