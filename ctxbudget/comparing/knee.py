"""The knee of a sweep: where more cost stops to buy much.

With cost and share kept both scaled to 0..1 over the sweep, it is the point farthest above the straight line from the
cheapest to the one that keeps most (Satopaa et al., "Finding a Kneedle in a Haystack", 2011, without smoothing). A
sweep without a point above that line has no knee.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.comparing.front import paid, share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxbudget.report.compare import ComparedRow

RULE = "the value farthest above the straight line from the cheapest to the one that keeps most, both axes scaled to 1"
LEAST = 0.01
"""A point has to stand this far above the line."""


def knee(rows: Sequence[ComparedRow], axis: str) -> float | None:
    """The value at the knee of the rows of one strategy."""
    first = min(rows, key=lambda row: (paid(row, axis), -share(row)), default=None)
    last = max(rows, key=lambda row: (share(row), -paid(row, axis)), default=None)
    if first is None or last is None or paid(last, axis) <= paid(first, axis) or share(last) <= share(first):
        return None
    best, most = None, LEAST
    for row in rows:
        along = (paid(row, axis) - paid(first, axis)) / (paid(last, axis) - paid(first, axis))
        height = (share(row) - share(first)) / (share(last) - share(first))
        if height - along > most:
            best, most = row, height - along
    return None if best is None else best.value
