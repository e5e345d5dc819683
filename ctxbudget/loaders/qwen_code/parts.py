"""Google's parts in Qwen Code's records → parts of a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget import injected, media
from ctxbudget.exchanges import plain
from ctxbudget.records.values import items, mapping, string, tokens
from ctxbudget.trace import Kind, Usage

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from ctxbudget.builder import Piece, TraceBuilder


class Parts:
    """Says messages to a builder, and gives back their pieces."""

    def __init__(self, build: TraceBuilder, skipped: Counter[str]) -> None:
        """``skipped`` counts parts that are not read."""
        self._build = build
        self._skipped = skipped

    def sent(self, parts: Any, line: int, *, failed: bool) -> list[Piece]:
        """A user's message, or results; ``failed``: the record says so."""
        listed = items(parts)
        results = any(isinstance(part, dict) and "functionResponse" in part for part in listed)
        self._build.message("tool" if results else "user", line)
        pieces: list[Piece] = []
        call = None
        for block, part in enumerate(listed):
            match part:
                case {"functionResponse": dict(response)}:
                    call = string(response.get("id"))
                    pieces += self._result(response, block, call, failed=failed)
                case {"text": str(text)} if results:
                    pieces.append(self._build.add(Kind.RESULT, text, block=block, call=call))
                case {"text": str(text)}:
                    pieces += [self._build.add(kind, said, block=block) for kind, said in injected.split(text)]
                case _:
                    pieces += self._media(part, block, call)
        return pieces

    def reply(self, parts: Any) -> list[Piece]:
        """The parts of a reply."""
        pieces: list[Piece] = []
        for block, part in enumerate(items(parts)):
            match part:
                case {"text": str(text), "thought": True}:
                    pieces.append(self._build.add(Kind.THINKING, text, block=block))
                case {"text": str(text)}:
                    pieces.append(self._build.add(None, text, block=block))
                case {"functionCall": dict(call)}:
                    tool = string(call.get("name")) or "?"
                    pieces.append(self._build.call(tool, call.get("args"), id=string(call.get("id")), block=block))
                case _:
                    pieces += self._media(part, block, None)
        return pieces

    def summary(self, content: dict[str, Any], line: int) -> list[Piece]:
        """A message that a compression put in place of others: the summary, and the model's nod to it."""
        self._build.message("assistant" if content.get("role") == "model" else "user", line)
        texts = (mapping(part).get("text") for part in items(content.get("parts")))
        return [self._build.add(Kind.SUMMARY, text) for text in texts if isinstance(text, str)]

    def _result(self, given: dict[str, Any], block: int, call: str | None, *, failed: bool) -> Iterator[Piece]:
        response = given.get("response")
        said = mapping(response)
        text = next((said[name] for name in ("output", "error") if isinstance(said.get(name), str)), None)
        if text is None:
            text = "" if response is None else plain(response)
        error = failed or "error" in said
        yield self._build.result(text, call=call, tool=string(given.get("name")), error=error, block=block)
        for part in items(given.get("parts")):
            yield from self._media(part, block, call)

    def _media(self, part: Any, block: int, call: str | None) -> Iterator[Piece]:
        match part:
            case {"inlineData": dict(data)}:
                size = media.base64_size(data["data"]) if isinstance(data.get("data"), str) else None
                yield self._build.add(Kind.MEDIA, "", block=block, size=size, call=call)
            case {"fileData": dict()}:
                yield self._build.add(Kind.MEDIA, "", block=block, call=call)
            case dict():
                self._skipped[f"part {next(iter(part), '(empty)')[:40]}"] += 1
            case _:
                self._skipped["part that is no object"] += 1


def read_usage(raw: Any) -> Usage | None:
    """Disjoint counts of ``usageMetadata``."""
    names = ("promptTokenCount", "cachedContentTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
    return _usage(mapping(raw), (*names, "totalTokenCount"), "toolUsePromptTokenCount")


def read_telemetry(event: dict[str, Any]) -> Usage | None:
    """The same counts as the telemetry of a response has them."""
    names = ("input", "cached_content", "output", "thoughts", "total")
    return _usage(event, tuple(f"{name}_token_count" for name in names), "tool_token_count")


def _usage(raw: dict[str, Any], names: tuple[str, ...], tool: str) -> Usage | None:
    """Cached tokens are part of the prompt. Thoughts are part of the output with OpenAI's interface and on top of it
    with Google's, and so are the prompts of tools: then the total is larger."""
    prompt, cached, output, thoughts, total = (tokens(raw.get(name)) for name in names)
    if not prompt and not output:
        return Usage(total=total, split=False) if total else None
    extra = tokens(raw.get(tool))
    if thoughts and (total == prompt + output + thoughts + extra or thoughts > output):
        output += thoughts
    if extra and total == prompt + output + extra:
        prompt += extra
    read = min(cached, prompt)
    return Usage(prompt - read, read, 0, output, thoughts or None, prompt + output)
