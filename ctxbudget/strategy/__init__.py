"""Strategies: ordered stages of passes. A strategy is data: a TOML file, one of ours (a preset) or the user's own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ctxbudget.passes import name_of
from ctxbudget.strategy.stage import MOMENTS, Stage, options_of

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["MOMENTS", "Stage", "Strategy", "compose"]


@dataclass(frozen=True, slots=True)
class Strategy:
    """Ordered stages, and what the documentation says of them."""

    name: str
    stages: tuple[Stage, ...] = ()
    pin: tuple[str, ...] = ()
    """Layers, kinds or fragment ids that stay whole, besides the fixed overhead and what the trace itself pins."""
    atomic_loops: bool = False
    """Keep a tool loop opened by thinking in one piece until it is finished, as OpenHands does."""
    description: str = ""
    keeps: str = ""
    costs: str = ""
    fails: str = ""
    use_when: str = ""
    aliases: tuple[str, ...] = ()

    @property
    def passes(self) -> tuple[str, ...]:
        """Names of the passes in it, each once."""
        return tuple(dict.fromkeys(name_of(one) for stage in self.stages for one in stage.passes))

    @property
    def options(self) -> dict[str, Any]:
        """Every option by ``pass.option``; a pass that comes twice has its later ones numbered (``pass#2.option``)."""
        found: dict[str, Any] = {}
        seen: dict[str, int] = {}
        for one in (one for stage in self.stages for one in stage.passes):
            name = name_of(one)
            seen[name] = seen.get(name, 0) + 1
            label = name if seen[name] == 1 else f"{name}#{seen[name]}"
            found.update({f"{label}.{option}": value for option, value in options_of(one).items()})
        return found


def compose(strategies: Sequence[Strategy]) -> Strategy:
    """``a+b``: entry stages of all first, then sub-goal, reply, call and overflow stages; pins add up."""
    if len(strategies) == 1:
        return strategies[0]
    stages = [stage for one in strategies for stage in one.stages]
    return replace(
        strategies[0],
        name="+".join(one.name for one in strategies),
        stages=tuple(sorted(stages, key=lambda stage: MOMENTS.index(stage.at))),
        pin=tuple(dict.fromkeys(name for one in strategies for name in one.pin)),
        atomic_loops=any(one.atomic_loops for one in strategies),
        **{part: _joined(strategies, part) for part in ("description", "keeps", "costs", "fails", "use_when")},
        aliases=(),
    )


def _joined(strategies: Sequence[Strategy], part: str) -> str:
    return " ".join(f"{one.name}: {getattr(one, part)}" for one in strategies if getattr(one, part))
