"""Paths or traces → Report: the work of ``ctxbudget analyze``, for programs too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ctxbudget import loaders, sources
from ctxbudget.config import Settings
from ctxbudget.errors import TraceError, UnknownName, UsageError
from ctxbudget.findings import LEVELS
from ctxbudget.report import Report, UnreadableRow
from ctxbudget.report.build import build
from ctxbudget.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ctxbudget.report import TraceReport
    from ctxbudget.report.run import RunReport
    from ctxbudget.sources import Place


def analyze(
    path_or_traces: str | Path | Trace | Iterable[str | Path | Trace],
    *,
    window: int | None = None,
    reserve: int = 0,
    scheme: str | None = None,
    model: str | None = None,
    format_name: str | None = None,
    select: str | None = None,
    turn: int | None = None,
    calibrate: bool = True,
    estimators: bool = False,
    fragments: bool = False,
    settings: Settings | None = None,
    on_file: Callable[[str, int, int], None] | None = None,
) -> Report:
    """Where the tokens of every model call went.

    Takes a path (file, folder, pattern, ``-``, ``file#3``), a trace, or several of either. ``window`` and ``reserve``
    are tokens; ``model`` replaces the recorded one; ``format_name`` forces a format; ``select`` picks a trace by
    label or number; ``settings`` are a project's own, below every argument (``config.discover`` finds them, nothing
    is looked for by itself); ``turn`` adds the context of that turn; ``on_file`` is told each file before it is
    read, its number from 0, and how many there are.

    Raises UsageError for arguments that cannot be used, TraceError for files that cannot be read. Of several files
    those that cannot be read are listed in ``unreadable``; it is an error only if all are.
    """
    settings = settings or Settings()
    reserve = reserve or settings.reserve or 0
    _check(settings.window if window is None else window, reserve)
    given = [path_or_traces] if isinstance(path_or_traces, str | Path | Trace) else list(path_or_traces)
    options = loaders.Options(format_name, settings.tool_classes, calibrate=calibrate, model=model)
    places = sources.expand([str(each) for each in given if not isinstance(each, Trace)], format_name)
    unreadable: list[UnreadableRow] = []
    told = on_file or (lambda _path, _number, _of: None)
    traces = _traces(places, options, select, unreadable, told)
    ready = (each for each in given if isinstance(each, Trace))
    report = build(
        (trace for some in (ready, traces) for trace in some),
        settings.laid_out(scheme),
        window=window,
        config_window=settings.window,
        reserve=reserve,
        turn=turn,
        with_estimators=estimators,
        with_fragments=fragments,
        unreadable=unreadable,
    )
    if turn is not None and report.single is None:
        raise UsageError("one turn can be shown of one trace only", hint="choose a trace with --select or file#3")
    return report


def failing(report: Report | RunReport, level: str) -> bool:
    """Whether any trace, run or sub-agent of the report has a finding of that level or a more serious one."""
    serious = levels_from(level)
    waiting: list[TraceReport | RunReport] = list(report.traces) if isinstance(report, Report) else [report]
    while waiting:
        trace = waiting.pop()
        if any(finding.level in serious for finding in trace.findings):
            return True
        waiting.extend(trace.children)
    return False


def levels_from(level: str) -> tuple[str, ...]:
    """The level and those more serious. Raises UnknownName where it is none."""
    if level not in LEVELS:
        raise UnknownName("level", level, LEVELS)
    return LEVELS[LEVELS.index(level) :]


def _check(window: int | None, reserve: int) -> None:
    if window is not None and window < 1:
        raise UsageError(f"a window of {window:,} tokens holds nothing", hint="give a number above 0")
    if reserve < 0:
        raise UsageError(f"a reserve of {reserve:,} tokens is below 0")
    if window is not None and reserve >= window:
        raise UsageError(
            f"a reserve of {reserve:,} tokens leaves nothing of the window of {window:,}",
            hint="the reserve is what stays free for the reply; it must be smaller than the window",
        )


def _traces(
    places: Sequence[Place],
    options: loaders.Options,
    select: str | None,
    unreadable: list[UnreadableRow],
    told: Callable[[str, int, int], None],
) -> Iterator[Trace]:
    """The traces of each file in turn; what cannot be read goes to ``unreadable`` where something else can."""
    alone = len(places) == 1 and not places[0].found
    failures: list[TraceError] = []
    for number, place in enumerate(places):
        told(place.path, number, len(places))
        try:
            traces = loaders.load(place.path, options, place.select or select)
        except TraceError as error:
            if alone or not (place.found or Path(place.path).exists()):
                raise
            failures.append(error)
            unreadable.append(UnreadableRow(place.path, error.message.removeprefix(f"{place.path}: ")))
        else:
            yield from sources.selected(traces, place.select or select, place.path)
    if failures and len(failures) == len(places):
        first = failures[0]
        if len(failures) == 1:
            raise first
        raise TraceError(f"none of {len(failures)} files can be read; the first: {first.message}", hint=first.hint)
