"""One strategy on one trace → its row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.cost import saving
from ctxbudget.models import Window
from ctxbudget.regret.words import summed
from ctxbudget.report.compare import ComparedRow
from ctxbudget.report.regret_build import loss_row, missed, spread_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxbudget.basis import Basis
    from ctxbudget.comparing.variants import Variant
    from ctxbudget.cost import Cost
    from ctxbudget.prepared import Prepared
    from ctxbudget.regret import Loss

WORST = 3
"""Losses told in words."""


def row_of(basis: Basis, ready: Prepared, variant: Variant, unedited: Cost) -> ComparedRow:
    """Run the strategy and sum up what it did. Order and front are marked later, among the other rows.

    ``ready`` is the trace under any strategy. Raises UsageError where the reserve leaves nothing of a swept window.
    """
    window = None if variant.window is None else Window(variant.window, "--sweep")
    prepared = ready.under(variant.found(ready.budget), window)
    run = prepared.run()
    measured = basis.measured(run)
    found, costs, saved = measured.regret, measured.cost, saving(measured.cost, unedited)
    fates = [fate for fate in prepared.fates(run) if fate.said is not None]
    sums = run.totals
    return ComparedRow(
        strategy=variant.name,
        setting=variant.setting,
        value=variant.value,
        turns=len(run.turns),
        peak=sums.peak,
        peak_share=sums.peak / run.window,
        over=sums.over,
        firings=sums.firings,
        sent=costs.sent,
        prefix=costs.prefix,
        summaries=costs.summaries,
        price=costs.price,
        constraints_kept=sum(fate.kept for fate in fates),
        constraints=len(fates),
        evidence_kept=measured.kept,
        evidence=measured.uses,
        missed=missed(measured),
        chance_missed=None if measured.by_chance is None else spread_row(measured.by_chance),
        fetch_tokens=found.tokens,
        fetch_turns=found.turns,
        fetch_price=costs.fetches,
        recalls=len(found.recalls),
        recall_tokens=found.recalled,
        recall_price=costs.recalls,
        saving=None if saved is None else saved.net,
        break_even=None if saved is None else saved.break_even,
        stale=len(found.stale),
        repeats=found.repeats.again,
        repeats_unseen=found.repeats.unseen,
        repeats_excess=found.repeats.excess,
        trail_kept=found.trail.kept,
        trail=found.trail.files,
        repairs=sums.repairs,
        front=False,
        dominated_by=None,
        regret=summed(found),
        losses=[loss_row(basis, loss) for loss in worst(found.losses)],
    )


def worst(losses: Sequence[Loss]) -> list[Loss]:
    """The losses that cost most to read again, the earlier first among equals."""
    return sorted(losses, key=lambda loss: (-loss.tokens, loss.use.turn))[:WORST]
