"""Claude stream-json: what ``claude -p --output-format stream-json`` prints, and the messages of the Agent SDK.

Where: wherever the output was sent: logs of CI, files of programs on the Agent SDK, ``agent/claude-code.txt`` of Harbor.
Seen: replies with thinking, every call with its result, sub-agents, compactions with their summary, what hooks added, the window.
Unseen: system prompt, tool schemas (only names), memory files, and mostly the prompt, which ``claude -p`` does not repeat (``--replay-user-messages`` does).
Counts: the prompt of every call, exclusive; its output is often a stream's placeholder. The sums of the ``result`` line are right: what no message accounts for is billed apart. Some gateways report zeros with each message.

Rules: Claude Code 2.1 and Agent SDK 0.2 (types of ``SDKMessage``). The first user text behind a ``compact_boundary``
is the summary. ``stream_event`` lines are the same replies in pieces. Lines with ``parent_tool_use_id`` are a sub-agent's.
"""  # noqa: E501 - a labelled line is one line

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ctxbudget.loaders.claude_stream_json.session import Session
from ctxbudget.loaders.claude_stream_json.sums import checked, plain, windows
from ctxbudget.message_lists import first_records
from ctxbudget.providers.claude_code.chain import fill
from ctxbudget.trace import Kind, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Start, TraceBuilder
    from ctxbudget.providers.claude_code.lines import Line
    from ctxbudget.records import Reading
    from ctxbudget.trace import Trace


def sniff(head: bytes, path: str) -> float:  # noqa: ARG001 - the bytes decide
    """Lines with ``session_id`` beside ``message``, ``subtype`` or ``event``; a Claude Code session has ``parentUuid``
    and ``sessionId``. The log of a program may have a line of its own before."""
    found = first_records(head, logged=True)
    if any(isinstance(record, dict) and "parentUuid" in record for record in found):
        return 0.0
    return 0.95 if any(map(_is_own, found)) else 0.0


def _is_own(record: Any) -> bool:
    match record:
        case {"type": "assistant" | "user", "message": dict(), "session_id": str()}:
            return True
        case {"type": "system", "subtype": "init" | "compact_boundary" | "api_retry", "session_id": str()}:
            return True
        case {"type": "system", "subtype": "hook_started" | "hook_response"}:
            return True
        case {"type": "stream_event", "event": dict(), "session_id": str()}:
            return True
        case {"type": "result", "subtype": str(), "num_turns": _}:
            return True
    return False


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """Each session in the output, sub-agents as children."""
    sessions: dict[str, Session] = {}
    latest = ""
    for record in reading.unwrap():
        if isinstance(record.data, dict):
            named = record.data.get("session_id")
            if isinstance(named, str) and named not in sessions and "" in sessions:
                # what a program logged before the first line with a name belongs to it
                sessions[named] = sessions.pop("")
            latest = named if isinstance(named, str) else latest
            sessions.setdefault(latest, Session()).take(record.data, record.line)
    own = {name: session for name, session in sessions.items() if session.results or any(session.lanes.values())}
    for number, (name, session) in enumerate(own.items(), 1):
        build = start(label=str(number) if len(own) > 1 else None)
        build.session = name or None
        yield _trace(build, session, reading, start)


def _trace(build: TraceBuilder, session: Session, reading: Reading, start: Start) -> Trace:
    build.agent = "claude-code"
    cwd, model = session.init.get("cwd"), session.init.get("model")
    build.cwd = cwd if isinstance(cwd, str) else None
    main = session.lanes.pop(None)
    fill(build, main, session.skipped)
    build.model = build.model or (model if isinstance(model, str) else None)
    build.window = windows(session.results).get(plain(build.model or ""))
    for label, lines in session.lanes.items():
        build.child(_child(start, label, lines, reading.path))
    if session.results:
        _conclude(build, session, bare=not main)
    for name, count in sorted((+session.skipped).items()):
        if name not in {"repeated record", "attachment"}:
            build.warn("unknown-record", f"{count} record(s) of type {name!r} not read")
    trace = build.finish(reading.parse, +session.skipped)
    return checked(trace, session.results)


def _child(start: Start, label: str | None, lines: list[Line], path: str) -> Trace:
    build = start(label=label, path=path)
    build.agent = "claude-code"
    fill(build, lines, Counter())
    return build.finish()


def _conclude(build: TraceBuilder, session: Session, *, bare: bool) -> None:
    """How the run ended; with ``--output-format json`` its answer is all there is."""
    last = session.results[-1]
    if bare and isinstance(text := last.get("result"), str):
        build.message("assistant", 1)
        build.add(Kind.ANSWER, text)
        build.warn("result-only", "the output holds the result of the run alone, none of its messages")
    ended = last.get("subtype")
    failed = last.get("is_error") is True or (isinstance(ended, str) and ended.startswith("error"))
    # a run that ended well may still have got it wrong: its success stays open
    build.outcome = Outcome(False if failed else None, None, f"result.subtype: {str(ended)[:60]}")
