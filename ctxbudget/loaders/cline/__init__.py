"""Cline and Roo Code tasks: API history, UI messages, and the sessions of the Cline SDK with their compactions.

Where: VS Code ``globalStorage/saoudrizwan.claude-dev/tasks/<id>/`` (Roo: ``rooveterinaryinc.roo-cline``) with ``api_conversation_history.json`` and ``ui_messages.json``; the Cline SDK and CLI write ``<id>.messages.json`` and ``<id>.compaction.json``.
Seen: user texts with the files and notes put around them, replies with thinking, calls (native, or written as XML tags) and results, images, condensations, truncations; the system prompt in SDK sessions.
Unseen: tool schemas; the system prompt of tasks in VS Code; in UI messages alone, what a request said where it was not kept.
Counts: in VS Code they stand in ``ui_messages.json``, which is read too where it lies beside the history: Cline exclusive, Roo inclusive since 2025, told apart by the file; 2026 replies have ``metrics`` of their own, inclusive.

Rules: cline/cline 3.x (``src/core/task``, ``sdk/packages/core``) and RooCodeInc/Roo-Code 3.x
(``src/core/task-persistence/apiMessages.ts``, ``packages/core/src/message-utils``). Roo keeps condensed and truncated
messages, marked with what hides them; Cline keeps a range of the messages that later requests leave out. Calls written
as text are answered in their order by texts that begin with ``[tool for …] Result:``.
"""  # noqa: E501 - a labelled line is one line

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxbudget import records
from ctxbudget.errors import TraceError
from ctxbudget.loaders.cline.calls import calls_of
from ctxbudget.loaders.cline.history import History
from ctxbudget.loaders.cline.screen import Screen
from ctxbudget.message_lists import opening
from ctxbudget.records.values import items, mapping, string

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from ctxbudget.builder import Start, TraceBuilder
    from ctxbudget.records import Reading
    from ctxbudget.trace import Trace

HISTORY, SCREEN = "api_conversation_history.json", "ui_messages.json"
SESSION, COMPACTION = ".messages.json", ".compaction.json"


def sniff(head: bytes, path: str) -> float:  # noqa: ARG001 - the bytes decide
    """A list of what the screen showed, a session of the SDK, or messages with a time stamp or Cline's own text."""
    values = opening(head)
    for value in values[:5]:
        match value:
            case {"messages": list(), "sessionId": str(), "agent": str()} if b'"system_prompt"' in head:
                return 0.95
            case {"messages": list([{"role": str(), "ts": int()}, *_]), "sessionId": str(), "version": int()}:
                return 0.9
            case [dict(), *_]:
                return max(_listed(item, head) for item in value[:10])
    return 0.0


def _listed(item: Any, head: bytes) -> float:
    match item:
        case {"ts": int(), "type": "say" | "ask"} if "say" in item or "ask" in item:
            return 0.95
        case {"role": "user" | "assistant", "content": str() | list(), "ts": int()}:
            return 0.95
        case {"role": "user", "content": _} if b"<environment_details>" in head and b"<task>" in head:
            return 0.92
    return 0.0


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """The task or session; of a history, with the counts of the screen's messages beside it."""
    for record in list(reading):
        match record.data:
            case {"messages": list(messages)}:
                yield _session(reading, start, record.data, messages)
            case list(shown) if any(_is_shown(item) for item in shown):
                yield _screen(reading, start, shown)
            case list(messages):
                yield _task(reading, start, messages)


def companions(reading: Reading) -> list[Path]:
    """The messages of the screen beside a history, the compaction of a session."""
    found = (_path_beside(reading, HISTORY, SCREEN), _path_beside(reading, SESSION, COMPACTION))
    return [path for path in found if path is not None]


def _is_shown(item: Any) -> bool:
    match item:
        case {"type": "say" | "ask"}:
            return True
    return False


def _session(reading: Reading, start: Start, data: dict[str, Any], messages: list[Any]) -> Trace:
    build = start()
    build.agent, build.session = "cline", string(data.get("sessionId"))
    history = History(build, {})
    if prompt := string(data.get("system_prompt")):
        history.system(prompt)
    beside = _beside(reading, SESSION, COMPACTION)
    history.say(messages, items(mapping(beside).get("messages")))
    return _finish(reading, build, history.skipped)


def _task(reading: Reading, start: Start, messages: list[Any]) -> Trace:
    build = start()
    build.agent = "cline"
    beside = _beside(reading, HISTORY, SCREEN)
    history = History(build, calls_of(beside, messages) if isinstance(beside, list) else {})
    history.say(messages)
    return _finish(reading, build, history.skipped)


def _screen(reading: Reading, start: Start, shown: list[Any]) -> Trace:
    build = start()
    build.agent = "cline"
    screen = Screen(build)
    screen.say(shown)
    return _finish(reading, build, screen.skipped)


def _finish(reading: Reading, build: TraceBuilder, skipped: Counter[str]) -> Trace:
    for name, count in sorted(skipped.items()):
        build.warn("unknown-record", f"{name} ({count})")
    return build.finish(reading.parse, skipped)


def _beside(reading: Reading, ending: str, other: str) -> Any:
    """The document that lies beside a file, whose name ends otherwise; None where there is none."""
    path = _path_beside(reading, ending, other)
    try:
        first = next(iter(records.read(str(path))), None) if path is not None and path.is_file() else None
    except (TraceError, OSError):
        return None
    return first.data if first is not None else None


def _path_beside(reading: Reading, ending: str, other: str) -> Path | None:
    if reading.held or not reading.path.endswith(ending):
        return None
    return Path(reading.path[: -len(ending)] + other)
