"""JSON → report: strict, so that a baseline of another version or with a key misspelt is never half understood."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import orjson

from ctxbudget.errors import ConfigError, UnknownName
from ctxbudget.report import SCHEMA, Report, TraceReport
from ctxbudget.report.check import CheckReport
from ctxbudget.report.compare import Comparison
from ctxbudget.report.run import RunReport


def from_json(data: bytes | str) -> TraceReport | Report | RunReport | Comparison | CheckReport:
    """The report that ``--format json`` wrote: of one trace, of several, of a run, a comparison, a check.

    Raises ConfigError, with the place, for anything that is not exactly one of this schema version.
    """
    try:
        read = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise ConfigError(
            f"not a report: {error}", hint="make one with: ctxbudget analyze FILE --format json"
        ) from None
    version = read.get("schema") if isinstance(read, dict) else None
    if version != SCHEMA:
        raise ConfigError(
            f"not a report of schema {SCHEMA}, but {version!r}", hint="make it again with this version of ctxbudget"
        )
    named = {"compared": Comparison, "checked": CheckReport, "traces": Report, "strategy": RunReport}
    kind = next((kind for key, kind in named.items() if key in read), TraceReport)
    made: TraceReport | Report | RunReport | Comparison | CheckReport = _made(kind, read, "report")
    return made


def _made(kind: Any, value: Any, place: str) -> Any:
    """The value as the type it should have."""
    if kind is Any:
        return value
    origin, inner = get_origin(kind), get_args(kind)
    if origin in {Union, UnionType}:
        wanted = next(each for each in inner if each is not NoneType)
        return None if value is None else _made(wanted, value, place)
    if is_dataclass(kind):
        return _object(kind, value, place)
    if origin is list and isinstance(value, list):
        return [_made(inner[0], each, f"{place}[{number}]") for number, each in enumerate(value)]
    if origin is dict and isinstance(value, dict):
        return {key: _made(inner[1], each, f"{place}.{key}") for key, each in value.items()}
    if kind is float and type(value) is int:
        return float(value)
    if origin is None and type(value) is kind:
        return value
    wanted = getattr(origin or kind, "__name__", str(kind))
    raise ConfigError(f"{place} is {type(value).__name__}, not {wanted}")


def _object(kind: Any, value: Any, place: str) -> Any:
    if not isinstance(value, dict):
        raise ConfigError(f"{place} is {type(value).__name__}, not an object")
    hints = _hints(kind)
    for key in value:
        if key not in hints:
            raise ConfigError(f"{place} has an unknown key {key!r}", hint=UnknownName("key", key, hints).hint)
    missing = [key for key in hints if key not in value]
    if missing:
        raise ConfigError(f"{place} lacks the key {missing[0]!r}")
    return kind(**{key: _made(hint, value[key], f"{place}.{key}") for key, hint in hints.items()})


@cache
def _hints(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}
