"""The columns of the per-turn chart: a long trace is thinned to the width there is, its peak always kept."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxbudget.report import TraceReport, TurnRow


@dataclass(frozen=True, slots=True)
class Column:
    """One column stands for the turns ``first`` to ``last`` and shows the fullest of them, ``turn``.

    ``parts`` are the layers in the scheme's order, as fractions of the window, bottom first; ``rest`` is what the
    provider reported beyond our count. Together they are ``utilization``. ``compacted``: the agent compacted before
    one of these turns, or a strategy changed something at one; ``mark`` says so above the bar. ``freed`` is what a
    strategy removed before the turn was sent: it is drawn on top, and was never in the prompt.
    """

    first: int
    last: int
    turn: int
    utilization: float
    parts: tuple[float, ...]
    rest: float
    compacted: bool
    freed: float = 0.0
    mark: str = "▼"


def columns(report: TraceReport, width: int) -> list[Column]:
    """At most ``width`` columns, each for the same number of turns, give or take one."""
    turns = report.turns
    if not turns:
        return []
    number = min(max(1, width), len(turns))
    cuts = [len(turns) * place // number for place in range(number + 1)]
    compacted = {row.turn for row in report.compactions}
    return [_column(turns[start:stop], report, compacted) for start, stop in pairwise(cuts)]


def _column(turns: Sequence[TurnRow], report: TraceReport, compacted: set[int]) -> Column:
    fullest = max(turns, key=lambda row: row.utilization)
    shown = fullest.utilization
    parts = tuple(fullest.layers.get(layer, 0) / report.window for layer in report.layers)
    total = sum(parts)
    if total > shown:  # we counted more than the provider did: its number is the height, ours the proportions
        parts = tuple(part * shown / total for part in parts)
    return Column(
        first=turns[0].turn,
        last=turns[-1].turn,
        turn=fullest.turn,
        utilization=shown,
        parts=parts,
        rest=max(0.0, shown - total),
        compacted=any(row.turn in compacted for row in turns),
    )
