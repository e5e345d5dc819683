"""The ``priority`` preset, driven by a budget: what is checked is what is replayed.

Its first stage begins at the soft threshold and ends at the same proportion of it as in the preset (0.60 of 0.70);
arriving retrieval becomes a stand-in at the hard one; the verbatim tail and the pinned layers are those of the budget.
Retrieval beyond its cap goes first, oldest first. Where another layer is beyond its cap the preset's passes run one
after the other, the gentlest first, until it is not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ctxbudget.layers import WINDOW
from ctxbudget.passes.clear_tool_results import ClearToolResults
from ctxbudget.passes.evict_by_priority import EvictByPriority
from ctxbudget.strategy import Stage
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from ctxbudget.config.budget import Budget
    from ctxbudget.sizes import Amount
    from ctxbudget.strategy import Strategy

NAME: Final = "priority"
UNTIL: Final = 6 / 7
"""Of the size it begins at, the preset's first stage goes down to this."""


FIXED: Final = frozenset({"system", "tools", "task"})
"""Layers that no pass makes smaller."""


def driven(strategy: Strategy, budget: Budget) -> Strategy:
    """The strategy as the budget has it; any but ``priority`` is left alone."""
    if NAME not in strategy.name.split("+"):
        return strategy
    stages = [_stage(stage, budget) for stage in strategy.stages]
    evicting = [one for stage in stages for one in stage.passes if isinstance(one, EvictByPriority)]
    caps = {name: _size(cap.max_tokens, budget) for name, cap in budget.layers.items() if cap.max_tokens is not None}
    capped: list[Stage] = []
    for name, cap in caps.items():
        if name == "retrieval":
            capped.append(Stage(passes=(ClearToolResults(keep=0, keep_tokens=cap, kinds=(Kind.RETRIEVAL.value,)),)))
        elif name not in FIXED:
            beyond = cap + 1 if cap > 1 else cap
            capped += [Stage(when_layer={name: beyond}, passes=(one,)) for one in evicting]
    pinned = [name for name, cap in budget.layers.items() if cap.pinned]
    kinds = [kind.value for kind in Kind if kind is not Kind.INJECTED and WINDOW.kinds.get(kind) in pinned]
    pin = tuple(dict.fromkeys((*strategy.pin, *kinds)))
    return replace(strategy, stages=(*capped, *stages), pin=pin)


def _stage(stage: Stage, budget: Budget) -> Stage:
    """One stage of the preset: the evicting one, or the one for retrieval that arrives in a context nearly full."""
    tail = max((cap.verbatim_tail_turns or 0 for cap in budget.layers.values()), default=0)
    asked = any(cap.verbatim_tail_turns is not None for cap in budget.layers.values())
    if any(isinstance(one, EvictByPriority) for one in stage.passes):
        passes = tuple(
            replace(one, tail_turns=tail) if asked and isinstance(one, EvictByPriority) else one for one in stage.passes
        )
        begin = _begin(budget.soft_threshold, stage.when, budget)
        until = begin * UNTIL if begin is not None and begin != stage.when else stage.until
        return replace(stage, passes=passes, when=begin, until=until)
    if any(isinstance(one, ClearToolResults) and one.arriving for one in stage.passes):
        return replace(stage, when=_begin(budget.hard_threshold, stage.when, budget))
    return stage


def _begin(amount: Amount | None, usual: float | None, budget: Budget) -> float | None:
    """Where a stage begins: the budget's threshold, else the preset's share of the budget's whole."""
    if amount is not None:
        return _size(amount, budget)
    if usual is not None and usual <= 1 and budget.max_input_tokens is not None:
        return usual * budget.max_input_tokens
    return usual


def _size(amount: Amount, budget: Budget) -> float:
    """An amount as a stage takes it: a share of the window up to 1, tokens above."""
    if amount.share is None or budget.max_input_tokens is not None:
        return float(amount.of(budget.max_input_tokens or 0))
    return float(amount.share)
