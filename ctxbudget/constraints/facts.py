"""Facts that must stay visible: a text or a pattern, and whether a context still shows it.

A text counts as visible where it stands literally, runs of white space taken as one blank; case, punctuation and
Markdown have to be the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxbudget.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SLASHED = re.compile(r"/(?P<pattern>.+)/(?P<flags>[imsx]*)\Z", re.DOTALL)
_REPEAT = re.compile(r"\{(\d+)(?:,(\d*))?\}")
_LONGEST = 1_000
"""Characters of a pattern."""
_REPEATS = 10_000
"""Product of the counted repeats of a pattern: nested ones are unrolled when it is compiled, and fill the memory."""
TIMEOUT = 1.0
"""Seconds that one search for a pattern may take."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One must-keep fact as given: literal text, or ``/pattern/`` with the flags ``imsx`` behind it."""

    raw: str
    pattern: Any = None
    """The compiled pattern (of the ``regex`` package), or None for text."""

    def visible(self, text: str) -> bool:
        """Whether ``text`` shows the fact.

        Raises UsageError where the pattern takes more than ``TIMEOUT`` seconds: the answer is not known then.
        """
        if self.pattern is None:
            return visible(self.raw, text)
        try:
            return self.pattern.search(text, timeout=TIMEOUT) is not None
        except TimeoutError:
            raise UsageError(
                f"must-keep pattern {self.raw} took more than {TIMEOUT:g} s on {len(text)} characters",
                hint="avoid repeats inside repeats, such as (a+)+; or give the text itself",
            ) from None


def visible(needle: str, text: str) -> bool:
    """Whether ``needle`` stands in ``text``, runs of white space taken as one blank on both sides."""
    if needle in text:
        return True
    flexible = _flexible(needle)
    return flexible is not None and flexible.search(text) is not None


@lru_cache(maxsize=4096)
def _flexible(needle: str) -> re.Pattern[str] | None:
    """``needle`` with any white space between its words; None where it is a single word."""
    words = needle.split()
    if not words:
        return None
    return re.compile(r"\s+".join(map(re.escape, words)))


def parse_fact(raw: str) -> Fact:
    """A fact from the command line or a file: ``text``, or ``/pattern/i``.

    Raises UsageError, with a hint, for an empty text and for a pattern that cannot be used.
    """
    text = raw.strip()
    if not text:
        raise UsageError("an empty must-keep fact", hint="give a text, or a pattern as /pattern/")
    slashed = _SLASHED.match(text)
    if slashed is None:
        return Fact(text)
    import regex  # noqa: PLC0415 - only for patterns

    pattern = slashed["pattern"]
    if len(pattern) > _LONGEST or _repeats(pattern) > _REPEATS:
        raise UsageError(f"must-keep pattern {text[:60]} is too large", hint="give a simpler one, or the text itself")
    try:
        return Fact(text, regex.compile(f"(?{slashed['flags']}){pattern}" if slashed["flags"] else pattern))
    except (regex.error, RecursionError, OverflowError, ValueError) as error:
        hint = f"{error}; for a literal text that begins and ends with a slash, leave one off"
        raise UsageError(f"must-keep pattern {text} cannot be used", hint=hint) from None


def _repeats(pattern: str) -> int:
    product = 1
    for low, high in _REPEAT.findall(pattern):
        product *= max(int(high or low), 1) if len(high or low) < 7 else _REPEATS + 1
    return product


def must_keep(given: Sequence[str] = (), paths: Iterable[str | Path] = ()) -> tuple[Fact, ...]:
    """The facts given one by one and those of files, each once, in order.

    A file holds one fact per line; empty lines and lines that begin with ``#`` are left out. Raises UsageError for a
    fact or a file that cannot be used.
    """
    raws = [*given, *(line for path in paths for line in _lines(path))]
    return tuple({fact.raw: fact for fact in map(parse_fact, raws)}.values())


def _lines(path: str | Path) -> list[str]:
    try:
        text = Path(path).read_text("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "not UTF-8 text"
        raise UsageError(f"{path}: {reason}", hint="--must-keep-file takes a text file, one fact per line") from None
    return [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
