"""Strategies and passes, documented: what each keeps, what it costs, how it fails, when to use it, its options.

The words are those of the presets' TOML files and of the passes' docstrings. ``ctxbudget list`` shows them, and
``docs/strategies.md`` is made of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ctxbudget.passes import PASSES, describe
from ctxbudget.renderers._pages import Facts, Line, Title
from ctxbudget.renderers._run_sentences import stage_text
from ctxbudget.report.run_build import stage_row
from ctxbudget.strategy.naming import STRATEGIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.renderers._pages import Block
    from ctxbudget.strategy import Strategy

WORDS = (("Keeps", "keeps"), ("Costs", "costs"), ("Fails", "fails"), ("Use when", "use_when"))
"""What is said of each, and the field that says it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One strategy or pass. ``options`` of a pass are name, default and meaning."""

    name: str
    description: str
    keeps: str
    costs: str
    fails: str
    use_when: str
    aliases: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    pin: tuple[str, ...] = ()
    options: tuple[tuple[str, str, str], ...] = ()

    def has(self, words: str) -> bool:
        """Whether its name or what is said of it holds the words."""
        said = " ".join((self.name, *self.aliases, self.description, self.use_when))
        return words.lower() in said.lower()


def strategies(match: str = "") -> list[Entry]:
    """Every preset that loads; with ``match`` the one of that name or alias, else those that hold the words."""
    return _matching([_preset(one) for one in STRATEGIES.working()[0].values()], match)


def passes(match: str = "") -> list[Entry]:
    """Every pass that loads, in the same way."""
    return _matching([_pass(name) for name in PASSES.working()[0]], match)


def _matching(entries: list[Entry], match: str) -> list[Entry]:
    named = [entry for entry in entries if match in (entry.name, *entry.aliases)]
    return named or [entry for entry in entries if entry.has(match)]


def _preset(one: Strategy) -> Entry:
    stages = tuple(stage_text(stage_row(stage.table())) for stage in one.stages)
    return Entry(one.name, one.description, one.keeps, one.costs, one.fails, one.use_when, one.aliases, stages, one.pin)


def _pass(name: str) -> Entry:
    told = describe(name)
    options = tuple((one.name, _written(one.default), one.text) for one in told.options)
    return Entry(
        name, told.description, _sentence(told.keeps), _sentence(told.costs), _sentence(told.fails),
        _sentence(told.use_when), options=options,
    )  # fmt: skip


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _written(value: Any) -> str:
    """A default as one would write it behind ``--set``; nothing for what is empty."""
    if isinstance(value, dict):
        return ",".join(f"{name}:{each:g}" for name, each in value.items())
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return ",".join(value)
    return "" if value is None else f"{value:.3g}" if isinstance(value, float) else str(value)


def blocks(entries: list[Entry]) -> Iterator[Block]:
    """The entries as a page."""
    for entry in entries:
        names = f" (also {', '.join(entry.aliases)})" if entry.aliases else ""
        yield Title(f"{entry.name}{names}")
        yield Line((entry.description,))
        yield Facts(tuple(_facts(entry)))
        if entry.options:
            how = ("Options", f"as in --set {entry.name}.{entry.options[0][0]}=VALUE")
            yield Facts((how, *((name, _meaning(default, text)) for name, default, text in entry.options)))
    if any(entry.stages for entry in entries):
        yield Line(("--set PASS.OPTION=VALUE changes an option; ctxbudget list passes documents them",))


def _facts(entry: Entry) -> Iterator[tuple[str, str]]:
    yield from ((label, text) for label, field in WORDS if (text := str(getattr(entry, field))))
    many = len(entry.stages) > 1
    for number, stage in enumerate(entry.stages, 1):
        yield (f"Stage {number}" if many else "Runs"), stage
    if entry.pin:
        yield "Pinned", ", ".join(entry.pin)


def _meaning(default: str, text: str) -> str:
    return f"{plain(text)} Default: {default or 'none'}."


def plain(text: str) -> str:
    """A docstring's words without the marks of code in them."""
    return text.replace("``", "")
