"""The spot check: what a summary lost of the span it replaces, and whether it can stand.

Identifiers, amounts, dates and paths that it lost are counted. Protected texts (must-keep facts) that it lost are
appended, or it is refused for them. A summary that is empty or not smaller than what it replaces is always refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ctxbudget.constraints import visible
from ctxbudget.summaries.blocks import clipped
from ctxbudget.summaries.entities import entities_in, lost
from ctxbudget.summaries.sections import KEPT
from ctxbudget.summaries.summary import Refused, Request

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ctxbudget.constraints import Fact
    from ctxbudget.summaries.summary import Summary
    from ctxbudget.trace import Fragment

_NAMED = 5
"""Dropped texts that a message names."""


@dataclass(frozen=True, slots=True)
class Check:
    """What a spot check found. ``kept`` + ``len(lost)`` = ``total`` entities of what was replaced."""

    lost: tuple[str, ...]
    """Identifiers, amounts, dates and paths that the summary does not name, as the span first did."""
    kept: int
    total: int
    appended: tuple[str, ...] = ()
    """Protected texts that were put back."""
    dropped: tuple[str, ...] = ()
    """Protected texts that it had lost by itself."""

    @property
    def recall(self) -> float:
        """``kept`` / ``total``; 1 where there was nothing to lose."""
        return self.kept / self.total if self.total else 1.0


def check(span: Iterable[Fragment], summary: str, pinned: Sequence[Fact] = (), *, earlier: str | None = None) -> Check:
    """What ``summary`` lost of ``span`` and of the ``earlier`` summary, and which pinned facts of theirs."""
    request = Request(tuple(span), 0, len, earlier, tuple(pinned))
    found = entities_in([earlier or "", *(fragment.text for fragment in request.span)])
    gone = lost(found, summary)
    dropped = _missing(request.protected(), summary)
    return Check(tuple(one.text for one in gone), len(found) - len(gone), len(found), dropped=dropped)


def accepted(request: Request, summary: Summary, *, repair: bool = True) -> tuple[Summary, Check]:
    """The summary as it may stand in place of the span, with what the check found.

    With ``repair`` protected texts that it lost are appended, and its own last lines give way where that takes it
    over its cap. Raises Refused, which names what was lost, where there is no room for them or no ``repair``, and
    for a text that is empty, over its cap, or not smaller than what it replaces.
    """
    if not summary.text.strip():
        raise Refused("empty")
    _smaller(request, summary.text)
    if request.count(summary.text) > request.cap:
        raise Refused("over its cap", f"{request.count(summary.text):,} tokens for {request.cap:,}")
    dropped = _missing(request.protected(), summary.text)
    if dropped and not repair:
        raise Refused("drops", _listed(dropped), dropped=dropped)
    text, back = _repaired(request, summary.text)
    if back:
        _smaller(request, text)
    found = replace(check(request.span, text, request.pinned, earlier=request.earlier), appended=back, dropped=dropped)
    if not back:
        return summary, found
    return replace(summary, text=text, notes=(*summary.notes, f"put back: {_listed(back)}")), found


def _missing(protected: Iterable[str], text: str) -> tuple[str, ...]:
    return tuple(one for one in protected if not visible(one, text))


def _smaller(request: Request, text: str) -> None:
    size, replaced = request.count(text), request.size
    if size >= replaced:
        raise Refused("not smaller", f"{size:,} tokens for {replaced:,}")


def _repaired(request: Request, text: str) -> tuple[str, tuple[str, ...]]:
    """The text with the protected texts that it lost on a last line, and these. Where the text is cut to make room
    it may lose more of them, which then go there too."""
    protected = request.protected()
    body = text
    for _ in range(len(protected) + 1):
        missing = _missing(protected, body)
        if not missing:
            return body, ()
        line = KEPT + "; ".join(missing)
        whole = f"{body}\n{line}" if body else line
        if request.count(whole) <= request.cap:
            return whole, missing
        body = clipped(body, min(request.cap - request.count(f"\n{line}"), request.count(body) - 1), request.count)
    dropped = _missing(protected, text)
    raise Refused("drops", f"{_listed(dropped)}, and there is no room to put it back", dropped=dropped)


def _listed(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _NAMED} more" if len(texts) > _NAMED else ""
    return ", ".join(texts[:_NAMED]) + more
