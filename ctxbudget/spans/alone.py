"""Logs of gateways: calls that stand alone, without agents and tools above and between them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ctxbudget.spans.exported import instant
from ctxbudget.spans.span import MODEL, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ctxbudget.exchanges import Exchange


class Alone:
    """A reader for them; ``exchange`` gives the call that a record is."""

    def __init__(self, exchange: Callable[[Span, Counter[str]], Exchange | None]) -> None:
        """``exchange`` as in ``Reader``."""
        self.exchange = exchange

    def opening(self, span: Span) -> list[dict[str, Any]]:  # noqa: ARG002 - as in Reader
        """Nothing: no run was given anything."""
        return []

    def answer(self, span: Span) -> dict[str, Any] | None:  # noqa: ARG002 - as in Reader
        """Nothing: no tool is logged."""
        return None


def calls(
    rows: Iterable[tuple[dict[str, Any], int]], begun: str, session: Callable[[Any], str | None]
) -> Iterator[Span]:
    """The records of a gateway's log, each with its line, as spans that are all model calls; ``begun`` is the field
    with the time. Those of a session belong together; all others may continue one another.

    A name that only one record has is that of a call, not of a session.
    """
    listed = [(row, line, session(row)) for row, line in rows]
    times = Counter(name for _, _, name in listed)
    for number, (row, line, name) in enumerate(listed):
        run = name if name is not None and times[name] > 1 else ""
        yield Span(f"{number}", None, run, (instant(row.get(begun)), number), MODEL, line, row)
