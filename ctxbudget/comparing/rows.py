"""One strategy on one trace → its row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.comparing.basis import spread_row
from ctxbudget.comparing.words import sentence, summed
from ctxbudget.cost import cost, saving
from ctxbudget.regret import COUNTED, Sight, regret
from ctxbudget.report.compare import ComparedRow, LossRow
from ctxbudget.trace import named_turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxbudget.comparing.basis import Basis
    from ctxbudget.comparing.variants import Variant
    from ctxbudget.cost import Cost
    from ctxbudget.regret import Loss
    from ctxbudget.report.compare import SpreadRow

WORST = 3
"""Losses told in words."""


def row_of(basis: Basis, variant: Variant, unedited: Cost) -> ComparedRow:
    """Run the strategy and sum up what it did. Order and front are marked later, among the other rows."""
    prepared = basis.under(variant.found(), variant.window)
    trace, run = basis.trace, prepared.run()
    sight = Sight(trace, run)
    found = regret(trace, run, basis.evidence, basis.files, sight)
    fates = [fate for fate in prepared.fates(run) if fate.said is not None]
    costs = cost(trace, run, found)
    saved = saving(costs, unedited)
    missed = {kind.value: len(found.of(kind)) for kind in COUNTED}
    lost = sum(missed[kind.value] for kind in basis.counted)
    evidence = sum(len(basis.evidence.of(kind)) for kind in basis.counted)
    counted = [loss for loss in found.losses if loss.use.kind in basis.counted]
    sums = run.totals
    return ComparedRow(
        strategy=prepared.strategy.name,
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
        evidence_kept=evidence - lost,
        evidence=evidence,
        missed=missed,
        chance_missed=_by_chance(basis, sight, lost),
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
        regret=summed(found, basis.counted),
        losses=[loss_row(basis, loss) for loss in worst(counted)],
    )


def worst(losses: Sequence[Loss]) -> list[Loss]:
    """The losses that cost most to read again, the earlier first among equals."""
    return sorted(losses, key=lambda loss: (-loss.tokens, loss.use.turn))[:WORST]


def loss_row(basis: Basis, loss: Loss) -> LossRow:
    """One loss, in words too."""
    return LossRow(
        turn=loss.use.turn,
        signal=loss.use.kind.value,
        target=loss.use.target,
        needed=loss.use.text[0],
        source=loss.last,
        seen=named_turn(basis.known[loss.last]),
        gone=loss.gone,
        form=loss.form,
        by=loss.by,
        tokens=loss.tokens,
        text=sentence(loss, basis.known),
    )


def _by_chance(basis: Basis, sight: Sight, lost: int) -> SpreadRow | None:
    if basis.placebo is None:
        return None
    return spread_row(basis.placebo.missed(lost, sight, *basis.counted).worst)
