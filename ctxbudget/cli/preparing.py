"""From the flags that replay and export share to a prepared replay."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ctxbudget import config, sizes
from ctxbudget.cli import progress
from ctxbudget.errors import UsageError
from ctxbudget.prepared import prepare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxbudget.prepared import Prepared
    from ctxbudget.summaries import Summariser


def prepared(
    path: str,
    strategy: str,
    *,
    window: str | None,
    reserve: str,
    scheme: str | None = None,
    options: Sequence[str] | None,
    must_keep: Sequence[str] | None,
    must_keep_files: Sequence[str] | None,
    model: str | None,
    select: str | None,
    format_name: str | None,
    calibrate: bool = True,
    summariser: str | Summariser = "extractive",
    fail_summary: int = 0,
    store: Path | None = None,
    quiet: bool = False,
) -> Prepared:
    """The trace and the strategy that the flags mean, with the settings of the project."""
    if not strategy:
        raise UsageError("no strategy given", hint="give --strategy NAME; see: ctxbudget list strategies")
    with progress.reading(quiet=quiet) as told:
        if told is not None:
            told(path, 0, 1)
        return prepare(
            path,
            strategy,
            window=None if window is None else sizes.tokens(window, "--window"),
            reserve=sizes.tokens(reserve, "--reserve", least=0),
            scheme=scheme,
            options=options or (),
            must_keep=must_keep or (),
            must_keep_files=must_keep_files or (),
            model=model,
            format_name=format_name,
            select=select,
            calibrate=calibrate,
            settings=config.discover(Path.cwd()),
            anywhere=True,
            summariser=summariser,
            fail_summary=fail_summary,
            store=store,
        )
