"""What was measured of a run → its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.cost import saving
from ctxbudget.evidence import Signal
from ctxbudget.placebo import TESTED
from ctxbudget.regret import COUNTED
from ctxbudget.regret.words import sentence, summed
from ctxbudget.report.regret import (
    CostRow,
    LossRow,
    RatesRow,
    RegretRow,
    RepeatsRow,
    SignalRow,
    SpreadRow,
    StaleRow,
    TrailRow,
)
from ctxbudget.trace import named_turn

if TYPE_CHECKING:
    from ctxbudget.basis import Basis, Measured
    from ctxbudget.cost import Cost
    from ctxbudget.models import Price
    from ctxbudget.placebo import Spread
    from ctxbudget.regret import Loss

NAMES = {
    Signal.EDIT: "old text of edits",
    Signal.ARGUMENT: "ids, numbers, paths, URLs in arguments",
    Signal.RARE: "rare names",
    Signal.STALE: "edits on an outdated copy",
    Signal.AGAIN: "repeated requests",
    Signal.LOOP: "repeated calls",
}


def regret_row(basis: Basis, measured: Measured) -> RegretRow:
    """What a run would have taken away."""
    found = measured.regret
    losses = sorted((*found.losses, *found.shown), key=lambda loss: loss.use.turn)
    repeats, trail = found.repeats, found.trail
    return RegretRow(
        uses=measured.uses,
        kept=measured.kept,
        by_chance=None if measured.by_chance is None else spread_row(measured.by_chance),
        missed=missed(measured) | {Signal.RARE.value: found.rare},
        fetch_tokens=found.tokens,
        fetch_turns=found.turns,
        recall_tokens=found.recalled,
        signals=signal_rows(basis),
        losses=[loss_row(basis, loss) for loss in losses],
        recalls=[loss_row(basis, loss, stored=True) for loss in found.recalls],
        stale=[StaleRow(use.turn, use.target, use.newest, use.changed) for use in found.stale],
        repeats=RepeatsRow(
            repeats.again, repeats.unseen, repeats.loops, repeats.loops_unseen, repeats.expected, repeats.excess
        ),
        trail=TrailRow(trail.files, trail.kept, list(trail.lost)),
        text=summed(found),
    )


def missed(measured: Measured) -> dict[str, int]:
    """Losses of each signal that may be counted."""
    return {kind.value: len(measured.regret.of(kind)) for kind in COUNTED}


def cost_row(cost: Cost, full: Cost) -> CostRow:
    """What a run costs, and what that saves against the full log."""
    parts, saved = cost.parts, saving(cost, full)
    return CostRow(
        sent=cost.sent,
        cached=cost.prefix,
        uncached=cost.sent - cost.prefix,
        output=cost.output,
        summary_calls=cost.summaries,
        summary_in=cost.summary_in,
        summary_out=cost.summary_out,
        rates=None if cost.rates is None else _rates(cost.rates),
        price=cost.price,
        price_cached=None if parts is None else parts.cached,
        price_uncached=None if parts is None else parts.uncached,
        price_replies=None if parts is None else parts.replies,
        price_summaries=None if parts is None else parts.summaries,
        fetches=cost.fetches,
        recalls=cost.recalls,
        full=full.price,
        saving=None if saved is None else saved.net,
        break_even=None if saved is None else saved.break_even,
    )


def _rates(price: Price) -> RatesRow:
    return RatesRow(*(rate or 0.0 for rate in price.rates))


def loss_row(basis: Basis, loss: Loss, *, stored: bool = False) -> LossRow:
    """One loss, in words too; ``stored`` for a recall."""
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
        counted=loss.use.kind in basis.counted,
        text=sentence(loss, basis.known, stored=stored),
    )


def signal_rows(basis: Basis) -> list[SignalRow]:
    """Every signal beside what chance finds."""
    return [_signal(basis, kind) for kind in Signal]


def _signal(basis: Basis, kind: Signal) -> SignalRow:
    uses, counted = len(basis.evidence.of(kind)), kind in basis.counted
    if basis.placebo is None or kind not in TESTED:
        return SignalRow(kind.value, NAMES[kind], uses, None, None, None, counted)
    chance = basis.placebo.of(kind)
    project = None if chance.project is None else spread_row(chance.project)
    return SignalRow(kind.value, NAMES[kind], uses, project, spread_row(chance.resource), chance.excess, counted)


def spread_row(spread: Spread) -> SpreadRow:
    """The spread as a report has it."""
    return SpreadRow(spread.mean, spread.low, spread.high)
