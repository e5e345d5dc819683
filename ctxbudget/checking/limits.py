"""From flags and a budget to the limits that one trace is held against, each in whole tokens and with its source.

A flag takes the place of what the budget says of the same thing. Shares given by flags are of the window; those of a
budget file are of its ``max_input_tokens`` where it names one. A limit of n tokens passes at n and fails at n + 1; a
share is an exact fraction, rounded down to whole tokens, so 75 % passes at exactly 75 %.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from ctxbudget.findings import GREW, LARGE_RESULT, LAYER_OVER, OVER_BUDGET
from ctxbudget.sizes import Amount

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ctxbudget.config.budget import Budget
    from ctxbudget.findings import Rule
    from ctxbudget.layers import Scheme

USUAL: Final = Amount(share=Fraction(3, 4))
"""Of the window, where nothing else limits the whole: the reply and the next results still fit."""
HALF: Final = Amount(share=Fraction(1, 2))
"""A harness cuts one result above this share of the window (preset five-layer). Above it a result,
or what one turn adds, is a warning where no limit is asked for."""
ALL: Final = Amount(share=Fraction(1))
DEFAULT: Final = "default"


@dataclass(frozen=True, slots=True)
class Asked:
    """Limits given by flags; None where there is none. ``layers`` is by name."""

    whole: Amount | None = None
    layers: Mapping[str, Amount] = field(default_factory=dict)
    result: Amount | None = None
    growth: Amount | None = None


@dataclass(frozen=True, slots=True)
class Wish:
    """A limit before the window is known. ``own``: a share is of the budget's own whole where it has one.
    ``level`` of a failure; ``layers`` of ``scheme`` count together; ``optional`` ones wait for a known window."""

    rule: Rule
    level: str
    amount: Amount
    source: str
    own: bool = True
    optional: bool = False
    layers: tuple[str, ...] = ()
    scheme: Scheme | None = None

    def text(self, whole: int | None) -> str:
        """The limit as it was asked for, and what a share is of; ``whole`` is the budget's own, in tokens."""
        if self.amount.share is None:
            return self.amount.text
        of = "the budget" if self.own and whole is not None else "the window"
        return f"{self.amount.text} of {of}"

    def sentence(self, whole: int | None) -> str:
        """The limit, as a report lists it."""
        what = {
            OVER_BUDGET.id: "the fullest turn",
            LAYER_OVER.id: f"layer {' and '.join(self.layers)}",
            GREW.id: "what one turn adds",
            LARGE_RESULT.id: "one result",
        }[self.rule.id]
        return f"{what}: {self.text(whole)} ({self.source}{', a warning' if self.level == 'warning' else ''})"


@dataclass(frozen=True, slots=True)
class Limit:
    """``most`` tokens pass, more do not; ``text`` is the limit as it was asked for."""

    wish: Wish
    most: int
    text: str

    @property
    def told(self) -> str:
        """The limit in tokens, and as it was asked for where that differs."""
        return f"{self.most:,} tokens" if self.text == f"{self.most:,}" else f"{self.most:,} tokens ({self.text})"


def wishes(asked: Asked, budget: Budget, holding: Callable[[Sequence[str]], Scheme]) -> list[Wish]:
    """Every limit that is asked for, in order of rule; of the whole the hard one first. ``holding`` finds the scheme of
    some layers, and raises where there is none."""
    return [*_whole(asked, budget), *_layers(asked, budget, holding), *_each(asked, budget)]


def unknown_share(wanted: Sequence[Wish], window: int | None, whole: int | None) -> Wish | None:
    """The first limit that is a share of a window nobody knows."""
    if window is not None:
        return None
    shares = (wish for wish in wanted if wish.amount.share is not None and not wish.optional)
    return next((wish for wish in shares if not (wish.own and whole is not None)), None)


def limits(wanted: Sequence[Wish], window: int | None, whole: int | None, *, unseen_tools: bool) -> list[Limit]:
    """The limits in tokens. ``window`` (None: unknown) and ``whole``, the budget's own, are what shares are of.

    ``unseen_tools``: the definitions of the tools may be part of what the provider billed and the file does not hold,
    which counts as ``system``; both layers are then held against the sum of their caps.
    """
    usable = [wish for wish in wanted if not wish.optional or wish.amount.share is None or window is not None]
    made = [_limit(wish, window, whole) for wish in usable]
    return _summed(made) if unseen_tools else made


def _whole(asked: Asked, budget: Budget) -> Iterator[Wish]:
    if asked.whole is not None:
        yield Wish(OVER_BUDGET, "error", asked.whole, "--max", own=False)
        return
    hard, origins = budget.hard_threshold, budget.origins
    if hard is not None:
        yield Wish(OVER_BUDGET, "error", hard, origins.get("hard_threshold", "budget"))
    elif budget.max_input_tokens is not None:
        yield Wish(OVER_BUDGET, "error", ALL, origins.get("max_input_tokens", "budget"))
    elif budget.soft_threshold is not None:
        yield Wish(OVER_BUDGET, "error", ALL, DEFAULT, own=False)
    else:
        yield Wish(OVER_BUDGET, "error", USUAL, DEFAULT, own=False)
    if budget.soft_threshold is not None:
        yield Wish(OVER_BUDGET, "warning", budget.soft_threshold, origins.get("soft_threshold", "budget"))


def _layers(asked: Asked, budget: Budget, holding: Callable[[Sequence[str]], Scheme]) -> Iterator[Wish]:
    caps = {name: cap.max_tokens for name, cap in budget.layers.items() if cap.max_tokens is not None}
    flagged = holding(tuple(asked.layers)) if asked.layers else None
    named = holding(tuple(budget.layers)) if caps else None
    for name, amount in asked.layers.items():
        yield Wish(LAYER_OVER, "error", amount, f"--max-layer {name}", own=False, layers=(name,), scheme=flagged)
    for name, amount in caps.items():
        if name in asked.layers and flagged == named:
            continue
        source = budget.origins.get(f"layers.{name}.max_tokens", "budget")
        yield Wish(LAYER_OVER, "error", amount, source, layers=(name,), scheme=named)


def _each(asked: Asked, budget: Budget) -> Iterator[Wish]:
    """A limit somebody asked for fails; the usual one warns."""
    rows = (
        (GREW, asked.growth, "--growth", budget.growth, "growth"),
        (LARGE_RESULT, asked.result, "--max-result", budget.max_result, "max_result"),
    )
    for rule, flag, name, own, key in rows:
        if flag is not None:
            yield Wish(rule, "error", flag, name, own=False)
        elif own is not None:
            yield Wish(rule, "error", own, budget.origins.get(key, "budget"))
        else:
            yield Wish(rule, rule.level, HALF, DEFAULT, own=False, optional=True)


def _limit(wish: Wish, window: int | None, whole: int | None) -> Limit:
    base = whole if wish.own and whole is not None else window
    return Limit(wish, wish.amount.of(base or 0), wish.text(whole))


def _summed(made: Sequence[Limit]) -> list[Limit]:
    """``system`` and ``tools`` of one scheme as one limit."""
    found: dict[str, Limit] = {one.wish.layers[0]: one for one in made if one.wish.layers in {("system",), ("tools",)}}
    if len(found) < 2 or found["system"].wish.scheme != found["tools"].wish.scheme:
        return list(made)
    system, tools = found["system"], found["tools"]
    wish = Wish(
        LAYER_OVER, "error", Amount(tokens=system.most + tools.most), system.wish.source,
        layers=("system", "tools"), scheme=system.wish.scheme,
    )  # fmt: skip
    joined = Limit(wish, system.most + tools.most, f"{system.most:,} + {tools.most:,}")
    return [joined if one is system else one for one in made if one is not tools]
