"""Codex's counters, which only grow: in its rollouts, and in what ``codex exec`` prints."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from ctxbudget.trace import Usage

MOST_TOKENS = 10**12
"""A counter above this is a damaged number."""


@dataclass(frozen=True, slots=True)
class Counts:
    """One set of counters. ``total`` alone is set where the client does not know the parts."""

    input: int = 0
    cached: int = 0
    written: int = 0
    output: int = 0
    reasoning: int = 0
    total: int = 0

    @property
    def split(self) -> bool:
        """Whether the parts are known."""
        return bool(self.input or self.output)

    @property
    def empty(self) -> bool:
        """Whether it counts nothing."""
        return not (self.split or self.total)

    def minus(self, other: Counts) -> Counts | None:
        """What was added since ``other``; None where a counter fell."""
        parts = [getattr(self, part.name) - getattr(other, part.name) for part in fields(Counts)]
        return None if min(parts) < 0 else Counts(*parts)

    def usage(self) -> Usage:
        """The same as disjoint numbers. Reasoning that the file does not tell apart is 0 there, too."""
        if not self.split:
            return Usage(total=self.total, split=False)
        read = min(self.cached, self.input)
        written = min(self.written, self.input - read)
        reasoning = min(self.reasoning, self.output)
        return Usage(self.input - read - written, read, written, self.output, reasoning, self.input + self.output)


def read_counts(given: Any) -> Counts | None:
    """The counters in ``given``, in the names of today or of 0.50; None where it is no object."""
    if not isinstance(given, dict):
        return None
    parts = (
        _whole(given.get("input_tokens", given.get("prompt"))),
        _whole(given.get("cached_input_tokens")),
        _whole(given.get("cache_write_input_tokens")),
        _whole(given.get("output_tokens", given.get("completion"))),
        _whole(given.get("reasoning_output_tokens")),
    )
    return Counts(*parts, _whole(given.get("total_tokens")) or parts[0] + parts[3])


def _whole(value: Any) -> int:
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else 0
