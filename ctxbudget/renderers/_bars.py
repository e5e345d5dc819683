"""One bar of the chart, cell by cell: bands of layers on a scale, in colours with eighths of a row or in letters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from ctxbudget.renderers._palette import DARK, FAINT, INK, LIGHT, ORANGE, REST_SHADE, letters, shades

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ctxbudget.report.chart import Column

BLOCKS = " ▁▂▃▄▅▆▇█"
HAIRLINES = (0.7, 0.9)
TALLEST = 20
"""Rows at most; a bar far over the window coarsens the scale rather than flood the screen."""
ZOOMS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
"""Ends of the scale for traces that use little: a million-token window is mostly empty."""
REST = "rest"
"""The band of what the provider reported beyond our count."""
FREED = "freed"
"""The band of what a strategy removed before the turn was sent; its sign, where it fills most of a cell."""
FREED_SIGN = "░"


@dataclass(frozen=True, slots=True)
class Ink:
    """How bands are told apart: by colour with eighths of a row, or by letters alone."""

    layers: Sequence[str]
    colored: bool

    @property
    def shades(self) -> Mapping[str, str]:
        """A colour for each band."""
        return {**shades(self.layers), REST: REST_SHADE, FREED: FAINT}

    @property
    def letters(self) -> Mapping[str, str]:
        """A letter for each band."""
        return {**letters(self.layers), REST: "?", FREED: FREED_SIGN}

    def label(self, band: str) -> str:
        """The style of a letter written on its band."""
        shade = self.shades[band]
        return f"bold {LIGHT if shade in DARK else INK} on {shade}"


@dataclass(frozen=True, slots=True)
class Scale:
    """Rows of ``step`` each (a fraction of the window), from 0 up."""

    step: float
    rows: int

    @property
    def full(self) -> int:
        """The row where the window ends."""
        return round(1 / self.step)

    @property
    def top(self) -> float:
        """The fraction where the scale ends."""
        return self.step * self.rows

    def row(self, share: float) -> int:
        """The row that a fraction of the window falls into."""
        return int(share / self.step + 1e-9)

    def hairline(self, row: int) -> str:
        """What a row shows where no bar is: a line where the window ends, hairlines at 70 % and 90 %."""
        if row == self.full:
            return "─"
        return "┈" if any(self.row(share) == row for share in HAIRLINES) else " "


@dataclass(frozen=True, slots=True)
class Band:
    """A layer's part of a bar, from ``start`` to ``end`` (fractions of the window)."""

    name: str
    start: float
    end: float

    def inside(self, low: float, high: float) -> float:
        """How much of it lies between two heights."""
        return max(0.0, min(self.end, high) - max(self.start, low))


def scale_for(peak: float) -> Scale:
    """Ten rows for the window; for a trace that stays far below it, for as much of it as shows something."""
    zoomed = next((top for top in ZOOMS if peak <= top), None)
    if zoomed is not None:
        return Scale(zoomed / 10, 10)
    step = next((step for step in (0.1, 0.2, 0.5) if peak <= TALLEST * step), None)
    if step is None:
        step = float(-(-peak // TALLEST))
    return Scale(step, max(round(1 / step), -(-round(peak * 1000) // round(step * 1000)), 1))


def bands(column: Column, layers: Sequence[str]) -> list[Band]:
    """The bands of a column from the bottom."""
    found, end = [], 0.0
    for name, part in zip((*layers, REST, FREED), (*column.parts, column.rest, column.freed), strict=True):
        found.append(Band(name, end, end + part))
        end += part
    return found


def cell(bar: Sequence[Band], row: int, scale: Scale, ink: Ink, wide: int, *, named: bool) -> Text:
    """A row of a bar, ``wide`` columns of it; an empty one lets the hairlines through. In a ``named`` bar each band
    bears its letter in its middle row."""
    low = row * scale.step
    sizes = [(band, band.inside(low, low + scale.step)) for band in bar]
    inside = _dominant([(band, size) for band, size in sizes if size > 0])
    filled = round(8 * sum(size for _, size in inside) / scale.step)
    gap = Text(scale.hairline(row) * (wide >= 3), FAINT)
    if not inside or (filled < 1 and row > 0):
        return Text(scale.hairline(row) * wide, FAINT)
    sign, style = _drawn(inside, max(1, filled), ink, over=row >= scale.full)
    body = Text(sign * (wide - len(gap)), style)
    band = inside[0][0]
    if named and ink.colored and sign == "█" and len(inside) == 1 and row < scale.full:
        letter = row == scale.row((band.start + band.end) / 2)
        body = Text.assemble((ink.letters[band.name], ink.label(band.name)), body[1:]) if letter else body
    return Text.assemble(body, gap)


def _dominant(inside: list[tuple[Band, float]]) -> list[tuple[Band, float]]:
    """What was removed shares no cell with what was sent: the larger of the two has it."""
    sent = [part for part in inside if part[0].name != FREED]
    freed = [part for part in inside if part[0].name == FREED]
    return freed if sum(size for _, size in freed) > sum(size for _, size in sent) else sent


def _drawn(inside: Sequence[tuple[Band, float]], filled: int, ink: Ink, *, over: bool) -> tuple[str, str]:
    """The character and its style: two bands of a full cell part at an eighth, else the larger one has it. A full
    block stands on its own colour, so that no seam shows between lines."""
    most = max(inside, key=lambda part: part[1])[0].name
    if most == FREED:
        return (FREED_SIGN, FAINT) if filled >= 4 else (" ", "")
    if not ink.colored:
        letter = ink.letters[most]
        return (letter if filled >= 4 else letter.lower()), ""
    shade = ORANGE if over else ink.shades[most]
    if filled < 8:
        return BLOCKS[filled], shade
    if over or len(inside) == 1:
        return "█", f"{shade} on {shade}"
    (lower, size), (upper, _) = inside[0], max(inside[1:], key=lambda part: part[1])
    part = round(8 * size / sum(each for _, each in inside))
    return BLOCKS[min(7, max(1, part))], f"{ink.shades[lower.name]} on {ink.shades[upper.name]}"
