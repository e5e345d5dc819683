"""Recordings of spans → traces: what the loaders of tracing tools share.

Every model call repeats the whole history, so the calls of a run are put together as the requests of a log are
(``exchanges``). Calls under an agent that another agent started are that agent's own conversation, a child. Runs are
told apart by their session or trace; a later run whose first request goes on from an earlier run's reply continues it.
Where a call holds no history (it was not captured, or only what was new), it is what went before in the same run: the
replies, and what the tool spans answered.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from ctxbudget import sqlite
from ctxbudget.errors import EmptyTrace
from ctxbudget.spans.alone import Alone, calls
from ctxbudget.spans.attributes import loaded, nested
from ctxbudget.spans.exported import Exported, exported, named, words
from ctxbudget.spans.recording import Recording
from ctxbudget.spans.span import AGENT, MODEL, OTHER, TOOL, Reader, Span, Tree
from ctxbudget.spans.store import COPILOT, PHOENIX, stored

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ctxbudget.builder import Start
    from ctxbudget.exchanges import Provider
    from ctxbudget.records import Reading
    from ctxbudget.spans.group import Group
    from ctxbudget.trace import Outcome, Trace

__all__ = [
    "AGENT",
    "COPILOT",
    "MODEL",
    "OTHER",
    "PHOENIX",
    "TOOL",
    "Alone",
    "Exported",
    "Reader",
    "Span",
    "calls",
    "loaded",
    "named",
    "nested",
    "of",
    "tells_outcome",
    "traces",
    "words",
]


OUTCOMES = re.compile(
    r"(task[ _-]?)?(success|correct(ness)?|passed|pass|resolved|reward|accuracy|completion|goal[ _-]?accuracy|score)",
    re.IGNORECASE,
)
"""Names of scores that say whether the task was done; toxicity and its like do not."""


MOST_DEPTH = 20
"""Sub-agents inside sub-agents that are shown inside one another."""


def tells_outcome(name: str) -> bool:
    """Whether a score of that name is about the outcome of the task."""
    return OUTCOMES.fullmatch(name) is not None


def of(reading: Reading, skipped: Counter[str]) -> list[Exported]:
    """The spans of a file or a database; records that are none are counted."""
    if reading.head.startswith(sqlite.MAGIC):
        with sqlite.opened(reading) as database:
            return list(stored(database))
    found: list[Exported] = []
    for record in reading:
        before = len(found)
        found += exported(record)
        skipped["record that holds no span, skipped"] += len(found) == before
    return found


def traces(
    reading: Reading,
    spans: Iterable[Span],
    start: Start,
    reader: Reader,
    provider: Provider,
    skipped: Counter[str],
    outcomes: Mapping[str, Outcome] = MappingProxyType({}),
) -> Iterator[Trace]:
    """The runs of a file, each a trace named by its session or trace id, with its outcome; ``skipped`` counts what
    is none.

    Raises EmptyTrace if there is no model call.
    """
    tree = Tree(spans)
    recording = Recording(tree, reader, start, provider)
    recording.skipped.update(skipped)
    for span in tree.ordered:
        recording.add(span)
    groups = [group for group in recording.groups.values() if group.has_begun]
    for group in groups:
        group.outcome = outcomes.get(group.name)
    if not groups:
        raise EmptyTrace(f"{reading.path}: no model call in {len(tree.ordered)} spans", hint="nothing was measured")
    for trace in _finished(groups, recording, reading):
        is_database = reading.head.startswith(sqlite.MAGIC)
        yield replace(trace, parse=replace(trace.parse, records_ok=len(tree.ordered))) if is_database else trace


def _finished(groups: list[Group], recording: Recording, reading: Reading) -> Iterator[Trace]:
    """Sub-agents first, deepest before those that called them."""
    parents = _parents(groups, recording)
    extra = recording.skipped
    mains = [group for group in groups if group.name not in parents]
    for group in sorted(groups, key=lambda group: -parents[group.name][1] if group.name in parents else 0):
        if group.name in parents:
            above, _ = parents[group.name]
            above.children += group.finish(reading, Counter(), named=True)
    several = sum(len(group.conversations) for group in mains) > 1
    for group in mains:
        yield from group.finish(reading, extra, named=several)
        extra = Counter()


def _parents(groups: list[Group], recording: Recording) -> dict[str, tuple[Group, int]]:
    """The group above each, and how deep it is; what is deeper than ``MOST_DEPTH`` stands beside the one above it."""
    found: dict[str, tuple[Group, int]] = {}
    roots: set[str] = set()
    for group in groups:
        path: dict[str, Group] = {}
        at = group
        while at.name not in found and at.name not in roots:
            above = recording.above(at)
            if above is None or above.name in path:
                roots.add(at.name)
            else:
                path[at.name] = at
                at = above
        for below in reversed(path.values()):
            above = recording.above(below) or at
            depth = found[above.name][1] + 1 if above.name in found else 1
            found[below.name] = (above, depth) if depth <= MOST_DEPTH else (found[above.name][0], MOST_DEPTH)
    return found
