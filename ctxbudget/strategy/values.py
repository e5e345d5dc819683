"""Reading options: from TOML values and from the text of a command line, against the type of the field."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from inspect import getmodule
from types import NoneType, UnionType
from typing import Any, Final, Literal, NoReturn, Union, get_args, get_origin, get_type_hints

from ctxbudget.errors import ConfigError, UnknownName

_AMOUNT: Final = re.compile(r"\s*(\d+(?:[_,]\d+)*(?:\.\d*)?|\.\d+)\s*([kKmM%]?)\s*")
_SCALE: Final = {"": 1.0, "k": 1e3, "m": 1e6, "%": 0.01}
_WORDS: Final = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def amount(text: str) -> float:
    """A number as users write it: ``20k``, ``1.5M``, ``70%``, ``100_000``.

    Raises ValueError for anything else.
    """
    match = _AMOUNT.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return float(re.sub("[_,]", "", match[1])) * _SCALE[match[2].lower()]


def read_options(kind: type[Any], table: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The options of a dataclass in a table of values, checked against its fields.

    Raises ConfigError that says where, what was expected, and for a mistyped name the nearest.
    """
    hints = hints_of(kind)
    found = {}
    for name, value in table.items():
        field = name.replace("-", "_")
        if field not in hints:
            unknown("option", name, hints, where)
        found[field] = read_value(value, hints[field], f"{where}: {name}")
    needed = [one.name for one in fields(kind) if one.default is MISSING and one.default_factory is MISSING]
    for name in needed:
        if name not in found:
            raise ConfigError(f"{where}: {name} is missing")
    return found


def hints_of(kind: type[Any]) -> dict[str, Any]:
    """The options of a dataclass and their types."""
    module = getmodule(kind)
    hints = get_type_hints(kind, {**vars(module)} if module else None, {"Pass": Any})
    return {one.name: hints[one.name] for one in fields(kind)}


def unknown(what: str, name: str, known: Any, where: str) -> NoReturn:
    """Raise the error for a name in a file that nobody has."""
    near = UnknownName(what, name, known)
    raise ConfigError(f"{where}: {near.message}", hint=near.hint)


def read_value(value: Any, hint: Any, where: str) -> Any:
    """A value as the type says. Text is read as a user would mean it: numbers, lists with commas, ``name:number``."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (UnionType, Union):
        return None if value is None else read_value(value, next(one for one in inner if one is not NoneType), where)
    if origin is Literal:
        if value not in inner:
            unknown("value", str(value), [str(one) for one in inner], where)
        return value
    if hint is bool:
        return _flag(value, where)
    if hint in (int, float):
        return _number(value, hint, where)
    if origin is tuple:
        return _list(value, where)
    if origin is not None and issubclass(origin, Mapping):
        return _map(value, inner[1], where)
    if hint is str and not isinstance(value, str):
        raise ConfigError(f"{where} must be text, not {value!r}")
    return value


def _flag(value: Any, where: str) -> bool:
    found = _WORDS.get(value.lower(), value) if isinstance(value, str) else value
    if not isinstance(found, bool):
        raise ConfigError(f"{where} must be true or false, not {value!r}")
    return found


def _number(value: Any, hint: type[int | float], where: str) -> int | float:
    try:
        found = amount(value) if isinstance(value, str) else float(value) if not isinstance(value, bool) else -1.0
    except (TypeError, ValueError):
        found = -1.0
    if not 0 <= found < float("inf") or (hint is int and found != int(found)):
        expected = "a whole number" if hint is int else "a number, such as 0.7 or 20k"
        raise ConfigError(f"{where} must be {expected}, not {value!r}")
    return int(found) if hint is int else found


def _list(value: Any, where: str) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if not isinstance(value, (list, tuple)) or not all(isinstance(one, str) for one in value):
        raise ConfigError(f"{where} must be a list of names, not {value!r}")
    return tuple(value)


def _map(value: Any, inner: Any, where: str) -> dict[str, Any]:
    if isinstance(value, str):
        pairs = [part.partition(":") for part in value.split(",") if part.strip()]
        value = {name.strip(): number for name, _, number in pairs}
    if not isinstance(value, Mapping):
        raise ConfigError(f"{where} must be a table of names and numbers, not {value!r}")
    return {str(name): read_value(one, inner, f"{where}.{name}") for name, one in value.items()}
