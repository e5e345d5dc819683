"""A strategy from a TOML file.

    description = "…"                          # and keeps, costs, fails, use_when: one sentence or two each
    aliases = ["clear"]
    pin = ["task"]                             # layers, kinds or fragment ids
    estimator = "anchored"                     # what the triggers see; a stage may name its own

    [[stages]]
    at = "call"                                # entry, subgoal, reply, call, overflow
    when = 0.7                                 # also when_layer, when_incoming, every, until
    passes = [{ name = "clear-tool-results", keep = 3 }]

Passes are named by the registry's names only: a file must not make ctxbudget run code of its choice.
"""

from __future__ import annotations

import tomllib
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ctxbudget.errors import ConfigError, UnknownName
from ctxbudget.estimators import ESTIMATORS
from ctxbudget.passes import PASSES
from ctxbudget.strategy import Stage, Strategy
from ctxbudget.strategy.stage import CONDITIONS
from ctxbudget.strategy.values import hints_of, read_options, read_value, unknown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable
    from pathlib import Path

    from ctxbudget.passes import Pass

_KEYS = (*(one.name for one in fields(Strategy) if one.name != "name"), "estimator")


def read_strategy(name: str, path: Path | Traversable) -> Strategy:
    """The strategy in a TOML file. Raises ConfigError with the file, the key, and what would be right."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path.name}: not a strategy file: {error}") from error
    return strategy_of(name, table, path.name)


def strategy_of(name: str, table: Mapping[str, Any], where: str) -> Strategy:
    """The strategy in a table of TOML values."""
    hints = hints_of(Strategy)
    given: dict[str, Any] = {}
    for key, value in table.items():
        if key not in _KEYS:
            unknown("key", key, _KEYS, where)
        if key not in ("stages", "estimator"):
            given[key] = read_value(value, hints[key], f"{where}: {key}")
    stages = table.get("stages", [])
    if not isinstance(stages, list) or not all(isinstance(one, dict) for one in stages):
        raise ConfigError(f"{where}: stages must be tables, each under [[stages]]")
    common = {"estimator": table["estimator"]} if "estimator" in table else {}
    made = (stage_of({**common, **one}, f"{where}: stage {number}") for number, one in enumerate(stages, 1))
    return Strategy(name, stages=tuple(made), **given)


def stage_of(table: Mapping[str, Any], where: str) -> Stage:
    """One stage. A stage without passes is a mistake."""
    for key in table:
        if key not in (*CONDITIONS, "passes"):
            unknown("key", key, (*CONDITIONS, "passes"), where)
    passes = table.get("passes")
    if not isinstance(passes, list) or not passes or not all(isinstance(one, dict) for one in passes):
        raise ConfigError(f"{where}: passes must be a list of tables such as {{ name = 'sliding-window', keep = 20 }}")
    conditions = read_options(Stage, {key: value for key, value in table.items() if key != "passes"}, where)
    if conditions.get("estimator") is not None and conditions["estimator"] not in ESTIMATORS:
        unknown("estimator", conditions["estimator"], ESTIMATORS, where)
    return Stage(passes=tuple(pass_of(one, where) for one in passes), **conditions)


def pass_of(table: Mapping[str, Any], where: str) -> Pass:
    """One pass with its options."""
    name = table.get("name")
    if not isinstance(name, str):
        raise ConfigError(f"{where}: a pass needs a name")
    try:
        kind = PASSES.get(name)
    except UnknownName as error:
        raise ConfigError(f"{where}: {error.message}", hint=error.hint) from error
    options = read_options(kind, {key: value for key, value in table.items() if key != "name"}, f"{where}: {name}")
    return kind(**options)
