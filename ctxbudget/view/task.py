"""Where the current task began, and what its plan says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.trace import Kind
from ctxbudget.view.plans import completed

if TYPE_CHECKING:
    from ctxbudget.trace import Fragment

TELLING = frozenset({Kind.USER, Kind.PLAN})
"""Kinds that tell something of the task."""


class Task:
    """Follows user texts and plans as they enter."""

    __slots__ = ("chain", "done", "finished", "first", "opened", "plan", "reached")

    def __init__(self) -> None:
        """Nothing known."""
        self.chain = 0
        """Place of the last user text or completed plan item: what comes after is the chain of the current task."""
        self.opened = 0
        """Place where the stretch began that the newest completed plan item ended."""
        self.finished: frozenset[str] = frozenset()
        """The items that were completed last, by title."""
        self.first: int | None = None
        """The first user message."""
        self.done: frozenset[str] = frozenset()
        self.plan: str | None = None
        """Id of the newest plan."""
        self.reached = False
        """Whether the reply that this turn begins with completed a plan item."""

    def enter(self, place: int, fragment: Fragment) -> None:
        """A recorded fragment entered the log."""
        if fragment.kind is Kind.USER:
            self.chain = place
            self.first = fragment.message if self.first is None else self.first
        elif fragment.kind is Kind.PLAN and fragment.asks:
            done = completed(fragment.text)
            self.plan = fragment.id
            if done - self.done:
                self.opened, self.chain, self.reached = self.chain, place, True
                self.finished = done - self.done
            self.done = done
