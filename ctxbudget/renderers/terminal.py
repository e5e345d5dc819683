"""Text for a terminal or a log: the answer of ``ctxbudget analyze`` and ``replay``."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, BinaryIO

from rich.console import Console
from rich.text import Text

from ctxbudget.renderers import _chart, _strips, _table
from ctxbudget.renderers._bars import Ink
from ctxbudget.renderers._pages import Chart, Facts, Failed, Line, Notes, Plot, Strips, Title, Verdict
from ctxbudget.renderers._palette import CYAN, FAINT, PLAIN, SLATE, TONES, draws
from ctxbudget.renderers._run_pages import pages
from ctxbudget.renderers._sections import Section
from ctxbudget.report import run_chart
from ctxbudget.report.check import CheckReport
from ctxbudget.report.compare import Comparison
from ctxbudget.report.run import RunReport
from ctxbudget.safe import log_line, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ctxbudget.renderers import AnyReport, Look
    from ctxbudget.renderers._pages import Block
    from ctxbudget.report import TraceReport

suffix = ".txt"

WIDTH = 100
"""Of the chart where nothing limits it: a log has no width."""
LABEL = 11
"""Columns of the labels before facts."""


def render(report: AnyReport, look: Look, out: BinaryIO) -> None:
    """Write the answer in the output's own encoding, with what that cannot carry replaced."""
    _write(lines(report, look), look, out)


def render_blocks(blocks: Iterable[Block], look: Look, out: BinaryIO) -> None:
    """Write a page that belongs to no report."""
    _write(_paged(blocks, look, Ink((), colored=look.colors is not None)), look, out)


def _write(rows: Iterator[Text], look: Look, out: BinaryIO) -> None:
    text = "".join(_printed(rows, look))
    if not draws(look.encoding):
        text = text.translate(PLAIN)
    out.write(text.encode(look.encoding, "replace"))


def lines(report: AnyReport, look: Look) -> Iterator[Text]:
    """The answer line by line, a blank line between blocks."""
    yield from _paged(pages(report, look), look, Ink(_layers(report), colored=look.colors is not None))


def _paged(blocks: Iterable[Block], look: Look, ink: Ink) -> Iterator[Text]:
    first = True
    for block in blocks:
        if not first and not isinstance(block, Line):
            yield Text()
        first = False
        yield from _block(block, look, ink)


def _layers(report: AnyReport) -> list[str]:
    if isinstance(report, Comparison | CheckReport):
        return []
    if isinstance(report, RunReport):
        return report.layers
    return report.traces[0].layers if report.traces else []


def _printed(rows: Iterator[Text], look: Look) -> Iterator[str]:
    if look.colors is None:
        yield from (f"{log_line(row.plain.rstrip())}\n" for row in rows)
        return
    page = StringIO()
    console = Console(
        file=page, color_system=look.colors, force_terminal=True, no_color=False, legacy_windows=False, highlight=False,
        width=10_000, markup=False, emoji=False, soft_wrap=True, _environ={},
    )  # fmt: skip
    for row in rows:
        row.rstrip()
        console.print(row if log_line(row.plain) == row.plain else Text(log_line(row.plain), row.style))
    yield page.getvalue()


def _block(block: Block, look: Look, ink: Ink) -> Iterator[Text]:
    match block:
        case Title():
            yield from _wrapped(Text(visible(block.text), f"bold {CYAN}"), look.width)
        case Line():
            yield from _packed([Text(visible(part)) for part in block.parts], (" · ", FAINT), look.width)
        case Facts():
            yield from _wrapped(Text(block.title, "bold"), look.width) if block.title else ()
            yield from _labelled([(label, "bold", text) for label, text in block.rows], look.width)
        case Notes():
            yield from _notes(block.rows, look.width)
        case Chart():
            yield from _charted(block.report, look, ink)
        case Strips():
            width = _drawn_width(look)
            yield from _strips.lines(run_chart.strips(block.report, width - _chart.AXIS), ink, width)
            yield from _packed(_strips.key(), (" · ", FAINT), look.width, _chart.AXIS)
        case Plot():
            yield from _wrapped(Text(block.title, "bold"), look.width)
            yield from (row for line in block.lines for row in _wrapped(Text(visible(line)), look.width))
        case Verdict():
            yield from _wrapped(Text(block.text, TONES.get(block.tone, "")), look.width)
        case Failed():
            yield from _notes([(block.level, block.label, block.text)], look.width)
            rows = [(f"  {label}", FAINT, text) for label, text in block.rows]
            yield from _labelled(rows, look.width)
        case Section():
            yield from _section(block, look, ink)


def _packed(parts: list[Text], between: tuple[str, str], width: int | None, lead: int = 0) -> Iterator[Text]:
    """The parts with something between, as many to a line as there is room for."""
    row = Text(" " * lead)
    for part in parts:
        joined = Text.assemble(row, between, part) if row.plain.strip() else Text.assemble(row, part)
        if width is not None and row.plain.strip() and joined.cell_len > width:
            yield from _wrapped(row, width)
            joined = Text.assemble(" " * lead, part)
        row = joined
    yield from _wrapped(row, width)


def _labelled(rows: list[tuple[str, str, str]], width: int | None) -> Iterator[Text]:
    """Labels in a column of their own; the sentences hang beside it."""
    lead = max(LABEL, *(len(label) + 1 for label, _, _ in rows)) if rows else 0
    for label, style, sentence in rows:
        body = _wrapped(Text(visible(sentence)), None if width is None else max(20, width - lead))
        for number, row in enumerate(body):
            yield Text.assemble(((label if number == 0 else "").ljust(lead), style), row)


def _notes(rows: Iterable[tuple[str, str, str]], width: int | None) -> Iterator[Text]:
    for level, label, sentence in rows:
        text = Text.assemble((level, TONES.get(level, "")), f" {visible(label)}: {visible(sentence)}")
        for number, row in enumerate(_wrapped(text, None if width is None else max(20, width - 2))):
            yield Text.assemble("  " if number else "", row)


def _wrapped(text: Text, width: int | None) -> list[Text]:
    if width is None or text.cell_len <= width:
        return [text]
    return list(text.wrap(Console(file=StringIO(), width=width), width))


def _drawn_width(look: Look) -> int:
    return min(look.width or WIDTH, 2 * WIDTH)


def _charted(report: TraceReport | RunReport, look: Look, ink: Ink) -> Iterator[Text]:
    width = _drawn_width(look)
    columns = run_chart.of(report, width - _chart.AXIS)
    yield from _chart.lines(columns, ink, width)
    legend = _chart.legend(columns, ink)
    yield from _packed(legend, ("  ", ""), look.width, _chart.AXIS)


def _section(section: Section, look: Look, ink: Ink) -> Iterator[Text]:
    yield Text(section.title, "bold")
    if not section.rows:
        yield Text("none", SLATE)
        return
    marks = {layer: _chart.mark(layer, ink) for layer in ink.layers}
    yield from _table.lines(section, look.width, marks)
    if section.note:
        yield from _wrapped(Text(visible(section.note), SLATE), look.width)
