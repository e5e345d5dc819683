"""The per-turn chart: one bar per column, stacked by layer, on a scale that is the whole window and says so if not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from ctxbudget.renderers._palette import DARK, FAINT, INK, LIGHT, ORANGE, REST_SHADE, SLATE, letters, shades
from ctxbudget.safe import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ctxbudget.report.chart import Column

BLOCKS = " ▁▂▃▄▅▆▇█"
AXIS = 6
"""Columns left of the bars: ``100 % ``."""
HAIRLINES = (0.7, 0.9)
TALLEST = 20
"""Rows at most; a bar far over the window coarsens the scale rather than flood the screen."""
ZOOMS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
"""Ends of the scale for traces that use little: a million-token window is mostly empty."""
WIDEST = 6
"""Columns of one bar where there are few turns."""
WIDE = 60
"""Columns from which there is room for a whole sentence."""
NAMED = 16
"""Every so many bars one bears the letters of its bands: colour alone would not tell them."""
REST = "rest"
"""The band of what the provider reported beyond our count."""
LEAST_REST = 0.02
"""Below this fraction of the window that band is noise, and not worth a word in the legend."""


@dataclass(frozen=True, slots=True)
class Ink:
    """How bands are told apart: by colour with eighths of a row, or by letters alone."""

    layers: Sequence[str]
    colored: bool

    @property
    def shades(self) -> Mapping[str, str]:
        """A colour for each band."""
        return {**shades(self.layers), REST: REST_SHADE}

    @property
    def letters(self) -> Mapping[str, str]:
        """A letter for each band."""
        return {**letters(self.layers), REST: "?"}

    def label(self, band: str) -> str:
        """The style of a letter written on its band."""
        shade = self.shades[band]
        return f"bold {LIGHT if shade in DARK else INK} on {shade}"


@dataclass(frozen=True, slots=True)
class _Scale:
    """Rows of ``step`` each (a fraction of the window), from 0 up; the window ends at row ``full``."""

    step: float
    rows: int

    @property
    def full(self) -> int:
        return round(1 / self.step)

    @property
    def top(self) -> float:
        return self.step * self.rows

    def row(self, share: float) -> int:
        return int(share / self.step + 1e-9)


def lines(columns: Sequence[Column], ink: Ink, width: int) -> Iterator[Text]:
    """The chart from top to bottom, with its axis, the peak's mark and the legend."""
    scale = _scale(max(column.utilization for column in columns))
    wide = max(1, min(WIDEST, (width - AXIS) // len(columns)))
    if scale.top < HAIRLINES[0]:
        above = "; 70 % and 90 % are above" if width >= WIDE else ""
        yield Text(f"{' ' * AXIS}up to {scale.top * 100:g} % of the window{above}", FAINT)
    marks = _marks(columns, scale, wide)
    if marks.plain.strip():
        yield marks
    bars = [_bands(column, ink.layers) for column in columns]
    for row in reversed(range(scale.rows)):
        cells = (
            _bar(bands, row, scale, ink, wide, named=place % NAMED == NAMED // 2) for place, bands in enumerate(bars)
        )
        yield Text.assemble(_label(row, scale), *cells)
    yield Text.assemble((_share(0), FAINT), ("─" * (wide * len(columns)), FAINT))
    yield Text(" " * AXIS + _ticks(columns, wide), FAINT)
    yield _peak(columns, wide, width)


def legend(ink: Ink, *, rest: bool) -> list[Text]:
    """Mark, letter and name of each band, from the bottom of a bar to its top, and that this is the order."""
    bands = [Text.assemble(mark(layer, ink), visible(layer)) for layer in ink.layers]
    if rest:
        bands.append(Text.assemble(mark(REST, ink), "reported beyond our count"))
    return [*bands, Text("bottom to top", FAINT)]


def mark(band: str, ink: Ink) -> Text:
    """What stands for a band before its name: its colour where there is colour, and its letter."""
    text = Text.assemble(("█ ", ink.shades[band])) if ink.colored else Text()
    return text.append(f"{ink.letters[band]} ", "bold")


def _scale(peak: float) -> _Scale:
    """Ten rows for the window; for a trace that stays far below it, for as much of it as shows something."""
    zoomed = next((top for top in ZOOMS if peak <= top), None)
    if zoomed is not None:
        return _Scale(zoomed / 10, 10)
    step = next((step for step in (0.1, 0.2, 0.5) if peak <= TALLEST * step), None)
    if step is None:
        step = float(-(-peak // TALLEST))
    return _Scale(step, max(round(1 / step), -(-round(peak * 1000) // round(step * 1000)), 1))


def _bands(column: Column, layers: Sequence[str]) -> list[tuple[str, float]]:
    """Bands from the bottom, each with the fraction of the window where it ends."""
    bands, end = [], 0.0
    for name, part in zip((*layers, REST), (*column.parts, column.rest), strict=True):
        end += part
        bands.append((name, end))
    return bands


def _bar(bands: Sequence[tuple[str, float]], row: int, scale: _Scale, ink: Ink, wide: int, *, named: bool) -> Text:
    """One cell of a bar, as wide as the bar; empty cells let the hairlines through. In a ``named`` bar each band
    that fills a row bears its letter."""
    low, high = row * scale.step, (row + 1) * scale.step
    inside = _inside(bands, low, high)
    filled = sum(size for _, size in inside) / scale.step
    gap = int(wide >= 3)
    empty = _hairline(row, scale)
    if round(8 * filled) < 1 and not (row == 0 and filled > 0):
        return Text((empty or " ") * wide, FAINT)
    cell, style = _cell(inside, filled, ink, over=row >= scale.full)
    body = Text(cell * (wide - gap), style)
    if named and ink.colored and len(inside) == 1 and cell == BLOCKS[8] and row < scale.full:
        band = inside[0][0]
        if _middle(bands, band, scale) == row:
            body = Text.assemble((ink.letters[band], ink.label(band)), (cell * (wide - gap - 1), style))
    return Text.assemble(body, ((empty or " ") * gap, FAINT))


def _middle(bands: Sequence[tuple[str, float]], band: str, scale: _Scale) -> int:
    """The row in the middle of a band."""
    place = next(at for at, (name, _) in enumerate(bands) if name == band)
    start = bands[place - 1][1] if place else 0.0
    return scale.row((start + bands[place][1]) / 2)


def _inside(bands: Sequence[tuple[str, float]], low: float, high: float) -> list[tuple[str, float]]:
    """How much of each band lies in a row, from the bottom."""
    shares, start = [], 0.0
    for name, end in bands:
        size = min(end, high) - max(start, low)
        if size > 0:
            shares.append((name, size))
        start = end
    return shares


def _cell(inside: Sequence[tuple[str, float]], filled: float, ink: Ink, *, over: bool) -> tuple[str, str]:
    """The character and its style: two bands of a full cell part at an eighth, else the larger one has it."""
    most = max(inside, key=lambda share: share[1])[0]
    if not ink.colored:
        letter = ink.letters[most]
        return (letter if filled >= 0.5 else letter.lower()), ""
    if over:
        return BLOCKS[max(1, round(8 * filled))], ORANGE
    if round(8 * filled) < 8 or len(inside) == 1:
        return BLOCKS[max(1, round(8 * filled))], ink.shades[most]
    (lower, size), (upper, _) = inside[0], max(inside[1:], key=lambda share: share[1])
    part = round(8 * size * filled / sum(share for _, share in inside))
    return BLOCKS[min(7, max(1, part))], f"{ink.shades[lower]} on {ink.shades[upper]}"


def _hairline(row: int, scale: _Scale) -> str:
    if row == scale.full:
        return "─"
    return "┈" if any(scale.row(share) == row for share in HAIRLINES) else ""


def _label(row: int, scale: _Scale) -> tuple[str, str]:
    share = row * scale.step
    named = _hairline(row, scale) or row in {scale.rows - 1 if scale.rows > scale.full else -1, scale.rows // 2}
    style = ORANGE if share >= 1 else SLATE if _hairline(row, scale) else FAINT
    return (_share(share) if named else " " * AXIS), style


def _share(share: float) -> str:
    """``70 % ``, in the columns there are; a longer one stands away."""
    label = f"{share * 100:g} %"
    return f"{label:>{AXIS - 1}} " if len(label) < AXIS else " " * AXIS


def _marks(columns: Sequence[Column], scale: _Scale, wide: int) -> Text:
    """The row above the bars: where the agent compacted, and where the scale ends if no bar is over the window."""
    label = _share(scale.top) if scale.rows <= scale.full else " " * AXIS
    marks = "".join(("▼" if column.compacted else " ").ljust(wide) for column in columns).rstrip()
    return Text.assemble((label, FAINT), (marks, SLATE))


def _ticks(columns: Sequence[Column], wide: int) -> str:
    """Turn numbers below the first turn of a column, with room between them; the last turn ends the line."""
    last = str(columns[-1].last)
    end = wide * len(columns) - len(last)
    line = ""
    for place, column in enumerate(columns[:-1]):
        number, at = str(column.first), place * wide
        if (not line or at >= len(line) + 5) and at + len(number) + 2 <= end:
            line = line.ljust(at) + number
    return f"{line.ljust(end)}{last}"


def _peak(columns: Sequence[Column], wide: int, width: int) -> Text:
    """A mark under the fullest column, its words on the side where there is room."""
    place = max(range(len(columns)), key=lambda at: columns[at].utilization)
    at = AXIS + place * wide
    words = f"peak, turn {columns[place].turn}"
    if at + 2 + len(words) <= width or at < len(words) + 1:
        return Text.assemble(" " * at, ("▲ ", ORANGE if columns[place].utilization > 1 else SLATE), (words, SLATE))
    return Text.assemble((words.rjust(at - 1) + " ", SLATE), ("▲", ORANGE if columns[place].utilization > 1 else SLATE))
