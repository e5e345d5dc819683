"""What a strategy broke or wasted on a trace, and what was broken in it already."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ctxbudget.findings import OVER_WINDOW, PIN_TOUCHED, STARVED, Finding, finding, pairs
from ctxbudget.view import ENGINE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ctxbudget.replay import Run
    from ctxbudget.trace import Fragment, Trace


def find(trace: Trace, run: Run, pinned: Callable[[Fragment], bool]) -> Iterator[Finding]:
    """The findings of a run, in order of id. ``pinned`` tells what trace, strategy or user want whole."""
    yield from _over_window(run)
    yield from _starved(run)
    yield from pairs(trace)
    yield from _touched(trace, run, pinned)


def _over_window(run: Run) -> Iterator[Finding]:
    over = [row for row in run.turns if row.overflow]
    if not over:
        return
    worst = max(over, key=lambda row: row.tokens)
    kept = f", {run.reserve:,} of them kept free for the reply" if run.reserve else ""
    message = (
        f"{len(over)} of {len(run.turns)} turns would be over the window of {run.window:,} tokens{kept}: first turn "
        f"{over[0].turn}, worst turn {worst.turn} with {worst.tokens:,}"
    )
    yield finding(OVER_WINDOW, message, over[0].turn, worst.tokens - run.window + run.reserve)


def _starved(run: Run) -> Iterator[Finding]:
    """Each layer once, with the first turn."""
    first: dict[str, tuple[int, int]] = {}
    for row in run.turns:
        for note in row.notes:
            if note.code == "starved" and note.layer is not None:
                first.setdefault(note.layer, (row.turn, note.tokens or 0))
    for layer, (turn, tokens) in first.items():
        times = run.totals.starved.get(layer, 0)
        at = "turn" if times == 1 else "turns"
        message = f"at {times} {at}, first turn {turn}, {layer} dropped what another layer's quota had room for"
        yield replace(finding(STARVED, message, turn, tokens), layer=layer)


def _touched(trace: Trace, run: Run, pinned: Callable[[Fragment], bool]) -> Iterator[Finding]:
    """What should have stayed whole and was edited by someone, each fragment once. The engine only puts it back."""
    held = {fragment.id: fragment for fragment in trace.fragments if pinned(fragment)}
    for row in run.turns if held else ():
        for change in row.edits:
            for gone in () if change.by == ENGINE else change.removed:
                fragment = held.pop(gone, None)
                if fragment is not None:
                    message = f"{change.by} edited {fragment.id} at turn {row.turn}, which is pinned"
                    yield finding(PIN_TOUCHED, message, row.turn, fragment.tokens, fragment.origin.line)
