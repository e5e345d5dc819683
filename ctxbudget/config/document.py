"""A settings file as plain data, with the line of each key where the format tells it (YAML does, TOML does not)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxbudget.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PYPROJECT = "pyproject.toml"
YAML = (".yaml", ".yml")
LARGEST = 1_000_000
"""Bytes of a file of settings: more is something else."""


@dataclass(frozen=True, slots=True)
class Document:
    """What a file says. ``lines`` are by key path; a list's members are keys like ``0``, ``1``."""

    path: str
    table: Mapping[str, Any]
    lines: Mapping[tuple[str, ...], int] = field(default_factory=dict)

    @property
    def is_yaml(self) -> bool:
        """Whether it is written in YAML; else it is TOML."""
        return Path(self.path).suffix.lower() in YAML

    def place(self, keys: tuple[str, ...]) -> str:
        """The file, and the line where it is known: what stands before a message."""
        line = self.lines.get(keys)
        return self.path if line is None else f"{self.path}:{line}"

    def origin(self, keys: tuple[str, ...]) -> str:
        """The same with the file's name alone, for outputs that must not depend on where a checkout lies."""
        line = self.lines.get(keys)
        name = Path(self.path).name
        return name if line is None else f"{name}:{line}"

    def leaves(self) -> Iterator[tuple[str, ...]]:
        """The path of every value that is no table; a list counts as one value, its tables apart."""
        yield from _leaves(self.table, ())


def opened(path: str) -> Document:
    """A file that was asked for by name. Raises ConfigError where it cannot be read or says nothing of us."""
    document = read(path)
    if document is None:
        raise ConfigError(f"{path}: there is no [tool.ctxbudget] in it", hint="add the table, or name another file")
    return document


def read(path: str) -> Document | None:
    """The file's settings; None where a ``pyproject.toml`` says nothing of us.

    Raises ConfigError, with the line, for a file that is not what its name says.
    """
    file = Path(path)
    text = _text(file)
    if Path(path).suffix.lower() in YAML:
        from ctxbudget.config import located  # noqa: PLC0415 - many projects have no YAML

        return Document(path, *located.parsed(text, path))
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: {error}", hint="it is read as TOML, in UTF-8") from None
    if file.name != PYPROJECT:
        return Document(path, data)
    tool = data.get("tool")
    table = tool.get("ctxbudget") if isinstance(tool, dict) else None
    return Document(path, table) if isinstance(table, dict) else None


def _text(file: Path) -> str:
    """A pipe is read too (a shell's ``<(…)``); a file that is too large is not."""
    try:
        with file.open("rb") as stream:
            data = stream.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise ConfigError(f"{file}: larger than {LARGEST:,} bytes", hint="a file of settings is small")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{file}: not UTF-8 text", hint="write it in UTF-8") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"{file}: {reason}", hint="give a file of settings that can be read") from None


def _leaves(value: Any, keys: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _leaves(one, (*keys, str(key)))
    elif isinstance(value, list) and any(isinstance(one, dict) for one in value):
        for number, one in enumerate(value):
            yield from _leaves(one, (*keys, str(number)))
    else:
        yield keys
