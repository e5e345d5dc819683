"""What goes into a summary and what comes out of it.

A summariser is handed a ``Request`` and gives a ``Summary``. What it replaces is not its business: the ladder
(``ladder.py``) checks its text, and the pass that asked makes the edit.
"""

from __future__ import annotations

from collections.abc import Callable  # noqa: TC003 - a field of a dataclass
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from ctxbudget.constraints import TIMEOUT, Fact
from ctxbudget.errors import CtxbudgetError
from ctxbudget.trace import Fragment, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

PATTERN_MATCHES = 20
"""Different texts that one must-keep pattern may protect."""


@dataclass(frozen=True, slots=True)
class Request:
    """A span to be summarised."""

    span: tuple[Fragment, ...]
    """What is to be replaced, oldest first, without the summary so far."""
    cap: int
    """Tokens that the text may cost, by ``count``."""
    count: Callable[[str], int]
    """What a text costs in a prompt: ``view.tokens_of``."""
    earlier: str | None = None
    """The text of the summary so far, which is replaced as well. Its originals are out of reach: drift shows."""
    pinned: tuple[Fact, ...] = ()
    """Must-keep facts."""
    turn: int = 0
    """The turn before whose call this happens: nothing later may be known."""

    @property
    def size(self) -> int:
        """Tokens of what is replaced, the earlier summary included."""
        own = sum([fragment.tokens for fragment in self.span])
        return own + (self.count(self.earlier) if self.earlier else 0)

    def protected(self) -> tuple[str, ...]:
        """The texts that a summary has to show: pinned facts that what is replaced still shows, each once.

        A pattern protects what it matches, the first ``PATTERN_MATCHES`` different texts.
        """
        if not self.pinned:
            return ()
        texts = [self.earlier or "", *(fragment.text for fragment in self.span)]
        return tuple(dict.fromkeys(text for fact in self.pinned for text in _shown(fact, texts)))

    def capped(self, cap: int) -> Request:
        """The same request with less room."""
        return replace(self, cap=min(self.cap, cap))


def _shown(fact: Fact, texts: Iterable[str]) -> Iterable[str]:
    if fact.pattern is None:
        return (fact.raw,) if any(fact.visible(text) for text in texts) else ()
    found: dict[str, None] = {}
    for text in texts:
        if fact.visible(text):  # raises where the pattern takes too long
            with suppress(TimeoutError):
                for match in fact.pattern.finditer(text, timeout=TIMEOUT):
                    if match[0].strip() and len(found) < PATTERN_MATCHES:
                        found[" ".join(match[0].split())] = None
    return found


def request(
    fragments: Iterable[Fragment],
    cap: int,
    count: Callable[[str], int],
    *,
    pinned: Iterable[Fact] = (),
    turn: int = 0,
) -> Request:
    """A request for these fragments of a view, oldest first: summaries among them are the earlier summary."""
    every = tuple(fragments)
    earlier = "\n".join(one.text for one in every if one.kind is Kind.SUMMARY and one.text.strip())
    span = tuple(one for one in every if one.kind is not Kind.SUMMARY)
    return Request(span, cap, count, earlier or None, tuple(pinned), turn)


@dataclass(frozen=True, slots=True)
class Summary:
    """A text in place of a span, and what it cost to make it."""

    text: str
    tokens_in: int
    """Tokens read for it: span, earlier summary, instructions."""
    tokens_out: int
    """Tokens written for it."""
    calls: int
    """Model calls it took, or would take where ``simulated``."""
    simulated: bool
    """No model wrote it: text and cost stand for those of one. Reports label it."""
    by: str = ""
    """Who wrote it: ``extractive``, ``recorded``, the model's name."""
    sections: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Title and items of each section, where it has sections."""
    notes: tuple[str, ...] = ()
    """What the reader of a report should know about it, such as that it was cut at its cap."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """What a summarising edit carries besides its ids, all in tokens."""

    freed: int
    """What the view lost by it: ``summarised`` less ``summary``."""
    summarised: int
    """What was replaced, the earlier summary included."""
    summary: int
    """The new text."""
    tail: int
    """What was kept word by word after it."""


class Summariser(Protocol):
    """Makes a summary. Deterministic: the same request gives the same summary."""

    def summarise(self, request: Request) -> Summary:
        """A summary of at most ``request.cap`` tokens; raises SummaryError where there can be none."""


class SummaryError(CtxbudgetError):
    """No summary for this span. The ladder takes the next step down; its message says why."""


class Refused(SummaryError):
    """The spot check turned a summary down. ``reason`` is ``empty``, ``not smaller``, ``over its cap`` or ``drops``."""

    def __init__(self, reason: str, detail: str = "", *, dropped: tuple[str, ...] = ()) -> None:
        """``dropped`` are the protected texts that it lost."""
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.dropped = dropped
