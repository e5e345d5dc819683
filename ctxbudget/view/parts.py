"""The small data that passes, views and runs exchange besides edits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxbudget.trace import Form, Fragment

RECORDED = "as-recorded"
"""Edits by this name are facts: pins, loops and sizes are not held against them."""
ENGINE = "engine"
"""Edits by this name keep a view valid: repairs and the notice of removed turns."""


@dataclass(frozen=True, slots=True)
class Note:
    """What a pass or the engine has to say about a turn besides its edits.

    ``code`` is one of ``cannot-fit``, ``borrowed``, ``starved``, ``nothing-removable``, ``not-smaller``, ``no-plan``;
    ``layer`` and ``tokens`` where they apply.
    """

    code: str
    message: str
    layer: str | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Change:
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


@dataclass(frozen=True, slots=True)
class Life:
    """One stretch of a recorded fragment's life: its form from turn ``since`` to turn ``until``, both inclusive.

    ``form`` is ``whole``, a stand-in's form, or ``lost``; ``by`` is who brought it there, empty while untouched.
    """

    id: str
    since: int
    until: int
    form: str
    by: str
