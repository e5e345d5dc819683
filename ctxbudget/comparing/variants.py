"""What is compared: strategies as they are, or with one number that a sweep changes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ctxbudget import sizes
from ctxbudget.config.budget import Budget
from ctxbudget.errors import UsageError
from ctxbudget.passes import PASSES
from ctxbudget.prepared import as_budgeted
from ctxbudget.strategy.naming import STRATEGIES, find

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ctxbudget.strategy import Strategy

WINDOW = "window"
POINTS = 8
"""Values of a sweep that is given as a range."""
WIDE = 8
"""From this ratio of its ends on a range is divided by ratio, below it evenly."""
MOST = 100
"""Values that a sweep may list."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A strategy by name (a worker finds it again; or itself), with settings, and a window of its own if any."""

    strategy: str | Strategy
    name: str
    """What its rows are called."""
    settings: tuple[str, ...] = ()
    window: int | None = None
    setting: str | None = None
    """What the sweep set, as ``window=64000``."""
    value: float | None = None

    def found(self, budget: Budget | None = None) -> Strategy:
        """The strategy as a budget drives it, with its settings. Raises UnknownName or ConfigError."""
        return as_budgeted(self.strategy, budget or Budget(), self.settings, anywhere=True)


@dataclass(frozen=True, slots=True)
class Sweep:
    """An option, ``window`` or ``pass.option``, and the values it takes."""

    option: str
    values: tuple[float, ...]


def all_presets() -> tuple[str, ...]:
    """All presets, the yardstick first."""
    return ("none", *(name for name in STRATEGIES.names() if name != "none"))


def chosen(names: Sequence[str], *, every: bool) -> tuple[str, ...]:
    """The strategies that were asked for by name, and with ``every`` all presets before them."""
    return tuple(dict.fromkeys((*(all_presets() if every else ()), *names)))


def read_sweep(text: str) -> Sweep:
    """``window=64k..1M``, ``clear-tool-results.keep=1..20``, ``sliding-window.keep=5,10,40``. Raises UsageError."""
    option, equals, given = (part.strip() for part in text.partition("="))
    if not equals or not option or not given:
        raise UsageError(f"{text!r} is no sweep", hint="write --sweep window=64k..1M or --sweep PASS.OPTION=1..20")
    if option != WINDOW and "." not in option:
        raise UsageError(f"{option!r} is no option to sweep", hint="write it as PASS.OPTION, or window")
    low, dots, high = given.partition("..")
    if dots:
        return Sweep(option, tuple(_between(_number(low, option), _number(high, option), option)))
    values = tuple(dict.fromkeys(_number(one, option) for one in given.split(",")))
    if len(values) > MOST:
        raise UsageError(f"a sweep of {len(values)} values", hint=f"at most {MOST}")
    return Sweep(option, values)


def variants(strategies: Sequence[str | Strategy], settings: Sequence[str], sweep: Sweep | None) -> list[Variant]:
    """Every strategy, each with every value of a sweep. Without strategies: all presets, or the swept pass alone.

    Raises UnknownName for a name nobody has, ConfigError for a value that an option cannot take.
    """
    own = sweep is not None and sweep.option != WINDOW
    if not strategies:
        strategies = (_pass_of(sweep),) if own and sweep is not None else all_presets()
    plain = list(_plain(strategies, tuple(settings)))
    made = plain if sweep is None else [each for one in plain for each in _swept(one, sweep)]
    for one in made:
        one.found()
    return made


def _plain(strategies: Sequence[str | Strategy], settings: tuple[str, ...]) -> Iterator[Variant]:
    """Each strategy once, under a name that no other has: ``clear`` is ``tool-result-clearing``, ``window:keep=5`` is
    another than ``window``."""
    named: dict[str, Strategy] = {}
    for one in strategies:
        if isinstance(one, str) and "," in one and ":" not in one and not one.endswith(".toml"):
            raise UsageError(f"{one!r} is no strategy", hint=f"give each of its own: -s {' -s '.join(one.split(','))}")
        found = find(one, anywhere=True, settings=settings) if isinstance(one, str) else one
        name = first = one if isinstance(one, str) and ":" in one else found.name
        number = 1
        while name in named and named[name] != found:
            number += 1
            name = f"{first} ({number})"
        if name not in named:
            named[name] = found
            yield Variant(one, name, settings)


def _pass_of(sweep: Sweep | None) -> str:
    """The name of the swept pass; an unknown one is refused when it is looked for."""
    name = sweep.option.partition(".")[0] if sweep is not None else ""
    return name if name in PASSES.names() else "none"


def _swept(one: Variant, sweep: Sweep) -> Iterator[Variant]:
    for value in sweep.values:
        setting = f"{sweep.option}={value:g}" if value < 1e6 else f"{sweep.option}={value:.0f}"
        if sweep.option == WINDOW:
            yield replace(one, window=int(value), setting=setting, value=value)
        else:
            yield replace(one, settings=(*one.settings, setting), setting=setting, value=value)


def _between(low: float, high: float, option: str) -> Iterator[float]:
    """Values from end to end: by ratio over a wide range, evenly over a narrow one; whole numbers where both are."""
    if high <= low:
        raise UsageError(
            f"{option}: a range from {low:g} to {high:g} holds nothing", hint="the smaller end comes first"
        )
    whole = low == int(low) and high == int(high) and high > 1
    count = min(POINTS, int(high - low) + 1) if whole else POINTS
    by_ratio = low > 0 and high / low >= WIDE
    seen: set[float] = set()
    for step in range(count):
        share = step / (count - 1)
        value = low * (high / low) ** share if by_ratio else low + (high - low) * share
        value = float(round(value)) if whole else float(f"{value:.6g}")
        if value not in seen:
            seen.add(value)
            yield value


def _number(text: str, option: str) -> float:
    text = text.strip()
    try:
        value = float(text)
    except ValueError:
        value = float(sizes.tokens(text, option))
    if not 0 <= value < float("inf"):
        raise UsageError(f"{option}: {text!r} is no number for a sweep")
    if option == WINDOW and value < 1:
        raise UsageError(f"a window of {text} tokens holds nothing")
    return value
