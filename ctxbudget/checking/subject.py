"""What is checked: one trace, with the window, the budget and the rules that hold for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ctxbudget import constraints, loaders, models
from ctxbudget.checking.limits import DEFAULT, Asked, limits, unknown_share, wishes
from ctxbudget.checking.measured import hides_tools
from ctxbudget.config import Settings
from ctxbudget.config.rules import Rules
from ctxbudget.trace import Warning as TraceWarning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxbudget.checking.baseline import Baseline
    from ctxbudget.checking.limits import Limit, Wish
    from ctxbudget.config.budget import Budget
    from ctxbudget.constraints import Fact
    from ctxbudget.layers import Scheme
    from ctxbudget.models import Window
    from ctxbudget.trace import Trace


@dataclass(frozen=True, slots=True)
class Plan:
    """What is done with every trace: the flags of the command, and the settings below them. Plain data, so that a
    process can be given it. ``window`` and ``reserve`` are tokens; ``strategy`` None checks the recorded contexts."""

    asked: Asked = field(default_factory=Asked)
    settings: Settings = field(default_factory=Settings)
    rules: Rules = field(default_factory=Rules)
    how: loaders.Options = field(default_factory=loaders.Options)
    strategy: str | None = None
    anywhere: bool = False
    window: int | None = None
    reserve: int = 0
    scheme: str | None = None
    select: str | None = None
    facts: tuple[Fact, ...] = ()
    children: bool = False
    allow_empty: bool = False
    baseline: Baseline | None = None
    flags: tuple[str, ...] = ()
    """Of the command, for lines to paste: ``--window 200000``."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One trace and what holds for it. ``number`` is its place among the traces of its file, from 1; ``child`` names a
    sub-agent."""

    plan: Plan
    trace: Trace
    number: int
    child: str | None
    window: Window
    budget: Budget
    wanted: tuple[Wish, ...]
    scheme: Scheme
    own_scheme: Scheme
    """The scheme of the layers that the budget names."""
    rules: Rules

    @property
    def known_window(self) -> int | None:
        """The window in tokens, None where it is only assumed."""
        return self.window.tokens if self.window.known else None

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Facts that must stay in view: those of the command, then those of the budget."""
        own = constraints.must_keep(self.budget.must_keep or ())
        return tuple({fact.raw: fact for fact in (*self.plan.facts, *own)}.values())

    @property
    def reserve(self) -> int:
        """Tokens kept free for the reply, as far as they leave something of the window."""
        asked = self.plan.reserve or self.plan.settings.reserve or 0
        return asked if asked < self.window.tokens else 0

    @property
    def no_turns(self) -> bool:
        """Whether there is no model call in it."""
        return not self.trace.turns

    @property
    def unknown_window(self) -> tuple[str, str] | None:
        """Why the limits mean nothing, and what to do; None where the window is known or not needed."""
        lost = unknown_share(self.wanted, self.known_window, self.budget.max_input_tokens)
        if lost is None:
            return None
        reason = f"the window is unknown, and the limit of {lost.amount.text} ({lost.source}) is a share of it"
        if self.child is not None:
            return reason, "a sub-agent has a window of its own: give limits in tokens, or leave --children out"
        if lost.source == DEFAULT:
            return reason, "tell it with --window, as --window 200k, or limit the fullest turn in tokens, as --max 150k"
        return reason, "tell it with --window, as --window 200k, or give limits in tokens"

    @property
    def stable(self) -> set[str]:
        """Layers that must not change between turns."""
        return {name for name, cap in self.budget.layers.items() if cap.cache_stable}

    @property
    def notes(self) -> list[TraceWarning]:
        """What the reader should know about the limits: tools that are billed and not in the file cannot be told from
        the system prompt."""
        caps = {name: cap for name, cap in self.budget.layers.items() if cap.max_tokens is not None}
        if "tools" not in (*caps, *self.plan.asked.layers) or not hides_tools(self.trace):
            return []
        both = "system" in caps and "tools" in caps
        what = "system and tools are held against the sum of their limits" if both else "tools could not be measured"
        return [TraceWarning("tools-unseen", f"the tool definitions were billed and are not in the file: {what}")]

    def limits(self) -> list[Limit]:
        """The limits in tokens."""
        whole = self.budget.max_input_tokens
        return limits(self.wanted, self.known_window, whole, unseen_tools=hides_tools(self.trace))


def subject(plan: Plan, trace: Trace, number: int, child: str | None = None) -> Subject:
    """A trace of a file, or a sub-agent of one, which has a window of its own."""
    settings = plan.settings
    budget = settings.budget_for(trace.source.path)

    def holding(names: Sequence[str]) -> Scheme:
        return settings.scheme_holding(names, plan.scheme)

    wanted = tuple(wishes(plan.asked, budget, holding))
    if child is None:
        window = models.window_of(trace, flag=plan.window, config=settings.window)
    else:
        window = models.window_of(trace)
    own = holding(tuple(budget.layers)) if budget.layers else None
    named = own or next((wish.scheme for wish in wanted if wish.scheme is not None), None)
    scheme = settings.laid_out(plan.scheme) if named is None or plan.scheme is not None else named
    rules = plan.rules.over(settings.rules)
    return Subject(plan, trace, number, child, window, budget, wanted, scheme, own or scheme, rules)
