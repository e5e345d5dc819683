"""From the flags of output to a renderer, its look, and the bytes on their way."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ctxbudget.errors import UnknownName, UsageError
from ctxbudget.renderers import (
    BREAKDOWNS,
    CHECKS,
    ONLY_CHECKS,
    RENDERERS,
    RUN_TABLES,
    TABLES,
    Look,
    for_suffix,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TextIO

    from ctxbudget.output import Output
    from ctxbudget.renderers import AnyReport, Colors
    from ctxbudget.renderers._pages import Block

TERMINAL = "terminal"
TABLE = "table"
"""The name that the terminal's renderer has on the command line."""
TEXT = "text"
"""The name that it has for a check."""
BINARY = ("parquet",)
"""Never written to a screen."""
PAGES = (TERMINAL, "markdown")
"""What is for people, and takes ``--by``."""


def names() -> tuple[str, ...]:
    """Output formats as the command line calls them; a check has its own."""
    return tuple(sorted(TABLE if name == TERMINAL else name for name in RENDERERS.names() if name not in ONLY_CHECKS))


def choose(format_name: str | None, path: str | None) -> str:
    """The renderer for ``--format``, else for the suffix of ``-o``, else the terminal's."""
    if format_name is not None:
        if format_name not in names():
            raise UnknownName("format", format_name, names())
        return TERMINAL if format_name == TABLE else format_name
    return _by_suffix(path, names()) or TERMINAL


def choose_check(format_name: str | None, path: str | None) -> str:
    """The same for a check, whose page for people is called ``text``. Run by GitHub, and asked for nothing else, it
    annotates."""
    if format_name is None:
        usual = "github" if path is None and os.environ.get("GITHUB_ACTIONS") == "true" else TERMINAL
        return _by_suffix(path, check_names()) or usual
    if format_name not in check_names():
        raise UnknownName("format", format_name, check_names())
    return TERMINAL if format_name == TEXT else format_name


def _by_suffix(path: str | None, known: Sequence[str]) -> str | None:
    """The renderer for the suffix of ``-o``; None where there is none to go by."""
    suffix = Path(path).suffix if path is not None and path != "-" else ""
    if not suffix:
        return None
    found = for_suffix(suffix)
    if found is None or (found != TERMINAL and found not in known):
        raise UsageError(f"{path}: {suffix} tells no format", hint=f"give --format {'|'.join(known)}")
    return found


def check_names() -> tuple[str, ...]:
    """Output formats of a check as the command line calls them."""
    return tuple(sorted(TEXT if name == TERMINAL else name for name in CHECKS))


def check(renderer: str, output: Output, *, by: str | None, table: str | None) -> None:
    """Refuse flags that would have no effect, or a bad one."""
    if by is not None and by not in BREAKDOWNS:
        raise UnknownName("breakdown", by, BREAKDOWNS)
    if table is not None and table not in TABLES:
        raise UnknownName("table", table, TABLES)
    if by is not None and (table is not None or renderer not in PAGES):
        raise UsageError("--by is for the answer as a table or as markdown", hint="CSV and Parquet take --table")
    if table is not None and renderer == "json":
        raise UsageError("JSON always holds every table", hint="leave --table out, or use --format csv")
    if renderer in BINARY and output.is_stdout and sys.stdout.isatty():
        raise UsageError(f"{renderer} is not for a screen", hint=f"give -o FILE{RENDERERS.get(renderer).suffix}")


def check_run(renderer: str, output: Output, *, table: str | None) -> None:
    """The same for a run."""
    if table is not None and table not in RUN_TABLES:
        raise UnknownName("table", table, RUN_TABLES)
    check(renderer, output, by=None, table="turns" if table is not None else None)


def look(output: Output, *, by: str | None, table: str | None, children: bool) -> Look:
    """How it is shown: for the screen that is there, or for a file."""
    if not output.is_stdout:
        return Look(by=by, table=table, children=children)
    return Look(
        by=by,
        table=table,
        children=children,
        width=_width(sys.stdout, os.environ),
        colors=_colors(sys.stdout, os.environ),
        encoding=sys.stdout.encoding or "utf-8",
    )


def write(report: AnyReport, renderer: str, look: Look, output: Output) -> None:
    """Render into the output."""
    with output.writing() as stream:
        RENDERERS.get(renderer).render(report, look, stream)


def write_blocks(blocks: Iterable[Block], look: Look, output: Output) -> None:
    """Write a page as the terminal shows it."""
    from ctxbudget.renderers import terminal  # noqa: PLC0415 - other formats do without

    with output.writing() as stream:
        terminal.render_blocks(blocks, look, stream)


def _width(stream: TextIO, environment: Mapping[str, str]) -> int | None:
    """Columns of the screen, or those asked for with COLUMNS; a pipe has no width."""
    if stream.isatty() or environment.get("COLUMNS", "").isdigit():
        return max(20, shutil.get_terminal_size((80, 24)).columns)
    return None


def _colors(stream: TextIO, environment: Mapping[str, str]) -> Colors | None:
    """Colours as NO_COLOR, FORCE_COLOR, TERM and COLORTERM have it; none in a pipe."""
    forced = environment.get("FORCE_COLOR", "")
    terminal = environment.get("TERM", "")
    if environment.get("NO_COLOR") or forced == "0":
        return None
    if not forced and (not stream.isatty() or terminal in {"dumb", "unknown"}):
        return None
    if forced == "3" or environment.get("COLORTERM", "").lower() in {"truecolor", "24bit"}:
        return "truecolor"
    return "256" if forced == "2" or "256" in terminal or sys.platform == "win32" else "standard"
