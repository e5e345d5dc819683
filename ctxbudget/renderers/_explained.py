"""Rules of findings, explained, as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.renderers._pages import Facts, Line, Title
from ctxbudget.renderers._sections import Column, Row, Section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.findings.catalogue import Page
    from ctxbudget.renderers._pages import Block


def explained(page: Page) -> Iterator[Block]:
    """One rule in full."""
    yield Title(f"{page.rule.id} {page.rule.name}")
    yield Line((f"{page.group}; {page.rule.level} unless the settings say otherwise",))
    words = (("What", page.what), ("Why", page.why), ("Example", page.example), ("Fix", page.fix))
    yield Facts(tuple((label, text.replace("`", "")) for label, text in words))


def listed(pages: tuple[Page, ...]) -> Section:
    """Every rule, one to a line."""
    columns = (
        Column("id", text=True),
        Column("name", text=True),
        Column("level", text=True),
        Column("what", text=True),
    )
    rows = tuple(Row((page.rule.id, page.rule.name, page.rule.level, page.what.partition(". ")[0])) for page in pages)
    return Section("Findings; ctxbudget explain ID says more", columns, rows)
