"""How a reading goes: records, damage and warnings, counted as they are met."""

from __future__ import annotations

from collections import Counter

from ctxbudget import trace

MAX_SHOWN = 20
"""Warnings of one code that are shown one by one; a last one says how many more there were."""


class Tally:
    """The counts of one pass over a file.

    ``ok``: records read. ``bad``: lines with nothing recoverable. ``damaged``: places where bytes were damaged.
    ``partial``: the last record is unfinished.
    """

    def __init__(self) -> None:
        self.ok = self.bad = self.damaged = 0
        self.partial = False
        self._shown: list[trace.Warning] = []
        self._told: Counter[str] = Counter()

    @property
    def parse(self) -> trace.Parse:
        """The counts, as a trace keeps them."""
        return trace.Parse(self.ok, self.bad, self.damaged, self.partial)

    @property
    def warnings(self) -> tuple[trace.Warning, ...]:
        """At most ``MAX_SHOWN`` warnings of each code, then how many more there were."""
        more = [(code, count - MAX_SHOWN) for code, count in sorted(self._told.items()) if count > MAX_SHOWN]
        return (*self._shown, *(trace.Warning(code, f"and {count:,} more of these") for code, count in more))

    def warn(self, code: str, message: str, line: int | None = None) -> None:
        """Something was met that the reader should know."""
        self._told[code] += 1
        if self._told[code] <= MAX_SHOWN:
            self._shown.append(trace.Warning(code, message, line))

    def damage(self, code: str, message: str, line: int | None = None) -> None:
        """A place where bytes were damaged."""
        self.damaged += 1
        self.warn(code, message, line)

    def cut_off(self, message: str, line: int) -> None:
        """The last record is unfinished: the file is still being written, or its writer was killed."""
        self.partial = True
        self.warn("partial-tail", message, line)

    def no_record(self, line: int) -> None:
        """A JSON value that is no object."""
        self.bad += 1
        self.warn("not-a-record", "a JSON value that is no object, skipped", line)
