"""From what a command names to one row per trace, file by file; what cannot be read is a row too and hides no other."""

from __future__ import annotations

import gc
from collections import Counter
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from ctxbudget import loaders, sources
from ctxbudget.checking.rows import Done, checked, unread
from ctxbudget.checking.subject import subject
from ctxbudget.errors import CtxbudgetError, EmptyTrace, TraceError, UsageError
from ctxbudget.sources import Place
from ctxbudget.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from ctxbudget.checking.subject import Plan

EMPTY: Final = "nothing to measure"


def all_of(plan: Plan, given: Sequence[str | Path | Trace], told: Callable[[str, int, int], None]) -> Iterator[Done]:
    """Every trace, those that are given first. ``told`` learns each file before it is read."""
    of: Counter[str] = Counter()
    for trace in (one for one in given if isinstance(one, Trace)):
        of[trace.source.path] += 1
        yield from _trace(plan, trace, of[trace.source.path])
    places, failed = _places(plan, [str(one) for one in given if not isinstance(one, Trace)])
    for number, place in enumerate(places):
        told(place.path, number, len(places))
        done = list(_file(plan, place))
        if plan.strategy is not None or any(failure.ways for one in done for failure in one.row.failures):
            gc.collect(0)  # a replay leaves cycles behind, and the command line runs without the collector
        yield from done
    yield from failed


def _places(plan: Plan, paths: list[str]) -> tuple[list[Place], list[Done]]:
    """Every file that the paths name, each once; and a row for each path that names none.

    A file of a folder that is called ``.jsonl`` and the like and that nobody knows may be a broken trace, and is read
    all the same, to say so. A ``.json`` may be anything.
    """
    doubtful: list[str] = []
    places: list[Place] = []
    failed: list[Done] = []
    try:
        places = sources.expand(paths, plan.how.format, passed=doubtful.append)
    except CtxbudgetError:  # one of them: find out which
        doubtful.clear()
        for path in paths:
            try:
                places += sources.expand([path], plan.how.format, passed=doubtful.append)
            except CtxbudgetError as error:
                failed.append(_unread(plan, path, error, empty=not path.startswith("@")))  # a name is no empty place
    doubtful = [path for path in doubtful if ".json" not in PurePath(path).suffixes]
    return list(dict.fromkeys((*places, *(Place(path, found=True) for path in doubtful)))), failed


def _file(plan: Plan, place: Place) -> Iterator[Done]:
    try:
        select = place.select or plan.select
        traces = sources.selected(loaders.load(place.path, plan.how, select), select, place.path)
    except (TraceError, UsageError) as error:
        yield _unread(plan, place.path, error, empty=isinstance(error, EmptyTrace))
        return
    for number, trace in enumerate(traces, 1):
        yield from _trace(plan, trace, number)


def _trace(plan: Plan, trace: Trace, number: int) -> Iterator[Done]:
    yield _done(plan, trace, number, None)
    members = list(trace.family())[1:] if plan.children else []
    for at, member in enumerate(members, 1):
        yield _done(plan, member, number, member.source.label or member.source.session or str(at))


def _done(plan: Plan, trace: Trace, number: int, child: str | None) -> Done:
    try:
        return checked(subject(plan, trace, number, child))
    except CtxbudgetError as error:  # a pattern that takes too long on this text, a layer that this trace lacks
        return _unread(plan, trace.source.path, error, empty=False)


def _unread(plan: Plan, path: str, error: CtxbudgetError, *, empty: bool) -> Done:
    reason = error.message.removeprefix(f"{path}: ").removeprefix(f"{path} ")
    told = f"{reason}: {EMPTY}" if empty and EMPTY not in reason else reason
    return unread(path, told, error.hint, empty=empty, excused=empty and plan.allow_empty)
