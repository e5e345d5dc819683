"""The budget of a project: what a context may hold, as a whole and layer by layer.

context_budget:
  max_input_tokens: 120000       # the budget; without it the model's window is
  soft_threshold: 0.70           # of it: above, a warning
  hard_threshold: 0.90           # above, a failure
  max_result: 50%                # one result
  growth: 20k                    # what one turn may add
  must_keep: [never push to main]
  layers:                        # of scheme agent or of scheme window
    tools: {max_tokens: 24000, cache_stable: true}
    working_memory: {max_tokens: 42000, verbatim_tail_turns: 6}
    retrieval: {max_tokens: 36000, strategy: just_in_time}
  overrides:                     # for some paths, relative to this file; the last that matches wins
    - paths: ["traces/long/**"]
      hard_threshold: 0.95
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from ctxbudget.config import globs
from ctxbudget.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ctxbudget.config.section import Section
    from ctxbudget.sizes import Amount

JUST_IN_TIME = "just_in_time"
"""Kept for the chain of calls that asked for it, then the first to go."""


@dataclass(frozen=True, slots=True)
class Cap:
    """The budget of one layer; None where it says nothing.

    ``max_tokens`` is tokens, or a share of the whole budget. ``pinned``: a strategy must leave it whole (CB203).
    ``cache_stable``: it must not change between turns (CB204 becomes an error). ``verbatim_tail_turns``: so many of
    the newest turns stay word by word. ``strategy``: ``just_in_time``.
    """

    max_tokens: Amount | None = None
    pinned: bool | None = None
    cache_stable: bool | None = None
    verbatim_tail_turns: int | None = None
    strategy: str | None = None


@dataclass(frozen=True, slots=True)
class Budget:
    """What a context may hold; None where nothing is said. ``max_input_tokens`` is tokens; shares are of it, else of
    the window. ``origins`` names the place that each value comes from, by its key."""

    max_input_tokens: int | None = None
    soft_threshold: Amount | None = None
    hard_threshold: Amount | None = None
    max_result: Amount | None = None
    growth: Amount | None = None
    must_keep: tuple[str, ...] | None = None
    layers: Mapping[str, Cap] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)

    def over(self, base: Budget) -> Budget:
        """The two as one: this where it says something, the other where it does not; layers setting by setting."""
        caps = dict(base.layers)
        for name, cap in self.layers.items():
            caps[name] = _joined(cap, caps[name]) if name in caps else cap
        joined: Budget = _joined(self, base)
        return replace(joined, layers=caps, origins={**base.origins, **self.origins})


@dataclass(frozen=True, slots=True)
class Override:
    """A budget for the paths that match one of the patterns."""

    paths: tuple[str, ...]
    budget: Budget


SIZES = ("max_input_tokens", "soft_threshold", "hard_threshold", "max_result", "growth", "must_keep")
KEYS = (*SIZES, "layers", "overrides")
CAP_KEYS = tuple(one.name for one in fields(Cap))


def read(section: Section) -> tuple[Budget, tuple[Override, ...]]:
    """The budget in a table, and what holds for some paths alone. Raises ConfigError with the place."""
    section.known(KEYS)
    overrides = []
    for inner in section.members("overrides"):
        inner.known(("paths", *SIZES, "layers"))
        paths = inner.texts("paths")
        if not paths:
            raise ConfigError(
                f"{section.document.place(inner.keys)}: an override without paths", hint='paths: ["long/**"]'
            )
        with inner.placed("paths"):
            globs.checked(paths)
        overrides.append(Override(paths, _budget(inner)))
    whole = _budget(section)
    for budget in (whole, *(one.budget.over(whole) for one in overrides)):
        _in_order(section, budget)
    return whole, tuple(overrides)


def _budget(section: Section) -> Budget:
    layers = section.inner("layers")
    caps = {name: _cap(layers.inner(name)) for name in layers.table}
    keys = [key for key in SIZES if key in section]
    origins = {key: section.document.origin((*section.keys, key)) for key in keys}
    for name in caps:
        for key in layers.inner(name).table:
            origins[f"layers.{name}.{key}"] = section.document.origin((*layers.keys, name, key))
    return Budget(
        max_input_tokens=section.tokens("max_input_tokens"),
        soft_threshold=section.amount("soft_threshold"),
        hard_threshold=section.amount("hard_threshold"),
        max_result=section.amount("max_result"),
        growth=section.amount("growth"),
        must_keep=section.texts("must_keep"),
        layers=caps,
        origins=origins,
    )


def _cap(section: Section) -> Cap:
    section.known(CAP_KEYS)
    strategy = section.text("strategy")
    if strategy not in {None, JUST_IN_TIME}:
        section.wrong("strategy", f"unknown strategy of a layer {strategy!r}", f"known: {JUST_IN_TIME}")
    return Cap(
        max_tokens=section.amount("max_tokens"),
        pinned=section.flag("pinned"),
        cache_stable=section.flag("cache_stable"),
        verbatim_tail_turns=section.whole("verbatim_tail_turns"),
        strategy=strategy,
    )


def _in_order(section: Section, budget: Budget) -> None:
    """A soft threshold above the hard one would never be heard."""
    soft, hard = budget.soft_threshold, budget.hard_threshold
    if soft is None or hard is None:
        return
    comparable = (soft.share is None) == (hard.share is None)
    base = budget.max_input_tokens or 10**9
    if (comparable or budget.max_input_tokens) and soft.of(base) > hard.of(base):
        said = f"soft_threshold {soft.text} is above hard_threshold {hard.text}"
        section.wrong("soft_threshold", said, "the soft one warns before the hard one fails: it must not be the larger")


def _joined(upper: Any, lower: Any) -> Any:
    """The upper one's fields where they are set, the lower one's where they are not."""
    given = {one.name: getattr(upper, one.name) for one in fields(upper)}
    return replace(lower, **{name: value for name, value in given.items() if value is not None})
