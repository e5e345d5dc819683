"""What a run is given for its summaries, besides the strategy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ctxbudget.summaries import Extractive

if TYPE_CHECKING:
    from ctxbudget.constraints import Fact
    from ctxbudget.summaries import Summariser


@dataclass(frozen=True, slots=True)
class Summarising:
    """Who writes the summaries of a run: an argument of the run, never read from a strategy or a config."""

    summariser: Summariser = field(default_factory=Extractive)
    fail: int = 0
    """The first so many steps of the whole ladder fail at every firing (``--fail-summary``)."""
    facts: tuple[Fact, ...] = ()
    """Must-keep facts of the user, which a summary has to show where what it replaces does."""
