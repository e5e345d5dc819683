"""The report of a comparison: strategies × traces on one axis. As for a trace, the dataclasses are the JSON contract.

``comparing/`` makes it. Money is US dollars at list prices, None where the model is not on the price list.
"""

from __future__ import annotations

from dataclasses import dataclass

from ctxbudget.report import SourceRow, UnreadableRow  # noqa: TC001 - their types are read at run time
from ctxbudget.report.regret import LossRow, SignalRow, SpreadRow  # noqa: TC001
from ctxbudget.trace import Outcome, Warning  # noqa: TC001


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """One strategy on one trace, or pooled over all.

    ``setting`` is what a sweep changed, ``value`` the number. ``peak`` tokens at the fullest turn, ``peak_share`` of
    the window; ``over`` counts turns above (window - reserve), ``firings`` of stages that wait for a size. ``sent`` is
    all prompts, ``prefix`` what stood as in the prompt before, ``price`` with replies and ``summaries``.

    ``constraints_kept`` of ``constraints`` were visible word by word at every turn, ``evidence_kept`` of ``evidence``
    uses had a source in view (or in an external store: ``recalls``); ``chance_missed`` would be missed by chance.
    ``fetch_tokens`` and ``fetch_turns`` are the least it takes to read again what was missing, ``fetch_price`` what
    that costs. ``saving`` is against ``none`` and after fetches and recalls; ``break_even`` is how many times those
    fetches may be needed before nothing is left of it. ``stale`` counts edits that relied on an old copy while the
    change was out of view, ``repeats_unseen`` recorded repeats whose earlier result was out of view.
    ``front`` says that nothing is both cheaper and keeps more; else ``dominated_by`` names what is.
    """

    strategy: str
    setting: str | None
    value: float | None
    turns: int
    peak: int
    peak_share: float
    over: int
    firings: int
    sent: int
    prefix: int
    summaries: int
    price: float | None
    constraints_kept: int
    constraints: int
    evidence_kept: int
    evidence: int
    missed: dict[str, int]
    chance_missed: SpreadRow | None
    fetch_tokens: int
    fetch_turns: int
    fetch_price: float | None
    recalls: int
    recall_tokens: int
    recall_price: float | None
    saving: float | None
    break_even: float | None
    stale: int
    repeats: int
    repeats_unseen: int
    repeats_excess: float
    trail_kept: int
    trail: int
    repairs: int
    front: bool
    dominated_by: str | None
    regret: str
    losses: list[LossRow]


@dataclass(frozen=True, slots=True)
class ComparedTrace:
    """One trace under every strategy, the best trade-off first. ``outcome`` is what the file says of the recorded run
    (of a sub-agent without one, what it says of the run it was part of)."""

    source: SourceRow
    outcome: Outcome | None
    turns: int
    window: int
    window_source: str
    window_known: bool
    reserve: int
    signals: list[SignalRow]
    rows: list[ComparedRow]
    warnings: list[Warning]


@dataclass(frozen=True, slots=True)
class OutcomeRow:
    """The traces whose recorded run ended in one way: ``success``, ``failure``, or ``open`` (the file does not say).

    ``traces`` counts them, ``untold`` those among them whose file holds nothing of an outcome; ``rows`` has one row per
    strategy over them. Nothing here says how a run would have ended under a strategy.
    """

    outcome: str
    traces: int
    untold: int
    rows: list[ComparedRow]


@dataclass(frozen=True, slots=True)
class SweepRow:
    """What was varied, and for each strategy the value at the knee of cost against evidence kept (None: no knee)."""

    option: str
    values: list[float]
    knees: dict[str, float | None]
    rule: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Strategies × traces. ``axis`` is what the trade-off takes for cost: ``price``, or ``sent`` where a price is not
    known, each with its recalls; ``rule`` says how the rows are ordered. ``pooled`` has one row per strategy over all
    traces, ``by_outcome`` the same for each way that recorded runs ended, where that was asked for."""

    schema: int
    tool: str
    placebo: bool
    axis: str
    rule: str
    pooled: list[ComparedRow]
    by_outcome: list[OutcomeRow]
    compared: list[ComparedTrace]
    sweep: SweepRow | None
    unreadable: list[UnreadableRow]
