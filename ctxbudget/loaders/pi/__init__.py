"""pi and oh-my-pi sessions (~/.pi/agent/sessions/--<folder>--/<time>_<id>.jsonl).

Where: ``~/.pi/agent/sessions/--<cwd>--/<time>_<id>.jsonl`` (oh-my-pi: ``~/.omp/agent/sessions``); also as one array.
Seen: user texts, replies with thinking and calls, results, images, the user's own shell commands, texts of extensions, compactions, summaries of left branches, the model of every call.
Unseen: system prompt and tool schemas (oh-my-pi keeps the prompt of its sub-agents), the call that wrote a summary.
Counts: usage of every call, exclusive: prompt = input + cacheRead + cacheWrite. A reply that was stopped early may have zeros, which means unknown.

Rules: badlogic/pi-mono ``packages/coding-agent/src/core`` ``session-manager.ts`` and ``messages.ts``, and
``packages/ai`` ``transform-messages.ts``, late 2025 to early 2026. From version 2 of the file on it is a tree
(``id``, ``parentId``): the context is the path from the last entry to the root. A compaction keeps the entries from
``firstKeptEntryId`` on (version 1: ``firstKeptEntryIndex``, an index over all entries) behind its summary. A reply that
failed or was stopped is left out of later prompts; versions 1 and 2 sent its text and thinking on, never its calls
(checked: prompts grow by the one, not by the other).
"""  # noqa: E501 - a labelled line is one line

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, Any

from ctxbudget.loaders.pi.entries import Entry, Path, path_of, read_entries
from ctxbudget.loaders.pi.parts import Parts, read_usage
from ctxbudget.message_lists import first_records
from ctxbudget.records.values import string

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Piece, Start, TraceBuilder
    from ctxbudget.records import Reading
    from ctxbudget.trace import Trace

BOOKKEEPING = frozenset({
    "context_transform", "custom", "ephemeral", "label", "mode_change", "model_change", "session", "session_info",
    "session_init", "thinking_level_change", "title_change", "ttsr_injection",
})  # fmt: skip
"""Entries of which nothing is sent to the model (pi to 0.5x, oh-my-pi to 13)."""

TREE = 3
"""The version of the file from which on a failed reply leaves nothing in later prompts."""


def sniff(head: bytes, path: str) -> float:  # noqa: ARG001 - the bytes decide
    """A line that names the session and its folder, or messages whose replies name an ``api``."""
    surest = 0.0
    for value in first_records(head)[:50]:
        match value:
            case {"type": "session", "id": str(), "cwd": str()}:
                return 0.95
            case {"type": "message", "message": {"role": "assistant", "api": str(), "provider": str()}}:
                return 0.9
            case {"type": "message", "message": {"role": "toolResult" | "bashExecution"}}:
                surest = 0.8
    return surest


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """The session: the live branch as its log, other branches as billed and abandoned."""
    skipped: Counter[str] = Counter()
    header, entries = read_entries(reading.unwrap(), skipped)
    if not entries and not header:
        return
    build = start()
    build.agent = "pi"
    build.session, build.cwd = string(header.get("id")), string(header.get("cwd"))
    session = Session(build, header, skipped)
    live = path_of(entries)
    session.say(live)
    session.write_off(entries, live)
    if build.model is None:
        build.model = string(header.get("modelId"))
    for name, count in sorted(skipped.items()):
        if name not in BOOKKEEPING:
            build.warn("unknown-record", f"{count} record(s) of type {name!r} not read")
    yield build.finish(reading.parse, skipped)


class Session:
    """Says the entries of a session to a builder, and keeps what a compaction would remove."""

    def __init__(self, build: TraceBuilder, header: dict[str, Any], skipped: Counter[str]) -> None:
        """``header`` is the first line; ``skipped`` counts what is not read, by type."""
        self._build = build
        self._skipped = skipped
        version = header.get("version")
        self._drops_failed = isinstance(version, int) and version >= TREE
        self._parts = Parts(build, skipped)
        self._live: list[tuple[int, list[Piece]]] = []
        """Parts by the place of their entry on the branch; -1 for a summary."""
        self._spent: Counter[str] = Counter()
        self._failed = 0

    def say(self, entries: list[Entry]) -> None:
        """The live branch, in its order."""
        path = Path(entries)
        for at, entry in enumerate(entries):
            match entry.data:
                case {"type": "message", "message": {"role": "assistant"} as message}:
                    self._live.append((at, self._reply(entry, message)))
                case {"type": "compaction"}:
                    self._compact(entry, path.first_kept(at))
                case {"type": "session_init", "systemPrompt": str(prompt)} if prompt:
                    self._parts.system(prompt, entry.line)  # outlives every compaction
                case _:
                    self._live.append((at, self._parts.sent(entry.data, entry.line)))
        if self._spent:
            self._build.model = max(self._spent, key=lambda name: (self._spent[name], name))
        if self._failed:
            text = f"replies that failed or were stopped: {self._failed}; later prompts leave out at least their calls"
            self._build.warn("unfinished-reply", text)

    def write_off(self, entries: list[Entry], live: list[Entry]) -> None:
        """Branches that were left: paid for, and no part of the context."""
        kept = set(map(id, live))
        for entry in entries:
            message = entry.data.get("message")
            if id(entry) in kept or not isinstance(message, dict):
                continue
            self._build.abandoned += 1
            usage = read_usage(message.get("usage")) if message.get("role") == "assistant" else None
            if usage is not None:
                key = _key(message) or f"{self._build.path}:{entry.line}"
                self._build.bill(key, string(message.get("model")), usage, purpose="abandoned")

    def _reply(self, entry: Entry, message: dict[str, Any]) -> list[Piece]:
        usage, model = read_usage(message.get("usage")), string(message.get("model"))
        if model is not None:
            self._spent[model] += usage.prompt + 1 if usage else 1
        self._build.turn(model=model, usage=usage, line=entry.line, key=_key(message))
        failed = message.get("stopReason") in ("error", "aborted")
        self._failed += failed
        if failed and self._drops_failed:
            return []
        self._build.message("assistant", entry.line)
        return self._parts.reply(message.get("content"), failed=failed)

    def _compact(self, entry: Entry, first: int) -> None:
        """What stands on the branch before ``first`` gives way to the summary."""
        stays = bisect_left(self._live, first, key=lambda pair: pair[0])
        gone = [piece for _, pieces in self._live[:stays] for piece in pieces]
        before = entry.data.get("tokensBefore")
        hooked = entry.data.get("fromHook") is True or entry.data.get("fromExtension") is True
        with self._build.compaction(
            entry.line,
            by="extension" if hooked else "recorded",
            pre_tokens=before if type(before) is int and before > 0 else None,
            removed=gone,
        ):
            summary = self._parts.summary(entry.data.get("summary"), entry.line)
        self._live[:stays] = [(-1, summary)]


def _key(message: dict[str, Any]) -> str | None:
    """What names a call in every file that holds it: forks copy messages, and give entries new ids at times."""
    if response := string(message.get("responseId")):
        return response
    said = message.get("timestamp")
    return f"pi:{said}:{message.get('model')}" if isinstance(said, int | str) and said else None
