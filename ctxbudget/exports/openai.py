"""OpenAI's Chat Completions API: calls beside the text, a message of role ``tool`` for each result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from ctxbudget.exports.naming import Names
from ctxbudget.exports.parts import Call, Media, Result, Text, Thinking

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ctxbudget.exports.parts import Conversation, Part, Said

LONGEST_ID, LONGEST_NAME = 40, 64
"""Characters of an id ("expected a string with maximum length 40") and of a function's name."""


def body(conversation: Conversation, model: str, most: int) -> dict[str, Any]:
    """The request. How long the reply may be is for the API to say."""
    del most
    return Request(conversation).made(model)


class Request:
    """Puts one request together."""

    def __init__(self, conversation: Conversation) -> None:
        """Its notes go to the conversation's."""
        self._of = conversation
        self._ids: Names[tuple[str, str]] = Names(LONGEST_ID, "call")
        self._tools: Names[str] = Names(LONGEST_NAME, "tool")

    def made(self, model: str) -> dict[str, Any]:
        """The body."""
        messages = [message for one in self._of.said for message in self._messages(one)]
        tools = list(self._definitions())
        return {"model": model, **({"tools": tools} if tools else {}), "messages": messages}

    def _messages(self, one: Said) -> Iterator[dict[str, Any]]:
        results = [part for part in one.parts if isinstance(part, Result)]
        others = [part for part in one.parts if not isinstance(part, Result)]
        yield from map(self._result, results)
        pictures = [picture for result in results for picture in result.media if picture.is_image]
        if pictures:
            yield {"role": "user", "content": [_picture(picture) for picture in pictures]}
        if one.role == "assistant":
            yield from self._reply(others)
        elif content := _content(others):
            yield {"role": one.role, "content": _texts(others) if one.role == "system" else content}

    def _reply(self, parts: Sequence[Part]) -> Iterator[dict[str, Any]]:
        if any(isinstance(part, Thinking) for part in parts):
            self._of.note("this API takes no thinking back: it is left out")
        text = _texts(parts)
        calls = [self._call(part) for part in parts if isinstance(part, Call)]
        if text or calls:
            said = {"content": text} if text else {}
            yield {"role": "assistant", **said, **({"tool_calls": calls} if calls else {})}

    def _call(self, part: Call) -> dict[str, Any]:
        made = {"name": self._tools(part.tool, part.tool), "arguments": orjson.dumps(part.arguments).decode()}
        return {"id": self._ids(part.key, part.key[1]), "type": "function", "function": made}

    def _result(self, part: Result) -> dict[str, Any]:
        notes = ["[image: in the next message]" if each.is_image else each.note for each in part.media]
        text = "\n".join([*part.texts, *notes])
        return {"role": "tool", "tool_call_id": self._ids(part.key, part.key[1]), "content": text}

    def _definitions(self) -> Iterator[dict[str, Any]]:
        known: set[str] = set()
        for tool in self._of.tools:
            made = _definition(tool)
            if made is None:
                self._of.note("a tool of another provider's own is left out")
            elif (name := self._tools(made["name"], made["name"])) not in known:
                known.add(name)
                yield {"type": "function", "function": {**made, "name": name}}


def _texts(parts: Sequence[Part]) -> str:
    """All that is text, as one; a picture that cannot stand here is a note."""
    found = (part.text if isinstance(part, Text) else part.note for part in parts if isinstance(part, Text | Media))
    return "\n\n".join(text for text in found if text.strip())


def _content(parts: Sequence[Part]) -> str | list[dict[str, Any]]:
    """Text alone as a string, text with pictures as parts."""
    if not any(isinstance(part, Media) and part.is_image for part in parts):
        return _texts(parts)
    found = []
    for part in parts:
        if isinstance(part, Media) and part.is_image:
            found.append(_picture(part))
        elif isinstance(part, Text | Media) and (text := _texts([part])):
            found.append({"type": "text", "text": text})
    return found


def _picture(part: Media) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": part.url or f"data:{part.type};base64,{part.data}"}}


def _definition(tool: dict[str, Any]) -> dict[str, Any] | None:
    """A function as this API has it."""
    match tool:
        case {"function": {"name": str()} as inner}:
            return dict(inner)
        case {"name": str(name), "input_schema": dict(schema)} | {"name": str(name), "parameters": dict(schema)}:
            made = {"name": name, "parameters": schema}
            text = tool.get("description")
            return {**made, "description": text} if isinstance(text, str) else made
    return None
