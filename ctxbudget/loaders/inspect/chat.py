"""Inspect's messages → chat messages, with the texts and images that are kept apart from them put back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget.exchanges import mark
from ctxbudget.providers.openai.messages import Messages
from ctxbudget.records.values import items, mapping, string, tokens
from ctxbudget.trace import Usage

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from ctxbudget.builder import TraceBuilder
    from ctxbudget.exchanges import Exchange

APART = ("attachment://", "tc://")
"""How a reference to a text begins that is kept apart; the second up to 0.3.44."""


class Said(Messages):
    """Says chat messages to a builder; a reply may bring what its call cost."""

    def billed(self, message: dict[str, Any]) -> tuple[str | None, Usage | None, str | None]:
        """Model, usage and name of the call."""
        match message.get("billed"):
            case (model, usage, key):
                return model, usage, key
        return None, None, None


class Provider:
    """Turns the messages of one sample into chat messages, each once, and knows them again."""

    def __init__(self, attachments: dict[str, Any]) -> None:
        """``attachments`` are the texts that messages refer to, by hash or number."""
        self._attachments = attachments
        self._known: dict[int, tuple[Any, dict[str, Any]]] = {}
        self._marks: dict[int, bytes] = {}
        self._latest: dict[str, tuple[list[Any], list[Any], list[bytes]]] = {}

    def exchange(self, data: dict[str, Any], skipped: Counter[str]) -> Exchange | None:  # noqa: ARG002 - protocol
        """Not asked for: the sample makes its exchanges itself."""
        return None

    def speaker(self, build: TraceBuilder) -> Said:
        """Says messages to ``build``."""
        return Said(build)

    def identity(self, message: Any) -> Any:
        """What a chat message is known by: all of it."""
        return message

    def messages(self, given: list[Any], span: str) -> tuple[list[Any], list[bytes]]:
        """The chat messages of a prompt, and their marks. In logs with a pool a prompt holds the very messages of the
        one before in its span: only what it adds is looked at."""
        before, made, marks = self._latest.get(span, ([], [], []))
        same = len(before) if given[: len(before)] == before else 0
        fresh = [self.message(one) for one in given[same:]]
        made = [*made[:same], *fresh]
        marks = [*marks[:same], *(self._marks[id(one)] for one in fresh)]
        self._latest[span] = given, made, marks
        return made, marks

    def message(self, given: Any) -> dict[str, Any]:
        """The chat message; the same object for the same message of a pool."""
        known = self._known.get(id(given))
        if known is None:
            made = _chat(self.whole(given))
            self._marks[id(made)] = mark(made)
            known = self._known[id(given)] = given, made
        return known[1]

    def whole(self, value: Any) -> Any:
        """A value with its attachments put back."""
        match value:
            case str() if value.startswith(APART):
                found = self._attachments.get(value.partition("://")[2])
                return found if isinstance(found, str) else value
            case dict():
                return {key: self.whole(item) for key, item in value.items()}
            case list():
                return [self.whole(item) for item in value]
        return value


def _chat(given: Any) -> dict[str, Any]:
    message = mapping(given)
    role = string(message.get("role")) or "user"
    content = message.get("content")
    made: dict[str, Any] = {"role": role, "content": content}
    if isinstance(content, list):
        made["content"] = [part for item in content for part in _parts(item)]
    if role == "assistant" and (calls := items(message.get("tool_calls"))):
        made["tool_calls"] = [_call(call) for call in calls if isinstance(call, dict)]
    if role == "tool":
        made["tool_call_id"] = string(message.get("tool_call_id"))
        made["name"] = string(message.get("function"))
        if error := mapping(message.get("error")):
            made["is_error"] = True
            made["content"] = content or string(error.get("message")) or ""
    return made


def _parts(item: Any) -> Iterator[Any]:
    match item:
        case {"type": "reasoning", "reasoning": str(text)}:
            if item.get("redacted") is True:
                yield {"type": "redacted_thinking", "data": text}
                text = string(item.get("summary")) or ""
            if text:
                yield {"type": "thinking", "thinking": text}
        case {"type": "data"}:
            return  # the provider's own bookkeeping
        case _:
            yield item


def _call(call: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": string(call.get("id")),
        "function": {"name": string(call.get("function")) or "?", "arguments": call.get("arguments")},
    }


def read_usage(raw: Any) -> Usage | None:
    """Disjoint counts. Since 2026 input is without the cache for every provider; before, it held the cached tokens of
    some (OpenAI), and the total says so, as it says of reasoning that is counted on top (Google)."""
    given = mapping(raw)
    prompt, output, total = (tokens(given.get(name)) for name in ("input_tokens", "output_tokens", "total_tokens"))
    read, write = (tokens(given.get(f"input_tokens_cache_{name}")) for name in ("read", "write"))
    reasoning = tokens(given.get("reasoning_tokens"))
    if not (prompt or output or read or write):
        return Usage(total=total, split=False) if total else None
    rest, cached = total - prompt - output, read + write
    inside = cached <= prompt and (rest in {0, reasoning} if total else not write)
    if inside:
        prompt -= cached
    if reasoning and rest == reasoning + (0 if inside else cached):
        output += reasoning
    return Usage(prompt, read, write, output, reasoning or None, prompt + cached + output)
