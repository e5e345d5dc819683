"""Qwen Code sessions (~/.qwen/projects/<folder>/chats/<session>.jsonl).

Where: ``~/.qwen/projects/<cwd>/chats/<session>.jsonl`` (``QWEN_HOME`` moves it).
Seen: user texts, replies with thoughts and calls, results, images, compressions with what replaced the history, rewound branches, the model and the window of every call.
Unseen: system prompt, tool schemas, what sub-agents did.
Counts: usage of every call, prompts with their cached part; whether output holds the thoughts is told by the total. Calls that left no reply (retries, helpers) are in the telemetry, and billed apart.

Rules: QwenLM/qwen-code 0.5 to 0.1x (``packages/core/src/services/chatRecordingService.ts``, ``sessionService.ts``).
The file is a tree by ``parentUuid``, like Claude Code's, whose keys it shares; the content is Google's (``parts``).
Records with one ``uuid`` are pieces of one message.
"""  # noqa: E501 - a labelled line is one line

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from ctxbudget.branches import Link, live
from ctxbudget.loaders.qwen_code.parts import Parts, read_telemetry, read_usage
from ctxbudget.message_lists import first_records
from ctxbudget.records.values import items, mapping, string, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ctxbudget.builder import Piece, Start, TraceBuilder
    from ctxbudget.records import Reading, Record
    from ctxbudget.trace import Trace, Usage

BOOKKEEPING = frozenset({
    "system/attribution_snapshot", "system/ui_telemetry", "system/slash_command", "system/at_command",
    "system/custom_title", "system/session_title", "system/file_history_snapshot", "system/notification",
    "repeated record",
})  # fmt: skip
"""Records of which nothing is sent to the model."""


def sniff(head: bytes, path: str) -> float:  # noqa: ARG001 - the bytes decide
    """Claude Code's keys outside, Google's parts inside."""
    for value in first_records(head)[:50]:
        match value:
            case {"uuid": str(), "sessionId": str(), "message": {"parts": list()}}:
                return 0.95
            case {"uuid": str(), "sessionId": str(), "systemPayload": dict()}:
                return 0.9
    return 0.0


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """The session: the live branch as its log, other branches as billed and abandoned."""
    skipped: Counter[str] = Counter()
    found = _merged(reading.unwrap(), skipped)
    if not found:
        return
    build = start()
    build.agent = "qwen-code"
    session = Session(build, skipped)
    path = live([_link(data) for data, _ in found])
    session.say([found[at] for at in path])
    kept = set(path)
    session.write_off([one for at, one in enumerate(found) if at not in kept])
    for name, count in sorted(skipped.items()):
        if name not in BOOKKEEPING:
            build.warn("unknown-record", f"{count} record(s) of type {name!r} not read")
    yield build.finish(reading.parse, skipped)


def _link(data: dict[str, Any]) -> Link:
    parent = data.get("parentUuid")
    return Link(string(data.get("uuid")), string(parent), parent is None and "parentUuid" in data)


def _merged(records: Iterable[Record], skipped: Counter[str]) -> list[tuple[dict[str, Any], int]]:
    """The records with their lines; those that share a name as one."""
    found: dict[str, tuple[dict[str, Any], int]] = {}
    for record in records:
        data = record.data
        if not isinstance(data, dict) or not isinstance(data.get("type"), str):
            skipped["no type"] += 1
            continue
        name = string(data.get("uuid")) or f"line {record.line}"
        earlier = found.get(name)
        if earlier is None:
            found[name] = data, record.line
        elif earlier[0].get("message") == data.get("message"):
            skipped["repeated record"] += 1
        else:
            said = [*items(mapping(earlier[0].get("message")).get("parts"))]
            said += items(mapping(data.get("message")).get("parts"))
            message = {**mapping(earlier[0].get("message")), **mapping(data.get("message")), "parts": said}
            new = {key: value for key, value in data.items() if value is not None and key != "parentUuid"}
            found[name] = {**earlier[0], **new, "message": message}, earlier[1]
    return list(found.values())


class Session:
    """Says the records of a session to a builder."""

    def __init__(self, build: TraceBuilder, skipped: Counter[str]) -> None:
        """``skipped`` counts what is not read, by type."""
        self._build = build
        self._skipped = skipped
        self._parts = Parts(build, skipped)
        self._live: list[tuple[Any, list[Piece]]] = []
        self._spent: Counter[str] = Counter()
        self._telemetry: defaultdict[Usage, list[tuple[str, str | None]]] = defaultdict(list)
        """Names and models of calls, by what the telemetry says they cost."""
        self._command = ""

    def say(self, records: list[tuple[dict[str, Any], int]]) -> None:
        """The live branch, in its order."""
        for data, line in records:
            self._build.session = self._build.session or string(data.get("sessionId"))
            self._build.cwd = self._build.cwd or string(data.get("cwd"))
            message = mapping(data.get("message"))
            match data["type"]:
                case "assistant":
                    self._reply(data, message, line)
                case "user" | "tool_result":
                    self._command = ""
                    failed = mapping(data.get("toolCallResult")).get("status") == "error"
                    self._live.append((message, self._parts.sent(message.get("parts"), line, failed=failed)))
                case "system":
                    self._system(data, line)
                case kind:
                    self._skipped[kind[:40]] += 1
        self._bill_rest()
        if self._spent:
            self._build.model = max(self._spent, key=lambda name: (self._spent[name], name))

    def write_off(self, records: list[tuple[dict[str, Any], int]]) -> None:
        """Branches that were left: paid for, and no part of the context."""
        for data, line in records:
            if data["type"] == "system":
                self._keep_telemetry(data, line)
            elif data["type"] in {"user", "assistant", "tool_result"}:
                self._build.abandoned += 1
            usage = read_usage(data.get("usageMetadata")) if data["type"] == "assistant" else None
            if usage is not None:
                self._match(usage)
                key = string(data.get("uuid")) or f"{self._build.path}:{line}"
                self._build.bill(key, string(data.get("model")), usage, purpose="abandoned")
        self._bill_rest()

    def _reply(self, data: dict[str, Any], message: dict[str, Any], line: int) -> None:
        usage, model = read_usage(data.get("usageMetadata")), string(data.get("model"))
        if model is not None:
            self._spent[model] += usage.prompt + 1 if usage else 1
        self._build.window = tokens(data.get("contextWindowSize")) or self._build.window
        self._match(usage)
        self._build.turn(model=model, usage=usage, line=line, key=string(data.get("uuid")))
        self._build.message("assistant", line)
        self._live.append((message, self._parts.reply(message.get("parts"))))

    def _system(self, data: dict[str, Any], line: int) -> None:
        payload = mapping(data.get("systemPayload"))
        kind = f"system/{str(data.get('subtype'))[:40]}"
        if kind == "system/chat_compression":
            self._compress(payload, line)
            return
        self._keep_telemetry(data, line)
        self._command = string(payload.get("rawCommand")) or self._command
        self._skipped[kind] += 1

    def _compress(self, payload: dict[str, Any], line: int) -> None:
        """The history was replaced; what is the same at its end stayed."""
        history = [one for one in items(payload.get("compressedHistory")) if isinstance(one, dict)]
        kept = 0
        for (message, _), one in zip(reversed(self._live), reversed(history), strict=False):
            if message.get("parts") != one.get("parts"):
                break
            kept += 1
        gone, stays = self._live[: len(self._live) - kept], self._live[len(self._live) - kept :]
        info = mapping(payload.get("info"))
        before, after = (tokens(info.get(f"{name}TokenCount")) or None for name in ("original", "new"))
        removed = [piece for _, pieces in gone for piece in pieces]
        trigger = "manual" if self._command.startswith(("/compress", "/summar")) else "auto"
        self._command = ""
        with self._build.compaction(line, trigger=trigger, pre_tokens=before, post_tokens=after, removed=removed):
            put = [(one, self._parts.summary(one, line)) for one in history[: len(history) - kept]]
        self._live = [*put, *stays]

    def _keep_telemetry(self, data: dict[str, Any], line: int) -> None:
        event = mapping(mapping(data.get("systemPayload")).get("uiEvent"))
        usage = read_telemetry(event) if event.get("event.name") == "qwen-code.api_response" else None
        if usage is not None:
            key = string(data.get("uuid")) or f"{self._build.path}:{line}"
            self._telemetry[usage].append((key, string(event.get("model"))))

    def _match(self, usage: Usage | None) -> None:
        """The telemetry of a call stands before its reply, and is a copy of its counts."""
        if usage is not None and (same := self._telemetry.get(usage)):
            same.pop()

    def _bill_rest(self) -> None:
        """Calls that the telemetry knows and that left no reply."""
        for usage, calls in self._telemetry.items():
            for key, model in calls:
                self._build.bill(key, model, usage, purpose="abandoned")
        self._telemetry.clear()
