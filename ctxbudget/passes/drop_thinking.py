"""Drop the thinking of turns gone by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ctxbudget.trace import Edit, Fragment, Kind
from ctxbudget.view import cut

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.view import View

NAME: Final = "drop-thinking"


def _thinks(fragment: Fragment) -> bool:
    return fragment.kind is Kind.THINKING


@dataclass(frozen=True, slots=True)
class DropThinking:
    """Drop thinking blocks of finished work.

    Keeps: everything said and done; the thinking of an unfinished tool loop, as providers demand.
    Costs: the cached prefix breaks once per user text, where a loop ended.
    Fails: an agent in one endless tool loop frees nothing.
    Use when: thinking is carried on in later prompts, first of all other passes.
    """

    keep_turns: int = 1
    """How many of the newest turns keep theirs (Anthropic, clear_thinking_20251015: 1)."""

    def plan(self, view: View) -> Iterator[Edit]:
        """One edit with all thinking that is old enough."""
        edge = min(view.turn_start(view.turn - self.keep_turns + 1), view.end)
        if view.loop.stretches:
            edge = min(edge, view.loop.stretches[0].start)
        old = (fragment for _, fragment in view.standing(NAME, _thinks).oldest(edge))
        gone = cut(view, old)
        if gone:
            yield Edit(NAME, tuple(fragment.id for fragment in gone), reason="thinking of finished work")
