"""Anthropic's Messages API: system beside the messages, roles that alternate, results first in their message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget.exports.naming import Names
from ctxbudget.exports.parts import Call, Media, Result, Text, Thinking

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.exports.parts import Conversation, Part, Said

LONGEST = 64
"""Characters of an id and of a tool's name."""
EMPTY = "[empty]"


def body(conversation: Conversation, model: str, most: int) -> dict[str, Any]:
    """The request; ``most`` is how many tokens the reply may have, which this API wants to be told."""
    return Request(conversation).made(model, most)


class Request:
    """Puts one request together."""

    def __init__(self, conversation: Conversation) -> None:
        """Its notes go to the conversation's."""
        self._of = conversation
        self._ids: Names[tuple[str, str]] = Names(LONGEST, "call")
        self._tools: Names[str] = Names(LONGEST, "tool")

    def made(self, model: str, most: int) -> dict[str, Any]:
        """The body."""
        said = self._of.said
        start = next((at for at, one in enumerate(said) if one.role != "system"), len(said))
        system = [block for one in said[:start] for part in one.parts for block in self._words(part)]
        messages = self._messages(said[start:])
        found: dict[str, Any] = {"model": model, "max_tokens": most}
        if system:
            found["system"] = system[0]["text"] if len(system) == 1 else system
        tools = list(self._definitions(said))
        return {**found, **({"tools": tools} if tools else {}), "messages": messages}

    def _messages(self, said: list[Said]) -> list[dict[str, Any]]:
        """Messages of one role after another become one; a later system message is told as the user's."""
        made: list[dict[str, Any]] = []
        for one in said:
            role = "assistant" if one.role == "assistant" else "user"
            blocks = self._words if role == "assistant" else self._blocks
            content = [block for part in one.parts for block in blocks(part)]
            if not content:
                continue
            if made and made[-1]["role"] == role:
                made[-1]["content"] += content
            else:
                made.append({"role": role, "content": content})
        return [_finished(message, last=message is made[-1]) for message in made]

    def _words(self, part: Part) -> Iterator[dict[str, Any]]:
        """The same where no picture may stand: in the system prompt, and in what the model said."""
        yield from self._blocks(Text(part.note) if isinstance(part, Media) else part)

    def _blocks(self, part: Part) -> Iterator[dict[str, Any]]:
        match part:
            case Text(text):
                if text.strip():
                    yield {"type": "text", "text": text}
            case Thinking():
                yield _thinking(part)
            case Media():
                yield _media(part)
            case Call(key, tool, arguments):
                name = self._tools(tool, tool)
                yield {"type": "tool_use", "id": self._ids(key, key[1]), "name": name, "input": arguments}
            case Result():
                yield self._result(part)

    def _result(self, part: Result) -> dict[str, Any]:
        texts = [{"type": "text", "text": text} for text in part.texts if text.strip()]
        content: Any = [*texts, *map(_media, part.media)]
        if len(content) == 1 and texts:
            content = texts[0]["text"]
        made = {"type": "tool_result", "tool_use_id": self._ids(part.key, part.key[1])}
        if content:
            made["content"] = content
        return {**made, "is_error": True} if part.error else made

    def _definitions(self, said: list[Said]) -> Iterator[dict[str, Any]]:
        """The recorded tools; and since the API wants each tool of a call defined, a bare one where there is none."""
        known: set[str] = set()
        for tool in self._of.tools:
            made = _definition(tool)
            if made is not None and (name := self._tools(made["name"], made["name"])) not in known:
                known.add(name)
                yield {**made, "name": name}
        called = (part.tool for one in said for part in one.parts if isinstance(part, Call))
        for tool_name in dict.fromkeys(called):
            if (name := self._tools(tool_name, tool_name)) not in known:
                self._of.note("tool definitions are not in the file: bare ones were made from the calls")
                yield {"name": name, "input_schema": {"type": "object"}}


def _finished(message: dict[str, Any], *, last: bool) -> dict[str, Any]:
    """Results first, for these must directly follow their calls; a last word of the model without blanks behind it."""
    content = message["content"]
    ordered = sorted(content, key=lambda block: block["type"] != "tool_result")
    if last and message["role"] == "assistant" and ordered[-1]["type"] == "text":
        ordered[-1] = {**ordered[-1], "text": ordered[-1]["text"].rstrip()}
    alone = len(ordered) == 1 and ordered[0]["type"] == "text"
    return {"role": message["role"], "content": ordered[0]["text"] if alone else ordered}


def _thinking(part: Thinking) -> dict[str, Any]:
    if part.sealed:
        return {"type": "redacted_thinking", "data": part.sealed}
    return {"type": "thinking", "thinking": part.text, "signature": part.signature}


def _media(part: Media) -> dict[str, Any]:
    if part.is_image and part.url:
        return {"type": "image", "source": {"type": "url", "url": part.url}}
    if part.is_image or (part.type == "application/pdf" and part.data):
        kind = "image" if part.is_image else "document"
        return {"type": kind, "source": {"type": "base64", "media_type": part.type, "data": part.data}}
    return {"type": "text", "text": part.note}


def _definition(tool: dict[str, Any]) -> dict[str, Any] | None:
    """A tool as this API has it; one of a provider's own stays as it is."""
    match tool:
        case {"name": str(), "input_schema": dict(schema)}:
            return {**tool, "input_schema": {"type": "object", **schema}}
        case {"function": dict(inner)}:
            return _function(inner)
        case {"type": str(kind), "name": str()} if "parameters" not in tool and kind not in {"function", "custom"}:
            return tool
        case {"name": str()}:
            return _function(tool)
    return None


def _function(tool: dict[str, Any]) -> dict[str, Any]:
    schema, text = tool.get("parameters"), tool.get("description")
    made: dict[str, Any] = {"name": str(tool.get("name") or "tool")}
    if isinstance(text, str):
        made["description"] = text
    return {**made, "input_schema": {"type": "object", **(schema if isinstance(schema, dict) else {})}}
