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
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from ctxbudget import records
from ctxbudget.errors import TraceError
from ctxbudget.message_lists import first_records
from ctxbudget.providers.claude_code.chain import fill
from ctxbudget.providers.claude_code.lines import BOOKKEEPING, Line, parents, read_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ctxbudget.builder import Start, TraceBuilder
    from ctxbudget.records import Reading
    from ctxbudget.trace import Trace

_BOOKKEEPING = re.compile(
    rb'"type":\s*"(ai-title|custom-title|file-history-snapshot|last-prompt|permission-mode|mode|queue-operation)"'
)


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
    yield build.finish(reading.parse, skipped)


def companions(reading: Reading) -> list[Path]:
    """The files of the session's sub-agents."""
    named = (record.get("sessionId") for record in first_records(reading.head) if isinstance(record, dict))
    return _agent_files(reading.path, next((name for name in named if isinstance(name, str)), None))


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
    agents = sorted(file.parent.glob("agent-*.jsonl*")) if session else []
    beside = [other for other in agents if f'"{session}"'.encode() in _beginning(other, other.stat().st_mtime_ns)]
    return [other for other in [*nested, *beside] if other.is_file()]


@lru_cache(maxsize=256)  # every session of a folder asks for the same ones
def _beginning(file: Path, changed: int) -> bytes:  # noqa: ARG001 - a file that has changed is read again
    with file.open("rb") as opened:
        return opened.read(65_536)


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
