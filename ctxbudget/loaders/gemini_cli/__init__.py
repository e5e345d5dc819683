"""Gemini CLI: chat recordings (JSON, JSONL), stream-json output, checkpoints, and plain Gemini API contents.

Where: ``~/.gemini/tmp/<project>/chats/session-*.json`` (to 0.3x) or ``.jsonl`` (from 0.40), sub-agents in ``chats/<session>/``; ``checkpoint-<tag>.json`` of ``/chat save``; what ``gemini --output-format stream-json`` prints.
Seen: what user and model said, every call with its result, rewinds, the history that a compression or a masking of old results left (newer recordings), sub-agents with recordings of their own.
Unseen: system prompt, tool schemas, ``GEMINI.md``; thoughts, which are not sent again; that the history was compressed, in older recordings; tool output beyond 50 kB.
Counts: recordings have usage of every call, inclusive, thoughts beside the output; stream-json has sums alone, checkpoints none.

Rules: google-gemini/gemini-cli 0.40, ``chatRecordingService.ts`` (a message is written again whenever it changes, the
last one counts; ``$rewindTo`` takes out that message and all behind it; ``$set.messages`` is the whole history anew),
``output/types.ts`` (stream-json), and the Gemini API's ``Content``.
"""  # noqa: E501 - a labelled line is one line

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxbudget import records
from ctxbudget.errors import TraceError
from ctxbudget.loaders.gemini_cli.contents import conversations, is_content
from ctxbudget.loaders.gemini_cli.recording import Recording
from ctxbudget.loaders.gemini_cli.retelling import Retelling
from ctxbudget.loaders.gemini_cli.stream import is_event, runs
from ctxbudget.message_lists import first_records

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ctxbudget.builder import Start, TraceBuilder
    from ctxbudget.records import Reading, Record
    from ctxbudget.trace import Trace

_NAME = re.compile(r"[A-Za-z0-9_-][\w.-]{0,199}")
"""A session's name that may be a folder's; the file says it, so it must not lead elsewhere."""


def sniff(head: bytes, path: str) -> float:  # noqa: ARG001 - the bytes decide
    """``projectHash`` beside ``sessionId``; messages of type ``gemini``; events with ``tool_id``; ``parts`` without
    types. The log of a program may have a line of its own before."""
    return max(map(_score, first_records(head, logged=True)), default=0)


def _score(record: Any) -> float:
    match record:
        case {"projectHash": str(), "sessionId": str()} | {"type": "gemini", "id": str()} | {"$rewindTo": str()}:
            return 0.95
        case {"$set": {"messages": list()}}:
            return 0.95
        case dict() if is_event(record, surely=True):
            return 0.9
        case {"contents": list(inner)} | {"history": list(inner)} if any(map(is_content, inner)):
            return 0.9
        case {"candidates": [{"content": dict(inner)}, *_]} if is_content(inner):
            return 0.9
        case dict() if is_content(record):
            return 0.85
    return 0.0


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """The session of a recording with its sub-agents; each run of an output; each conversation of contents."""
    found = list(reading.unwrap())
    sayings = [record.data for record in found if isinstance(record.data, dict)]
    if any(is_event(data, surely=True) for data in sayings):
        builds = runs(found, start)
    elif any(is_content(data) or not data.keys().isdisjoint({"contents", "history", "candidates"}) for data in sayings):
        builds = conversations(found, start)
    else:
        builds = _session(found, start, reading.path)
    for build, skipped in builds:
        build.carries_reasoning = False
        for name, count in sorted(skipped.items()):
            build.warn("unknown-record", f"{name} ({count})")
        yield build.finish(reading.parse, skipped)


def companions(reading: Reading) -> list[Path]:
    """The recordings of the session's sub-agents."""
    named = (record.get("sessionId") for record in first_records(reading.head) if isinstance(record, dict))
    return _agent_files(reading.path, next((name for name in named if isinstance(name, str)), None))


def _session(found: Iterable[Record], start: Start, path: str) -> Iterator[tuple[TraceBuilder, dict[str, int]]]:
    recording = _recorded(found)
    if recording.empty:
        return
    build = start()
    build.agent = "gemini-cli"
    Retelling(build, recording).tell()
    for file in _agent_files(path, build.session):
        _add_agent(build, start, file)
    yield build, dict(recording.skipped)


def _recorded(found: Iterable[Record]) -> Recording:
    recording = Recording()
    for record in found:
        recording.take(record.data, record.line)
    return recording


def _agent_files(path: str, session: str | None) -> list[Path]:
    """Recordings of sub-agents, in a folder that is called like the session."""
    if path == "-" or session is None or not _NAME.fullmatch(session):
        return []
    folder = Path(path).parent / session
    return [file for ending in ("json", "jsonl") for file in sorted(folder.glob(f"*.{ending}")) if file.is_file()]


def _add_agent(build: TraceBuilder, start: Start, file: Path) -> None:
    try:
        recording = _recorded(records.read(str(file)).unwrap())
    except (TraceError, OSError) as error:
        build.warn("unreadable-agent", f"{file.name}: {error}")
        return
    if recording.empty:
        build.warn("unreadable-agent", f"{file.name}: no recording of an agent")
        return
    child = start(label=file.stem, path=str(file))
    child.agent = "gemini-cli"
    child.carries_reasoning = False
    Retelling(child, recording).tell()
    build.child(child.finish())
