"""The page of ``ctxbudget sessions``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.homes import AGENTS
from ctxbudget.renderers._numbers import NOTHING, percent, tokens
from ctxbudget.renderers._pages import Line
from ctxbudget.renderers._sections import Column, Row, Section
from ctxbudget.sizes import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ctxbudget.renderers._pages import Block
    from ctxbudget.report.sessions import SessionRow

OVER = 0.75
"""From this share of the window on a peak stands out: the limit that ``check`` has without a budget."""


def blocks(rows: Sequence[SessionRow], more: int) -> Iterator[Block]:
    """A line per session; ``more`` of them are not shown."""
    if rows:
        yield _section(rows, more)
    else:
        yield Line((f"No session found in the known places of {', '.join(AGENTS)}.",))


def _section(rows: Sequence[SessionRow], more: int) -> Section:
    columns = (
        Column("@"),
        Column("agent", text=True),
        Column("modified (UTC)"),
        Column("project", text=True, cut="start"),
        Column("model", text=True, drop=2),
        Column("turns", drop=1),
        Column("peak"),
        Column("size", drop=3),
        Column("id", text=True, drop=4, cut="end", room=8),
    )
    note = "analyze one as: ctxbudget analyze @1, @latest, @claude or @ID"
    if more:
        note = f"{counted(more, 'older one')}: --limit 0 shows all; {note}"
    return Section("Sessions, newest first", columns, tuple(_row(row) for row in rows), note)


def _row(row: SessionRow) -> Row:
    peak = percent(row.utilization) if row.window_known else _unsure(row)
    tone = "warning" if row.problem or (row.utilization or 0) > OVER else ""
    return Row(
        (
            str(row.number),
            row.agent,
            row.modified[:16].replace("T", " "),
            row.project or NOTHING,
            row.problem or row.model or NOTHING,
            tokens(row.turns),
            peak,
            _bytes(row.size),
            row.id,
        ),
        tone,
    )


def _unsure(row: SessionRow) -> str:
    """A share of a window that is only assumed."""
    return NOTHING if row.utilization is None else f"~{percent(row.utilization)}"


def _bytes(size: int) -> str:
    """``340 kB``, ``1.2 MB``."""
    if size < 1_000_000:
        return f"{max(1, round(size / 1000)):,} kB" if size else "0 kB"
    return f"{size / 1_000_000:,.1f} MB"
