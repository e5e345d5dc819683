"""Messages and tools in anybody's words → chat messages."""

from __future__ import annotations

from typing import Any

from ctxbudget.dialects import langchain, parts, responses
from ctxbudget.exchanges import parsed

MOST_DEPTH = 4
"""Wrappings inside wrappings: a JSON string of an object with a list of lists of messages."""

LISTS = ("messages", "input", "contents", "prompt", "output", "generations", "choices", "candidates")
"""Where wrappers keep their messages, in the order they are looked for."""


def chat(value: Any, role: str = "user", depth: int = 0) -> list[dict[str, Any]]:
    """The chat messages in a value; empty if it holds none. Bare text is a message of ``role``."""
    if depth > MOST_DEPTH:
        return []
    match value:
        case str():
            inner = parsed(value)
            found = chat(inner, role, depth + 1) if inner is not None else []
            return found or ([{"role": role, "content": value}] if value.strip() else [])
        case [list() as first, *_]:
            # batches of conversations: a model call is about one
            return chat(first, role, depth + 1)
        case list():
            said = [one for item in value for one in message(item, role)]
            return joined(said) if any(map(_is_item, value)) else said
        case dict():
            return message(value, role) or _wrapped(value, role, depth)
    return []


def _wrapped(value: dict[str, Any], role: str, depth: int) -> list[dict[str, Any]]:
    """The messages in an object around them, its system text first."""
    name = next((name for name in LISTS if value.get(name)), None)
    if name is None:
        return []
    found = chat(value[name], role, depth + 1)
    said = system(value)
    return [*said, *found] if found else []


def message(value: Any, role: str = "user") -> list[dict[str, Any]]:
    """One message as chat messages: results that share a message become one each; empty if it is none."""
    match value:
        case {"lc": _, "kwargs": dict()}:
            return list(parts.messages(langchain.plain(value)))
        case {"message": dict(inner)} | {"content": dict(inner)} if "role" not in value:
            return message(inner, "assistant")
        case {"type": str(kind)} if kind in responses.ITEMS and "role" not in value:
            return responses.item(value)
        case {"type": str(kind)} if kind in langchain.ROLES and "role" not in value:
            return list(parts.messages(langchain.plain(value)))
        case {"role": str()}:
            return list(parts.messages(value))
        case {"parts": list()}:
            return list(parts.messages({"role": role, **value}))
        case {"content": str() | list()} if role == "assistant":
            return list(parts.messages({"role": role, **value}))
        case {"text": str(text)} if "type" not in value:
            return [{"role": role, "content": text}]
        case str() if value.strip():
            return [{"role": role, "content": value}]
    return []


def _is_item(value: Any) -> bool:
    match value:
        case {"type": str(kind)}:
            return kind in responses.ITEMS
    return False


def joined(said: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages with what is one reply in one: the Responses API writes text, reasoning and calls apart."""
    found: list[dict[str, Any]] = []
    for one in said:
        if found and one.get("role") == found[-1].get("role") == "assistant":
            calls = [*(found[-1].get("tool_calls") or []), *(one.get("tool_calls") or [])]
            content = [*_listed(found[-1].get("content")), *_listed(one.get("content"))]
            found[-1] = {**found[-1], "content": content, **({"tool_calls": calls} if calls else {})}
        else:
            found.append(one)
    return found


def _listed(content: Any) -> list[Any]:
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}] if isinstance(content, str) and content else []


def system(value: dict[str, Any]) -> list[dict[str, Any]]:
    """The system text that stands beside the messages, under any of its names, as one message."""
    for name in ("system_instructions", "system_instruction", "systemInstruction", "system", "instructions"):
        texts = parts.texts(value.get(name))
        if texts:
            return [{"role": "system", "content": [{"type": "text", "text": text} for text in texts]}]
    return []


def tools(value: Any) -> list[Any]:
    """Tool definitions, one by one: a list, JSON in a string, or groups of declarations (Gemini)."""
    if isinstance(value, str):
        value = parsed(value)
    match value:
        case {"tools": given} | {"function_tools": given} | {"functions": given}:
            return tools(given)
        case [*items]:
            return [one for item in items for one in _definitions(item)]
    return []


def _definitions(item: Any) -> list[Any]:
    match item:
        case str() if (inner := parsed(item)) is not None:
            return [inner]
        case {"functionDeclarations": list(given)} | {"function_declarations": list(given)}:
            return given
    return [item] if item else []
