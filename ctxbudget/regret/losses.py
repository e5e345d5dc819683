"""What regret consists of: uses whose sources were out of view, and what goes with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxbudget.evidence import Signal

if TYPE_CHECKING:
    from ctxbudget.evidence import Use

COUNTED = (Signal.EDIT, Signal.ARGUMENT)
"""Signals whose uses need a string from the context: what may be missing."""


@dataclass(frozen=True, slots=True)
class Loss:
    """One use with no source in view at its turn.

    ``last`` is the id of the source that was in view longest, out of view since turn ``gone`` in form ``form``, by
    ``by``. ``source`` is the id of what would be fetched again, the cheapest one, for ``tokens``: 0 where an earlier
    fetch of the same gap has it already.
    """

    use: Use
    last: str
    gone: int
    form: str
    by: str
    source: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Repeats:
    """Requests of the recording that ask again for what nothing had changed (D5), and loops (D6).

    The recorded agent made them with its own context. Where the earlier result stands in the run's view they are
    waste; where it does not (``unseen``, ``loops_unseen``) they are what a model under the strategy would do anyway.
    ``expected`` is how many of the unseen ones the trace's own rate gives: requests per result and turn in view, times
    results and turns out of view. Requests mostly come soon, while the result is in view, so it is rather too high and
    ``excess`` rather too low.
    """

    again: int = 0
    unseen: int = 0
    loops: int = 0
    loops_unseen: int = 0
    expected: float = 0.0

    @property
    def excess(self) -> float:
        """Repeated requests without the earlier result in view, above the trace's own rate."""
        return max(0.0, self.unseen - self.expected)


@dataclass(frozen=True, slots=True)
class Trail:
    """Files touched by the last turn, and those of which that turn still shows path and last state.

    It does where the last call that read, made or changed the file stands in view, or a stand-in or summary made at or
    after it names the path: a call says what was done, and its path. Taken once, at the last turn of the run.
    """

    files: int = 0
    kept: int = 0
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Regret:
    """What later actions of a trace needed, and a run would not have shown them."""

    losses: tuple[Loss, ...] = ()
    """D1 and D2 with no source in view, in the order of the calls; one that chance finds too is not among them."""
    recalls: tuple[Loss, ...] = ()
    """D1 and D2 whose source was in an external store; not losses."""
    shown: tuple[Loss, ...] = ()
    """Losses of D1 or D2 where chance finds too many of its uses: never added to anything."""
    stale: tuple[Use, ...] = ()
    """D4 under the strategy: the old copy stood in view, the change that made it old did not."""
    rare: int = 0
    """D3 with no source in view: shown, never added to anything."""
    repeats: Repeats = Repeats()
    trail: Trail = Trail()

    @property
    def tokens(self) -> int:
        """Tokens to fetch again what is missing: the cheapest source of each, once per gap. A lower bound."""
        return sum(loss.tokens for loss in self.losses)

    @property
    def turns(self) -> int:
        """Turns that need a fetch first. A lower bound: one turn may fetch all it needs."""
        return len({loss.use.turn for loss in self.losses if loss.tokens})

    @property
    def recalled(self) -> int:
        """Tokens brought back from the store, each source once per gap."""
        return sum(loss.tokens for loss in self.recalls)

    def of(self, kind: Signal) -> tuple[Loss, ...]:
        """The losses of one signal, counted or only shown."""
        return tuple(loss for loss in (*self.losses, *self.shown) if loss.use.kind is kind)
