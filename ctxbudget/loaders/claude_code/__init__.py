"""Claude Code sessions (~/.claude/projects/…/<session>.jsonl), with sub-agents in their folder or inline.

Where: ``~/.claude/projects/<folder>/<session>.jsonl``, sub-agents in ``<session>/subagents/`` beside it (earlier ones
inline); ``CLAUDE_CONFIG_DIR`` moves ``~/.claude``.
Seen: user texts, what the harness and its hooks add, replies with thinking and calls, results, images, compactions with
their summary, sub-agents, branches that were rewound, the model of every call.
Unseen: system prompt, tool schemas, the text of memory files that no attachment quotes, thinking that is only a
signature.
Counts: the prompt of every call is exact, each response counted once by its id. Output is often the placeholder that
streaming begins with (all versions up to 2.1.39 at least): trusted only where the line tells why the reply stopped.

The context is the path from the last leaf to its root (``parentUuid``), cut at the last ``compact_boundary``; display
copies (``toolUseResult``, ``progress``) never count.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ctxbudget import records
from ctxbudget.errors import TraceError
from ctxbudget.loaders.claude_code.lines import BOOKKEEPING, Line, active, parents, read_lines
from ctxbudget.loaders.claude_code.parts import add_attachment, add_reply, add_summary, add_user, read_usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ctxbudget.builder import Start, TraceBuilder
    from ctxbudget.records import Reading
    from ctxbudget.trace import Trace

_BOOKKEEPING = re.compile(
    rb'"type":\s*"(ai-title|custom-title|file-history-snapshot|last-prompt|permission-mode|mode|queue-operation)"'
)

SYNTHETIC = "<synthetic>"
"""The model name of messages that the client wrote itself: no call was made for them."""


def sniff(head: bytes, path: str) -> float:  # noqa: ARG001 - the bytes decide
    """Lines with ``parentUuid`` beside ``sessionId`` (Qwen Code shares both but speaks of ``parts``), or a session of
    which nothing but bookkeeping was written yet."""
    if b'"sessionId"' not in head:
        return 0.0
    if b'"parentUuid"' not in head:
        return 0.3 if _BOOKKEEPING.search(head) else 0.0
    if b'"parts"' in head and b'"functionCall"' in head:
        return 0.1
    return 0.95 if b'"isSidechain"' in head or b'"userType"' in head else 0.6


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """The session, with its sub-agents as children."""
    build = start()
    build.agent = "claude-code"
    skipped = _say(build, reading, start)
    for name, count in sorted(skipped.items()):
        if name not in BOOKKEEPING and name not in {"repeated record", "attachment"}:
            build.warn("unknown-record", f"{count} record(s) of type {name!r} not read")
    yield build.finish(replace(reading.parse, skipped=tuple(sorted(skipped.items()))))


def _say(build: TraceBuilder, reading: Reading, start: Start) -> Counter[str]:
    """Say to the builder what the file holds; how many records of each type were left out. The lines, the largest
    thing in memory by then, are gone when this returns."""
    lines, skipped, facts = read_lines(reading)
    build.session, build.cwd = facts.get("sessionId"), facts.get("cwd")
    main = [line for line in lines if not line.side]
    if not any(line.type in {"user", "assistant"} for line in main):
        main = lines
    fill(build, main, skipped)
    for label, own in side_chains([line for line in lines if line.side] if main is not lines else []):
        build.child(_child(start, label, own, reading.path, Counter()))
    for file in _agent_files(reading.path, build.session):
        _load_agent(build, start, file)
    return skipped


def fill(build: TraceBuilder, lines: Sequence[Line], skipped: Counter[str]) -> None:
    """Say to the builder what one chain of lines holds; ``skipped`` counts attachments of which nothing was sent."""
    live = active(lines)
    kept = set(map(id, live))
    groups: dict[str, list[Line]] = {}
    for line in lines:
        if line.key is not None and line.body:
            groups.setdefault(line.key, []).append(line)
    spent: Counter[str] = Counter()
    at = 0
    while at < len(live):
        if build.started and (live[at].boundary or live[at].summary):
            at = _compact(build, live, at, skipped)
            continue
        _add(build, live[at], groups, spent, skipped)
        at += 1
    _bill_abandoned(build, lines, kept, groups)
    if spent:
        build.model = max(spent, key=lambda name: (spent[name], name))


def _add(
    build: TraceBuilder, line: Line, groups: Mapping[str, list[Line]], spent: Counter[str], skipped: Counter[str]
) -> None:
    if line.type == "attachment":
        skipped["attachment"] += not add_attachment(build, line)
    elif line.summary:
        # its originals are in another file: here it is what the session begins with
        add_summary(build, line)
    elif line.type == "user":
        build.message("user", line.number)
        add_user(build, line)
    elif line.key is None or groups[line.key][0] is line:
        group = [line] if line.key is None else groups[line.key]
        _answer(build, group, spent)


def _answer(build: TraceBuilder, group: list[Line], spent: Counter[str]) -> None:
    line, model = group[0], group[0].body.get("model")
    if not isinstance(line.body.get("content"), list | str) or "role" not in line.body:
        build.warn("malformed-message", "an assistant record without role or content", line.number)
        return
    if model == SYNTHETIC:
        build.message("assistant", line.number)
        add_reply(build, group)
        return
    usage = read_usage(build, group)
    name = model if isinstance(model, str) else None
    if name is not None:
        spent[name] += usage.prompt + 1 if usage else 1
    build.turn(model=name, usage=usage, line=line.number, key=line.key)
    build.message("assistant", line.number)
    add_reply(build, group)


def _compact(build: TraceBuilder, live: Sequence[Line], at: int, skipped: Counter[str]) -> int:
    """A compaction: its summary and the files attached behind it stand in place of everything before."""
    first = live[at]
    metadata = first.body.get("metadata") if first.boundary else None
    facts = metadata if isinstance(metadata, dict) else {}
    pre, post = facts.get("preTokens"), facts.get("postTokens")
    at += first.boundary
    with build.compaction(
        first.number,
        trigger=str(facts.get("trigger", "unknown")),
        pre_tokens=pre if isinstance(pre, int) else None,
        post_tokens=post if isinstance(post, int) else None,
    ):
        while at < len(live) and (live[at].summary or live[at].type == "attachment"):
            line = live[at]
            if line.type == "attachment":
                skipped["attachment"] += not add_attachment(build, line)
            else:
                add_summary(build, line)
            at += 1
    return at


def _bill_abandoned(
    build: TraceBuilder, lines: Sequence[Line], kept: set[int], groups: Mapping[str, list[Line]]
) -> None:
    """Rewound branches were paid for, and are no part of the context."""
    lost = [line for line in lines if line.body and line.type in {"user", "assistant"} and id(line) not in kept]
    seen: set[str] = set()
    for line in lost:
        if line.key is None:
            build.abandoned += 1
        elif line.key not in seen:
            seen.add(line.key)
            build.abandoned += 1
            usage = read_usage(build, groups[line.key])
            if usage is not None and line.body.get("model") != SYNTHETIC:
                build.bill(line.key, line.body.get("model"), usage, purpose="abandoned")


def side_chains(lines: Sequence[Line]) -> list[tuple[str, list[Line]]]:
    """Inline sub-agents (up to about 1.0.x): one chain per agent id, else per root."""
    up = parents(lines)
    root: list[str] = []
    chains: dict[str, list[Line]] = {}
    for at, line in enumerate(lines):
        name = line.agent or (root[up[at]] if up[at] >= 0 else f"sidechain-{line.number}")
        root.append(name)
        chains.setdefault(name, []).append(line)
    return list(chains.items())


def _child(start: Start, label: str, lines: Sequence[Line], path: str, skipped: Counter[str]) -> Trace:
    build = start(label=label, path=path)
    build.agent = "claude-code"
    fill(build, lines, skipped)
    return build.finish()


def _agent_files(path: str, session: str | None) -> list[Path]:
    """Files of sub-agents: in ``<session>/subagents/`` (2.1.2 and later), or beside the session (1.0.x to 2.1.1)."""
    file = Path(path)
    if path == "-" or file.name.startswith("agent-"):
        return []
    stem = file.name.split(".jsonl")[0]
    nested = sorted((file.parent / stem / "subagents").rglob("agent-*.jsonl*"))
    beside = [other for other in sorted(file.parent.glob("agent-*.jsonl*")) if session and _belongs(other, session)]
    return [other for other in [*nested, *beside] if other.is_file()]


def _belongs(file: Path, session: str) -> bool:
    with file.open("rb") as opened:
        return f'"{session}"'.encode() in opened.read(65_536)


def _load_agent(build: TraceBuilder, start: Start, file: Path) -> None:
    """A sub-agent's own file; ``agent-acompact-*`` is the summarising call, whose prompt repeats the whole session."""
    try:
        lines, skipped, _ = read_lines(records.read(str(file)))
    except (TraceError, OSError) as error:
        build.warn("unreadable-agent", f"{file.name}: {error}")
        return
    label = file.name.split(".jsonl")[0].removeprefix("agent-")
    child = _child(start, label, lines, str(file), skipped)
    if not label.startswith("acompact"):
        build.child(child)
        return
    for call in child.billed:
        build.bill(call.key, call.model, call.usage, purpose="compaction")
