"""Keep the newest turns or messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from ctxbudget.trace import Edit
from ctxbudget.view import cut

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.view import View

NAME: Final = "sliding-window"


@dataclass(frozen=True, slots=True)
class SlidingWindow:
    """Drop whatever is older than the newest turns (or messages).

    Keeps: the fixed overhead and the newest turns. A unit that straddles the edge stays whole.
    Costs: the cached prefix ends right after the overhead at every turn.
    Fails: the assignment and its constraints go with the first turns; one huge turn can still overflow.
    Use when: every turn says again what matters, or as the baseline that others must beat.
    """

    keep: int = 20
    """How many of the newest turns or messages stay."""
    unit: Literal["turns", "messages"] = "turns"
    """What is counted: model calls with what entered at them, or messages."""

    def plan(self, view: View) -> Iterator[Edit]:
        """One edit with everything that is too old."""
        gone = cut(view, view.editable(self._edge(view)))
        if gone:
            reason = f"older than the last {self.keep} {self.unit}"
            yield Edit(NAME, tuple(fragment.id for fragment in gone), reason=reason)

    def _edge(self, view: View) -> int:
        if self.keep <= 0:
            return view.end
        if self.unit == "turns":
            return view.turn_start(view.turn - self.keep + 1)
        return view.messages[-self.keep] if len(view.messages) > self.keep else 0
