"""A comparison by how the recorded runs ended: each strategy pooled over successes, over failures, over open ones.

A strategy is replayed, never run: the outcome is that of the recorded run, and stays it whatever a strategy takes away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.comparing.pooling import pooled
from ctxbudget.report.compare import OutcomeRow
from ctxbudget.report.outcomes import ENDINGS, ending

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ctxbudget.report.compare import ComparedRow, ComparedTrace

GROUPINGS = ("outcome",)
"""What a comparison can be grouped by."""


def by_outcome(
    traces: Sequence[ComparedTrace], order: Callable[[Sequence[ComparedRow], str], list[ComparedRow]], axis: str
) -> list[OutcomeRow]:
    """A group for each ending that there is, in the order success, failure, open; its rows ordered and marked."""
    groups: dict[str, list[ComparedTrace]] = {name: [] for name in ENDINGS}
    for trace in traces:
        groups[ending(trace.outcome)].append(trace)
    return [
        OutcomeRow(name, len(members), sum(one.outcome is None for one in members), order(pooled(members), axis))
        for name, members in groups.items()
        if members
    ]
