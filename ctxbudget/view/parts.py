"""The small data that passes, views and runs exchange besides edits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ctxbudget.trace import Form, Fragment

RECORDED = "as-recorded"
"""Edits by this name are facts: pins, loops and sizes are not held against them."""
ENGINE = "engine"
"""Edits by this name keep a view valid: repairs and the notice of removed turns."""
STATE = -(1 << 40)
"""The message of a block of state: one of ours, and never one with a notice."""


@dataclass(frozen=True, slots=True)
class Note:
    """What a pass or the engine has to say about a turn besides its edits.

    ``code`` is one of ``cannot-fit``, ``borrowed``, ``starved``, ``nothing-removable``, ``not-smaller``, ``no-plan``,
    ``summary``, ``summary-refused``;
    ``layer`` and ``tokens`` where they apply.
    """

    code: str
    message: str
    layer: str | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryNote(Note):
    """A summary that was asked for: what it cost, and where it stands (``code`` is ``summary``) what it did; else
    ``code`` is ``summary-refused`` and ``step`` is empty. ``tokens`` are those freed.
    """

    by: str
    """Who wrote it."""
    step: str
    """How far down the ladder: ``full``, ``partial``, ``noted``, ``notice``."""
    generation: int
    """1 for a summary of originals, 2 for one that an earlier one was folded into, and so on."""
    simulated: bool
    """No model wrote it: text and cost stand for those of one."""
    calls: int
    """Of all attempts together, as are the next two."""
    tokens_in: int
    tokens_out: int
    summarised: int
    """Tokens of what was replaced, the earlier summary included."""
    summary: int
    """Tokens of the text that stands there."""
    tail: int
    """Tokens kept word by word after it."""
    kept: int
    """Identifiers, amounts, dates and paths of what was replaced that it still names, of ``total``."""
    total: int
    lost: tuple[str, ...]
    """Those that it does not name."""
    failures: tuple[str, ...]
    """Why the steps before it failed."""


def is_state(fragment: Fragment) -> bool:
    """Whether it is a block of state: rewritten by its own pass at the tail of the view, left alone by all others."""
    return fragment.message == STATE


def nonzero(amounts: Mapping[str, int]) -> dict[str, int]:
    """A copy without the names that nothing counts to. (Mostly there is none, and the copy is plain.)"""
    if 0 in amounts.values():
        return {name: amount for name, amount in amounts.items() if amount}
    return dict(amounts)


class Follower(Protocol):
    """What a pass remembers of a run, kept up to date by the view."""

    def enter(self, place: int, fragment: Fragment, finished: bool) -> None:
        """A recorded fragment entered; ``finished`` where it ended a tool loop."""

    def put(self, place: int, fragment: Fragment, by: str) -> None:
        """An edit put a fragment in."""

    def drop(self, fragment: Fragment, by: str) -> None:
        """An edit took a fragment out; what it puts in follows."""


@dataclass(slots=True)
class Made:
    """What was made of fragments in a run, so that it is made once."""

    digests: dict[tuple[str, int], Fragment | None] = field(default_factory=dict)
    """Stand-ins by id and cap, None where there is none that is smaller."""
    drafts: dict[tuple[str, int], str] = field(default_factory=dict)
    """Texts of digests that were written before they are needed."""
    leasts: dict[str, int] = field(default_factory=dict)
    """What the least form costs."""


class Change(NamedTuple):
    """An edit as it was applied: ``before`` and ``after`` are the tokens of its place, removed and inserted."""

    by: str
    form: Form | None
    removed: tuple[str, ...]
    inserted: tuple[Fragment, ...]
    before: int
    after: int
    reason: str

    @property
    def freed(self) -> int:
        """Tokens the view lost by it; negative where an original came back."""
        return self.before - self.after


class Life(NamedTuple):
    """One stretch of a recorded fragment's life: its form from turn ``since`` to turn ``until``, both inclusive.

    ``form`` is ``whole``, a stand-in's form, or ``lost``; ``by`` is who brought it there, empty while untouched.
    """

    id: str
    since: int
    until: int
    form: str
    by: str
