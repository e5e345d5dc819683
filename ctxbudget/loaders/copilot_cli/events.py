"""The events of a Copilot session: which are live, whose they are, and what the log says of itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ctxbudget.records.values import items, mapping, string, tokens

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable

    from ctxbudget.records import Record


class Event(NamedTuple):
    """One record. ``run`` counts how often the program had been shut down; ``live`` is False for what was rewound."""

    line: int
    type: str
    id: str | None
    data: dict[str, Any]
    agent: str | None
    run: int
    live: bool = True


@dataclass(slots=True)
class Log:
    """What a file holds: all ``events``, those of the ``main`` agent, those of each of its ``agents``."""

    events: list[Event] = field(default_factory=list)
    main: list[Event] = field(default_factory=list)
    agents: dict[str, list[Event]] = field(default_factory=dict)
    tasks: dict[str, tuple[int, str]] = field(default_factory=dict)
    """The line and the text with which a sub-agent was begun."""
    outputs: dict[str, int] = field(default_factory=dict)
    """Output tokens by the id of an API call, whose reply may stand in several records."""
    calls: dict[str, tuple[int, str]] = field(default_factory=dict)
    """The run and the model of each billed call, by its key."""

    @property
    def tools(self) -> int:
        """Tokens of the tool schemas, by Copilot's own count; 0 where no event tells."""
        sizes = (tokens(event.data.get("toolDefinitionsTokens")) for event in self.main)
        return next((size for size in sizes if size), 0)


def read_log(records: Iterable[Record], skipped: Counter[str]) -> Log:
    """The events of a file in their order."""
    found: list[Event] = []
    live: list[int] = []
    place: dict[str, int] = {}
    run = 0
    for record in records:
        event = _event(record, run)
        if event is None:
            skipped["(no event)"] += 1
            continue
        if event.type == "session.snapshot_rewind":
            first = place.get(str(event.data.get("upToEventId")), len(found))
            while live and live[-1] >= first:
                at = live.pop()
                found[at] = found[at]._replace(live=False)
        if event.id is not None:
            place[event.id] = len(found)
        live.append(len(found))
        found.append(event)
        run += event.type == "session.shutdown"
    return _sorted(found)


def _event(record: Record, run: int) -> Event | None:
    match record.data:
        case {"type": str(kind), "data": dict(data), **rest}:
            agent = string(rest.get("agentId")) or string(data.get("parentToolCallId"))
            return Event(record.line, kind, string(rest.get("id")), data, agent, run)
    return None


def _sorted(events: list[Event]) -> Log:
    log = Log(events)
    begun: dict[str, str] = {}
    for event in events:
        if event.type == "subagent.started" and (call := string(event.data.get("toolCallId"))):
            # newer events name the agent, older ones the call that began it: one name for both
            begun[event.agent or call] = call
        if event.agent is None:
            log.main.append(event)
        else:
            log.agents.setdefault(begun.get(event.agent, event.agent), []).append(event)
        if event.type == "assistant.message":
            _note(log, event)
    return log


def _note(log: Log, event: Event) -> None:
    if call := string(event.data.get("apiCallId")):
        spent = event.data.get("outputTokens")
        log.outputs[call] = max(log.outputs.get(call, 0), spent if type(spent) is int else 0)
    for request in items(event.data.get("toolRequests")):
        match request:
            case {"toolCallId": str(name), "arguments": dict(given)} if task := string(mapping(given).get("prompt")):
                log.tasks[name] = event.line, task
