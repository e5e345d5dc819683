"""Numbers of tokens as people write them (``200000``, ``200k``, ``1.5M``, ``120,000``), and shares (``75%``); and how
many of something there are, as people read it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from ctxbudget.errors import UsageError

_FORM = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)\s*([kKmM]?)")
_AMOUNT = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,17})?|\.[0-9]{1,17})\s*([kKmM%]?)")
_TIMES = {"": 1, "k": 1_000, "m": 1_000_000}
_FINE = 10_000
"""Shares beside a limit are told in hundredths of a percent."""
FEW = 100
"""A bare number above 1 and up to this is more likely a percentage with its sign left out than tokens."""


def tokens(text: str, what: str, *, least: int = 1) -> int:
    """The number. Raises UsageError, which calls it ``what``, where it is none or below ``least``."""
    match = _FORM.fullmatch(text.strip().replace(",", "").replace("_", ""))
    if match is None:
        raise UsageError(f"{what} {text!r} is no number of tokens", hint="write it as 200000, 200k or 1M")
    number = round(float(match[1]) * _TIMES[match[2].lower()])
    if number < least:
        raise UsageError(f"{what} {text!r} is too small", hint=f"at least {least:,}")
    return number


def counted(number: int, one: str, many: str = "") -> str:
    """``1 call``, ``2 calls``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


@dataclass(frozen=True, slots=True)
class Amount:
    """So many tokens, or a share (an exact fraction) of something; exactly one of the two is set."""

    tokens: int | None = None
    share: Fraction | None = None

    def of(self, base: int) -> int:
        """The largest whole number of tokens within it: what is above is too much. ``base`` is the whole."""
        if self.tokens is not None:
            return self.tokens
        share = self.share or Fraction(0)
        return share.numerator * base // share.denominator

    @property
    def text(self) -> str:
        """``75 %`` or ``20,000``."""
        if self.tokens is not None:
            return f"{self.tokens:,}"
        return f"{float((self.share or Fraction(0)) * 100):.12g} %"


def beside_limit(tokens: int, whole: int, most: int) -> str:
    """``75.92 %``: so many tokens of a whole, with two decimals that lie on the same side of a limit of ``most`` tokens
    as the tokens do. 75.003 % is above a limit of 75 % and reads ``75.01 %``."""
    nearest, below, above = round(tokens * _FINE / whole), tokens * _FINE // whole, -(-tokens * _FINE // whole)
    if tokens > most:
        shown = nearest if nearest * whole >= (most + 1) * _FINE else above
    else:
        shown = nearest if nearest * whole <= most * _FINE else below
    return f"{shown // 100:,}.{shown % 100:02} %"


def amount(text: str, what: str) -> Amount:
    """Tokens (``20k``, ``120,000``) or a share (``75%``, ``0.75``; up to 1 without a sign), read exactly.

    Raises UsageError, which calls it ``what``, where it is neither, 0, or a bare ``80`` that may mean either.
    """
    match = _AMOUNT.fullmatch(text.strip().replace(",", "").replace("_", ""))
    if match is None:
        raise UsageError(f"{what} {text!r} is no share and no number of tokens", hint="write it as 75%, 0.75 or 150k")
    number, unit = Fraction(match[1]), match[2].lower()
    if not number:
        raise UsageError(f"{what} {text!r} is too small", hint="it must be above 0")
    if unit == "%":
        return Amount(share=number / 100)
    if not unit and number <= 1:
        return Amount(share=number)
    if not unit and number <= FEW:
        raise UsageError(
            f"{what} {text!r} may mean a share or tokens", hint=f"write {text.strip()}% for a share, or tokens as 20k"
        )
    return Amount(tokens=int(number * _TIMES[unit]))
