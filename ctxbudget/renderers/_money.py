"""Cost for people: dollars at list prices, and what is left of a saving."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.renderers._numbers import NOTHING, tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.report.regret import CostRow
    from ctxbudget.report.run import RunReport


def dollars(amount: float | None) -> str:
    """``$3.49``; ``<$0.01`` rather than nothing."""
    if amount is None:
        return NOTHING
    if 0 < abs(amount) < 0.005:
        return "<$0.01"
    return f"-${-amount:,.2f}" if amount < 0 else f"${amount:,.2f}"


def saving(amount: float, fetches: float | None, recalls: float | None, break_even: float | None) -> str:
    """What is left after fetches and recalls, and how often the fetches may be needed."""
    paid = [f"fetches ({dollars(fetches)} at least)"] if fetches else []
    paid += [f"recalls ({dollars(recalls)})"] if recalls else []
    least = f", {' and '.join(paid)} paid" if paid else ""
    pays = f"; it pays until each fetch is needed {break_even:,.1f} times" if break_even is not None else ""
    if amount < 0:
        return f"nothing: it costs {dollars(-amount)} more than the full log{least}"
    return f"{dollars(amount)} against the full log{least}{pays}"


def cost(report: RunReport) -> Iterator[tuple[str, str]]:
    """The price and what it consists of; nothing where the model is not on the price list."""
    row = report.cost
    if row.price is None:
        yield "Cost", f"no list price of {report.source.model or 'an unknown model'}"
        return
    yield "Cost", f"{dollars(row.price)} at list prices: {_parts(row)}"
    if row.saving is not None and row.saving != 0:
        yield "Saves", saving(row.saving, row.fetches, row.recalls, row.break_even)


def _parts(row: CostRow) -> str:
    rates = row.rates
    read, write, reply = (
        ("", "", "") if rates is None else map(_rate, (rates.cache_read, rates.cache_write, rates.output))
    )
    parts = [
        f"{dollars(row.price_cached)} for {tokens(row.cached)} tokens from the cache{read}",
        f"{dollars(row.price_uncached)} for {tokens(row.uncached)} others{write}",
        f"{dollars(row.price_replies)} for {tokens(row.output)} of replies{reply}",
    ]
    if row.summary_calls:
        read_and_written = row.summary_in + row.summary_out
        parts.append(f"{dollars(row.price_summaries)} for summaries, {tokens(read_and_written)} read and written")
    return ", ".join(parts)


def _rate(rate: float) -> str:
    """``, $0.50 a million``."""
    return f" (${rate:,.2f} a million)"
