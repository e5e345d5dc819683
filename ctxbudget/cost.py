"""What a run costs: tokens sent, the part a prompt cache can reuse, summaries, replies, and the price of it all.

Rates are the model's list prices (``models.price_of``). Of each prompt the prefix kept from the turn before is read
from the cache, the rest is written to it: at the cache-write rate where the provider lists one, else as plain input.
This is the best a cache can do: it expires, and has a least length. Replies are those of the recording, so they cost
the same under every strategy. A summary counts as one call that reads what it replaces and writes itself; recorded
compactions too. What is fetched or recalled enters once, uncached, and the prompt of that turn is sent once more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxbudget.models import price_of
from ctxbudget.trace import Form, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ctxbudget.models import Price
    from ctxbudget.regret import Loss, Regret
    from ctxbudget.replay import Run
    from ctxbudget.trace import Trace

MILLION = 1_000_000


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
    """Summary calls."""
    summary_in: int
    summary_out: int
    price: float | None
    """Prompts, replies and summary calls."""
    fetches: float | None
    """What the fetches that regret implies would cost on top, at least."""
    recalls: float | None
    """What bringing sources back from an external store would cost on top."""

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
    price = price_of(trace.model)
    known = price is not None and price.input is not None and price.output is not None
    spans = [
        (change.before, sum(new.tokens for new in change.inserted if new.kind is Kind.SUMMARY))
        for row in run.turns
        for change in row.edits
        if change.form is Form.SUMMARY and any(new.kind is Kind.SUMMARY for new in change.inserted)
    ]
    sent, prefix, output = run.totals.sent, run.totals.prefix, replies(trace)
    read, written = sum(before for before, _ in spans), sum(after for _, after in spans)
    paid = fetched = recalled = None
    if price is not None and known:
        paid = _prompts(price, prefix, sent - prefix) + _rated(price.output, output + written)
        paid += _rated(price.input, read)
        fetched, recalled = _again(price, run, regret.losses), _again(price, run, regret.recalls)
    return Cost(sent, prefix, output, len(spans), read, written, paid, fetched, recalled)


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


def _prompts(price: Price, cached: int, fresh: int) -> float:
    """Prompts of which ``cached`` tokens are read from the cache. A rate that is not listed is the plain one."""
    read = price.input if price.cache_read is None else price.cache_read
    write = price.input if price.cache_write is None else price.cache_write
    return _rated(read, cached) + _rated(write, fresh)


def _again(price: Price, run: Run, losses: Iterable[Loss]) -> float:
    """Fetches: each turn that needs one is sent once more, and what is fetched enters uncached."""
    needed = [loss for loss in losses if loss.tokens]
    prompts = {row.turn: row.tokens for row in run.turns}
    again = sum(prompts[turn] for turn in {loss.use.turn for loss in needed})
    return _prompts(price, again, sum(loss.tokens for loss in needed))


def _rated(rate: float | None, tokens: int) -> float:
    return (rate or 0.0) * tokens / MILLION
