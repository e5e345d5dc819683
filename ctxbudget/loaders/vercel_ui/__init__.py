"""Vercel AI SDK messages: UI messages (versions 4 to 6), model messages, and streams of UI message chunks.

Where: wherever an application stores its chats (a list, an object with ``messages``, rows with a ``chatId``); streams are what a chat route answers.
Seen: every message with its calls, results, reasoning and files; ``step-start`` tells the calls of the model apart.
Unseen: the system prompt and the tool definitions, which stay on the server; data and source parts are not sent.
Counts: only what the application put into ``metadata`` (``usage`` or ``totalUsage``), used where a message is one call; cached tokens are part of the input, reasoning is part of the output.

Rules: vercel/ai 5 and 6 ``packages/ai/src/ui/ui-messages.ts``, ``convert-to-model-messages.ts``,
``ui-message-stream/ui-message-chunks.ts``; version 4's ``toolInvocations``.
"""  # noqa: E501 - a labelled line is one line

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget import dialects
from ctxbudget.errors import EmptyTrace
from ctxbudget.exchanges import Log
from ctxbudget.loaders.vercel_ui.chunks import CHUNKS, assembled
from ctxbudget.loaders.vercel_ui.messages import SENT, is_tool, messages
from ctxbudget.message_lists import opening
from ctxbudget.providers.openai import requests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Start
    from ctxbudget.records import Reading
    from ctxbudget.trace import Trace

TELLING = frozenset({"text-delta", "tool-input-start", "tool-input-available", "start-step", "reasoning-delta"})
"""Types of chunks that nobody else has."""


def sniff(head: bytes, path: str) -> float:  # noqa: ARG001 - the bytes decide
    """UI messages by their parts; chunks and model messages by their types."""
    rows = [row for value in opening(head) for row in _listed(value)]
    return max((_score(row) for row in rows), default=0.0)


def _listed(value: Any) -> list[Any]:
    match value:
        case {"messages": list(rows)}:
            return rows[:50]
        case [{"messages": list()}, *_]:
            return [row for chat in value[:10] for row in _listed(chat)]
        case list():
            return value[:50]
    return [value]


def _score(row: Any) -> float:
    match row:
        case {"type": str(kind)} if kind in TELLING and "role" not in row:
            return 0.95 if row.keys() <= CHUNKS else 0.0
        case {"role": str(), "toolInvocations": list()}:
            return 0.95
        case {"role": "user" | "assistant" | "system", "parts": [*parts]}:
            kinds = [part["type"] for part in parts if isinstance(part, dict) and isinstance(part.get("type"), str)]
            if any(is_tool(kind) or kind == "step-start" for kind in kinds):
                return 0.95
            return 0.85 if any(isinstance(part, dict) and _is_text(part) for part in parts) else 0.0
        case {"role": "assistant" | "tool", "content": [*parts]}:
            return 0.95 if any(_is_model_part(part) for part in parts) else 0.0
    return 0.0


def _is_text(part: dict[str, Any]) -> bool:
    return part.get("type") in SENT if isinstance(part.get("type"), str) else False


def _is_model_part(part: Any) -> bool:
    match part:
        case {"type": "tool-call" | "tool-result", "toolCallId": str(), "toolName": str()}:
            return True
    return False


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """Every chat in the file: messages one by one are one, unless they name their chats."""
    log = Log(start, requests)
    chats: dict[str, list[tuple[dict[str, Any], int]]] = {}
    chunks: list[tuple[dict[str, Any], int]] = []
    for record in reading.unwrap():
        match record.data:
            case {"messages": list(rows)}:
                name = _text(record.data, "id", "chatId") or f"line {record.line}"
                chats.setdefault(name, []).extend((row, record.line) for row in rows if isinstance(row, dict))
            case {"role": str()}:
                chats.setdefault(_text(record.data, "chatId", "chat_id") or "", []).append((record.data, record.line))
            case {"type": str()}:
                chunks.append((record.data, record.line))
            case _:
                log.skipped["record that is no message, skipped"] += 1
    if chunks:
        chats.setdefault("", []).extend(assembled(chunks, log.skipped))
    for name, rows in chats.items():
        _say(log, name, rows)
    if not log.conversations:
        raise EmptyTrace(f"{reading.path}: no message in it", hint="nothing was measured")
    extra = log.skipped.copy()
    for conversation in log.conversations:
        if len(log.conversations) > 1:
            conversation.build.label = conversation.build.session or str(conversation.line)
        yield conversation.finish(reading, extra)
        extra.clear()


def _say(log: Log, name: str, rows: list[tuple[dict[str, Any], int]]) -> None:
    if not rows:
        return
    conversation = log.begin(rows[0][1])
    conversation.build.session = name if name and not name.startswith("line ") else None
    for row, line in rows:
        given = messages(row, log.skipped) if "parts" in row or "toolInvocations" in row else dialects.message(row)
        for said in given:
            conversation.say(said, line)


def _text(data: dict[str, Any], *names: str) -> str | None:
    return next((value for name in names if isinstance(value := data.get(name), str) and value), None)
