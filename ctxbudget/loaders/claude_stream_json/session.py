"""Lines of the output → the lines that a session file would hold, the main loop and each sub-agent apart."""

from __future__ import annotations

from collections import Counter
from typing import Any

import orjson

from ctxbudget.providers.claude_code.lines import Line

Fields = dict[str, Any]

QUIET = frozenset({
    "system", "stream_event", "tool_progress", "tool_use_summary", "auth_status", "rate_limit_event", "keep_alive",
    "control_request", "control_response", "control_cancel_request", "prompt_suggestion", "streamlined_text",
})  # fmt: skip
"""Types of lines of which nothing is sent to the model."""


class Session:
    """One session. ``lanes`` holds the main loop under None, a sub-agent under the call that started it."""

    def __init__(self) -> None:
        self.lanes: dict[str | None, list[Line]] = {None: []}
        self.init: Fields = {}
        self.results: list[Fields] = []
        self.skipped: Counter[str] = Counter()
        self._seen: set[str] = set()
        self._compacted: set[str | None] = set()

    def take(self, data: Fields, number: int) -> None:
        """One line of the output; the log of a program may hold it twice."""
        own = data.get("uuid")
        if isinstance(own, str):
            if own in self._seen:
                self.skipped["repeated record"] += 1
                return
            self._seen.add(own)
        parent = data.get("parent_tool_use_id")
        lane = parent if isinstance(parent, str) else None
        line = self._line(data, number, lane)
        if line is not None:
            self.lanes.setdefault(lane, []).append(line)
        elif (kind := str(data.get("type", "no type"))[:40]) == "result":
            self.results.append(data)
        elif kind not in QUIET:
            self.skipped[kind] += 1

    def _line(self, data: Fields, number: int, lane: str | None) -> Line | None:
        match data:
            case {"type": "assistant", "message": dict(message)} if message:
                self._compacted.discard(lane)
                key = message.get("id") or data.get("uuid")
                return _as_line("assistant", message, number, key=key if isinstance(key, str) and key else None)
            case {"type": "user", "message": dict(message)} if message:
                summary = lane in self._compacted and not _answers(message)
                self._compacted.discard(lane)
                meta = data.get("isSynthetic") is True and not summary
                return _as_line("user", message, number, meta=meta, summary=summary)
            case {"type": "system", "subtype": "init"}:
                self.init = self.init or data
            case {"type": "system", "subtype": "compact_boundary"}:
                self._compacted.add(lane)
                return _as_line("compact_boundary", {"metadata": _metadata(data.get("compact_metadata"))}, number)
            case {"type": "system", "subtype": "hook_response"} if context := _hook_context(data):
                return _as_line("attachment", {"type": "hook_additional_context", "content": context}, number)
        return None


def _as_line(
    kind: str, body: Fields, number: int, *, key: str | None = None, meta: bool = False, summary: bool = False
) -> Line:
    """A line as a session file holds it; without ids each one follows the one before."""
    return Line(number, kind, None, None, False, None, False, None, meta, summary, key, body)


def _answers(message: Fields) -> bool:
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return any(isinstance(part, dict) and part.get("type") == "tool_result" for part in parts)


def _metadata(given: Any) -> Fields:
    facts = given if isinstance(given, dict) else {}
    return {
        "trigger": facts.get("trigger", "unknown"),
        "preTokens": facts.get("pre_tokens"),
        "postTokens": facts.get("post_tokens"),
    }


def _hook_context(data: Fields) -> str:
    """What a hook adds to the context: ``additionalContext`` in the JSON it prints."""
    output = data.get("output")
    try:
        said = orjson.loads(output) if isinstance(output, str) and output.startswith("{") else None
    except orjson.JSONDecodeError:
        return ""
    match said:
        case {"hookSpecificOutput": {"additionalContext": str(context)}}:
            return context
    return ""
