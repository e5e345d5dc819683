"""GitHub Copilot CLI sessions (~/.copilot/session-state/<id>/events.jsonl).

Where: ``~/.copilot/session-state/<id>/events.jsonl`` (older: ``<id>.jsonl`` there, or in ``history-session-state``).
Seen: system prompt, user texts as they were sent, replies with reasoning, calls, results, sub-agents, skills, notices, compactions, truncations, rewinds, the model of every call.
Unseen: tool schemas (their size is told at the end of a run and before a compaction), which messages a truncation took, encrypted reasoning of OpenAI models after a resume.
Counts: output of every call; input only as sums of each run, inclusive, at its end (``session.shutdown``), missing where the program was killed.

Rules: github/copilot-sdk ``nodejs/src/generated/session-events.ts`` (2026), Copilot CLI 1.0.77 and 1.0.78. ``parentId`` is
the event before, no tree: a rewind names the event that it took back with all behind it. The sums of a run begin at
zero when it is resumed; they are billed with the last call of each model in it, which the run's calls then add up to.
A compaction runs beside the conversation: what was said after ``session.compaction_start`` stays.
"""  # noqa: E501 - a labelled line is one line

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ctxbudget.loaders.copilot_cli.events import Log, read_log
from ctxbudget.loaders.copilot_cli.sums import with_sums
from ctxbudget.loaders.copilot_cli.talk import Talk
from ctxbudget.message_lists import first_records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Start, TraceBuilder
    from ctxbudget.records import Reading
    from ctxbudget.trace import Trace

PREFIXES = ("session.", "assistant.", "user.message", "tool.execution_", "system.message", "hook.", "subagent.")


def sniff(head: bytes, path: str) -> float:  # noqa: ARG001 - the bytes decide
    """Events with their own names, ``data`` and ``parentId``."""
    surest = 0.0
    for value in first_records(head)[:50]:
        match value:
            case {"type": "session.start", "data": {"producer": "copilot-agent"}}:
                return 0.97
            case {"type": str(kind), "data": dict(), "id": str(), "parentId": _} if kind.startswith(PREFIXES):
                surest = 0.95
    return surest


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """The session, its sub-agents as children."""
    skipped: Counter[str] = Counter()
    log = read_log(reading, skipped)
    if not log.events:
        return
    build = start()
    Talk(build, log, skipped, tools=log.tools).say(log.main)
    for name in log.agents:
        child = start(label=name)
        child.session, child.cwd = build.session, build.cwd
        build.child(_sub_agent(child, log, name, skipped))
    for name, count in sorted(skipped.items()):
        build.warn("unknown-record", f"{count} record(s) of type {name!r} not read")
    trace = build.finish(reading.parse, skipped)
    yield with_sums(trace, log)


def _sub_agent(build: TraceBuilder, log: Log, name: str, skipped: Counter[str]) -> Trace:
    """A sub-agent; what it was asked stands in the call that began it."""
    talk = Talk(build, log, skipped)
    talk.asked(log.tasks.get(name))
    talk.say(log.agents[name])
    return build.finish()
