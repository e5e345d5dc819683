"""Losses in words: what was out of view and what it takes to read it again. Never that something would have failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.evidence import Signal
from ctxbudget.sizes import counted
from ctxbudget.trace import named_turn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ctxbudget.regret.losses import Loss, Regret
    from ctxbudget.trace import Fragment

BECAME = {
    "truncated": "truncated",
    "digest": "shortened to a digest",
    "cleared": "cleared",
    "offloaded": "moved to the store",
    "summary": "summarised",
    "duplicate": "replaced by a reference",
}
"""What happened to a source, by its form; all others were removed."""
LONGEST = 60
"""Characters of a path or a string that are shown."""


def sentence(loss: Loss, known: Mapping[str, Fragment], *, stored: bool = False) -> str:
    """``turn 41 edits src/pay.py with text last seen at turn 8, cleared at turn 23: 1,240 tokens to read again``.

    ``stored`` is for a recall: its source comes back from a store.
    """
    use = loss.use
    seen = f"last seen at turn {named_turn(known[loss.last])}, {BECAME.get(loss.form, 'removed')} at turn {loss.gone}"
    if use.kind is Signal.EDIT:
        what = f"edits {short(use.target or 'a file')} with text {seen}"
    else:
        where = f" in {known[use.fragment].tool}" if known[use.fragment].tool else ""
        what = f"uses {short(use.text[0])}{where}, {seen}"
    done = "brought back" if stored else "read again"
    act = "bring back from the store" if stored else "read again"
    again = f"{loss.tokens:,} tokens to {act}" if loss.tokens else f"{done} already for an earlier use"
    return f"turn {use.turn} {what}: {again}"


def summed(found: Regret) -> str:
    """``would have removed the only visible source of 3 later edits and 1 other use``."""
    edits = sum(loss.use.kind is Signal.EDIT for loss in found.losses)
    return counts(edits, len(found.losses) - edits, len(found.recalls))


def counts(edits: int, others: int, recalls: int) -> str:
    """The same from numbers."""
    parts = [counted(edits, "later edit")] if edits else []
    parts += [counted(others, "other use" if edits else "later use")] if others else []
    lost = f"would have removed the only visible source of {' and '.join(parts)}" if parts else ""
    if recalls:
        stored = f"{counted(recalls, 'later use')} would have been served from the store"
        return f"{lost}; {stored}" if lost else stored
    return lost or "every later use had a source in view"


def short(text: str) -> str:
    """One line of it, from the end where it is a long path."""
    flat = " ".join(text.split())
    if len(flat) <= LONGEST:
        return flat
    return f"...{flat[3 - LONGEST :]}" if "/" in flat else f"{flat[: LONGEST - 3]}..."
