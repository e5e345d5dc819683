"""From what a user writes to a strategy: ``name``, ``a+b``, ``name:option=value``, ``./mine.toml``, ``--set``."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxbudget.errors import UnknownName, UsageError
from ctxbudget.passes import PASSES, name_of
from ctxbudget.registry import Registry, is_path
from ctxbudget.strategy import Stage, Strategy, compose
from ctxbudget.strategy.reading import read_strategy
from ctxbudget.strategy.stage import CONDITIONS
from ctxbudget.strategy.values import hints_of, read_value

if TYPE_CHECKING:
    from collections.abc import Iterable

STRATEGIES: Registry[Strategy] = Registry("strategy", "ctxbudget.strategies", ".toml", read_strategy)


def find(text: str, *, anywhere: bool = False, settings: Iterable[str] = ()) -> Strategy:
    """The strategy that a text names, with ``settings`` (``pass.option=value``) applied.

    Presets, their aliases, and passes (a stage of their own before each call) go by name; with ``anywhere`` (command
    line only) so do ``./mine.toml``, ``./mine.py`` and dotted paths. Raises UnknownName with the nearest name.
    """
    whole = anywhere and is_path(text) and Path(text).is_file()
    parts = [text] if whole else text.split("+")
    return changed(compose([_one(part.strip(), anywhere=anywhere) for part in parts]), settings)


def changed(strategy: Strategy, settings: Iterable[str]) -> Strategy:
    """The strategy with ``settings`` (``pass.option=value``) applied. Raises UnknownName, UsageError or ConfigError."""
    for setting in settings:
        strategy = _set(strategy, setting)
    return strategy


@cache
def aliases() -> dict[str, str]:
    """Other names of the strategies that load."""
    return {alias: name for name, one in STRATEGIES.working()[0].items() for alias in one.aliases}


def _one(text: str, *, anywhere: bool) -> Strategy:
    name, _, given = (text, "", "") if anywhere and is_path(text) and Path(text).is_file() else text.partition(":")
    strategy = _named(name, anywhere=anywhere)
    for setting in given.split(",") if given else ():
        strategy = _set(strategy, setting)
    return strategy


def _named(name: str, *, anywhere: bool) -> Strategy:
    if name in STRATEGIES.names():
        return STRATEGIES.get(name)
    if name in aliases():
        return STRATEGIES.get(aliases()[name])
    if name in PASSES.names():
        return _alone(name, PASSES.get(name)())
    if anywhere and (is_path(name) or "." in name):
        if name.endswith(".toml"):
            return STRATEGIES.get(name, anywhere=True)
        kind = PASSES.get(name, anywhere=True)
        return _alone(name_of(kind), kind())
    raise UnknownName("strategy", name, {*STRATEGIES.names(), *aliases(), *PASSES.names()})


def _alone(name: str, one: Any) -> Strategy:
    """A pass as a strategy: it runs before each call."""
    doc = (type(one).__doc__ or "").strip().partition("\n")[0]
    return Strategy(name, (Stage(passes=(one,)),), description=doc)


def _set(strategy: Strategy, setting: str) -> Strategy:
    """Apply ``pass.option=value``, or ``option=value`` wherever the strategy has such an option."""
    left, equals, value = setting.partition("=")
    if not equals or not left.strip():
        raise UsageError(f"{setting!r} is no setting", hint="write pass.option=value, as in sliding-window.keep=10")
    name, _, option = left.strip().partition(".")
    if name in strategy.passes:
        return _changed(strategy, (name,), option.replace("-", "_"), value.strip())
    if not option:
        having = [one for one in strategy.passes if name.replace("-", "_") in _settable(strategy, one)]
        if having:
            return _changed(strategy, having, name.replace("-", "_"), value.strip())
    known = strategy.passes if option else {every for one in strategy.passes for every in _settable(strategy, one)}
    raise UnknownName(f"{'pass' if option else 'option'} of strategy", name, known)


def _settable(strategy: Strategy, name: str) -> dict[str, Any]:
    """What can be set of a pass: its options, and the conditions of its stage."""
    kind = next(type(one) for stage in strategy.stages for one in stage.passes if name_of(one) == name)
    stage = hints_of(Stage)
    return {**{condition: stage[condition] for condition in CONDITIONS}, **hints_of(kind)}


def _changed(strategy: Strategy, names: Iterable[str], option: str, value: str) -> Strategy:
    field, _, inner = option.partition(".")
    for name in names:
        known = _settable(strategy, name)
        if field not in known:
            raise UnknownName(f"option of {name}", field, known)
        found = read_value({inner: value} if inner else value, known[field], f"{name}.{option}")
        strategy = replace(strategy, stages=tuple(_stage(one, name, field, found, inner) for one in strategy.stages))
    return strategy


def _stage(stage: Stage, name: str, field: str, value: Any, inner: str) -> Stage:
    mine = [one for one in stage.passes if name_of(one) == name]
    if not mine:
        return stage
    own = hasattr(mine[0], field)
    if inner:
        value = {**getattr(mine[0] if own else stage, field), **value}
    return stage.with_pass(name, field, value) if own else replace(stage, **{field: value})
