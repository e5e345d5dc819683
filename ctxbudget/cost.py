"""What a run costs: tokens sent, the part a prompt cache can reuse, summaries, replies, and the price of it all.

Rates are the model's list prices (``models.price_of``). Of each prompt the prefix kept from the turn before is read
from the cache, the rest is written to it: at the cache-write rate where the provider lists one, else as plain input.
This is the best a cache can do: it expires, and has a least length. Replies are those of the recording, so they cost
the same under every strategy. Calls for summaries are those that the summariser made or would have made, refused ones
too, at plain rates; a recorded compaction counts as one call that reads what it replaces and writes itself. What is
fetched or recalled enters once, uncached, and the prompt of that turn is sent once more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxbudget.models import Price, price_of
from ctxbudget.trace import Form, Kind
from ctxbudget.view import RECORDED, SummaryNote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ctxbudget.regret import Loss, Regret
    from ctxbudget.replay import Run
    from ctxbudget.trace import Trace

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Parts:
    """What a price consists of, in US dollars: prompts (the part read from the cache, the rest), replies, summaries."""

    cached: float
    uncached: float
    replies: float
    summaries: float

    @property
    def total(self) -> float:
        """All of it."""
        return self.cached + self.uncached + self.replies + self.summaries


@dataclass(frozen=True, slots=True)
class Cost:
    """Tokens and US dollars of a run; dollars are None where the model is not on the price list."""

    sent: int
    """Tokens of all prompts."""
    prefix: int
    """Those of them that stood as in the prompt before."""
    output: int
    """Tokens of all replies, as recorded."""
    summaries: int
    """Calls for summaries, refused ones too."""
    summary_in: int
    summary_out: int
    rates: Price | None
    """Per million tokens; a cache rate that is not listed is the plain one."""
    parts: Parts | None
    fetches: float | None
    """What the fetches that regret implies would cost on top, at least."""
    recalls: float | None
    """What bringing sources back from an external store would cost on top."""

    @property
    def price(self) -> float | None:
        """Prompts, replies and calls for summaries."""
        return None if self.parts is None else self.parts.total

    @property
    def whole(self) -> float | None:
        """Price with fetches and recalls."""
        if self.price is None or self.fetches is None or self.recalls is None:
            return None
        return self.price + self.fetches + self.recalls


@dataclass(frozen=True, slots=True)
class Saving:
    """A run's price against another's. ``net`` is what is left after fetches and recalls; ``break_even`` is how many
    times what regret implies may be fetched before nothing is left (None: nothing to fetch, or nothing saved)."""

    gross: float
    net: float
    break_even: float | None


def cost(trace: Trace, run: Run, regret: Regret) -> Cost:
    """The cost of a run of ``trace`` with the regret it implies."""
    sent, prefix, output = run.totals.sent, run.totals.prefix, replies(trace)
    asked = list(_summaries(run))
    calls, read, written = (sum(each) for each in zip(*asked, strict=True)) if asked else (0, 0, 0)
    rates, parts, fetched, recalled = _rates(trace.model), None, None, None
    if rates is not None:
        parts = Parts(
            _dollars(rates.cache_read, prefix),
            _dollars(rates.cache_write, sent - prefix),
            _dollars(rates.output, output),
            _dollars(rates.input, read) + _dollars(rates.output, written),
        )
        fetched, recalled = _again(rates, run, regret.losses), _again(rates, run, regret.recalls)
    return Cost(sent, prefix, output, calls, read, written, rates, parts, fetched, recalled)


def _summaries(run: Run) -> Iterator[tuple[int, int, int]]:
    """Calls, tokens read and tokens written of each summary that was asked for, or was recorded."""
    for row in run.turns:
        for note in row.notes:
            if isinstance(note, SummaryNote):
                yield note.calls, note.tokens_in, note.tokens_out
        for change in row.edits:
            written = [new.tokens for new in change.inserted if new.kind is Kind.SUMMARY]
            if change.by == RECORDED and change.form is Form.SUMMARY and written:
                yield 1, change.before, sum(written)


def _rates(model: str | None) -> Price | None:
    """The list prices with every rate known, or None where prompts or replies have none."""
    price = price_of(model)
    if price is None or price.input is None or price.output is None:
        return None
    read = price.input if price.cache_read is None else price.cache_read
    write = price.input if price.cache_write is None else price.cache_write
    return Price(price.input, read, write, price.output)


def saving(one: Cost, other: Cost) -> Saving | None:
    """What ``one`` saves against ``other``; None where a price is not known."""
    if one.price is None or other.whole is None or one.whole is None or one.fetches is None:
        return None
    gross = other.whole - one.price - (one.recalls or 0.0)
    pays = one.fetches > 0 and gross > 0
    return Saving(gross, other.whole - one.whole, gross / one.fetches if pays else None)


def replies(trace: Trace) -> int:
    """Tokens of all replies: the provider's own count where it is final, else what the reply put into the log."""
    total = 0
    for number, turn in enumerate(trace.turns):
        if turn.pending:
            continue
        if turn.usage is not None and turn.usage.final and turn.usage.output:
            total += turn.usage.output
            continue
        after = trace.turns[number + 1] if number + 1 < len(trace.turns) else None
        entered = trace.reply if after is None else trace.entering(after)
        total += sum(fragment.tokens for fragment in entered if fragment.role == "assistant")
    return total


def _again(rates: Price, run: Run, losses: Iterable[Loss]) -> float:
    """Fetches: each turn that needs one is sent once more, and what is fetched enters uncached."""
    needed = [loss for loss in losses if loss.tokens]
    prompts = {row.turn: row.tokens for row in run.turns}
    again = sum(prompts[turn] for turn in {loss.use.turn for loss in needed})
    return _dollars(rates.cache_read, again) + _dollars(rates.cache_write, sum(loss.tokens for loss in needed))


def _dollars(rate: float | None, tokens: int) -> float:
    return (rate or 0.0) * tokens / MILLION
