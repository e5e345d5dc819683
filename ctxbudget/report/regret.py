"""What a run would have taken away before it was needed, and what it costs: rows that replay and compare share.

``regret_build.py`` makes them. Money is US dollars at list prices, None where the model is not on the price list.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SpreadRow:
    """What the rounds of a placebo gave: mean, least and most. Of several traces the sums of theirs."""

    mean: float
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class SignalRow:
    """One signal of a trace (D1 to D6) and how many uses it has, beside what chance finds with texts of other
    ``project``s and of other ``resource``s (None: not tested, or no such text at hand).

    ``excess`` is uses beyond the larger of the two. Only a ``counted`` signal is part of the evidence.
    """

    signal: str
    name: str
    uses: int
    project: SpreadRow | None
    resource: SpreadRow | None
    excess: float | None
    counted: bool


@dataclass(frozen=True, slots=True)
class LossRow:
    """A later use whose only visible source would have been gone (of a recall: was in a store).

    ``needed`` is the string (the first line of an edit's old text), ``seen`` the turn that showed it last, ``gone`` the
    first turn without it, in which ``form`` and by whom; ``tokens`` to read again, 0 where an earlier loss has it.
    ``counted`` says that it is part of a total: chance does not find too many of its signal.
    """

    turn: int
    signal: str
    target: str | None
    needed: str
    source: str
    seen: int
    gone: int
    form: str
    by: str
    tokens: int
    counted: bool
    text: str


@dataclass(frozen=True, slots=True)
class StaleRow:
    """An edit that relied on an old copy while ``changed``, the call that made it old, was out of view."""

    turn: int
    target: str | None
    source: str | None
    changed: str | None


@dataclass(frozen=True, slots=True)
class RepeatsRow:
    """Requests that the recording makes ``again``, and ``loops``; ``unseen`` are those whose earlier result was out of
    view. ``expected`` of them the trace's own rate gives, ``excess`` is what is above it."""

    again: int
    unseen: int
    loops: int
    loops_unseen: int
    expected: float
    excess: float


@dataclass(frozen=True, slots=True)
class TrailRow:
    """Files touched by the last turn, how many of them it still accounts for (``kept``), and those it does not."""

    files: int
    kept: int
    lost: list[str]


@dataclass(frozen=True, slots=True)
class RegretRow:
    """What later actions needed and the run would not have shown them.

    ``kept`` of ``uses`` had a source in view, or in an external store; ``by_chance`` is how many of a placebo's uses
    the same run loses (None: not asked). ``missed`` counts losses by signal, D3 too, which is never added.
    ``fetch_tokens`` and ``fetch_turns`` are the least it takes to read again what was missing. ``losses`` are in the
    order of the calls, those that only count as shown too; ``recalls`` would be served from the store.
    """

    uses: int
    kept: int
    by_chance: SpreadRow | None
    missed: dict[str, int]
    fetch_tokens: int
    fetch_turns: int
    recall_tokens: int
    signals: list[SignalRow]
    losses: list[LossRow]
    recalls: list[LossRow]
    stale: list[StaleRow]
    repeats: RepeatsRow
    trail: TrailRow
    text: str


@dataclass(frozen=True, slots=True)
class RatesRow:
    """Dollars per million tokens: plain input, read from the cache, written to it, output."""

    input: float
    cache_read: float
    cache_write: float
    output: float


@dataclass(frozen=True, slots=True)
class CostRow:
    """What a run costs, with a prompt cache at its best.

    Of ``sent`` tokens ``cached`` stood as in the prompt before and ``uncached`` did not; ``output`` are replies as
    recorded, the last three tokens and calls for summaries. ``price`` is the sum of the four prices after it.
    ``fetches`` and ``recalls`` are what bringing back what was missing costs on top, at least; ``full`` is the price of
    the full log, ``saving`` what is left against it after both, ``break_even`` how many times the fetches may be
    needed before nothing is left.
    """

    sent: int
    cached: int
    uncached: int
    output: int
    summary_calls: int
    summary_in: int
    summary_out: int
    rates: RatesRow | None
    price: float | None
    price_cached: float | None
    price_uncached: float | None
    price_replies: float | None
    price_summaries: float | None
    fetches: float | None
    recalls: float | None
    full: float | None
    saving: float | None
    break_even: float | None
