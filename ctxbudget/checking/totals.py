"""What all rows come to: how many of each status, and the exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.report.check import (
    COULD_NOT,
    FAILED,
    PASSED,
    STATUSES,
    UNMEASURED,
    UNREADABLE,
    VIOLATED,
    CheckedTrace,
    CheckTotals,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


def exit_code(rows: Sequence[CheckedTrace], *, allow_empty: bool, unseen: bool) -> int:
    """2 where something was not measured, or nothing was there; else 1 where something is violated; else 0.

    ``allow_empty`` excuses what holds nothing, not what cannot be read nor an unknown window; ``unseen``: there are
    must-keep facts that nothing held.
    """
    blind = any(one.status in {UNMEASURED, UNREADABLE} and not one.excused for one in rows)
    if blind or unseen or not (rows or allow_empty):
        return COULD_NOT
    return FAILED if any(one.status == VIOLATED for one in rows) else PASSED


def totals(rows: Sequence[CheckedTrace]) -> CheckTotals:
    """The sums."""
    failures = [failure for row in rows for failure in row.failures]
    statuses = [row.status for row in rows]
    clean, violated, unmeasured, unreadable = (statuses.count(status) for status in STATUSES)
    fresh = [failure.level for failure in failures if not failure.known]
    return CheckTotals(
        traces=len(rows),
        clean=clean,
        violated=violated,
        unmeasured=unmeasured,
        unreadable=unreadable,
        errors=fresh.count("error"),
        warnings=fresh.count("warning"),
        notes=fresh.count("note"),
        known=sum(failure.known for failure in failures),
    )
