"""What Copilot Chat renders: parts of messages, results of tools, the tags around the user's words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ctxbudget import injected, media
from ctxbudget.exchanges import plain
from ctxbudget.records.values import items, mapping, string
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Piece, TraceBuilder

_REQUEST = re.compile(r"<(userRequest|user_query|prompt)>\n?(.*?)\n?</\1>", re.DOTALL)
_ATTACHED = re.compile(r"<attachments>.*?</attachments>\n*", re.DOTALL)


def split(text: str) -> Iterator[tuple[Kind, str]]:
    """A user message as it was rendered: attached files, what the client says, and the user's own words."""
    found = _REQUEST.search(text)
    if found is None:
        # nothing but tags is the client's own; without any they are the user's words
        own = text.lstrip().startswith("<") and text.rstrip().endswith(">")
        yield from _surroundings(text) if own else injected.split(text)
        return
    yield from _surroundings(text[: found.start(2)])
    if found[2]:
        yield Kind.USER, found[2]
    yield from _surroundings(text[found.end(2) :])


def _surroundings(text: str) -> Iterator[tuple[Kind, str]]:
    at = 0
    for attached in _ATTACHED.finditer(text):
        if attached.start() > at:
            yield Kind.INJECTED, text[at : attached.start()]
        yield Kind.RESULT, attached[0]
        at = attached.end()
    if text[at:]:
        yield Kind.INJECTED, text[at:]


def rendered(content: Any) -> Iterator[tuple[int, str, Any]]:
    """The parts of rendered content: number, ``text``, ``image`` or ``sealed``, and the value.

    Their types are numbers (``@vscode/prompt-tsx``, ``Raw.ChatCompletionContentPartKind``); 3 is a mark for the cache.
    """
    if isinstance(content, str):
        yield 0, "text", content
    for number, part in enumerate(items(content)):
        match part:
            case {"type": 1, "text": str(text)}:
                yield number, "text", text
            case {"type": 2}:
                yield number, "image", string(mapping(part.get("imageUrl")).get("url")) or ""
            case {"type": 4, "value": value}:
                yield number, "sealed", value
            case {"type": 3}:
                continue
            case _:
                yield number, "text", plain(part)


def add(build: TraceBuilder, kind: str, value: Any, number: int, call: str | None = None) -> Piece:
    """A part that is no text: an image, or sealed thinking by its length."""
    if kind == "image":
        return build.add(Kind.MEDIA, "", block=number, size=media.base64_size(value), call=call)
    return build.add(Kind.THINKING, "", block=number, opaque=len(plain(value)))


def result(content: Any) -> tuple[str, list[str]]:
    """The text of a tool result, from the tree of its rendering, and its images."""
    texts: list[str] = []
    images: list[str] = []
    for item in items(mapping(content).get("content")):
        match item:
            case {"value": str(text)}:
                texts.append(text)
            case {"value": {"node": dict(node)}}:
                texts.append("".join(_leaves(node)))
            case {"mimeType": str(), "data": data} | {"value": {"mimeType": str(), "data": data}}:
                images.append(data if isinstance(data, str) else "")
    return "\n".join(texts), images


def _leaves(node: dict[str, Any]) -> Iterator[str]:
    """The texts of a tree, with the line breaks that they ask for before them."""
    waiting: list[Any] = [node]
    before = "\n"
    while waiting:
        match waiting.pop():
            case {"text": str(text), **rest} if text:
                if rest.get("lineBreakBefore") and not before.endswith("\n"):
                    yield "\n"
                yield text
                before = text
            case {"children": list(children)}:
                waiting.extend(reversed(children))
