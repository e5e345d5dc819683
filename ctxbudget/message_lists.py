"""Which provider's words a file of messages uses, told from its first bytes.

Lists of ``{role, content}`` are everywhere, so the telling marks count: tool calls and results are written differently
by OpenAI and Anthropic, and every agent that stores such a list leaves keys of its own, which make it nobody's here.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import islice
from typing import Any

import orjson

OPENAI, ANTHROPIC, PLAIN, FOREIGN, UNKNOWN = "openai", "anthropic", "plain", "foreign", "unknown"

MOST_RECORDS = 50
MOST_MESSAGES = 40

OTHER_FILES = frozenset({
    "$set", "additional_kwargs", "conversationHistoryIndex", "conversations", "ctxbudget", "history", "lc",
    "message_type", "modelInfo", "observations", "parentUuid", "parts", "payload", "projectHash", "raw_data",
    "resourceSpans", "responderUsername", "response_metadata", "samples", "schema_version", "sessionId", "simulations",
    "span_kind", "toolInvocations", "traj", "trajectory", "trajectory_format", "ts", "turn_idx", "usage_metadata",
    "uuid",
})  # fmt: skip
"""Keys of records and messages that belong to some agent's or framework's own format."""

OTHER_ROLES = frozenset({"model", "toolResult", "exit", "_system_prompt", "_checkpoint", "_usage"})

OPENAI_PARTS = frozenset({"image_url", "input_audio", "refusal"})
ANTHROPIC_PARTS = frozenset({
    "tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "web_search_tool_result",
    "mcp_tool_use", "mcp_tool_result", "document", "search_result",
})  # fmt: skip
OTHER_PARTS = frozenset({
    "tool-call", "tool-result", "toolRequest", "toolResponse", "toolCall", "functionCall", "input_text", "output_text",
    "function_call_output", "dynamic-tool", "step-start", "source-url", "redactedThinking",
})  # fmt: skip
"""Types of content parts: Vercel's, Goose's, pi's, Gemini's, OpenAI Responses'."""

_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[\]{},"]', re.DOTALL)
_CLOSER = {b"{": b"}", b"[": b"]"}


def score(head: bytes, provider: str) -> float:
    """How sure it is that the file holds messages in the words of ``provider`` (``OPENAI`` or ``ANTHROPIC``).

    A plain list of ``{role, content: string}`` fits both; OpenAI's, the older form, takes it.
    """
    seen = evidence(opening(head))
    own, other = seen[provider], seen[ANTHROPIC if provider == OPENAI else OPENAI]
    known = seen[OPENAI] + seen[ANTHROPIC] + seen[PLAIN]
    if seen[FOREIGN] or not known:
        return 0.0
    share = known / (known + seen[UNKNOWN])
    if own > other:
        return 0.9 * share
    if own or other:
        return 0.2 * share
    return (0.6 if provider == OPENAI else 0.4) * share


@lru_cache(maxsize=1)  # every format looks at the same head, one after another
def opening(head: bytes) -> list[Any]:
    """The first values of a file: lines of JSON, or one document, closed where the head cuts it off. To look at, not to
    change: all who ask for the same head are given the same values."""
    head = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    first, line_feed, _ = head.partition(b"\n")
    if line_feed and (value := _loaded(first)) is not None:
        lines = islice(head.split(b"\n"), MOST_RECORDS)
        return [value, *(value for line in islice(lines, 1, None) if (value := _loaded(line)) is not None)]
    value = _loaded(head)
    if value is None:
        value = _loaded(_closed(head))
    return [] if value is None else [value]


def first_records(head: bytes, *, logged: bool = False) -> list[Any]:
    """The records that a file begins with: its lines, or the elements of the list that it is. ``logged``: the program
    that wrote it may have logged a line of its own before."""
    found = opening(head) or (opening(head.partition(b"\n")[2]) if logged else [])
    return [item for value in found for item in (value if isinstance(value, list) else [value])]


def _loaded(text: bytes) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _closed(head: bytes) -> bytes:
    """The document up to its last whole element, with the brackets closed that are open there."""
    stack: list[bytes] = []
    end = 0
    for token in _TOKEN.finditer(head):
        match token.group():
            case b"{" | b"[" as bracket:
                stack.append(_CLOSER[bracket])
                end = token.end()
            case b"}" | b"]":
                if not stack:
                    break
                stack.pop()
                end = token.end()
            case b",":
                end = token.start()
            case b'"':  # a string without an end
                break
    return head[:end] + b"".join(reversed(stack))


def evidence(values: list[Any]) -> Counter[str]:
    """How many records and messages speak for each provider, for both, for none, or for another format."""
    seen: Counter[str] = Counter()
    for value in values[:MOST_RECORDS]:
        _record(value, seen)
    return seen


def _record(value: Any, seen: Counter[str], depth: int = 0) -> None:
    match value:
        case list() if depth < 3:
            for item in value[:MOST_MESSAGES]:
                _record(item, seen, depth + 1)
        case dict() if not OTHER_FILES.isdisjoint(value):
            seen[FOREIGN] += 1
        case {"info": {"mini_version": _} | {"model_stats": _} | {"agent_info": _} | {"id": _}}:
            seen[FOREIGN] += 1
        case {"object": "chat.completion" | "chat.completion.chunk"}:
            seen[OPENAI] += 1
        case {"type": "message", "content": list(), "stop_reason": _} | {"type": "message_start"}:
            seen[ANTHROPIC] += 1
        case {"role": str()}:
            _message(value, seen)
        case {"messages": list(messages)}:
            _request(value, messages, seen)
        case {"input": dict(request), "preferred_output": list()} if "messages" in request:
            seen[OPENAI] += 1
        case dict() if depth < 3 and (inner := [value[key] for key in _INNER if key in value]):
            for item in inner:
                _body(item, seen, depth + 1)
        case _:
            seen[UNKNOWN] += 1


_INNER = ("request", "response", "request_body", "response_body", "body", "body_raw")
_TELLING = frozenset({"messages", "content", "choices", "object", "role", "body", "body_raw"})


def _body(item: Any, seen: Counter[str], depth: int) -> None:
    """A request or a response in a log; what it says about itself beside messages (URL, headers) is no evidence."""
    if isinstance(item, str):
        events = {"message_start": ANTHROPIC, "chat.completion.chunk": OPENAI}
        seen.update(provider for word, provider in events.items() if f'"{word}"' in item)
        item = _loaded(item.encode(errors="replace"))
    if isinstance(item, dict) and (item.keys() & _TELLING or depth < 2):
        _record(item, seen, depth)


def _request(value: dict[str, Any], messages: list[Any], seen: Counter[str]) -> None:
    seen[PLAIN] += not messages
    for message in messages[:MOST_MESSAGES]:
        _record(message, seen, 3)
    if (
        "system" in value
        or "anthropic_version" in value
        or any(_is_tool(tool, "input_schema") for tool in _tools(value))
    ):
        seen[ANTHROPIC] += 1
    if "functions" in value or "kwargs" in value or any(_is_tool(tool, "function") for tool in _tools(value)):
        seen[OPENAI] += 1
    if isinstance(value.get("response"), dict):
        _record(value["response"], seen, 3)


def _tools(value: dict[str, Any]) -> list[Any]:
    tools = value.get("tools")
    return tools[:MOST_MESSAGES] if isinstance(tools, list) else []


def _is_tool(tool: Any, key: str) -> bool:
    return isinstance(tool, dict) and key in tool


def _message(message: dict[str, Any], seen: Counter[str]) -> None:
    role, content = message["role"], message.get("content")
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    types = {part["type"] for part in parts if isinstance(part.get("type"), str)}
    if role in OTHER_ROLES or types & OTHER_PARTS or ("type" in message and message["type"] != "message"):
        seen[FOREIGN] += 1
    elif "tool_calls" in message or "tool_call_id" in message or "function_call" in message:
        named = message.get("tool_calls") or []
        odd = isinstance(named, list) and any(
            isinstance(call, dict) and isinstance(call.get("function"), str) for call in named
        )
        seen[FOREIGN if odd else OPENAI] += 1
    elif (
        role in {"system", "developer", "tool", "function"}
        or types & OPENAI_PARTS
        or any("value" in part for part in parts)
    ):
        seen[OPENAI] += 1
    elif types & ANTHROPIC_PARTS or any("source" in part for part in parts):
        seen[ANTHROPIC] += 1
    elif role in {"user", "assistant"} and ("content" in message or not message.keys() - {"role", "name"}):
        seen[PLAIN] += 1
    else:
        seen[UNKNOWN] += 1
