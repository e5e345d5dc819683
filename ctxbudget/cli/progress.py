"""A progress bar on stderr, for a person who waits: only on a terminal, and only where the work is long."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ctxbudget.safe import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LONG = 5_000_000
"""Bytes of a file worth a bar; so are more than a few files."""
MANY = 8


@contextmanager
def reading() -> Iterator[Callable[[str, int, int], None] | None]:
    """What to tell each file to before it is read; None where nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415 - only for someone who watches
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    bar = Progress(
        TextColumn("{task.description}", markup=False), BarColumn(bar_width=30), TimeElapsedColumn(),
        console=Console(stderr=True), transient=True,
    )  # fmt: skip
    task = bar.add_task("reading", total=None)

    def told(path: str, number: int, of: int) -> None:
        bar.update(
            task, description=f"reading {visible(Path(path).name)}", completed=number, total=of if of > 1 else None
        )
        if of > MANY or _size(path) > LONG:
            bar.start()

    try:
        yield told
    finally:
        bar.stop()


@contextmanager
def steps() -> Iterator[Callable[[str, float, int], None] | None]:
    """What to tell how much of some files is done; None where nobody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415 - only for someone who watches
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    with Progress(
        TextColumn("{task.description}", markup=False), BarColumn(bar_width=30), TaskProgressColumn(),
        TimeElapsedColumn(), console=Console(stderr=True), transient=True,
    ) as bar:  # fmt: skip
        task = bar.add_task("reading", total=None)
        yield lambda path, done, of: bar.update(
            task, description=f"comparing {visible(Path(path).name)}", completed=done, total=of
        )


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except (OSError, ValueError):
        return 0
