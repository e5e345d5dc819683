"""Lines of a Claude Code session, and which of them are in the live context.

The file is a tree by ``parentUuid``. A rewind leaves the old branch in the file; parallel results hang beside the
path; a compaction starts a new root with ``logicalParentUuid``. What was sent is the path from the last line back to
the root, with the blocks and results that belong to its messages.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ctxbudget.records import Record

BOOKKEEPING = frozenset({
    "agent-name", "ai-title", "atis-latch", "bridge-session", "custom-title", "file-history-snapshot", "frame-link",
    "last-prompt", "mode", "permission-mode", "pr-link", "progress", "queue-operation", "relocated", "result",
    "started", "summary", "system", "tag", "worktree-state",
})  # fmt: skip
"""Record types that are never sent to the model (Claude Code 1.0 to 2.1): titles, snapshots, hook progress, and
``queue-operation``, whose text comes again as a message or a ``queued_command`` attachment when it is delivered."""


class Line(NamedTuple):
    """One record that has a place in the tree. ``body`` is its message, its attachment or its compact metadata.

    (A named tuple: a session has tens of thousands, and a frozen dataclass takes three times as long to make.)
    """

    number: int
    type: str
    uuid: str | None
    parent: str | None
    rooted: bool
    """The record says itself that it has no parent."""
    logical: str | None
    side: bool
    agent: str | None
    meta: bool
    summary: bool
    key: str | None
    """What groups the lines of one response: message id, else request id, else its own uuid."""
    body: dict[str, Any]

    @property
    def boundary(self) -> bool:
        """A compaction happened here."""
        return self.type == "compact_boundary"


def read_lines(records: Iterable[Record]) -> tuple[list[Line], Counter[str], dict[str, Any]]:
    """The lines of a session in file order, how many records of each type were left out, and the session's facts."""
    lines: list[Line] = []
    skipped: Counter[str] = Counter()
    facts: dict[str, Any] = {}
    seen: dict[str, Line] = {}
    for record in records:
        data = record.data
        if not isinstance(data, dict):
            skipped["not an object"] += 1
            continue
        for name in ("sessionId", "version", "cwd"):
            if name not in facts and isinstance(data.get(name), str):
                facts[name] = data[name]
        line = _line(data, record.line)
        if line is None or not line.body:
            skipped[str(data.get("type", "no type"))] += 1
        if line is None:
            continue
        if line.uuid is not None:
            earlier = seen.setdefault(line.uuid, line)
            if earlier is not line and line.body and earlier.type == line.type and earlier.body == line.body:
                skipped["repeated record"] += 1
                continue
        lines.append(line)
    return lines, skipped, facts


def _line(data: dict[str, Any], number: int) -> Line | None:
    get = data.get
    kind, own, parent, logical, agent = (
        get("type"),
        get("uuid"),
        get("parentUuid"),
        get("logicalParentUuid"),
        get("agentId"),
    )
    body: Any = None
    kind = kind if isinstance(kind, str) else "no type"
    if kind in {"user", "assistant"}:
        body = get("message")
    elif kind == "attachment":
        body = get("attachment")
    elif kind == "system" and get("subtype") == "compact_boundary":
        kind, body = "compact_boundary", {"metadata": get("compactMetadata")}
    if not isinstance(body, dict):
        body = {}
    own = own if isinstance(own, str) else None
    if not body and own is None:
        return None
    return Line(
        number,
        kind,
        own,
        parent if isinstance(parent, str) else None,
        parent is None and "parentUuid" in data,
        logical if isinstance(logical, str) else None,
        get("isSidechain") is True,
        agent if isinstance(agent, str) else None,
        get("isMeta") is True,
        get("isCompactSummary") is True,
        _key(data, body, own) if kind == "assistant" else None,
        body,
    )


def _key(data: dict[str, Any], body: dict[str, Any], own: str | None) -> str | None:
    for key in (body.get("id"), data.get("requestId")):
        if isinstance(key, str) and key:
            return key
    return own


def parents(lines: Sequence[Line]) -> list[int]:
    """For each line the position of its parent, always an earlier one; -1 for a root.

    A parent that is not in the file (a damaged line, a trimmed head) is replaced by the line before.
    """
    known: dict[str, int] = {}
    found: list[int] = []
    for at, line in enumerate(lines):
        wanted = line.parent or line.logical
        if wanted is not None and wanted in known:
            found.append(known[wanted])
        elif line.rooted and not line.boundary and not line.summary:
            found.append(-1)
        else:
            found.append(at - 1)
        if line.uuid is not None:
            known[line.uuid] = at
    return found


def active(lines: Sequence[Line]) -> list[Line]:
    """The lines whose content was sent, in file order: the path, and what belongs to its messages.

    Beside the path stand the other blocks of the same response, the results of its calls (parallel calls are stored
    as branches), and attachments that hang on such a result.
    """
    up = parents(lines)
    leaf = max((at for at, line in enumerate(lines) if line.type in {"user", "assistant", "attachment"}), default=-1)
    chosen: set[int] = set()
    while leaf >= 0:
        chosen.add(leaf)
        leaf = up[leaf]
    if len(chosen) == len(lines):
        return [line for line in lines if line.body]
    replies = {lines[at].key for at in chosen if lines[at].key is not None}
    chosen |= {at for at, line in enumerate(lines) if line.key in replies and line.type == "assistant"}
    calls = {call for at in chosen for call in _calls(lines[at])}
    answered = {call for at in chosen for call in _answers(lines[at])}
    extra: set[int] = set()
    for at, line in enumerate(lines):
        if at in chosen:
            continue
        answers = [call for call in _answers(line) if call in calls and call not in answered]
        if answers or (line.type == "attachment" and up[at] in extra):
            extra.add(at)
            answered.update(answers)
    return [line for at, line in enumerate(lines) if line.body and (at in chosen or at in extra)]


def _blocks(line: Line, kind: str, name: str) -> list[str]:
    content = line.body.get("content") if line.type in {"user", "assistant"} else None
    if not isinstance(content, list):
        return []
    return [
        block[name]
        for block in content
        if isinstance(block, dict) and block.get("type") == kind and isinstance(block.get(name), str)
    ]


def _calls(line: Line) -> list[str]:
    return _blocks(line, "tool_use", "id") if line.type == "assistant" else []


def _answers(line: Line) -> list[str]:
    return _blocks(line, "tool_result", "tool_use_id") if line.type == "user" else []
