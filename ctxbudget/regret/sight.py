"""What stood in view when: the lives of a run, asked by fragment and turn."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from ctxbudget.regret.inserted import Inserted

if TYPE_CHECKING:
    from ctxbudget.evidence import Use
    from ctxbudget.replay import Run
    from ctxbudget.trace import Trace
    from ctxbudget.view import Life

WHOLE, OFFLOADED = "whole", "offloaded"


class Sight:
    """Answers whether a string was in view. Each answer costs a search in one fragment's life."""

    def __init__(self, trace: Trace, run: Run) -> None:
        """``run`` is a run of ``trace``."""
        self.place = {fragment.id: place for place, fragment in enumerate(trace.fragments)}
        self.lives: dict[str, list[Life]] = {}
        for life in run.lives:
            self.lives.setdefault(life.id, []).append(life)
        self.inserted = Inserted(run, self.place)

    def life(self, id: str, turn: int) -> Life | None:
        """The stretch of its life that a fragment was in at a turn; None before it was born."""
        lives = self.lives.get(id, [])
        at = bisect_right(lives, turn, key=lambda life: life.since)
        return lives[at - 1] if at else None

    def whole(self, id: str, turn: int) -> bool:
        """Whether the fragment itself was sent. A duplicate is not: its other copy answers for itself."""
        life = self.life(id, turn)
        return life is not None and life.form == WHOLE

    def gap(self, id: str, turn: int) -> int:
        """The first turn since which the fragment, out of view at ``turn``, has been so."""
        lives = self.lives[id]
        at = bisect_right(lives, turn, key=lambda life: life.since) - 1
        while at > 0 and lives[at - 1].form != WHOLE:
            at -= 1
        return lives[at].since

    def shows(self, use: Use) -> bool:
        """Whether the turn of a use was sent a source of it, or anything put in that holds the string."""
        return any(self.whole(id, use.turn) for id in use.sources) or self.inserted.show(use)

    def stored(self, use: Use) -> list[str]:
        """The sources of a use that stood in an external store at its turn."""
        lives = ((id, self.life(id, use.turn)) for id in use.sources)
        return [id for id, life in lives if life is not None and life.form == OFFLOADED]
