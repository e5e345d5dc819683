"""The wire of Kimi CLI: what happened, as its user interface was told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget.loaders.kimi.steps import Call, Result
from ctxbudget.loaders.kimi.talk import Talk
from ctxbudget.loaders.kimi.wire import read_usage
from ctxbudget.records.values import items, mapping, string, tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Start
    from ctxbudget.records import Record

OWN = frozenset({
    "CompactionBegin", "CompactionEnd", "ContentPart", "StatusUpdate", "StepBegin", "StepInterrupted", "SubagentEvent",
    "ToolCall", "ToolCallPart", "ToolResult", "TurnBegin", "TurnEnd",
})  # fmt: skip
"""Types of messages by which an old wire is told."""
BOOKKEEPING = frozenset({
    "ApprovalRequest", "ApprovalRequestResolved", "ApprovalResponse", "MCPLoadingBegin", "MCPLoadingEnd",
    "Notification", "QuestionRequest", "StepInterrupted", "StepRetry", "ToolCallRequest", "TurnEnd",
})  # fmt: skip


def say(talk: Talk, records: Iterator[Record], start: Start) -> None:
    """Say an old wire to ``talk``; a sub-agent's events are a conversation of its own."""
    agents: dict[str, Talk] = {}
    for record in records:
        match record.data:
            case {"message": {"type": "SubagentEvent", "payload": dict(payload)}}:
                name = string(payload.get("task_tool_call_id")) or string(payload.get("parent_tool_call_id")) or "?"
                if name not in agents:
                    agents[name] = Talk(start(label=name))
                    agents[name].build.agent = "kimi"
                _event(agents[name], mapping(payload.get("event")), record.line)
            case {"message": dict(message)}:
                _event(talk, message, record.line)
            case {"type": "metadata"}:
                continue
            case _:
                talk.skipped["record without a message, skipped"] += 1
    for agent in agents.values():
        agent.end()
        talk.skipped.update(agent.skipped)
        talk.build.child(agent.build.finish())


def _event(talk: Talk, message: dict[str, Any], line: int) -> None:
    payload = mapping(message.get("payload"))
    match message.get("type"):
        case "TurnBegin" | "SteerInput":
            talk.message(payload.get("user_input"), line)
        case "StepBegin":
            talk.begin(line)
        case "ContentPart":
            talk.part(payload, line)
        case "ToolCall":
            function = mapping(payload.get("function"))
            name = string(function.get("name")) or "?"
            talk.call(Call(line, string(payload.get("id")), name, function.get("arguments")))
        case "ToolCallPart":
            talk.more(string(payload.get("arguments_part")) or "")
        case "ToolResult":
            _result(talk, payload, line)
        case "StatusUpdate":
            talk.build.window = tokens(payload.get("max_context_tokens")) or talk.build.window
            if usage := read_usage(payload.get("token_usage")):
                key = string(payload.get("message_id"))
                talk.done(usage, key and f"kimi:{key}:{usage.total}:{line}")
        case "CompactionBegin":
            talk.compact(line, None)
            talk.build.warn("summary-missing", "a compaction of which the file does not hold the summary", line)
        case str(kind) if kind not in BOOKKEEPING and kind != "CompactionEnd":
            talk.skipped[f"message of type {kind[:40]!r}, skipped"] += 1


def _result(talk: Talk, payload: dict[str, Any], line: int) -> None:
    """A result as the model is told it: a line of the tool's own, then its output (kimi-cli ``soul/message.py``)."""
    value = mapping(payload.get("return_value"))
    failed, note, output = value.get("is_error") is True, string(value.get("message")), value.get("output")
    own = [f"<system>{'ERROR: ' if failed else ''}{note}</system>"] if note else []
    content = [*own, *([output] if isinstance(output, str) and output else items(output))]
    talk.result(Result(line, string(payload.get("tool_call_id")) or "?", content, failed))
