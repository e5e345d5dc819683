"""The names that commands take, with what they mean: the pages of ``ctxbudget list``."""

from __future__ import annotations

from inspect import getdoc
from typing import TYPE_CHECKING, Any

from ctxbudget import estimators, handbook, layers, loaders, models
from ctxbudget.errors import UnknownName
from ctxbudget.renderers._numbers import NOTHING, tokens
from ctxbudget.renderers._sections import Column, Row, Section

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ctxbudget.handbook import Entry
    from ctxbudget.registry import Registry
    from ctxbudget.renderers._pages import Block


def pages(what: str, match: str = "") -> Iterator[Block]:
    """The list of that name, without one the lists there are; with ``match`` only what holds it. Raises UnknownName
    where there is none."""
    if not what:
        return iter([_lists()])
    if what not in DESCRIBED:
        return iter([listing(what, match)])
    found = DESCRIBED[what](match)
    if not found:
        raise UnknownName(f"name in {what}:", match, [entry.name for entry in DESCRIBED[what]("")])
    return handbook.blocks(found)


def listing(what: str, match: str = "") -> Section:
    """The table of that name; with ``match`` only rows that hold it. Raises UnknownName where there is none."""
    if what not in LISTINGS:
        raise UnknownName("list", what, (*LISTINGS, *DESCRIBED))
    section = LISTINGS[what]()
    wanted = match.lower()
    rows = tuple(row for row in section.rows if any(wanted in cell.lower() for cell in row.cells))
    return Section(section.title, section.columns, rows, section.note)


def _lists() -> Section:
    rows = tuple(Row((name, text)) for name, text in ABOUT.items())
    return Section("Lists; ctxbudget list NAME shows one", (Column("name", text=True), Column("what", text=True)), rows)


def _formats() -> Section:
    return _registered("Formats, told by the bytes; --from forces one", loaders.LOADERS)


def _registered(title: str, registry: Registry[Any]) -> Section:
    """What a registry holds; a plug-in that does not load says why."""
    rows = tuple(
        Row((each.name, each.broken or each.text), "warning" if each.broken else "") for each in registry.listing()
    )
    return Section(title, (Column("name", text=True), Column("what it is", text=True)), rows)


def _layers() -> Section:
    rows = [
        Row((scheme.name, layer, ", ".join(kind for kind, of in scheme.kinds.items() if of == layer), rule))
        for scheme in layers.SCHEMES.values()
        for layer in scheme.layers
        for rule in [layers.RULES_OF_LIFE.get(layer, NOTHING)]
    ]
    columns = (
        Column("scheme", text=True),
        Column("layer", text=True),
        Column("kinds", text=True),
        Column("rule", text=True),
    )
    return Section("Layers of each scheme", columns, tuple(rows))


def _models() -> Section:
    rows = [
        Row((each.provider, each.name, tokens(each.window), *(_dollars(rate) for rate in each.price.rates)))
        for each in models.listed()
    ]
    columns = (
        Column("provider", text=True),
        Column("model", text=True),
        Column("window"),
        Column("input"),
        Column("cache read", drop=1),
        Column("cache write", drop=2),
        Column("output"),
    )
    return Section("Models: list window, and US dollars per million tokens", columns, tuple(rows))


def _dollars(rate: float | None) -> str:
    return NOTHING if rate is None else f"{rate:,.4g}"


def _estimators() -> Section:
    rows = tuple(
        Row((name, (getdoc(estimator) or "").partition("\n")[0])) for name, estimator in estimators.ESTIMATORS.items()
    )
    columns = (Column("name", text=True), Column("what it is", text=True))
    return Section("Estimators of the next prompt; analyze --estimators shows their errors", columns, rows)


LISTINGS: dict[str, Callable[[], Section]] = {
    "formats": _formats,
    "layers": _layers,
    "models": _models,
    "estimators": _estimators,
}
"""What ``ctxbudget list`` shows as a table."""

DESCRIBED: dict[str, Callable[[str], list[Entry]]] = {
    "strategies": handbook.strategies,
    "passes": handbook.passes,
}
"""What it documents one by one."""

ABOUT = {
    "strategies": "presets for replay, compare, check and export: what each keeps, costs, how it fails, when to use it",
    "passes": "the steps that strategies are made of, with their options",
    "formats": "what can be read",
    "layers": "what fragments are for, by scheme",
    "models": "windows and prices",
    "estimators": "ways to estimate tokens without a tokenizer",
}
"""Every list in a few words."""
