"""OpenHands event logs: version 0 (events, evaluation output) and the version 1 SDK.

Where: v0 ``~/.openhands/sessions/<id>/events/<n>.json`` (give ``0.json``; exported: one list), evaluation ``output.jsonl`` (one row for each task); v1 ``~/.openhands/conversations/<id>/base_state.json`` with ``events/`` beside it, or all events in one.
Seen: system prompt, tool schemas, user texts, replies with reasoning and calls, results, condensations, and in evaluation output whether the task was resolved.
Unseen: v0 renders workspace facts (date, hosts) into the first message, v1 names the argument types of its tools only; delegated sub-agents stand in the same log and are not told apart.
Counts: usage of every call where the response is kept (v0) or named (v1 ``base_state.json``); else differences of accumulated counts. Prompts include what was read from the cache. A block of zeros means unknown.

Rules: All-Hands-AI/OpenHands 0.2x to 0.6x (``openhands/memory``, ``openhands/events``) and OpenHands/software-agent-sdk
1.x (``sdk/event``, ``sdk/context/view``). Calls of one response and their results are forgotten together, as the SDK's
view does; a new summary takes the place of the one before.
"""  # noqa: E501 - a labelled line is one line

from __future__ import annotations

from collections import Counter
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxbudget import records
from ctxbudget.errors import TraceError
from ctxbudget.loaders.openhands import rows, v0, v1
from ctxbudget.message_lists import first_records, opening
from ctxbudget.records import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ctxbudget.builder import Start, TraceBuilder
    from ctxbudget.records import Reading
    from ctxbudget.trace import Parse, Trace

FIRST = "0.json"
V0_EVENTS, V1_EVENTS = "[0-9]*.json", "event-*.json"
MOST_EVENTS = 100_000
"""Event files of one conversation that are read."""


def sniff(head: bytes, path: str) -> float:
    """A list or lines of events, rows of evaluation output, the state of a version 1 conversation, or the first of the
    event files of a version 0 session."""
    values = first_records(head)
    match values:
        case [dict() as only] if is_state(only):
            return 0.9
        case [dict() as first, *_] if rows.is_row(first):
            return 0.95
        case [only] if v0.is_event(only) and _is_first(path):
            return 0.9
    known = sum(v0.is_event(value) or v1.is_event(value) for value in values[:50])
    others = len(values[:50]) - known
    return 0.0 if known < 2 else 0.95 * known / (known + others)


def is_state(data: dict[str, Any]) -> bool:
    """Whether a document is the ``base_state.json`` of a conversation."""
    return "agent" in data and "id" in data and ("execution_status" in data or "agent_status" in data)


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """The conversation; of evaluation output one for each row."""
    unwrapped = reading.unwrap()
    ahead = list(islice(unwrapped, 1))
    first = ahead[0].data if ahead and isinstance(ahead[0].data, dict) else {}
    events: Iterator[Record] = chain(ahead, unwrapped)
    if rows.is_row(first):
        yield from _rows(events, reading, start)
        return
    skipped: Counter[str] = Counter()
    state: dict[str, Any] = {}
    if is_state(first):
        state, events = first, chain(events, _files(Path(reading.path).parent / "events", V1_EVENTS, skipped))
    elif v0.is_event(first) and _is_first(reading.path):
        events = _files(Path(reading.path).parent, V0_EVENTS, skipped)
    build = start()
    talk = _talk(build, list(events), skipped, state)
    yield _finished(build, talk, reading.parse)


def companions(reading: Reading) -> list[Path]:
    """The events of a conversation that keeps each in a file of its own."""
    folder = Path(reading.path).parent
    if _is_first(reading.path):
        return [file for file in folder.glob(V0_EVENTS) if file.name != FIRST]
    first = opening(reading.head)[:1]
    is_told = first and isinstance(first[0], dict) and is_state(first[0])
    return [*(folder / "events").glob(V1_EVENTS)] if is_told and not reading.held else []


def _rows(events: Iterable[Record], reading: Reading, start: Start) -> Iterator[Trace]:
    """One trace for each row that has a history, with the task's name as label."""
    seen: Counter[str] = Counter()
    for record in events:
        row = record.data if isinstance(record.data, dict) else {}
        history = rows.history(row, record.line)
        name = rows.name(row) or str(record.line)
        seen[name] += 1
        build = start(label=name if seen[name] == 1 else f"{name}.{seen[name]}")
        rows.add_facts(build, row)
        talk = _talk(build, history, Counter(), {})
        rows.add_rest(build, row, talk.billed)
        yield _finished(build, talk, reading.parse)


def _talk(build: TraceBuilder, events: list[Record], skipped: Counter[str], state: dict[str, Any]) -> v0.Talk | v1.Talk:
    build.agent = "openhands"
    newer = bool(state) or any(v1.is_event(record.data) for record in events[:50])
    talk = v1.Talk(build, skipped, state) if newer else v0.Talk(build, skipped)
    for record in events:
        talk.hear(record.data, record.line)
    talk.end()
    return talk


def _finished(build: TraceBuilder, talk: v0.Talk | v1.Talk, parse: Parse) -> Trace:
    for name, count in sorted(talk.skipped.items()):
        if name not in v0.SILENT and name not in v1.SILENT:
            build.warn("unknown-record", f"{count} record(s) of type {name!r} not read")
    return build.finish(parse, talk.skipped)


def _is_first(path: str) -> bool:
    """Whether the file is ``events/0.json``: version 0 keeps every event in a file of its own."""
    return path != "-" and Path(path).name == FIRST and Path(path).absolute().parent.name == "events"


def _files(folder: Path, pattern: str, skipped: Counter[str]) -> Iterator[Record]:
    """The events in files of their own, in the order of their numbers or names."""
    files = sorted(folder.glob(pattern), key=lambda file: (len(file.stem) if pattern[0] == "[" else 0, file.name))
    for number, file in enumerate(files[:MOST_EVENTS], 1):
        try:
            yield from (Record(record.data, number) for record in records.read(str(file)))
        except TraceError:
            skipped["unreadable event file"] += 1
