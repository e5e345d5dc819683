"""Settings of a project: ``ctxbudget.toml``, or ``[tool.ctxbudget]`` in ``pyproject.toml``.

The nearest one at or above the working folder counts, up to the root of the repository. Flags win over it. It holds
plain data: nothing in it names code to run. Every setting knows the file it came from.

    window = "200k"                 # tokens, where neither a flag nor anything better tells
    reserve = 8000                  # tokens to keep free for the reply
    scheme = "agent"

    [tool_classes]                  # tool-name pattern → class, ahead of the built-in vocabulary
    "crm_*_lookup" = "retrieval"

    [layers.kinds]                  # kind → layer; a new layer is made by naming it
    retrieval = "knowledge"

    [layers.tools]                  # tool → layer, ahead of its kind
    scratchpad = "state"
"""

from __future__ import annotations

import tomllib
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ctxbudget import layers, resources, sizes
from ctxbudget.errors import ConfigError, CtxbudgetError, UnknownName
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

FILE = "ctxbudget.toml"
PYPROJECT = "pyproject.toml"
KEYS = ("window", "reserve", "scheme", "tool_classes", "layers")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project has settled; ``source`` is the file, None for the defaults. ``window`` and ``reserve`` in
    tokens."""

    window: int | None = None
    reserve: int | None = None
    scheme: str | None = None
    tool_classes: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[Kind, str] = field(default_factory=dict)
    tools: Mapping[str, str] = field(default_factory=dict)
    source: str | None = None

    def laid_out(self, name: str | None) -> layers.Scheme:
        """The scheme of that name (else the project's, else ``agent``), with the project's own layers in it."""
        scheme = layers.scheme(name or self.scheme or "agent")
        return scheme.extended(self.kinds, self.tools) if self.kinds or self.tools else scheme


def discover(folder: Path) -> Settings:
    """The settings that hold in a folder; the defaults where no file gives any.

    Raises ConfigError for a file that cannot be read or has a mistake in it.
    """
    for file in _candidates(folder):
        table = _table(file)
        if table is not None:
            return read(table, str(file))
    return Settings()


def read(table: Mapping[str, Any], source: str) -> Settings:
    """The settings in a table. Raises ConfigError, which names the key and the nearest one that exists."""
    for key in table:
        _known("setting", key, KEYS, source)
    laid = _mapping(table, "layers", source)
    for key in laid:
        _known("setting in [layers]", key, ("kinds", "tools"), source)
    kinds, tools = _texts(laid, "kinds", source), _texts(laid, "tools", source)
    for kind in kinds:
        _known("kind", kind, [kind.value for kind in Kind], source)
    classes = _texts(table, "tool_classes", source)
    with _named(source):
        resources.with_rules(classes)
        if "scheme" in table:
            layers.scheme(str(table["scheme"]))
        return Settings(
            window=sizes.tokens(str(table["window"]), "window") if "window" in table else None,
            reserve=sizes.tokens(str(table["reserve"]), "reserve", least=0) if "reserve" in table else None,
            scheme=str(table["scheme"]) if "scheme" in table else None,
            tool_classes=classes,
            kinds={Kind(kind): layer for kind, layer in kinds.items()},
            tools=tools,
            source=source,
        )


def _candidates(folder: Path) -> Iterator[Path]:
    for place in (folder, *folder.parents):
        yield from (file for file in (place / FILE, place / PYPROJECT) if file.is_file())
        if (place / ".git").exists():
            return


def _table(file: Path) -> Mapping[str, Any] | None:
    """The settings' table in a file; None where a ``pyproject.toml`` says nothing of us."""
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{file}: {error}", hint="it is read as TOML, in UTF-8") from None
    if file.name == FILE:
        return data
    tool = data.get("tool")
    table = tool.get("ctxbudget") if isinstance(tool, dict) else None
    return table if isinstance(table, dict) else None


def _known(what: str, name: str, known: Any, source: str) -> None:
    if name not in known:
        unknown = UnknownName(what, name, known)
        raise ConfigError(f"{source}: {unknown.message}", hint=unknown.hint)


def _mapping(table: Mapping[str, Any], key: str, source: str) -> Mapping[str, Any]:
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise ConfigError(f"{source}: {key} is not a table", hint=f"write it as [{key}] with names and values below")
    return value


def _texts(table: Mapping[str, Any], key: str, source: str) -> dict[str, str]:
    found = _mapping(table, key, source)
    for name, value in found.items():
        if not isinstance(value, str) or not value:
            raise ConfigError(f"{source}: {key}.{name} is not a name", hint="a name in quotes is wanted")
    return dict(found)


@contextmanager
def _named(source: str) -> Iterator[None]:
    """Puts the file in front of an error that comes from further in."""
    try:
        yield
    except CtxbudgetError as error:
        raise ConfigError(f"{source}: {error.message}", hint=error.hint) from None
