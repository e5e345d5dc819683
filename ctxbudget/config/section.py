"""Reading a table of settings: each value by its type, each mistake with its place and the nearest name."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from ctxbudget import sizes
from ctxbudget.errors import ConfigError, CtxbudgetError, UnknownName

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ctxbudget.config.document import Document
    from ctxbudget.sizes import Amount


@dataclass(frozen=True, slots=True)
class Section:
    """One table of a document, and where in it."""

    document: Document
    table: Mapping[str, Any]
    keys: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The table's own path, as ``context_budget.layers``; empty for the document itself."""
        return ".".join(self.keys)

    def __contains__(self, key: str) -> bool:
        return key in self.table

    def known(self, names: Iterable[str], what: str = "") -> None:
        """Refuse keys that are none of the ``names``."""
        called = what or (f"setting in [{self.name}]" if self.keys else "setting")
        allowed = tuple(names)
        for key in self.table:
            if key not in allowed:
                unknown = UnknownName(called, key, allowed)
                self.wrong(key, unknown.message, unknown.hint)

    def inner(self, key: str) -> Section:
        """The table under a key; an empty one where the key is not there."""
        value = self.table.get(key, {})
        if not isinstance(value, dict):
            form = f"{key}:" if self.document.is_yaml else f"[{'.'.join((*self.keys, key))}]"
            self.wrong(key, f"{self._called(key)} is not a table", f"write {form} with names and values below it")
        return Section(self.document, value, (*self.keys, key))

    def members(self, key: str) -> list[Section]:
        """The tables of a list of tables."""
        value = self.table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            self.wrong(
                key, f"{self._called(key)} is not a list of tables", "begin each with a dash, or [[...]] in TOML"
            )
        return [Section(self.document, one, (*self.keys, key, str(number))) for number, one in enumerate(value)]

    def tokens(self, key: str, *, least: int = 1) -> int | None:
        """A number of tokens."""
        if key not in self.table:
            return None
        written = self._written(key)
        with self.placed(key):
            return sizes.tokens(written, self._called(key), least=least)

    def amount(self, key: str) -> Amount | None:
        """Tokens or a share."""
        if key not in self.table:
            return None
        written = self._written(key)
        with self.placed(key):
            return sizes.amount(written, self._called(key))

    def whole(self, key: str) -> int | None:
        """A whole number, 0 or above."""
        value = self.table.get(key)
        if value is not None and (type(value) is not int or not 0 <= value < 1_000_000):
            self.wrong(key, f"{self._called(key)} is {value!r}", "a whole number is wanted")
        return value

    def flag(self, key: str) -> bool | None:
        """True or false."""
        value = self.table.get(key)
        if value is not None and not isinstance(value, bool):
            self.wrong(key, f"{self._called(key)} is {value!r}", "true or false is wanted")
        return value

    def text(self, key: str) -> str | None:
        """A text that is not empty."""
        value = self.table.get(key)
        if key in self.table and (not isinstance(value, str) or not value.strip()):
            self.wrong(key, f"{self._called(key)} is not a name", "a name in quotes is wanted")
        return value

    def texts(self, key: str) -> tuple[str, ...] | None:
        """A list of texts; one alone may stand without the list."""
        if key not in self.table:
            return None
        value = self.table[key]
        found = [value] if isinstance(value, str) else value
        if not isinstance(found, list) or not all(isinstance(one, str) and one.strip() for one in found):
            self.wrong(key, f"{self._called(key)} is not a list of texts", "write it as [first, second]")
        return tuple(found)

    def named(self, key: str) -> dict[str, str]:
        """A table of names to names."""
        inner = self.inner(key)
        return {name: inner.text(name) or "" for name in inner.table}

    @contextmanager
    def placed(self, key: str) -> Iterator[None]:
        """Puts the place of a key in front of an error that comes from further in."""
        try:
            yield
        except CtxbudgetError as error:
            self.wrong(key, error.message, error.hint)

    def wrong(self, key: str, message: str, hint: str = "") -> NoReturn:
        """Raise the error for a key."""
        raise ConfigError(f"{self.document.place((*self.keys, key))}: {message}", hint=hint) from None

    def _written(self, key: str) -> str:
        value = self.table[key]
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            self.wrong(key, f"{self._called(key)} is {value!r}", "a number is wanted, as 120000, 20k or 0.7")
        return str(value)

    def _called(self, key: str) -> str:
        return ".".join((*self.keys, key))
