"""Broken limits and broken recordings, each with a stable id, a level, and the place to look at.

``find`` looks at a recording, ``waste.py`` at what it carried without need, ``run.py`` at what a strategy made of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxbudget.ledger import unpaired
from ctxbudget.trace import Kind, named_turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ctxbudget.ledger import Entry
    from ctxbudget.models import Window
    from ctxbudget.trace import Fragment, Trace

LEVELS = ("note", "warning", "error")
"""The least serious first."""

SHRANK = 0.10
"""A reported prompt this share below the one before is more than a rounding of the provider's cache or a dropped
thinking block."""


FRONT = frozenset({Kind.SYSTEM_PROMPT, Kind.TOOL_DEFINITIONS})
"""What a prompt begins with, and a prompt cache with it."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a finding of this id says, and how serious it is by default: ``error``, ``warning`` or ``note``."""

    id: str
    name: str
    level: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken limit or one piece of waste, and where to look. ``token_turns`` is of waste: tokens × prompts that
    held them as waste."""

    id: str
    name: str
    level: str
    turn: int | None
    layer: str | None
    message: str
    tokens: int | None = None
    line: int | None = None
    token_turns: int | None = None


OVER_WINDOW = Rule("CB101", "over the window", "error")
OVER_BUDGET = Rule("CB102", "over the budget", "error")
LAYER_OVER = Rule("CB103", "layer over its budget", "error")
GREW = Rule("CB104", "one turn grew too much", "warning")
LARGE_RESULT = Rule("CB105", "single result over its share", "warning")
STARVED = Rule("CB106", "layer starved", "warning")
UNANSWERED_CALL = Rule("CB201", "unanswered call", "warning")
ORPHAN_RESULT = Rule("CB202", "orphan result", "error")
PIN_TOUCHED = Rule("CB203", "pinned fragment touched", "error")
PREFIX_CHANGED = Rule("CB204", "cacheable prefix changed", "warning")
SHRANK_SILENTLY = Rule("CB205", "context shrank without a compaction", "warning")
REPEATED = Rule("CB301", "repeated observation", "note")
REREAD = Rule("CB302", "re-read of an unchanged file", "note")
STALE = Rule("CB303", "stale copy still in context", "note")
IDLE_TOOLS = Rule("CB304", "tool definitions never called", "note")
HEAVY = Rule("CB305", "heavy artifact carried on", "note")
LOOP = Rule("CB306", "loop", "note")
UNUSED = Rule("CB307", "observation never used again", "note")

WASTE = (REPEATED, REREAD, STALE, IDLE_TOOLS, HEAVY, LOOP, UNUSED)
RULES = (
    OVER_WINDOW, OVER_BUDGET, LAYER_OVER, GREW, LARGE_RESULT, STARVED, UNANSWERED_CALL, ORPHAN_RESULT, PIN_TOUCHED,
    PREFIX_CHANGED, SHRANK_SILENTLY, *WASTE,
)  # fmt: skip
"""Every rule, in order of id."""


def find(trace: Trace, ledger: Sequence[Entry], window: Window) -> Iterator[Finding]:
    """What is wrong with a recording, in order of id."""
    yield from _over_window(ledger, window)
    yield from pairs(trace)
    yield from _prefix_changed(trace)
    yield from _shrank(trace)


def finding(rule: Rule, message: str, turn: int | None, tokens: int | None = None, line: int | None = None) -> Finding:
    """A finding by a rule, at its default level."""
    return Finding(rule.id, rule.name, rule.level, turn, None, message, tokens, line)


def _over_window(ledger: Sequence[Entry], window: Window) -> Iterator[Finding]:
    over = [entry for entry in ledger if entry.size > window.tokens]
    if not over:
        return
    worst = max(over, key=lambda entry: entry.size)
    message = (
        f"{len(over)} of {len(ledger)} turns are over the window of {window.tokens:,} tokens, first turn "
        f"{over[0].turn.index}, worst turn {worst.turn.index} with {worst.size:,}"
    )
    yield finding(OVER_WINDOW, message, over[0].turn.index, worst.size - window.tokens, over[0].turn.line)


def pairs(trace: Trace) -> Iterator[Finding]:
    """Calls without a result and results without a call, as the recording has them."""
    dangling, orphans = unpaired(trace)
    for fragment in dangling:
        turn = named_turn(fragment)
        message = f"the call of {fragment.tool} at turn {turn} has no result"
        yield finding(UNANSWERED_CALL, message, turn, fragment.tokens, fragment.origin.line)
    for fragment in orphans:
        turn = named_turn(fragment)
        message = f"a result at turn {turn} answers no call before it"
        yield finding(ORPHAN_RESULT, message, turn, fragment.tokens, fragment.origin.line)


def front_changes(trace: Trace) -> list[tuple[int, Kind, int, int | None]]:
    """What stands at the front of every prompt and was another at a later turn: that turn, the kind, tokens, line.

    Tools are always sent at the front; a system text that only came in later may have been appended: it does not count.
    """
    known = {one.id: one for one in trace.fragments if one.kind in FRONT}
    changed: dict[tuple[int, Kind], tuple[int, int | None]] = {}

    def note(turn: int, one: Fragment, line: int | None) -> None:
        tokens = changed.get((turn, one.kind), (0, None))[0]
        changed[turn, one.kind] = (tokens + one.tokens, line)

    for compaction in trace.recorded:
        for gone in (known[one] for one in compaction.edit.removed if one in known):
            note(compaction.turn, gone, compaction.line)
        known.update((one.id, one) for one in compaction.edit.inserted if one.kind in FRONT)
    for one in trace.fragments:
        if one.kind is Kind.TOOL_DEFINITIONS and one.turn > 1:
            note(one.turn, one, one.origin.line)
    return [(turn, kind, tokens, line) for (turn, kind), (tokens, line) in sorted(changed.items())]


def _prefix_changed(trace: Trace) -> Iterator[Finding]:
    for turn, kind, tokens, line in front_changes(trace):
        what = kind.value.replace("_", " ")
        message = f"the {what} changed before turn {turn}: nothing that was cached before fits any more"
        yield finding(PREFIX_CHANGED, message, turn, tokens, line)


def _shrank(trace: Trace) -> Iterator[Finding]:
    compacted = {compaction.turn for compaction in trace.recorded}
    for before, turn in zip(trace.turns, trace.turns[1:], strict=False):
        if before.reported is None or turn.reported is None or turn.index in compacted or before.model != turn.model:
            continue
        lost = before.reported - turn.reported
        if lost > SHRANK * before.reported:
            message = (
                f"the reported prompt fell from {before.reported:,} to {turn.reported:,} tokens at turn {turn.index} "
                f"with no compaction recorded"
            )
            yield finding(SHRANK_SILENTLY, message, turn.index, lost, turn.line)
