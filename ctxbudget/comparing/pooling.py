"""The rows of one strategy on several traces → one row: sums, and of the peak the fullest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ctxbudget.comparing.rows import WORST
from ctxbudget.evidence import Signal
from ctxbudget.regret.words import counts
from ctxbudget.report.regret import SpreadRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ctxbudget.report.compare import ComparedRow, ComparedTrace
    from ctxbudget.report.regret import LossRow

SUMS = (
    "turns", "over", "firings", "sent", "prefix", "summaries", "constraints_kept", "constraints", "evidence_kept",
    "evidence", "fetch_tokens", "fetch_turns", "recalls", "recall_tokens", "stale", "repeats", "repeats_unseen",
    "repeats_excess", "trail_kept", "trail", "repairs",
)  # fmt: skip
PRICES = ("price", "fetch_price", "recall_price", "saving")
"""Sums that are not known where one of the parts is not."""


def pooled(traces: Sequence[ComparedTrace]) -> list[ComparedRow]:
    """One row per strategy (and setting), in the order of the first trace."""
    groups: dict[tuple[str, str | None], list[tuple[ComparedTrace, ComparedRow]]] = {}
    for trace in traces:
        for row in trace.rows:
            groups.setdefault((row.strategy, row.setting), []).append((trace, row))
    return [_pooled(group) for group in groups.values()]


def _pooled(group: Sequence[tuple[ComparedTrace, ComparedRow]]) -> ComparedRow:
    rows = [row for _, row in group]
    if len(rows) == 1:
        return rows[0]
    fullest = max(rows, key=lambda row: row.peak_share)
    missed = {kind: sum(row.missed[kind] for row in rows) for kind in rows[0].missed}
    prices: dict[str, Any] = {name: _total(getattr(row, name) for row in rows) for name in PRICES}
    lost = sum(row.evidence - row.evidence_kept for row in rows)
    edits = min(lost, missed[Signal.EDIT.value])
    return replace(
        rows[0],
        peak=fullest.peak,
        peak_share=fullest.peak_share,
        missed=missed,
        chance_missed=_spreads([row.chance_missed for row in rows]),
        regret=counts(edits, lost - edits, sum(row.recalls for row in rows)),
        losses=_worst(group),
        break_even=_break_even(prices["saving"], prices["fetch_price"]),
        **prices,
        **{name: sum(getattr(row, name) for row in rows) for name in SUMS},
    )


def _worst(group: Sequence[tuple[ComparedTrace, ComparedRow]]) -> list[LossRow]:
    """The worst losses of all, each with the trace it is from."""
    told = []
    for trace, row in group:
        name = trace.source.path if trace.source.select is None else f"{trace.source.path}#{trace.source.select}"
        told += [replace(loss, text=f"{name}: {loss.text}") for loss in row.losses]
    return sorted(told, key=lambda loss: (-loss.tokens, loss.text))[:WORST]


def _break_even(saving: float | None, fetches: float | None) -> float | None:
    """As for one trace: what is saved before the fetches, over what they cost."""
    if saving is None or not fetches or saving + fetches <= 0:
        return None
    return (saving + fetches) / fetches


def _spreads(spreads: Sequence[SpreadRow | None]) -> SpreadRow | None:
    known = [one for one in spreads if one is not None]
    if len(known) < len(spreads):
        return None
    return SpreadRow(sum(one.mean for one in known), sum(one.low for one in known), sum(one.high for one in known))


def _total(values: Iterable[float | None]) -> float | None:
    known = list(values)
    return None if any(value is None for value in known) else sum(value for value in known if value is not None)
