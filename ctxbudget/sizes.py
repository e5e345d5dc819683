"""Numbers of tokens as people write them: ``200000``, ``200k``, ``1.5M``, ``120,000``."""

from __future__ import annotations

import re

from ctxbudget.errors import UsageError

_FORM = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)\s*([kKmM]?)")
_TIMES = {"": 1, "k": 1_000, "m": 1_000_000}


def tokens(text: str, what: str, *, least: int = 1) -> int:
    """The number. Raises UsageError, which calls it ``what``, where it is none or below ``least``."""
    match = _FORM.fullmatch(text.strip().replace(",", "").replace("_", ""))
    if match is None:
        raise UsageError(f"{what} {text!r} is no number of tokens", hint="write it as 200000, 200k or 1M")
    number = round(float(match[1]) * _TIMES[match[2].lower()])
    if number < least:
        raise UsageError(f"{what} {text!r} is too small", hint=f"at least {least:,}")
    return number
