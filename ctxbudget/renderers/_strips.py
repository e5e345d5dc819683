"""What is left of each layer over time: a line per layer, on the columns of the chart above it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from rich.text import Text

from ctxbudget.renderers._bars import BLOCKS
from ctxbudget.renderers._chart import AXIS, edges_of
from ctxbudget.renderers._palette import FAINT, REST_SHADE, SLATE
from ctxbudget.safe import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ctxbudget.renderers._bars import Ink
    from ctxbudget.report.run_chart import Strip

SHORT, GONE = "▒", "·"
"""Signs where little or nothing stands whole: most of the rest as a stand-in, most of it lost."""
KEY = ("height: whole", "shaded: as a stand-in", "dotted or empty: lost")
"""How to read a strip, in parts of one line."""


def lines(strips: Sequence[Strip], ink: Ink, width: int) -> Iterator[Text]:
    """The strips under their title, each with the letter of its layer."""
    yield Text("Survival by layer", "bold")
    for strip in strips:
        edges = edges_of(len(strip.whole), width - AXIS)
        shares = zip(strip.whole, strip.short, pairwise(edges), strict=True)
        cells = (_cell(whole, short, end - start, strip.layer, ink) for whole, short, (start, end) in shares)
        label = Text(f"{ink.letters[strip.layer]:>{AXIS - 1}} ", "bold")
        yield Text.assemble(label, *cells, ("  " + visible(strip.layer), FAINT) if _fits(edges, strip, width) else "")


def key() -> list[Text]:
    """How to read a strip, in parts of one line."""
    return [Text(part, SLATE) for part in KEY]


def _fits(edges: Sequence[int], strip: Strip, width: int) -> bool:
    return AXIS + edges[-1] + 2 + len(strip.layer) <= width


def _cell(whole: float | None, short: float | None, wide: int, layer: str, ink: Ink) -> Text:
    """A column of a strip: a block as high as what stands whole, before what became of the rest."""
    if whole is None or short is None:
        return Text(" " * wide)
    lost = 1 - whole - short
    eighths = 8 if lost + short <= 0 else min(7, max(1 if whole > 0 else 0, round(8 * whole)))
    shade = ink.shades[layer] if ink.colored else ""
    if eighths == 0:
        return Text((SHORT if short > lost else GONE) * wide, FAINT)
    style = f"{shade} on {REST_SHADE}" if ink.colored and short > lost and eighths < 8 else shade
    return Text(BLOCKS[eighths] * wide, style)
