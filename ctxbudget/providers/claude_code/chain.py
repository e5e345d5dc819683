"""One chain of lines → the turns of a trace."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ctxbudget.providers.claude_code.lines import active
from ctxbudget.providers.claude_code.parts import add_attachment, add_reply, add_summary, add_user, read_usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ctxbudget.builder import TraceBuilder
    from ctxbudget.providers.claude_code.lines import Line

SYNTHETIC = "<synthetic>"
"""The model name of messages that the client wrote itself: no call was made for them."""


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
