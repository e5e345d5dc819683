"""Events of one agent → parts of its conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget import injected, media
from ctxbudget.exchanges import plain
from ctxbudget.loaders.copilot_cli.sums import key_of, read_usage
from ctxbudget.records.values import items, mapping, string, tokens
from ctxbudget.trace import Kind, Usage

if TYPE_CHECKING:
    from collections import Counter

    from ctxbudget.builder import Piece, TraceBuilder
    from ctxbudget.loaders.copilot_cli.events import Event, Log

BOOKKEEPING = frozenset({
    "abort", "assistant.intent", "assistant.message_start", "assistant.reasoning", "assistant.turn_end",
    "assistant.turn_start", "assistant.usage", "hook.end", "hook.start", "session.auto_mode_resolved",
    "session.context_changed", "session.error", "session.idle", "session.info", "session.mode_changed",
    "session.model_change", "session.plan_changed", "session.resume", "session.shutdown", "session.snapshot_rewind",
    "session.start", "session.task_complete", "session.title_changed", "session.usage_checkpoint",
    "session.warning", "session.workspace_file_changed", "subagent.completed", "subagent.deselected",
    "subagent.failed", "subagent.selected", "subagent.started", "tool.execution_partial_result",
    "tool.execution_progress", "tool.execution_start", "tool.user_requested",
})  # fmt: skip
"""Events of which nothing is sent: ``assistant.reasoning`` and ``tool.execution_start`` show again what the message
holds (Copilot CLI to 1.0.78)."""


class Talk:
    """Says the events of one agent to a builder, and keeps the messages that are in its context."""

    def __init__(self, build: TraceBuilder, log: Log, skipped: Counter[str], *, tools: int = 0) -> None:
        """``skipped`` counts events that are not known, by type; ``tools`` is the size of the schemas, in tokens."""
        build.agent = "copilot-cli"
        self._build = build
        self._log = log
        self._tools = tools
        self._skipped = skipped
        self._live: list[list[Piece]] = []
        self._before: list[list[Piece]] | None = None
        self._system: tuple[str, list[Piece]] = "", []
        self._call: str | None = None
        self._spent: dict[str, int] = {}

    def say(self, events: list[Event]) -> None:
        """The events in their order; those that were rewound are only counted."""
        for event in events:
            if event.live:
                self._event(event)
            else:
                self._write_off(event)
        if self._spent:
            self._build.model = max(self._spent, key=lambda name: (self._spent[name], name))

    def asked(self, task: tuple[int, str] | None) -> None:
        """What a sub-agent was begun with: line and text."""
        if task is not None:
            self._build.message("user", task[0])
            self._live.append([self._build.add(Kind.USER, task[1])])

    def _event(self, event: Event) -> None:
        data, line = event.data, event.line
        match event.type:
            case "session.start" | "session.resume" | "session.model_change" | "session.context_changed":
                self._facts(data)
            case "system.message":
                self._prompt(data, line)
            case "user.message":
                self._user(data, line)
            case "assistant.message":
                self._reply(event)
            case "tool.execution_complete" if data.get("isUserRequested") is not True:
                self._result(data, line)
            case "skill.invoked" | "system.notification" if isinstance(data.get("content"), str):
                self._build.message("user", line)
                self._live.append([self._build.add(Kind.INJECTED, data["content"])])
            case "session.compaction_start":
                self._before = list(self._live)
            case "session.compaction_complete":
                self._compact(event)
            case "session.truncation":
                self._truncate(data, line)
            case "session.context_cleared":
                with self._build.compaction(line, trigger="manual", form=None, removed=_flat(self._live)):
                    self._live = []
            case kind if kind not in BOOKKEEPING:
                self._skipped[kind[:60]] += 1

    def _facts(self, data: dict[str, Any]) -> None:
        build, context = self._build, mapping(data.get("context"))
        build.session = build.session or string(data.get("sessionId"))
        build.cwd = build.cwd or string(context.get("cwd"))
        build.model = string(data.get("newModel")) or string(data.get("selectedModel")) or build.model

    def _prompt(self, data: dict[str, Any], line: int) -> None:
        """The system prompt; it is written again when it has changed, and with every resume. The schemas of the tools
        stand before it by their size alone."""
        text = string(data.get("content"))
        before, gone = self._system
        if text is None or text == before:
            return
        if gone:
            with self._build.compaction(line, trigger="elision", by="request", form=None, removed=gone):
                self._build.message("system", line)
                self._system = text, [self._build.add(Kind.SYSTEM_PROMPT, text)]
            return
        self._build.message("system", line)
        if self._tools:
            self._build.add(Kind.TOOL_DEFINITIONS, "").cost = self._tools
        self._system = text, [self._build.add(Kind.SYSTEM_PROMPT, text)]

    def _user(self, data: dict[str, Any], line: int) -> None:
        """A message as it was sent, with what the client put around the user's own words."""
        own, sent = string(data.get("content")) or "", string(data.get("transformedContent"))
        written = data.get("isAutopilotContinuation") is True or str(data.get("source")).startswith("skill-")
        self._build.message("user", line)
        if written:
            pieces = [self._build.add(Kind.INJECTED, sent or own)]
        else:
            before, found, after = (sent or own).partition(own) if own else ("", "", sent or "")
            parts = [(Kind.INJECTED, before), *injected.split(found), (Kind.INJECTED, after)]
            parts = parts if found or not sent else [*injected.split(sent)]
            pieces = [self._build.add(kind, text) for kind, text in parts if text]
        for block, attached in enumerate(items(data.get("attachments")), 1):
            match attached:
                case {"type": "blob", "data": str(encoded)}:
                    size = media.base64_size(encoded)
                    pieces.append(self._build.add(Kind.MEDIA, "", size=size, block=block))
        self._live.append(pieces)

    def _reply(self, event: Event) -> None:
        data, line = event.data, event.line
        call, model = string(data.get("apiCallId")), string(data.get("model"))
        model = model or self._build.model
        if call is None or call != self._call:
            spent = tokens(data.get("outputTokens")) if call is None else tokens(self._log.outputs[call])
            usage = Usage(output=spent, total=spent) if spent else None
            self._build.turn(model=model, usage=usage, line=line, key=self._key(event, model))
        self._call = call
        if model is not None:
            self._spent[model] = self._spent.get(model, 0) + 1
        self._build.message("assistant", line)
        self._live.append(self._said(data))

    def _said(self, data: dict[str, Any]) -> list[Piece]:
        build, pieces = self._build, []
        shown = string(data.get("reasoningText")) or ""
        sealed = sum(len(string(data.get(name)) or "") for name in ("reasoningOpaque", "encryptedContent"))
        if shown or sealed:
            pieces.append(build.add(Kind.THINKING, shown, opaque=sealed))
        if text := string(data.get("content")):
            pieces.append(build.add(None, text, block=1))
        for block, request in enumerate(items(data.get("toolRequests")), 2):
            match request:
                case {"toolCallId": str(name), "name": str(tool)}:
                    pieces.append(build.call(tool, request.get("arguments"), id=name, block=block))
                case _:
                    self._skipped["call without a name, skipped"] += 1
        return pieces

    def _result(self, data: dict[str, Any], line: int) -> None:
        self._build.message("tool", line)
        call, result = string(data.get("toolCallId")) or "?", mapping(data.get("result"))
        failed = data.get("success") is False
        text = string(result.get("content"))
        if text is None:
            wrong = mapping(data.get("error")).get("message")
            text = wrong if isinstance(wrong, str) else plain(data.get("error")) if data.get("error") else ""
        pieces = [self._build.result(text, call=call, error=failed)]
        for block, item in enumerate(items(result.get("contents")), 1):
            match item:
                case {"type": "image", "data": str(encoded)}:
                    size = media.base64_size(encoded)
                    pieces.append(self._build.add(Kind.MEDIA, "", size=size, block=block, call=call))
        self._live.append(pieces)

    def _compact(self, event: Event) -> None:
        """A summary in place of what had been said when it was begun."""
        data, line = event.data, event.line
        spent = read_usage(data.get("compactionTokensUsed"))
        if spent is not None:
            model = string(mapping(data.get("compactionTokensUsed")).get("model")) or self._build.model
            self._build.bill(self._key(event, model), model, spent, purpose="compaction")
        summary = string(data.get("summaryContent"))
        if data.get("success") is False or summary is None:
            return
        gone = self._live if self._before is None else self._before
        kept = self._live[len(gone) :]
        with self._build.compaction(
            line,
            trigger="manual" if data.get("customInstructions") else "unknown",
            pre_tokens=tokens(data.get("preCompactionTokens")) or None,
            post_tokens=tokens(data.get("postCompactionTokens")) or None,
            removed=_flat(gone),
        ):
            self._build.message("user", line)
            put = self._build.add(Kind.SUMMARY, summary)
        self._live, self._before = [[put], *kept], None

    def _truncate(self, data: dict[str, Any], line: int) -> None:
        """The oldest messages are dropped; how many is said, not which."""
        self._build.window = self._build.window or tokens(data.get("tokenLimit")) or None
        number = tokens(data.get("messagesRemovedDuringTruncation"))
        if not number:
            return
        with self._build.compaction(
            line,
            trigger="auto",
            pre_tokens=tokens(data.get("preTruncationTokensInMessages")) or None,
            post_tokens=tokens(data.get("postTruncationTokensInMessages")) or None,
            form=None,
            removed=_flat(self._live[:number]),
        ):
            self._live = self._live[number:]

    def _write_off(self, event: Event) -> None:
        if event.type in {"user.message", "assistant.message", "tool.execution_complete"}:
            self._build.abandoned += 1
        spent = tokens(event.data.get("outputTokens"))
        if event.type == "assistant.message" and spent:
            usage = Usage(output=spent, total=spent)
            model = string(event.data.get("model")) or self._build.model
            self._build.bill(self._key(event, model), model, usage, purpose="abandoned")

    def _key(self, event: Event, model: str | None) -> str:
        key = key_of(event.data, self._build.session, event.line)
        self._log.calls[key] = event.run, model or ""
        return key


def _flat(messages: list[list[Piece]]) -> list[Piece]:
    return [piece for pieces in messages for piece in pieces]
