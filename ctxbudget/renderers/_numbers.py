"""How numbers are shown: never rounded to 0 or 100 unless they are exactly that, ``~`` where we estimate."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

NOTHING = "-"
"""Stands where a number is not known."""


def percent(fraction: float | None) -> str:
    """``39.2 %``; ``<0.1 %``, ``99.9 %`` and ``>100 %`` rather than a 0 or 100 that is not exact."""
    if fraction is None:
        return NOTHING
    value = fraction * 100
    if value in {0, 100}:
        return f"{value:.0f} %"
    if abs(value) < 0.05:
        return "<0.1 %"
    if f"{value:.1f}" == "100.0":
        return "99.9 %" if value < 100 else ">100 %"
    return f"{value:,.1f} %"


def signed(fraction: float | None) -> str:
    """A deviation: ``+1.3 %``, ``-0.4 %``, ``<0.1 %`` either way."""
    shown = percent(fraction)
    return f"+{shown}" if fraction is not None and fraction > 0 and shown[0].isdigit() else shown


def tokens(number: int | None, *, estimated: bool = False) -> str:
    """``118,204``; ``~118,204`` where it is our count and not the provider's; ``-`` where it is not known."""
    if number is None:
        return NOTHING
    return f"~{number:,}" if estimated else f"{number:,}"


def gain(number: float) -> str:
    """Tokens more or fewer: ``+1,204``, ``-3.2``, ``0``."""
    if abs(number) < 0.05:
        return "0" if number == 0 else "<0.1"
    return f"{number:+,.0f}" if abs(number) >= 10 else f"{number:+,.1f}"


def listed(turns: Sequence[int], most: int = 8) -> str:
    """``turn 4``, ``turns 4, 5, 9 and 3 more``."""
    shown = ", ".join(map(str, turns[:most]))
    more = f" and {len(turns) - most:,} more" if len(turns) > most else ""
    return f"turn {shown}" if len(turns) == 1 else f"turns {shown}{more}"
