"""The settings of a project, as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.renderers._pages import Line
from ctxbudget.renderers._sections import Column, Row, Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ctxbudget.config.shown import Shown
    from ctxbudget.renderers._pages import Block


def blocks(rows: Sequence[Shown], source: str | None) -> Iterator[Block]:
    """A row for each setting; ``source`` is the file they are in, None where there is none."""
    yield Line((f"settings of {source}" if source else "no file of settings: the defaults hold",))
    columns = (Column("setting", text=True), Column("value", text=True), Column("from", text=True))
    yield Section("Settings", columns, tuple(Row((row.key, row.value, row.origin)) for row in rows))
