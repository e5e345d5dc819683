"""Stages: when which passes run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from ctxbudget.passes import name_of

if TYPE_CHECKING:
    from ctxbudget.passes import Pass

MOMENTS: Final = ("entry", "subgoal", "reply", "call", "overflow")
"""In the order in which composed strategies run them."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Passes and the moment they run at. All conditions given must hold.

    Amounts up to 1 are fractions of (window - reserve), above they are tokens.
    """

    at: Literal["entry", "subgoal", "reply", "call", "overflow"] = "call"
    """``entry``: as fragments enter; ``subgoal``: a plan item was completed; ``reply``: after the reply, before its
    results are known; ``call``: before each model call; ``overflow``: before a call that would not fit."""
    passes: tuple[Pass, ...] = ()
    when: float | None = None
    """Only at this size of the view or above."""
    when_layer: Mapping[str, float] = field(default_factory=dict)
    """Only where each of these layers has at least so much."""
    when_incoming: float | None = None
    """Only where at least so much has arrived this turn."""
    every: int | None = None
    """Only at every so many turns."""
    until: float | None = None
    """Stop as soon as the view is no larger than this."""
    estimator: str | None = None
    """The estimate that ``when`` and ``until`` see; the calibrated count itself without one."""

    @property
    def guarded(self) -> bool:
        """Whether it waits for a size: such a stage fires, the others just run."""
        sized = self.when is not None or self.when_incoming is not None or bool(self.when_layer)
        return sized or self.at == "overflow"

    def table(self) -> dict[str, Any]:
        """The stage as plain data, as a run reports it: what is not set is left out."""
        found: dict[str, Any] = {"at": self.at}
        for name in CONDITIONS[1:]:
            value = getattr(self, name)
            if value is not None and value != {}:
                found[name] = _plain(value)
        found["passes"] = [{"name": name_of(one), **options_of(one)} for one in self.passes]
        return found

    def with_pass(self, name: str, option: str, value: Any) -> Stage:
        """The same stage with an option of one of its passes changed."""
        changed = [replace(one, **{option: value}) if name_of(one) == name else one for one in self.passes]  # type: ignore[type-var]
        return replace(self, passes=tuple(changed))


CONDITIONS: Final = tuple(one.name for one in fields(Stage) if one.name != "passes")


def options_of(one: Pass) -> dict[str, Any]:
    """The options of a pass, as plain data."""
    return {option.name: _plain(getattr(one, option.name)) for option in fields(one)}  # type: ignore[arg-type]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value
