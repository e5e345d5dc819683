"""A small chart of cost against what is kept: a letter for each strategy; higher keeps more, left costs less."""

from __future__ import annotations

from string import ascii_letters, digits
from typing import TYPE_CHECKING

from ctxbudget.renderers._compare_sections import named
from ctxbudget.renderers._money import dollars
from ctxbudget.renderers._numbers import percent, tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ctxbudget.report.compare import ComparedRow, Comparison

WIDE, NARROW, HIGH = 64, 16, 10
SIGNS = ascii_letters + digits
LEAD = 9


def lines(report: Comparison, width: int | None = None) -> Iterator[str]:
    """The chart, its axes, and what each letter is, in at most ``width`` columns."""
    wide = WIDE if width is None else max(NARROW, min(WIDE, width - LEAD))
    rows = report.pooled[: len(SIGNS)]
    costs, kept = [_cost(row, report.axis) for row in rows], [_kept(row) for row in rows]
    low, high, least = min(costs), max(costs), min(kept)
    grid = [[" "] * wide for _ in range(HIGH)]
    for sign, cost, share in zip(SIGNS, costs, kept, strict=False):
        column = round((cost - low) / (high - low) * (wide - 1)) if high > low else 0
        line = round((share - least) / (1 - least) * (HIGH - 1)) if least < 1 else HIGH - 1
        grid[HIGH - 1 - line][column] = sign if grid[HIGH - 1 - line][column] == " " else "+"
    for number, cells in enumerate(grid):
        label = percent(1.0) if number == 0 else percent(least) if number == HIGH - 1 and least < 1 else ""
        yield f"{label:>{LEAD - 2}} │{''.join(cells)}"
    yield f"{' ' * (LEAD - 1)}└{'─' * wide}"
    left, right = _amount(low, report.axis), _amount(high, report.axis)
    yield f"{' ' * LEAD}{left}{right.rjust(wide - len(left))}"
    yield _key(rows, several=any("+" in cells for cells in grid))


def _key(rows: Sequence[ComparedRow], *, several: bool) -> str:
    named_signs = " · ".join(f"{sign} {named(row)}" for sign, row in zip(SIGNS, rows, strict=False))
    return f"{named_signs} · + several" if several else named_signs


def _cost(row: ComparedRow, axis: str) -> float:
    """As the order takes it: with recalls."""
    if axis == "price" and row.price is not None:
        return row.price + (row.recall_price or 0.0)
    return float(row.sent + row.recall_tokens)


def _kept(row: ComparedRow) -> float:
    known = row.constraints + row.evidence
    return (row.constraints_kept + row.evidence_kept) / known if known else 1.0


def _amount(cost: float, axis: str) -> str:
    return dollars(cost) if axis == "price" else tokens(round(cost))
