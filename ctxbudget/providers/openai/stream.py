"""A streamed response: its chunks, as server-sent events, back together."""

from __future__ import annotations

from typing import Any

from ctxbudget.exchanges import events

TEXTS = ("content", "reasoning_content", "reasoning", "refusal")


def joined(stream: str) -> dict[str, Any]:
    """The chat completion that the chunks give: the first choice, whose texts and calls come in pieces."""
    texts: dict[str, list[str]] = {}
    calls: dict[Any, dict[str, Any]] = {}
    response: dict[str, Any] = {}
    for event in events(stream):
        response.update({key: event[key] for key in ("id", "model", "usage") if event.get(key) is not None})
        choices = event.get("choices")
        match choices:
            case [{"delta": dict(delta), **choice}, *_] if choice.get("index", 0) == 0:
                for name in TEXTS:
                    if isinstance(delta.get(name), str):
                        texts.setdefault(name, []).append(delta[name])
                _take_calls(delta.get("tool_calls"), calls)
    message: dict[str, Any] = {name: "".join(pieces) for name, pieces in texts.items()}
    if calls:
        message["tool_calls"] = [_call(call) for call in calls.values()]
    return {**response, "choices": [{"message": message}]} if message else {}


def _take_calls(pieces: Any, calls: dict[Any, dict[str, Any]]) -> None:
    for piece in pieces if isinstance(pieces, list) else []:
        match piece:
            case {"function": dict(function), **rest}:
                index = rest.get("index", 0)
                call = calls.setdefault(index if isinstance(index, int) else 0, {"name": [], "arguments": []})
                call["id"] = call.get("id") or rest.get("id")
                for name in ("name", "arguments"):
                    if isinstance(function.get(name), str):
                        call[name].append(function[name])


def _call(call: dict[str, Any]) -> dict[str, Any]:
    return {"id": call["id"], "function": {name: "".join(call[name]) for name in ("name", "arguments")}}
