"""Keep one block of state at the tail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ctxbudget.passes.keep_state.block import written
from ctxbudget.passes.keep_state.memory import Memory
from ctxbudget.trace import Edit, Fragment
from ctxbudget.view import is_state, state_block

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.view import View

NAME: Final = "keep-state"


@dataclass(frozen=True, slots=True)
class KeepState:
    """Write what was done, what failed and what is left into one block at the tail, anew before every call.

    Keeps: the user's constraints word by word, done actions with their turns, failures with their reason, open to-dos,
    each file's last action, and a line of every unit that another pass dropped.
    Costs: the block is sent anew at every turn; the prefix before it stands.
    Fails: it knows what calls and results say of themselves; a decision that only the reasoning holds is not in it.
    Use when: another pass drops turns, and the agent must see what is done already. Put it last among the call stages.
    """

    quota: float = 0.05
    """Most tokens of the block: a fraction of (window - reserve), or tokens. A third of the quota that category-budget
    gives the layer: plans and answers are state too."""
    line: int = 40
    """Most tokens of the line of a unit that is gone."""

    def plan(self, view: View) -> Iterator[Edit]:
        """The block as it should be, in place of the block as it is."""
        memory = view.follower((NAME, self.line), self._memory)
        memory.settle()
        if view.units.open is not None and view.log[-1].role == "assistant":
            return  # the results are still to come, and directly follow their calls
        old = next((one for _, one in view.standing(NAME, is_state).newest()), None)
        text = written(memory, view.turn, view.share(self.quota), view.tokens_of)
        if old is not None and old.text == text and view.live[view.places[-1]] is old:
            return
        new = (state_block(view, NAME, text),) if text else ()
        if old is not None or new:
            yield Edit(NAME, _ids(old), new, reason="the state is written anew")

    def _memory(self, view: View) -> Memory:
        return Memory(view, self.line)


def _ids(old: Fragment | None) -> tuple[str, ...]:
    return (old.id,) if old is not None else ()
