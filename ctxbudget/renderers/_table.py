"""A section as lines of a terminal: columns as wide as they need; a narrow terminal loses the least important ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from ctxbudget.renderers._palette import FAINT, TONES
from ctxbudget.safe import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ctxbudget.renderers._sections import Column, Section

GAP = 2
SHORTEST = 8
"""Columns of words are not cut below this."""


def lines(section: Section, width: int | None, marks: Mapping[str, Text]) -> Iterator[Text]:
    """The table without its title. ``marks`` are put before the rows of a layer; ``width`` None cuts nothing."""
    rows = [
        [_cell(column, cell) for column, cell in zip(section.columns, row.cells, strict=True)] for row in section.rows
    ]
    lead = max((marks[row.layer].cell_len for row in section.rows if row.layer in marks), default=0)
    widths = _widths(section.columns, rows, None if width is None else width - lead)
    yield Text(
        " " * lead + _joined(section.columns, [visible(column.title) for column in section.columns], widths), FAINT
    )
    for row, cells in zip(section.rows, rows, strict=True):
        mark = marks.get(row.layer, Text(" " * lead))
        yield Text.assemble(mark, (_joined(section.columns, cells, widths), TONES.get(row.tone, "")))


def _cell(column: Column, cell: str) -> str:
    return visible(cell) if column.text else cell


def _widths(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int | None) -> list[int]:
    """The width of every column; 0 for one that is left out."""
    need = [
        max([cell_len(visible(column.title)), *(cell_len(row[at]) for row in rows)])
        for at, column in enumerate(columns)
    ]
    if width is None:
        return need
    least = [min(size, column.room) if column.text else size for size, column in zip(need, columns, strict=True)]
    for at in sorted(range(len(columns)), key=lambda at: -columns[at].drop):
        if _total(least) <= width or not columns[at].drop:
            break
        need[at] = least[at] = 0
    return _shrunk([at for at, column in enumerate(columns) if column.text], need, width)


def _shrunk(texts: Sequence[int], need: list[int], width: int) -> list[int]:
    """Words give way, the longest first, until the line fits."""
    least = [min(size, SHORTEST) for size in need]
    while _total(need) > width:
        widest = max(texts, key=lambda at: need[at] - least[at], default=None)
        if widest is None or need[widest] <= least[widest]:
            break
        others = [need[at] for at in texts if at != widest and need[at] > least[at]]
        step = max(1, need[widest] - max([least[widest], *others]))
        need[widest] -= min(step, _total(need) - width)
    return need


def _total(widths: Sequence[int]) -> int:
    shown = [size for size in widths if size]
    return sum(shown) + GAP * (len(shown) - 1)


def _joined(columns: Sequence[Column], cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [_padded(cell, size, column) for column, cell, size in zip(columns, cells, widths, strict=True) if size]
    return (" " * GAP).join(padded).rstrip()


def _padded(cell: str, width: int, column: Column) -> str:
    size = cell_len(cell)
    if size > width:
        return _cut(cell, width, column.cut)
    room = " " * (width - size)
    return cell + room if column.text else room + cell


def _cut(cell: str, width: int, place: str) -> str:
    """The cell in fewer columns, an ellipsis where something is missing."""
    room = max(0, width - 1)
    head = {"end": room, "start": 0}.get(place, room // 3)
    return f"{set_cell_size(cell, head)}…{_end(cell, room - head)}"


def _end(cell: str, width: int) -> str:
    """The last columns of a cell; a wide character that does not fit whole becomes a blank."""
    kept = cell
    while cell_len(kept) > width:
        kept = kept[1:]
    return " " * (width - cell_len(kept)) + kept
