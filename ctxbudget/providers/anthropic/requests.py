"""What a record holds: a request with or without its response, or a response alone. Headers are never looked at."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ctxbudget.exchanges import Exchange, compact, logged
from ctxbudget.providers.anthropic.messages import Messages
from ctxbudget.providers.anthropic.stream import joined
from ctxbudget.providers.anthropic.usage import read_usage
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections import Counter

    from ctxbudget.builder import TraceBuilder
    from ctxbudget.exchanges import Speaker

BILLING = "x-anthropic-billing-header:"
"""A line that Claude Code puts before its system prompt: it changes with every request, and is for the accounts."""

_SESSION = re.compile(r"session_(?:id\W+)?([0-9a-f]{8}-[0-9a-f-]{27})")


def speaker(build: TraceBuilder) -> Speaker:
    """Says messages to ``build``."""
    return Messages(build)


def identity(message: Any) -> Any:
    """A message as it is recognised in the next request: marks for the cache wander, reminders and thinking vanish."""
    match message:
        case {"role": role, "content": str(text)}:
            return [role, [{"type": "text", "text": text}]]
        case {"role": role, "content": list(blocks)}:
            lasting = [_unmarked(block) for block in blocks if not _passing(block)]
            return [role, lasting or blocks]
    return message


def _unmarked(block: Any) -> Any:
    if not isinstance(block, dict):
        return block
    content = block.get("content")
    if isinstance(content, list):
        block = {**block, "content": [_unmarked(inner) for inner in content]}
    return {key: value for key, value in block.items() if key != "cache_control"}


def _passing(block: Any) -> bool:
    match block:
        case {"type": "thinking" | "redacted_thinking"}:
            return True
        case {"type": "text", "text": str(text)}:
            return text.startswith("<system-reminder>") and text.rstrip().endswith("</system-reminder>")
    return False


def exchange(data: dict[str, Any], skipped: Counter[str]) -> Exchange | None:
    """The call or the conversation in a record; None if it is neither."""
    parts = logged(data)
    request, response = parts.request, parts.response
    if isinstance(response, str):
        response = joined(response)
    messages = request.get("messages") if request is not None else None
    answered = isinstance(response, dict) and isinstance(response.get("content"), list)
    if parts.url.partition("?")[0].endswith("/count_tokens"):
        skipped["request that only counts tokens, skipped"] += 1
        return None
    if not isinstance(messages, list) and not answered:
        skipped["record that is no message, request or response, skipped"] += 1
        return None
    found = Exchange(list(messages) if isinstance(messages, list) else [])
    if request is not None and isinstance(messages, list):
        _add_request(found, request)
    if isinstance(response, dict) and answered:
        _add_response(found, response)
    return found


def _add_request(found: Exchange, request: dict[str, Any]) -> None:
    found.model = _string(request.get("model"))
    found.overhead = [*_tools(request.get("tools")), *_system(request.get("system"))]
    if any(text.startswith("You are Claude Code") for _, text in found.overhead):
        found.agent = "claude-code"
    if session := _SESSION.search(str(request.get("metadata"))[:2_000]):
        found.session = session[1]


def _add_response(found: Exchange, response: dict[str, Any]) -> None:
    found.called = True
    found.reply = {"role": "assistant", "content": response["content"]}
    found.model = _string(response.get("model")) or found.model
    found.key = _string(response.get("id"))
    found.usage = read_usage(response.get("usage"), final=response.get("stop_reason") is not None)


def _tools(tools: Any) -> list[tuple[Kind, str]]:
    """Tool definitions, one by one, as compact JSON."""
    given = tools if isinstance(tools, list) else []
    return [
        (Kind.TOOL_DEFINITIONS, tool if isinstance(tool, str) else compact(_unmarked(tool))) for tool in given if tool
    ]


def _system(system: Any) -> list[tuple[Kind, str]]:
    blocks = [system] if isinstance(system, str) else system if isinstance(system, list) else []
    texts = [block.get("text") if isinstance(block, dict) else block for block in blocks]
    return [(Kind.SYSTEM_PROMPT, text) for text in texts if isinstance(text, str) and not text.startswith(BILLING)]


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
