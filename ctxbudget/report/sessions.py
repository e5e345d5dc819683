"""Sessions of this machine → rows: what each holds, read as ``analyze`` reads it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ctxbudget import layers, loaders, models, sources
from ctxbudget.errors import TraceError, UsageError
from ctxbudget.ledger import entries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ctxbudget.sessions import Session
    from ctxbudget.trace import Trace


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session; ``number`` is what ``@1`` means.

    ``modified`` is UTC (ISO 8601), ``size`` the bytes of its file, ``peak`` the tokens of its fullest turn (reported
    where known), ``utilization`` that over ``window``. What was not read is None; ``problem`` says why it could not be.
    """

    number: int
    agent: str
    id: str
    path: str
    project: str | None
    modified: str
    size: int
    model: str | None = None
    turns: int | None = None
    peak: int | None = None
    window: int | None = None
    window_known: bool | None = None
    utilization: float | None = None
    problem: str | None = None


def rows(
    found: Iterable[Session], *, quick: bool = False, on_file: Callable[[str, int, int], None] | None = None
) -> Iterator[SessionRow]:
    """A row per session; with ``quick`` no session is read. A database is read once for all of its sessions that
    follow each other."""
    sessions = list(found)
    read: tuple[str, list[Trace]] = ("", [])
    for number, session in enumerate(sessions):
        if quick:
            yield _row(session)
            continue
        if on_file is not None:
            on_file(session.path, number, len(sessions))
        try:
            if read[0] != session.file:
                read = session.file, loaders.load(session.file)
            yield _measured(session, sources.selected(read[1], session.select, session.file)[0])
        except (TraceError, UsageError) as error:
            yield _row(session, error.message.removeprefix(f"{session.file}: "))


def _row(session: Session, problem: str | None = None) -> SessionRow:
    modified = session.modified.strftime("%Y-%m-%dT%H:%M:%SZ")
    own = session.number, session.agent, session.id, session.path, session.project
    return SessionRow(*own, modified, session.size, problem=problem)


def _measured(session: Session, trace: Trace) -> SessionRow:
    window = models.window_of(trace)
    peak = max((entry.size for entry in entries(trace, layers.AGENT)), default=None)
    return replace(
        _row(session),
        model=trace.model,
        turns=sum(not turn.pending for turn in trace.turns),
        peak=peak,
        window=window.tokens,
        window_known=window.known,
        utilization=None if peak is None else peak / window.tokens,
    )
