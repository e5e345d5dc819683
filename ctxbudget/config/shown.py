"""Every setting with its value and the place it comes from: the answer of ``ctxbudget config show``."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from ctxbudget.config.budget import SIZES, Cap
from ctxbudget.config.rules import USUAL
from ctxbudget.sizes import Amount

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.config import Settings
    from ctxbudget.config.budget import Budget

DEFAULT = "default"
UNSET = "-"
USUALLY = {
    "scheme": "agent",
    "reserve": "0",
    "window": "as the trace, its harness or its model tells",
    "context_budget.hard_threshold": "75 % of the window",
    "context_budget.growth": "50 % of the window, a warning",
    "context_budget.max_result": "50 % of the window, a warning",
    "check.select": ", ".join(USUAL),
}
"""What holds where nothing is set."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One setting: its key, its value as text, and the place it comes from (``default``, ``ctxbudget.yaml:4``)."""

    key: str
    value: str
    origin: str


def rows(settings: Settings, path: str | None = None) -> list[Shown]:
    """Every setting, those not set too. With a ``path`` the budget is the one that holds for this trace."""
    return [*_plain(settings), *_budget(settings, path), *_check(settings)]


def _plain(settings: Settings) -> Iterator[Shown]:
    for key in ("window", "reserve", "scheme"):
        yield _row(settings, key, getattr(settings, key))
    for name, cls in settings.tool_classes.items():
        yield _row(settings, f"tool_classes.{name}", cls)
    for kind, layer in settings.kinds.items():
        yield _row(settings, f"layers.kinds.{kind.value}", layer)
    for tool, layer in settings.tools.items():
        yield _row(settings, f"layers.tools.{tool}", layer)


def _budget(settings: Settings, path: str | None) -> Iterator[Shown]:
    budget = settings.budget if path is None else settings.budget_for(path)
    for key in SIZES:
        yield _of_budget(budget, key, getattr(budget, key), _hard(budget) if key == "hard_threshold" else None)
    for name, cap in budget.layers.items():
        for one in fields(Cap):
            if getattr(cap, one.name) is not None:
                yield _of_budget(budget, f"layers.{name}.{one.name}", getattr(cap, one.name))
    for override in settings.overrides if path is None else ():
        for key, origin in override.budget.origins.items():
            value = _text(_inside(override.budget, key))
            yield Shown(f"context_budget.{key} for {', '.join(override.paths)}", value, origin)


def _hard(budget: Budget) -> str | None:
    """The hard threshold that holds where the budget names another part of the whole; None for the usual one."""
    if budget.max_input_tokens is not None:
        return f"{budget.max_input_tokens:,}"
    return "100 % of the window" if budget.soft_threshold is not None else None


def _check(settings: Settings) -> Iterator[Shown]:
    rules = settings.rules
    yield _row(settings, "check.select", rules.select)
    yield _row(settings, "check.ignore", rules.ignore or None)
    for rule, level in rules.severity.items():
        yield _row(settings, f"check.severity.{rule}", level)


def _row(settings: Settings, key: str, value: Any) -> Shown:
    if value is None:
        return Shown(key, USUALLY.get(key, UNSET), DEFAULT)
    return Shown(key, _text(value), settings.origins.get(key, DEFAULT))


def _of_budget(budget: Budget, key: str, value: Any, usual: str | None = None) -> Shown:
    full = f"context_budget.{key}"
    if value is None:
        return Shown(full, usual or USUALLY.get(full, UNSET), DEFAULT)
    return Shown(full, _text(value), budget.origins.get(key, DEFAULT))


def _inside(budget: Budget, key: str) -> Any:
    if not key.startswith("layers."):
        return getattr(budget, key)
    name, _, option = key.removeprefix("layers.").rpartition(".")
    return getattr(budget.layers[name], option)


def _text(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case int():
            return f"{value:,}"
        case tuple():
            return ", ".join(value)
        case Amount():
            return value.text
    return str(value)
