"""Codex CLI rollouts (~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl).

Where: ``~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl`` and ``~/.codex/archived_sessions/``;
``CODEX_HOME`` moves ``~/.codex``.
Seen: the base instructions, developer and user texts, environment blocks, replies, calls of every sort, results,
compactions with the history that replaced the old one, turns that were rolled back, the window.
Unseen: the schemas of the standard tools, reasoning (sealed; its tokens are told), a summary made by the server.
Counts: ``token_count`` after each call, the cached part inside the input; repeated ones are told by their totals.

Only what the model was sent counts: ``response_item`` (and the bare items of early rollouts); events are copies for the
display, except for counts, compactions and roll-backs. Reasoning is sealed and the server drops it from later prompts:
it is no fragment here, and ``carries_reasoning`` says so; its tokens are in the usage. The system prompt is in the
file, the schemas of the standard tools are not. Sub-agents have rollouts of their own: none are children here.

A fork copies its parent's history and counts. It is part of the fork's context and of its calls; the keys of the
calls are the parent's (see ``usage``), so that totals over both files count them once.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ctxbudget.loaders.codex.kinds import instructions
from ctxbudget.loaders.codex.parts import Writer, plain
from ctxbudget.loaders.codex.timeline import Timeline
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Start, TraceBuilder
    from ctxbudget.records import Reading
    from ctxbudget.trace import Trace

_LINE = re.compile(rb'"type"\s*:\s*"(?:session_meta|response_item|event_msg|turn_context|compacted)"')
_PAYLOAD = re.compile(rb'"payload"\s*:\s*\{')
_ITEM = re.compile(
    rb'^\{[^\n]{0,200}?"type"\s*:\s*"(?:message|reasoning|function_call|function_call_output|local_shell_call)"',
    re.MULTILINE,
)
_BARE = re.compile(
    rb'\A\s*\{(?=[^\n]*"id")(?=[^\n]*"timestamp")(?=[^\n]*"(?:instructions|git)")|"record_type"\s*:\s*"state"'
)


def sniff(head: bytes, path: str) -> float:  # noqa: ARG001 - the bytes decide
    """Lines of ``type`` and ``payload``; before September 2025 bare items behind a line that names the session."""
    if _LINE.search(head) and _PAYLOAD.search(head):
        return 0.95
    return 0.9 if _BARE.search(head) and _ITEM.search(head) else 0.0


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """The thread of a rollout file; none where no record of it is Codex'."""
    timeline = Timeline()
    timeline.read(reading)
    if not (timeline.entries or timeline.dropped or timeline.metas):
        return
    build = start()
    own = timeline.metas[0] if timeline.metas else {}
    build.agent = "codex"
    build.session, build.cwd = _string(own.get("id")), _string(own.get("cwd"))
    build.model = _string(timeline.context.get("model"))
    build.window = timeline.window
    build.carries_reasoning = False
    _add_overhead(build, timeline)
    child = isinstance(source := own.get("source"), dict) and "subagent" in source
    writer = Writer(build, root_of(timeline.metas), timeline.skipped, child=child)
    writer.write(timeline.entries)
    writer.write_off(timeline.dropped)
    for name, count in sorted(timeline.skipped.items()):
        build.warn("unknown-record", f"{count} record(s) of type {name!r} not read")
    yield build.finish(reading.parse, timeline.skipped)


def root_of(metas: list[dict[str, Any]]) -> str:
    """The thread at the root of the forks: a fork's file holds its parent's ``session_meta``, and so on upwards."""
    above = {_string(meta.get("id")): _string(meta.get("forked_from_id")) for meta in reversed(metas)}
    name, seen = _string(metas[0].get("id")) if metas else None, set[str | None]()
    while (parent := above.get(name)) is not None and name not in seen:
        seen.add(name)
        name = parent
    return name or ""


def _add_overhead(build: TraceBuilder, timeline: Timeline) -> None:
    """The system prompt, and the tools that the client was given besides its own."""
    texts = (instructions(meta.get("base_instructions")) for meta in timeline.metas)
    prompt = next(filter(None, texts), timeline.instructions)
    tools = _eager(timeline.metas[0].get("dynamic_tools")) if timeline.metas else None
    if prompt or tools:
        build.message("system", 1)
    if prompt:
        build.add(Kind.SYSTEM_PROMPT, prompt)
    if tools:
        build.add(Kind.TOOL_DEFINITIONS, plain(tools))


def _eager(tools: Any) -> Any:
    """The tools that are there from the start; a deferred one enters when it is searched for."""
    match tools:
        case list():
            return [kept for tool in tools if (kept := _eager(tool))]
        case {"deferLoading": True}:
            return None
        case {"tools": list(inner)}:
            return {**tools, "tools": kept} if (kept := _eager(inner)) else None
    return tools


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
