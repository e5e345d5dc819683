"""Kimi CLI and Kimi Code sessions: wire logs (wire.jsonl, old and new) and the older context files (context.jsonl).

Where: Kimi Code ``~/.kimi-code/sessions/…/agents/<main|agent-N>/wire.jsonl``; Kimi CLI ``~/.kimi/sessions/<hash>/<id>/`` with ``wire.jsonl`` and ``context.jsonl``.
Seen: in a new wire everything: system prompt, tool schemas, messages, injected reminders, replies with thinking, calls, results, compactions, sub-agents in files of their own; in an old wire what happened; in a context file the context itself.
Unseen: in an old wire system prompt, tool schemas and the summary of a compaction; in a context file the schemas and what was compacted away.
Counts: usage of every call, exclusive (prompt = inputOther + inputCacheRead + inputCacheCreation); a context file has the size of every prompt and reply, not how much of it was cached.

Rules: MoonshotAI/kimi-code (``packages/agent-core``, wire protocol 1.4) and MoonshotAI/kimi-cli 0.x to 1.x (``wire/types.py``,
``soul/context.py``). A step is one call of the model; one without its end failed, and what it asks is asked again.
``usage.record`` repeats the usage of a step, except behind a request of another kind. A compaction keeps the latest
messages of the user, as many as it says, and puts a summary behind them.
"""  # noqa: E501 - a labelled line is one line

from __future__ import annotations

from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from ctxbudget import records
from ctxbudget.errors import TraceError
from ctxbudget.loaders.kimi import context, legacy, wire
from ctxbudget.loaders.kimi.talk import Talk
from ctxbudget.message_lists import opening

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ctxbudget.builder import Start, TraceBuilder
    from ctxbudget.records import Reading, Record
    from ctxbudget.trace import Trace

    Teller = Callable[[Talk, Iterator[Record], Start], None]

WIRE, CONTEXT = "wire.jsonl", "context.jsonl"

FIRST = 50
"""Records by which the kind of file is told."""


def sniff(head: bytes, path: str) -> float:  # noqa: ARG001 - the bytes decide
    """Records of one of the three kinds of file."""
    for value in opening(head)[:FIRST]:
        match value:
            case {"type": "metadata", "protocol_version": _}:
                return 0.95
            case {"type": str(kind), "time": int()} if kind in wire.OWN:
                return 0.92
            case {"timestamp": _, "message": {"type": str(kind), "payload": dict()}} if kind in legacy.OWN:
                return 0.95
            case {"role": "_system_prompt" | "_checkpoint" | "_usage"}:
                return 0.95
    return 0.0


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """The session; of a new wire with the sub-agents that lie beside it."""
    build = start()
    talk = _said(build, reading, start)
    for path in _agents(reading):
        child = start(label=path.parent.name, path=str(path))
        try:
            below = records.read(str(path))
            own = _said(child, below, start)
        except (TraceError, OSError) as error:
            build.warn("unreadable-agent", f"{path.parent.name}: {error}")
        else:
            build.child(_finish(child, below, own))
    yield _finish(build, reading, talk)


def companions(reading: Reading) -> list[Path]:
    """The wires of the session's sub-agents; the context file tells of the session of an old wire again."""
    file = Path(reading.path)
    return [*_agents(reading), *([file.with_name(CONTEXT)] if file.name == WIRE else [])]


def _said(build: TraceBuilder, reading: Reading, start: Start) -> Talk:
    build.agent = "kimi"
    found = reading.unwrap()
    first = list(islice(found, FIRST))
    talk = Talk(build)
    _teller(first)(talk, chain(first, found), start)
    talk.end()
    return talk


def _finish(build: TraceBuilder, reading: Reading, talk: Talk) -> Trace:
    for name, count in sorted(talk.skipped.items()):
        build.warn("unknown-record", f"{name} ({count})")
    return build.finish(reading.parse, talk.skipped)


def _teller(first: list[Record]) -> Teller:
    """Who reads this kind of file."""
    for record in first:
        match record.data:
            case {"message": {"type": str(kind)}, "timestamp": _} if kind in legacy.OWN:
                return legacy.say
            case {"role": str()}:
                return context.say
    return wire.say


def _agents(reading: Reading) -> list[Path]:
    """The wires of sub-agents: ``agents/agent-N/wire.jsonl`` beside ``agents/main/wire.jsonl``."""
    file = Path(reading.path)
    if reading.held or file.parent.name != "main" or file.parent.parent.name != "agents":
        return []
    return [other for other in sorted(file.parent.parent.glob(f"*/{file.name}")) if other.parent.name != "main"]
