"""Claude managed agents: the events of a session, as ``/v1/sessions/<id>/events`` lists or streams them.

Where: wherever a program stored them: JSON Lines, a list, or a page of the API (``data``); with the session object beside them (``session``, ``events``) that is read too.
Seen: messages, calls of built-in, MCP and custom tools with their results, denials, compactions, evaluations of a defined outcome, calls of sub-agents that were passed on; from a session object the model, its instructions and custom tools.
Unseen: system prompt and schemas of built-in tools, thinking, what a compaction put in place, everything else of sub-agents' threads (streams of their own).
Counts: usage of every call (``span.model_request_end``), exclusive: prompt = input + cache read + cache creation; output is final and includes the thinking.

Rules: the events reference of platform.claude.com ("managed-agents-2026-04-01") and the types of anthropics/anthropic-sdk-ruby.
An event with a ``session_thread_id`` of its own is a sub-agent's. A request that failed is no turn; it was billed.
"""  # noqa: E501 - a labelled line is one line

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget.exchanges import compact
from ctxbudget.loaders.claude_managed_agents.thread import Thread
from ctxbudget.message_lists import first_records
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Start, TraceBuilder
    from ctxbudget.records import Reading
    from ctxbudget.trace import Trace

Fields = dict[str, Any]
Event = tuple[Fields, int]

TELLING = ("agent.", "span.model_request_", "session.status_", "session.thread_", "span.outcome_evaluation_")
"""Beginnings of types that no other agent's events have."""


def sniff(head: bytes, path: str) -> float:  # noqa: ARG001 - the bytes decide
    """Events of ``agent.*``, ``span.model_request_*`` and ``session.status_*``, plain or under ``raw``."""
    return max((_score(item) for value in first_records(head) for item in _inner(value)), default=0)


def _score(record: Any) -> float:
    match _bare(record):
        case {"type": str(kind), "data": dict(), "parentId": _}:  # Copilot CLI
            return 0.0
        case {"type": str(kind), "id": str()} | {"type": str(kind), "processed_at": _} if kind.startswith(TELLING):
            return 0.95
        case {"type": "user.message", "content": list()}:
            return 0.8
    return 0.0


def _inner(value: Any) -> list[Any]:
    """The events in a document; a record that is none holds itself."""
    match value:
        case {"events": list(events)} | {"data": list(events), "type": _} | {"data": list(events), "has_more": _}:
            return events
        case {"data": list(events)} if len(value) < 4:
            return events
    return [value]


def _bare(record: Any) -> Any:
    match record:
        case {"raw": {"type": str()} as raw}:
            return raw
    return record


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """The session, with what is there of its sub-agents as children."""
    events: list[Event] = []
    facts: Fields = {}
    for record in reading.unwrap():
        inner = _inner(record.data)
        for number, event in enumerate(inner, 1):
            bare = _bare(event)
            if isinstance(bare, dict):
                events.append((bare, number if len(inner) > 1 else record.line))
        facts = facts or _session(record.data)
    if _backwards(events):
        events.reverse()
    threads: dict[str, list[Event]] = {"": []}
    for event in events:
        threads.setdefault(_thread_of(event[0]), []).append(event)
    build = start()
    build.agent = "claude-managed-agents"
    _add_facts(build, facts)
    thread = Thread(build, threads.pop(""))
    thread.tell()
    for name, own in threads.items():
        build.child(_child(start, name, own, thread.names.get(name)))
    for kind, count in sorted(thread.skipped.items()):
        build.warn("unknown-record", f"{count} event(s) of type {kind!r} not read")
    yield build.finish(reading.parse, thread.skipped)


def _child(start: Start, name: str, events: list[Event], agent: str | None) -> Trace:
    build = start(label=name)
    build.agent = agent or "claude-managed-agents"
    Thread(build, events).tell()
    return build.finish()


def _thread_of(event: Fields) -> str:
    """The sub-agent whose event it is; what tells of a thread is the session's own."""
    name = event.get("session_thread_id")
    return name if isinstance(name, str) and not str(event.get("type")).startswith("session.") else ""


def _backwards(events: list[Event]) -> bool:
    """Whether the newest stands first, as in a list that was asked for in that order."""
    times = [time for event, _ in events if isinstance(time := event.get("processed_at"), str)]
    return len(times) > 1 and times[0] > times[-1]


def _session(data: Any) -> Fields:
    """The session object, where the file has one."""
    match data:
        case {"session": dict(session)} | ({"type": "session", "agent": _} as session):
            return dict(session)
        case {"session_id": str(name), "events": _}:
            return {"id": name}
    return {}


def _add_facts(build: TraceBuilder, session: Fields) -> None:
    name, agent = session.get("id"), session.get("agent")
    build.session = name if isinstance(name, str) else None
    if not isinstance(agent, dict):
        return
    model = agent.get("model")
    model = model.get("id") if isinstance(model, dict) else model
    build.model = model if isinstance(model, str) else None
    tools, prompt = agent.get("tools"), agent.get("system")
    shown = [tool for tool in (tools if isinstance(tools, list) else []) if _has_schema(tool)]
    if shown or isinstance(prompt, str):
        build.message("system", 1)
    for block, tool in enumerate(shown):
        build.add(Kind.TOOL_DEFINITIONS, compact(tool), block=block)
    if isinstance(prompt, str) and prompt:
        build.add(Kind.SYSTEM_PROMPT, prompt)


def _has_schema(tool: Any) -> bool:
    """A custom tool is defined here; of a built-in set only the name is."""
    return isinstance(tool, dict) and "input_schema" in tool
