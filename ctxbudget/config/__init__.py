"""Settings of a project: ``ctxbudget.yaml``, ``ctxbudget.toml``, or ``[tool.ctxbudget]`` in ``pyproject.toml``.

The nearest one at or above the working folder counts, up to the root of the repository. Flags win over it. It holds
plain data: nothing in it names code to run, an endpoint or a store, since a pull request may have written it. Every
setting knows the place it came from.

    window = "200k"                 # tokens, where neither a flag nor anything better tells
    reserve = 8000                  # tokens to keep free for the reply
    scheme = "agent"

    [tool_classes]                  # tool-name pattern → class, ahead of the built-in vocabulary
    "crm_*_lookup" = "retrieval"

    [layers.kinds]                  # kind → layer; a new layer is made by naming it
    retrieval = "knowledge"

    [layers.tools]                  # tool → layer, ahead of its kind
    scratchpad = "state"

    [context_budget]                # see budget.py
    max_input_tokens = 120000

    [check]                         # rules by id or the beginning of one
    ignore = ["CB205"]
    severity = { CB104 = "error" }
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ctxbudget import layers, resources
from ctxbudget.config import budget as budgets
from ctxbudget.config import document, globs, rules
from ctxbudget.config.budget import Budget, Override
from ctxbudget.config.rules import Rules
from ctxbudget.config.section import Section
from ctxbudget.errors import ConfigError, UnknownName, UsageError
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ctxbudget.config.document import Document

FILES = ("ctxbudget.yaml", "ctxbudget.yml", "ctxbudget.toml", document.PYPROJECT)
KEYS = ("window", "reserve", "scheme", "tool_classes", "layers", "context_budget", "check")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project has settled; ``source`` is the file, None for the defaults. ``window`` and ``reserve`` in
    tokens. ``origins`` names the place that each value comes from, by its key."""

    window: int | None = None
    reserve: int | None = None
    scheme: str | None = None
    tool_classes: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[Kind, str] = field(default_factory=dict)
    tools: Mapping[str, str] = field(default_factory=dict)
    source: str | None = None
    budget: Budget = field(default_factory=Budget)
    overrides: tuple[Override, ...] = ()
    rules: Rules = field(default_factory=Rules)
    origins: Mapping[str, str] = field(default_factory=dict)

    def laid_out(self, name: str | None) -> layers.Scheme:
        """The scheme of that name (else the project's, else ``agent``), with the project's own layers in it."""
        scheme = layers.scheme(name or self.scheme or "agent")
        return scheme.extended(self.kinds, self.tools) if self.kinds or self.tools else scheme

    def scheme_holding(self, names: Sequence[str], preferred: str | None = None) -> layers.Scheme:
        """The scheme that has all these layers: the preferred one, the project's, else the first. Raises UnknownName
        for a layer that none has, UsageError where they are of different schemes."""
        asked = preferred or self.scheme
        schemes = [self.laid_out(name) for name in dict.fromkeys([*([asked] if asked else []), *layers.SCHEMES])]
        for scheme in schemes:
            if set(names) <= set(scheme.layers):
                return scheme
        known = dict.fromkeys(layer for scheme in schemes for layer in scheme.layers)
        for name in names:
            if name not in known:
                raise UnknownName("layer", name, known)
        of = "; ".join(f"{scheme.name}: {', '.join(scheme.layers)}" for scheme in schemes)
        raise UsageError(f"layers of different schemes: {', '.join(names)}", hint=f"take those of one ({of})")

    def budget_for(self, path: str) -> Budget:
        """The budget that holds for a trace's file: the overrides that match, the last one on top."""
        held = self.budget
        for override in self.overrides:
            if any(globs.matches(self._relative(path), pattern) for pattern in override.paths):
                held = override.budget.over(held)
        return held

    def _relative(self, path: str) -> str:
        """A file seen from the folder of the settings; from outside of it its whole path."""
        folder = Path(self.source or ".").resolve().parent
        try:
            file = Path(path).resolve()
        except (OSError, ValueError):
            return path
        return (file.relative_to(folder) if file.is_relative_to(folder) else file).as_posix()


def discover(folder: Path) -> Settings:
    """The settings that hold in a folder; the defaults where no file gives any.

    Raises ConfigError for a file that cannot be read or has a mistake in it, and where one folder has two.
    """
    for place in (folder, *folder.parents):
        found = [one for one in map(_settled, (place / name for name in FILES)) if one is not None]
        if len(found) > 1:
            names = " and ".join(Path(one.path).name for one in found)
            raise ConfigError(f"{place}: settings in {names}", hint="keep one of them, or name one with --config")
        if found:
            return read(found[0])
        if (place / ".git").exists():
            break
    return Settings()


def settled(path: str | None, folder: Path) -> Settings:
    """The settings of the file named on a command line, else those that ``discover`` finds."""
    return discover(folder) if path is None else read(document.opened(path))


def read(document: Document) -> Settings:
    """The settings in a document. Raises ConfigError, which names the place, the key and the nearest one."""
    section = Section(document, document.table)
    stray = next((key for key in section.table if key in budgets.KEYS and key not in KEYS), None)
    if stray is not None:
        section.wrong(stray, f"{stray} stands outside of context_budget", "put it under context_budget")
    section.known(KEYS)
    laid = section.inner("layers")
    laid.known(("kinds", "tools"))
    kinds, tools = laid.named("kinds"), laid.named("tools")
    laid.inner("kinds").known([kind.value for kind in Kind], "kind")
    classes = section.named("tool_classes")
    with section.placed("tool_classes"):
        resources.with_rules(classes)
    with section.placed("scheme"):
        scheme = section.text("scheme")
        layers.scheme(scheme or "agent")
    budget, overrides = budgets.read(section.inner("context_budget"))
    settings = Settings(
        window=section.tokens("window"),
        reserve=section.tokens("reserve", least=0),
        scheme=scheme,
        tool_classes=classes,
        kinds={Kind(kind): layer for kind, layer in kinds.items()},
        tools=tools,
        source=document.path,
        budget=budget,
        overrides=overrides,
        rules=rules.read(section.inner("check")),
        origins={".".join(keys): document.origin(keys) for keys in document.leaves()},
    )
    _layers_exist(settings, section)
    return settings


def _settled(file: Path) -> Document | None:
    return document.read(str(file)) if file.is_file() else None


def _layers_exist(settings: Settings, section: Section) -> None:
    """Every layer with a budget must be one of a scheme, and all of them of the same."""
    keyed: list[tuple[str, ...]] = [("context_budget", "layers")]
    keyed += [("context_budget", "overrides", str(number), "layers") for number in range(len(settings.overrides))]
    budgeted = (settings.budget, *(one.budget for one in settings.overrides))
    named = [(keys, name) for keys, budget in zip(keyed, budgeted, strict=True) for name in budget.layers]
    for number, (keys, name) in enumerate(named):
        with Section(section.document, {}, keys).placed(name):
            settings.scheme_holding([one for _, one in named[: number + 1]])
