"""The per-turn chart: a bar per column, stacked by layer, on a scale that is the whole window and says so if not."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from rich.text import Text

from ctxbudget.renderers._bars import FREED_SIGN, REST, Ink, Scale, bands, cell, scale_for
from ctxbudget.renderers._palette import FAINT, ORANGE, SLATE
from ctxbudget.safe import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ctxbudget.report.chart import Column

AXIS = 6
"""Columns left of the bars: ``100 % ``."""
WIDEST = 6
"""Columns of one bar where there are few turns."""
LEAST_REST = 0.02
"""Below this fraction of the window what the provider reported beyond our count is noise, and not in the legend."""
MARKS = {"×": "something lost", "·": "nothing lost, only shortened"}
"""What the marks over a run's columns say."""
WIDE = 60
"""Columns from which there is room for a whole sentence."""
NAMED = 16
"""Every so many columns a bar bears the letters of its bands: colour alone would not tell them."""


def lines(columns: Sequence[Column], ink: Ink, width: int) -> Iterator[Text]:
    """The chart from top to bottom, with its axis and the peak's mark."""
    scale = scale_for(max(column.utilization + column.freed for column in columns))
    edges = edges_of(len(columns), width - AXIS)
    if scale.rows < scale.row(0.7):
        above = "; 70 % and 90 % are above" if width >= WIDE else ""
        yield Text(f"{' ' * AXIS}up to {scale.top * 100:g} % of the window{above}", FAINT)
    marks = _marks(columns, scale, edges)
    if marks.plain.strip():
        yield marks
    bars = [bands(column, ink.layers) for column in columns]
    places = list(zip(bars, pairwise(edges), strict=True))
    for row in reversed(range(scale.rows)):
        cells = (cell(bar, row, scale, ink, end - start, named=_named(start, end)) for bar, (start, end) in places)
        yield Text.assemble(_label(row, scale), *cells)
    yield Text.assemble((_share(0), FAINT), ("─" * edges[-1], FAINT))
    yield Text(" " * AXIS + _ticks(columns, edges), FAINT)
    yield _peak(columns, edges, width)


def legend(columns: Sequence[Column], ink: Ink) -> list[Text]:
    """Mark, letter and name of each band, from the bottom of a bar to its top, and that this is the order."""
    named = [Text.assemble(mark(layer, ink), visible(layer)) for layer in ink.layers]
    if any(column.rest > LEAST_REST for column in columns):
        named.append(Text.assemble(mark(REST, ink), "reported beyond our count"))
    if any(column.freed > 0 for column in columns):
        named.append(Text.assemble((f"{FREED_SIGN} ", FAINT), "removed before it was sent"))
    marks = {column.mark for column in columns if column.compacted}
    named += [Text.assemble((f"{sign} ", SLATE), words) for sign, words in MARKS.items() if sign in marks]
    return [*named, Text("bottom to top", FAINT)]


def mark(band: str, ink: Ink) -> Text:
    """What stands for a band before its name: its colour where there is colour, and its letter."""
    text = Text.assemble(("█ ", ink.shades[band])) if ink.colored else Text()
    return text.append(f"{ink.letters[band]} ", "bold")


def edges_of(number: int, room: int) -> list[int]:
    """Where each bar starts, and where the last one ends: few bars are equally wide, many fill the room."""
    wide = min(WIDEST, room // number)
    if wide >= 3 or wide < 1:
        return [place * max(1, wide) for place in range(number + 1)]
    return [place * room // number for place in range(number + 1)]


def _named(start: int, end: int) -> bool:
    """Whether a bar is one of those that bear letters."""
    return any(place % NAMED == NAMED // 2 for place in range(start, end))


def _label(row: int, scale: Scale) -> tuple[str, str]:
    """The number at the left of a row: hairlines, the middle, and the top of what is over the window."""
    share = row * scale.step
    line = scale.hairline(row) != " "
    middle = row == scale.row(0.5 if scale.top >= 1 else scale.top / 2)
    named = line or middle or (scale.rows > scale.full and row == scale.rows - 1)
    style = ORANGE if share >= 1 else SLATE if line else FAINT
    return (_share(share) if named else " " * AXIS), style


def _share(share: float) -> str:
    """``70 % ``, in the columns there are; a longer one stands away."""
    label = f"{share * 100:g} %"
    return f"{label:>{AXIS - 1}} " if len(label) < AXIS else " " * AXIS


def _marks(columns: Sequence[Column], scale: Scale, edges: Sequence[int]) -> Text:
    """The row above the bars: where the agent compacted, and where the scale ends if no bar is over the window."""
    label = _share(scale.top) if scale.rows <= scale.full else " " * AXIS
    line = ""
    for column, at in zip(columns, edges, strict=False):
        line = f"{line.ljust(at)}{column.mark}" if column.compacted else line
    return Text.assemble((label, FAINT), (line, SLATE))


def _ticks(columns: Sequence[Column], edges: Sequence[int]) -> str:
    """Turn numbers below the first turn of a column, with room between them; the last turn ends the line."""
    last = str(columns[-1].last)
    end = edges[-1] - len(last)
    line = ""
    for column, at in zip(columns[:-1], edges, strict=False):
        number = str(column.first)
        if (not line or at >= len(line) + 5) and at + len(number) + 2 <= end:
            line = line.ljust(at) + number
    return f"{line.ljust(end)}{last}"


def _peak(columns: Sequence[Column], edges: Sequence[int], width: int) -> Text:
    """A mark under the fullest column, its words on the side where there is room."""
    place = max(range(len(columns)), key=lambda at: columns[at].utilization)
    at = AXIS + edges[place]
    words = f"peak, turn {columns[place].turn}"
    style = ORANGE if columns[place].utilization > 1 else SLATE
    if at + 2 + len(words) <= width or at < len(words) + 1:
        return Text.assemble(" " * at, ("▲ ", style), (words, SLATE))
    return Text.assemble((words.rjust(at - 1) + " ", SLATE), ("▲", style))
