"""The order of strategies: the best trade-off first, dominated ones behind.

A row is dominated where another fits the window at least as well (no turn over it), costs no more and keeps no fewer
constraints and uses, and is better in one of these. Cost is the price, or the tokens sent where a price is not known,
recalls included; what it takes to read again what was lost is not in it, because what was lost is the other axis. What
is kept is constraints and uses of evidence, each counted as one. First come strategies that fit every turn, then those
on the front, then the smaller sum of two shares: cost as a share of the dearest, and the share of what was lost.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxbudget.report.compare import ComparedRow

RULE = (
    "first what fits every turn, then what nothing beats in cost and in constraints and evidence kept, then the "
    "smaller sum of cost (as a share of the dearest) and share lost"
)


def axis_of(rows: Sequence[ComparedRow]) -> str:
    """What cost means for these rows."""
    return "price" if rows and all(row.price is not None for row in rows) else "sent"


def ordered(rows: Sequence[ComparedRow], axis: str) -> list[ComparedRow]:
    """The rows in order, each marked with whether it is on the front and what dominates it."""
    dearest = max((paid(row, axis) for row in rows), default=0.0)
    ranked = sorted(rows, key=lambda row: (row.over > 0, _by(row, rows, axis) is not None, _score(row, axis, dearest)))
    marked = []
    for row in ranked:
        better = _by(row, ranked, axis)
        name = None if better is None else named(better)
        marked.append(replace(row, front=better is None, dominated_by=name))
    return marked


def in_order(rows: Sequence[ComparedRow], axis: str) -> list[ComparedRow]:
    """The rows as they come, marked in the same way: a sweep is read along its values."""
    marked = {(row.strategy, row.setting): row for row in ordered(rows, axis)}
    return [marked[row.strategy, row.setting] for row in rows]


def named(row: ComparedRow) -> str:
    """The strategy with what a sweep set."""
    return row.strategy if row.setting is None else f"{row.strategy} {row.setting}"


def paid(row: ComparedRow, axis: str) -> float:
    """Its cost, with what it has to bring back from a store."""
    if axis == "sent" or row.price is None:
        return float(row.sent + row.recall_tokens)
    return row.price + (row.recall_price or 0.0)


def share(row: ComparedRow) -> float:
    """How much of constraints and evidence it keeps; 1 where there is nothing to keep."""
    known = row.constraints + row.evidence
    return (row.constraints_kept + row.evidence_kept) / known if known else 1.0


def _score(row: ComparedRow, axis: str, dearest: float) -> float:
    return (paid(row, axis) / dearest if dearest else 0.0) + 1 - share(row)


def _by(row: ComparedRow, rows: Sequence[ComparedRow], axis: str) -> ComparedRow | None:
    """The first row that dominates it."""
    mine = _merits(row, axis)
    for other in rows:
        theirs = _merits(other, axis)
        if theirs != mine and all(one >= two for one, two in zip(theirs, mine, strict=True)):
            return other
    return None


def _merits(row: ComparedRow, axis: str) -> tuple[float, float, float]:
    return (float(row.over == 0), -paid(row, axis), share(row))
