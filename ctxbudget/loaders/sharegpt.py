"""ShareGPT conversations: training sets of ``{"conversations": [{"from", "value"}]}``, one list or JSON Lines.

Where: data sets (LLaMA-Factory's ``sharegpt`` formatting, Axolotl, Hermes function calling).
Seen: every message, the system text and the tool definitions of the set.
Unseen: what the model was really sent: the chat template of a training run is not in the file.
Counts: none; all numbers are our own.

Rules: LLaMA-Factory ``data/README.md`` (``function_call`` and ``observation``, ``system`` and ``tools`` beside the
conversation, ``<image>`` in texts, ``chosen`` before ``rejected``); Hermes writes calls as ``<tool_call>`` in texts.
Nothing has ids: calls and results are paired by their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget import dialects
from ctxbudget.errors import EmptyTrace
from ctxbudget.exchanges import Exchange, Log, compact, parsed
from ctxbudget.message_lists import first_records
from ctxbudget.providers.openai import requests
from ctxbudget.providers.openai.tags import responses
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from ctxbudget.builder import Start
    from ctxbudget.records import Reading
    from ctxbudget.trace import Trace

ROLES = {
    "human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant", "chatgpt": "assistant",
    "bing": "assistant", "bard": "assistant", "model": "assistant", "system": "system",
}  # fmt: skip
CALLS = frozenset({"function_call", "tool_call"})
RESULTS = frozenset({"observation", "tool", "tool_response", "function_response", "function"})
IMAGE = "<image>"


def sniff(head: bytes, path: str) -> float:  # noqa: ARG001 - the bytes decide
    """Objects with ``conversations`` of ``from`` and ``value``."""
    return 0.95 if any(map(_is_conversation, first_records(head))) else 0.0


def _is_conversation(row: Any) -> bool:
    match row:
        case {"conversations": [{"from": str()}, *_]}:
            return True
    return False


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """Every conversation in the file, with its line or number as label."""
    log = Log(start, requests)
    for record in reading.unwrap():
        exchange = _exchange(record.data, log.skipped)
        if exchange is not None:
            marks = [b""] * len(exchange.messages)
            log.begin(record.line).continue_with(exchange, marks, record.line, numbered=False)
    if not log.conversations:
        raise EmptyTrace(f"{reading.path}: no conversation in it", hint="nothing was measured")
    for conversation in log.conversations:
        if len(log.conversations) > 1:
            conversation.build.label = str(conversation.line)
        extra = log.skipped.copy()
        log.skipped.clear()
        yield conversation.finish(reading, extra)


def _exchange(data: Any, skipped: Counter[str]) -> Exchange | None:
    if not isinstance(data, dict) or not isinstance(data.get("conversations"), list):
        skipped["record without conversations, skipped"] += 1
        return None
    turns = [*data["conversations"], *([data["chosen"]] if isinstance(data.get("chosen"), dict) else [])]
    skipped["rejected answer, skipped"] += "rejected" in data
    messages = dialects.system(data)
    has_images = bool(data.get("images"))
    for turn in turns:
        said = list(_said(turn, has_images=has_images))
        skipped["message without a speaker, skipped"] += not said
        messages += said
    tools = [(Kind.TOOL_DEFINITIONS, compact(tool)) for tool in dialects.tools(data.get("tools"))]
    name = data.get("id")
    return Exchange(messages, tools, session=name if isinstance(name, str) else None)


def _said(turn: Any, *, has_images: bool) -> Iterator[dict[str, Any]]:
    match turn:
        case {"from": str(who), "value": str(value)} if who in CALLS:
            yield {"role": "assistant", "content": None, "tool_calls": list(_calls(value))}
        case {"from": str(who), "value": str(value)} if who in RESULTS:
            yield from ({"role": "tool", "content": block} for block in responses(value))
        case {"from": str(who), "value": str(value)}:
            yield {"role": ROLES.get(who, who), "content": _parts(value) if has_images else value}
        case {"role": str()}:
            yield from dialects.message(turn)


def _calls(value: str) -> Iterator[dict[str, Any]]:
    """One call or a list of them as JSON; what is no JSON is the call of an unknown tool."""
    found = parsed(value)
    for call in found if isinstance(found, list) else [found]:
        match call:
            case {"name": str(name), "arguments": arguments} | {"name": str(name), "parameters": arguments}:
                yield {"function": {"name": name, "arguments": arguments}}
            case {"name": str(name)}:
                yield {"function": {"name": name, "arguments": None}}
            case _:
                yield {"function": {"name": "?", "arguments": value if call is None else compact(call)}}


def _parts(value: str) -> list[dict[str, Any]]:
    """The text with its images, which stand elsewhere, in their places."""
    first, *rest = value.split(IMAGE)
    parts = [{"type": "text", "text": first}] if first.strip() else []
    for text in rest:
        parts += [{"type": "image"}, *([{"type": "text", "text": text}] if text.strip() else [])]
    return parts
