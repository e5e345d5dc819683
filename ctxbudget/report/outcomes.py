"""How recorded runs ended, as groups: what counts is tasks finished, not tokens saved."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ctxbudget.trace import Outcome

SUCCESS: Final = "success"
FAILURE: Final = "failure"
OPEN: Final = "open"
"""The file does not say whether it was a success: nothing is told at all, or a score or a status without a verdict."""
ENDINGS: Final = (SUCCESS, FAILURE, OPEN)


def ending(outcome: Outcome | None) -> str:
    """The group of a recorded run."""
    if outcome is None or outcome.success is None:
        return OPEN
    return SUCCESS if outcome.success else FAILURE


def endings(outcomes: Iterable[Outcome | None]) -> dict[str, int]:
    """How many runs ended in each way, all three named."""
    found = Counter(map(ending, outcomes))
    return {name: found[name] for name in ENDINGS}
