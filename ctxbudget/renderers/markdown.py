"""Markdown, for a pull request or a wiki. What comes from a trace stands in code spans, where nothing acts."""

from __future__ import annotations

import re
from itertools import accumulate, chain
from typing import TYPE_CHECKING, BinaryIO

from ctxbudget.renderers import _chart, _strips
from ctxbudget.renderers._bars import Ink
from ctxbudget.renderers._pages import Chart, Facts, Failed, Line, Notes, Plot, Strips, Title, Verdict
from ctxbudget.renderers._run_pages import pages
from ctxbudget.renderers._sections import Section
from ctxbudget.report import run_chart
from ctxbudget.report.check import CheckReport
from ctxbudget.safe import code_span, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ctxbudget.renderers import AnyReport, Look
    from ctxbudget.renderers._pages import Block
    from ctxbudget.renderers._sections import Column, Row
    from ctxbudget.report import TraceReport
    from ctxbudget.report.run import RunReport

suffix = ".md"

_WORDS = re.compile(r"[\w %/-]*", re.ASCII)

WIDTH = 80
"""Columns of the chart: what a code block on a page shows without scrolling."""

COMMENT = 60_000
"""Characters of an answer about a check: a comment on GitHub takes 65,536."""


def render(report: AnyReport, look: Look, out: BinaryIO) -> None:
    """Write the same answer as the terminal's, with the chart in letters. Of a check as much as a comment takes."""
    blocks = [[*_block(block), ""] for block in pages(report, look)]
    lines = _shortened(blocks) if isinstance(report, CheckReport) else chain.from_iterable(blocks)
    out.write("\n".join(lines).encode())


def _shortened(blocks: list[list[str]]) -> list[str]:
    """As many lines as there is room for, then that there were more, and the last block, which sums it all up."""
    *_, last = blocks
    lines = list(chain.from_iterable(blocks))
    if _size(lines) <= COMMENT:
        return lines
    last = last if _size(last) <= COMMENT / 4 else []
    head = lines[: len(lines) - len(last)]
    kept = sum(end + _size(last) <= COMMENT for end in accumulate(len(line) + 1 for line in head))
    return [*head[:kept], "", f"Shortened: {len(head) - kept:,} more lines. JSON holds all of it.", "", *last]


def _size(lines: list[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _block(block: Block) -> Iterator[str]:
    match block:
        case Title():
            yield f"## {code_span(block.text)}"
        case Line():
            yield " · ".join(code_span(part) for part in block.parts)
        case Facts():
            yield from (f"### {block.title}", "") if block.title else ()
            yield from (
                f"- **{label}**: {code_span(text)}" if label else f"- {code_span(text)}" for label, text in block.rows
            )
        case Notes():
            yield from (f"- **{level}** {code_span(label)}: {code_span(text)}" for level, label, text in block.rows)
        case Chart():
            yield from _charted(block.report)
        case Strips():
            yield from _stripped(block.report)
        case Plot():
            drawn = (visible(line).replace("`", "'") for line in block.lines)
            yield from (f"### {block.title}", "", "```text", *drawn, "```")
        case Verdict():
            yield f"## {block.text}"
        case Failed():
            yield f"- **{block.level}** {code_span(block.label)}: {code_span(block.text)}"
            yield from (f"  - {f'{label}: ' if label else ''}{code_span(text)}" for label, text in block.rows)
        case Section():
            yield from _section(block)


def _stripped(report: RunReport) -> Iterator[str]:
    ink = Ink(report.layers, colored=False)
    yield "```text"
    strips = run_chart.strips(report, WIDTH - _chart.AXIS)
    yield from (line.plain.rstrip() for line in _strips.lines(strips, ink, WIDTH))
    yield " " * _chart.AXIS + " · ".join(part.plain for part in _strips.key())
    yield "```"


def _charted(report: TraceReport | RunReport) -> Iterator[str]:
    ink = Ink(report.layers, colored=False)
    columns = run_chart.of(report, WIDTH - _chart.AXIS)
    yield "```text"
    yield from (line.plain.rstrip() for line in _chart.lines(columns, ink, WIDTH))
    legend = _chart.legend(columns, ink)
    yield " " * _chart.AXIS + "  ".join(part.plain for part in legend)
    yield "```"


def _section(section: Section) -> Iterator[str]:
    yield f"### {section.title}"
    yield ""
    if not section.rows:
        yield "none"
        return
    yield _row([_titled(column.title) for column in section.columns])
    yield _row([":--" if column.text else "--:" for column in section.columns])
    yield from (_row(_cells(section.columns, row)) for row in section.rows)
    if section.note:
        yield ""
        yield section.note


def _titled(title: str) -> str:
    """A column's title: plain words are ours, anything else may be the name of a configured layer."""
    return title or " " if _WORDS.fullmatch(title) else code_span(title)


def _cells(columns: Sequence[Column], row: Row) -> list[str]:
    shown = [code_span(cell) if column.text else cell for column, cell in zip(columns, row.cells, strict=True)]
    return [f"**{cell}**" if cell and row.tone == "total" else cell for cell in shown]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
