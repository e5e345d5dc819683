"""A message made of parts → chat messages.

The parts of OpenTelemetry (``tool_call``), Anthropic (``tool_use``), Vercel (``tool-call``), Bedrock (``toolUse``) and
Gemini (``functionCall``) have names of their own, so one table knows them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget.exchanges import compact

if TYPE_CHECKING:
    from collections.abc import Iterator

ROLES = {"human": "user", "ai": "assistant", "model": "assistant", "gpt": "assistant", "bot": "assistant"}
"""Other words for the roles."""

KINDS = frozenset({"text", "image", "image_url", "media", "document", "blob"})
"""Parts that the answer of a tool may have."""

MOST_DEPTH = 3


def messages(given: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The message; the results in it become messages of role ``tool``, one each, in their places."""
    if not given:
        return
    role = given.get("role")
    role = ROLES.get(role, role) if isinstance(role, str) else "user"
    content = given.get("parts") if isinstance(given.get("parts"), list) else given.get("content")
    named = {key: value for key, value in given.items() if key not in {"role", "parts", "content", "finish_reason"}}
    if not isinstance(named.get("tool_calls"), list):
        named.pop("tool_calls", None)
    if not isinstance(content, list):
        yield {"role": role, "content": compact(content) if isinstance(content, dict) else content, **named}
        return
    own: list[Any] = []
    # calls told twice, in the content and beside it, are the same calls
    calls: list[dict[str, Any]] | None = None if named.get("tool_calls") else []
    for part in content:
        if (answer := result(part)) is not None:
            if own or calls:
                yield _whole(role, own, calls, {})
                own, calls = [], None if calls is None else []
            yield answer | ({"tool_call_id": given["tool_call_id"]} if "tool_call_id" in given else {})
        elif (asked := call(part)) is not None:
            if calls is not None:
                calls.append(asked)
        else:
            own.append(plain(part))
    if own or calls or not content or named.get("tool_calls"):
        yield _whole(role, own, calls, named)


def _whole(role: Any, own: list[Any], calls: list[dict[str, Any]] | None, named: dict[str, Any]) -> dict[str, Any]:
    match own:
        case []:
            content: Any = ""
        case [{"type": "text", "text": str(text), **rest}] if not rest:
            content = text
        case _:
            content = own
    return {"role": role, "content": content, **named, **({"tool_calls": calls} if calls else {})}


def call(part: Any) -> dict[str, Any] | None:
    """The call that a part is, or None."""
    match part:
        case {"type": "tool_call" | "server_tool_call", "name": str(tool)}:
            return _call(part.get("id"), tool, part.get("arguments", part.get("args")))
        case {"type": str(kind), "name": str(tool)} if kind.endswith("tool_use"):
            return _call(part.get("id"), tool, part.get("input"))
        case {"type": "tool-call", "toolName": str(tool)}:
            return _call(part.get("toolCallId"), tool, part.get("input", part.get("args")))
        case {"toolUse": {"name": str(tool)} as inner}:
            return _call(inner.get("toolUseId"), tool, inner.get("input"))
        case {"functionCall": {"name": str(tool)} as inner} | {"function_call": {"name": str(tool)} as inner}:
            return _call(inner.get("id"), tool, inner.get("args", inner.get("arguments")))
    return None


def _call(name: Any, tool: str, arguments: Any) -> dict[str, Any]:
    return {"id": name, "function": {"name": tool, "arguments": arguments}}


def result(part: Any) -> dict[str, Any] | None:
    """The message of role ``tool`` that a part is, or None."""
    match part:
        case {"type": "tool_call_response" | "server_tool_call_response"}:
            return _result(part.get("id"), part.get("response", part.get("result")))
        case {"type": str(kind)} if kind.endswith("tool_result"):
            return _result(part.get("tool_use_id"), part.get("content"), failed=part.get("is_error") is True)
        case {"type": "tool-result", "toolCallId": name}:
            return _output(name, part.get("output", part.get("result")), failed=part.get("isError") is True)
        case {"toolResult": dict(inner)}:
            return _result(inner.get("toolUseId"), inner.get("content"), failed=inner.get("status") == "error")
        case {"functionResponse": dict(inner)} | {"function_response": dict(inner)}:
            return _result(inner.get("id"), inner.get("response"))
    return None


def _output(name: Any, output: Any, *, failed: bool) -> dict[str, Any]:
    """Vercel's output: ``{type, value}`` since version 5, the bare value before."""
    match output:
        case {"type": str(kind), "value": value}:
            return _result(name, value, failed=failed or kind.startswith("error"))
    return _result(name, output, failed=failed)


def _result(name: Any, content: Any, *, failed: bool = False) -> dict[str, Any]:
    said = {"role": "tool", "tool_call_id": name, "content": answered(content)}
    return {**said, "is_error": True} if failed else said


def answered(content: Any) -> str | list[Any]:
    """What a tool answered: text, parts, or any value as compact JSON."""
    match content:
        case None:
            return ""
        case str():
            return content
        case [dict(), *_] if all(isinstance(part, dict) and _is_part(part) for part in content):
            return [plain(part) for part in content]
    return compact(content)


def _is_part(part: dict[str, Any]) -> bool:
    kind = part.get("type")
    return (isinstance(kind, str) and kind in KINDS) or part.keys() == {"text"}


def plain(part: Any) -> Any:
    """Text, thinking and media in the words of chat; anything else as it is."""
    match part:
        case str(text) | {"type": "text" | "input_text" | "output_text", "text": str(text)}:
            return {"type": "text", "text": text}
        case {"type": "text", "content": str(text)}:
            return {"type": "text", "text": text}
        case {"text": str(text), "thought": True}:
            return {"type": "thinking", "thinking": text}
        case {"text": str(text)} if "type" not in part:
            return {"type": "text", "text": text}
        case (
            {"type": "reasoning" | "thinking", "thinking": str(text)}
            | {"type": "reasoning" | "thinking", "content": str(text)}
            | {"type": "reasoning" | "thinking", "text": str(text)}
            | {"type": "reasoning" | "thinking", "reasoning": str(text)}
        ):
            return {"type": "thinking", "thinking": text}
        case {"reasoningContent": {"reasoningText": {"text": str(text)}}} | {"reasoning_content": {"text": str(text)}}:
            return {"type": "thinking", "thinking": text}
        case {"type": "reasoning", "summary": list(summary)}:
            return {"type": "thinking", "thinking": "\n".join(texts(summary))}
    return _media(part)


def _media(part: Any) -> Any:
    """Images and files; what is no media stays as it is."""
    match part:
        case {"type": "blob", "content": str(data)} | {"inlineData": {"data": str(data)}}:
            return _image(data)
        case {"inline_data": {"data": str(data)}} | {"image": {"source": {"bytes": str(data)}}}:
            return _image(data)
        case {"type": "document", "source": {"type": "text", "data": str(text)}}:
            return {"type": "text", "text": text}
        case {"type": "image" | "document", "source": {"data": str(data)}}:
            return _image(data)
        case {"type": "media" | "file" | "image", "data": str(data)} | {"type": "image", "image": str(data)}:
            return _image(data)
        case {"type": "media" | "uri" | "file" | "image" | "document", **_rest} if "file" not in part:
            return {"type": "image"}
    return part


def _image(data: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": data if data.startswith("data:") else f"data:;base64,{data}"}}


def texts(value: Any, depth: int = 0) -> list[str]:
    """The texts of a system prompt: a string, parts, messages, or an object around them."""
    match value:
        case str() if value.strip():
            return [value]
        case list() if depth < MOST_DEPTH:
            return [text for item in value for text in texts(item, depth + 1)]
        case {"text": str(text)} | {"content": str(text)} if text.strip():
            return [text]
        case {"parts": list(inner)} | {"content": list(inner)} if depth < MOST_DEPTH:
            return texts(inner, depth + 1)
    return []
