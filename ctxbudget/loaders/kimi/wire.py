"""The wire of Kimi Code (protocol 1.4): replaying its ``context.*`` records gives the exact context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget.exchanges import compact
from ctxbudget.loaders.kimi.steps import Call, Result
from ctxbudget.records.values import items, mapping, string, tokens
from ctxbudget.trace import Kind, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Piece, Start
    from ctxbudget.loaders.kimi.talk import Talk
    from ctxbudget.records import Record

OWN = frozenset({
    "config.update", "context.append_loop_event", "context.append_message", "context.apply_compaction",
    "full_compaction.begin", "llm.request", "llm.tools_snapshot", "tools.set_active_tools", "turn.prompt",
    "usage.record",
})  # fmt: skip
"""Records by which a wire is told, where its first line is missing."""
BOOKKEEPING = frozenset({
    "full_compaction.complete", "metadata", "permission.record_approval_result", "plan_mode.enter", "plan_mode.exit",
    "tools.set_active_tools", "turn.cancel", "turn.prompt", "turn.steer",
})  # fmt: skip
"""Records of which nothing is sent: a prompt comes again as a message."""


def say(talk: Talk, records: Iterator[Record], start: Start) -> None:  # noqa: ARG001 - all tellers are called alike
    """Say a wire to ``talk``."""
    Wire(talk).say(list(records))


class Wire:
    """What a wire holds beside the conversation: prompt, tools, and which request an extra usage is of."""

    def __init__(self, talk: Talk) -> None:
        """``talk`` takes messages and steps."""
        self._talk = talk
        self._prompt = ""
        self._tools: list[str] = []
        self._fixed: list[Piece] = []
        self._trigger = "unknown"
        self._extra: str | None = None

    def say(self, records: list[Record]) -> None:
        """All records. The tools of the first request stand before the first message, as they are sent."""
        self._tools = next((_schemas(record.data) for record in records if _is_snapshot(record.data)), [])
        for record in records:
            match record.data:
                case {"type": "context.append_loop_event", "event": dict(event)}:
                    self._event(event, record.line)
                case {"type": str(kind)}:
                    self._record(kind, record.data, record.line)
                case _:
                    self._talk.skipped["record without a type"] += 1

    def _record(self, kind: str, data: dict[str, Any], line: int) -> None:
        talk = self._talk
        match kind:
            case "config.update":
                talk.model = string(data.get("modelAlias")) or talk.model
                self._fix(string(data.get("systemPrompt")) or self._prompt, self._tools, line)
            case "llm.tools_snapshot":
                self._fix(self._prompt, _schemas(data), line)
            case "llm.request":
                talk.asked(string(data.get("model")))
                self._extra = None if data.get("kind") == "loop" else str(data.get("kind"))
            case "usage.record":
                self._paid(data, line)
            case "context.append_message":
                self._message(mapping(data.get("message")), line)
            case "full_compaction.begin":
                source = data.get("source")
                self._trigger = source if source in ("manual", "auto") else "unknown"
            case "context.apply_compaction":
                self._compact(data, line)
            case "context.clear":
                talk.compact(line, None, trigger="manual")
            case _ if kind not in BOOKKEEPING:
                talk.skipped[f"record of type {kind[:40]!r}, skipped"] += 1

    def _event(self, event: dict[str, Any], line: int) -> None:
        talk = self._talk
        match event:
            case {"type": "step.begin"}:
                talk.begin(line)
            case {"type": "content.part", "part": part}:
                talk.part(part, line)
            case {"type": "tool.call", "name": str(tool)}:
                talk.call(Call(line, string(event.get("toolCallId")), tool, event.get("args")))
            case {"type": "tool.result", "result": result}:
                facts = mapping(result)
                failed = facts.get("isError") is True
                talk.result(Result(line, string(event.get("toolCallId")) or "?", facts.get("output"), failed))
            case {"type": "step.end"}:
                key = string(event.get("uuid")) or string(event.get("messageId"))
                talk.done(read_usage(event.get("usage")), key and f"kimi:{key}")
            case _:
                talk.skipped[f"event of type {str(event.get('type'))[:40]!r}, skipped"] += 1

    def _fix(self, prompt: str, tools: list[str], line: int) -> None:
        """System prompt and tools: said once, and again where they have changed."""
        if self._fixed and (prompt, tools) == (self._prompt, self._tools):
            return
        before, self._prompt, self._tools = self._fixed, prompt, tools
        if before:
            with self._talk.build.compaction(line, trigger="elision", by="request", form=None, removed=before):
                self._fixed = self._talk.system(prompt, tools, line)
        elif prompt:
            self._fixed = self._talk.system(prompt, tools, line)

    def _message(self, message: dict[str, Any], line: int) -> None:
        """A message that no step made: of the user, injected, or all that an older session left."""
        talk, content = self._talk, message.get("content")
        match message:
            case {"role": "assistant"}:
                talk.begin(line)
                for part in [content] if isinstance(content, str) else items(content):
                    talk.part(part, line)
                for call in items(message.get("toolCalls")):
                    facts = mapping(mapping(call).get("function")) or mapping(call)
                    if tool := string(facts.get("name")):
                        talk.call(Call(line, string(mapping(call).get("id")), tool, facts.get("arguments")))
                talk.done(None, None)
            case {"role": "tool"}:
                failed = message.get("isError") is True
                talk.result(Result(line, string(message.get("toolCallId")) or "?", content, failed))
            case _:
                origin = mapping(message.get("origin")).get("kind")
                kind = {"user": Kind.USER, None: Kind.USER, "compaction_summary": Kind.SUMMARY}
                talk.message(content, line, kind.get(origin if isinstance(origin, str) else None, Kind.INJECTED))

    def _compact(self, data: dict[str, Any], line: int) -> None:
        told = string(data.get("contextSummary")) or string(data.get("summary"))
        self._talk.compact(
            line,
            told or "",
            trigger=self._trigger,
            kept=tokens(data.get("keptUserMessageCount")),
            sizes=(tokens(data.get("tokensBefore")) or None, tokens(data.get("tokensAfter")) or None),
        )
        self._trigger = "unknown"

    def _paid(self, data: dict[str, Any], line: int) -> None:
        """What a step cost is told twice; what another request cost (a summary, a title) only here."""
        usage = read_usage(data.get("usage"))
        if self._extra is not None and usage is not None:
            purpose = "compaction" if "compact" in self._extra else "turn"
            self._talk.build.bill(f"kimi:{data.get('time')}:{line}", self._talk.model, usage, purpose=purpose)
        self._extra = None


def read_usage(raw: Any) -> Usage | None:
    """Kimi's counts, old (``input_other``) and new (``inputOther``): disjoint."""
    facts = mapping(raw)
    given = tokens(facts.get("inputOther")) or tokens(facts.get("input_other"))
    read = tokens(facts.get("inputCacheRead")) or tokens(facts.get("input_cache_read"))
    write = tokens(facts.get("inputCacheCreation")) or tokens(facts.get("input_cache_creation"))
    output = tokens(facts.get("output"))
    total = given + read + write + output
    return Usage(given, read, write, output, None, total) if total else None


def _is_snapshot(data: Any) -> bool:
    return mapping(data).get("type") == "llm.tools_snapshot"


def _schemas(data: Any) -> list[str]:
    tools = mapping(data).get("tools")
    tools = [tools] if isinstance(tools, str) else items(tools)
    return [tool if isinstance(tool, str) else compact(tool) for tool in tools if tool]
