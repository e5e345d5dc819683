"""Codex exec: the events that ``codex exec --json`` prints, and the Codex SDK reads.

Where: wherever the output was sent (logs of CI, files of programs on the Codex SDK); the session's rollout in ``~/.codex/sessions`` says more.
Seen: the agent's messages, commands with their output, calls of MCP tools with their results, which files were changed, the plan, searches.
Unseen: the prompt, system prompt and tool schemas, the text of patches, reasoning (only its headings), compactions, the model, the window.
Counts: one running total for a whole turn of the user, inclusive: billed as a sum; it is a call's own usage only where the turn was one call.

Rules: openai/codex 0.4x to 0.15x, ``codex-rs/exec/src/exec_events.rs``; ``turn.completed`` repeats the thread's running
total (issue 17539 there). A reply ends where a tool has answered. Up to 0.41 an item's type was ``item_type``.
"""  # noqa: E501 - a labelled line is one line

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget.loaders.codex_exec.thread import Thread
from ctxbudget.message_lists import first_records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Start
    from ctxbudget.records import Reading, Record
    from ctxbudget.trace import Trace


def sniff(head: bytes, path: str) -> float:  # noqa: ARG001 - the bytes decide
    """``thread.started``, items in ``item.*`` events. The log of a program may have a line of its own before."""
    return max(map(_score, first_records(head, logged=True)), default=0)


def _score(record: Any) -> float:
    match record:
        case {"type": "thread.started", "thread_id": str()}:
            return 0.95
        case {"type": "item.started" | "item.updated" | "item.completed", "item": {"id": str()}}:
            return 0.9
        case {"type": "turn.completed", "usage": {"input_tokens": _}}:
            return 0.8
    return 0.0


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """Each thread in the output; one that is taken up again goes on."""
    threads: dict[str, list[Record]] = {}
    name = ""
    for record in reading.unwrap():
        match record.data:
            case {"type": "thread.started", "thread_id": str(started)}:
                name = started
                if name not in threads and "" in threads:  # what stands before the first thread belongs to it
                    threads[name] = threads.pop("")
        if isinstance(record.data, dict):
            threads.setdefault(name, []).append(record)
    for number, (name, found) in enumerate(threads.items(), 1):
        build = start(label=str(number) if len(threads) > 1 else None)
        build.agent, build.session, build.carries_reasoning = "codex", name or None, False
        thread = Thread(build)
        thread.tell(found)
        for kind, count in sorted(thread.skipped.items()):
            build.warn("unknown-record", f"{count} event(s) of type {kind!r} not read")
        yield build.finish(reading.parse, thread.skipped)
