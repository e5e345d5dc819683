"""A progress bar on stderr, for a person who waits: only on a terminal, and only where the work is long."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from ctxbudget.safe import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress

LONG = 5_000_000
"""Bytes of a file worth a bar; so are more than a few files."""
MANY = 8
SOON = 0.5
"""Seconds of work after which a bar appears."""


@contextmanager
def reading(*, quiet: bool = False) -> Iterator[Callable[[str, int, int], None] | None]:
    """What to tell each file to before it is read; None where nobody watches."""
    with _bar(quiet=quiet) as bar:
        if bar is None:
            yield None
            return
        task = bar.add_task("reading", total=None)

        def told(path: str, number: int, of: int) -> None:
            bar.update(task, description=f"reading {_named(path)}", completed=number, total=of if of > 1 else None)
            if of > MANY or _size(path) > LONG:
                bar.start()

        yield told


@contextmanager
def steps(*, quiet: bool = False) -> Iterator[Callable[[str, float, int], None] | None]:
    """What to tell how much of some files is done; None where nobody watches."""
    with _bar(quiet=quiet) as bar:
        if bar is None:
            yield None
            return
        bar.start()
        task = bar.add_task("reading", total=None)
        yield lambda path, done, of: bar.update(task, description=f"comparing {_named(path)}", completed=done, total=of)


@contextmanager
def rounds(path: str, *, quiet: bool = False) -> Iterator[Callable[[int, int], None] | None]:
    """What to tell how many rounds of a placebo are done, and of how many; None where nobody watches."""
    with _bar(quiet=quiet) as bar:
        if bar is None:
            yield None
            return
        task, begun = bar.add_task(f"what chance finds in {_named(path)}", total=None), monotonic()

        def told(done: int, of: int) -> None:
            bar.update(task, completed=done, total=of)
            if monotonic() - begun > SOON:
                bar.start()

        yield told


@contextmanager
def _bar(*, quiet: bool) -> Iterator[Progress | None]:
    """A bar that is not shown yet, and is gone at the end; None where nobody watches."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415 - only for someone who watches
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    bar = Progress(
        TextColumn("{task.description}", markup=False), BarColumn(bar_width=30), TaskProgressColumn(),
        TimeElapsedColumn(), console=Console(stderr=True), transient=True,
    )  # fmt: skip
    try:
        yield bar
    finally:
        bar.stop()


def _named(path: str) -> str:
    return visible(Path(path).name)


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except (OSError, ValueError):
        return 0
