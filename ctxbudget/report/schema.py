"""The JSON Schema of a report, made from its dataclasses.

``python -m ctxbudget.report.schema`` writes the file that is shipped; a test holds the two together.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from importlib.resources import files
from inspect import getdoc
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import orjson

from ctxbudget.report import SCHEMA, Report, TraceReport
from ctxbudget.report.check import CheckReport
from ctxbudget.report.compare import Comparison
from ctxbudget.report.run import RunReport

FILE = files("ctxbudget") / "data" / "report.schema.json"

_PLAIN = {int: "integer", float: "number", str: "string", bool: "boolean", NoneType: "null"}


def json_schema() -> dict[str, Any]:
    """The schema: an object for one trace, several, a run, a comparison, or a check. Every key is there, no other."""
    known: dict[str, Any] = {}
    either = [_schema(kind, known) for kind in (TraceReport, Report, RunReport, Comparison, CheckReport)]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"ctxbudget report, schema {SCHEMA}",
        "anyOf": either,
        "$defs": dict(sorted(known.items())),
    }


def text() -> bytes:
    """The schema as the shipped file holds it."""
    return orjson.dumps(json_schema(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _schema(kind: Any, known: dict[str, Any]) -> dict[str, Any]:
    if kind is Any:
        return {}
    origin, inner = get_origin(kind), get_args(kind)
    if origin in {Union, UnionType}:
        return {"anyOf": [_schema(each, known) for each in inner]}
    if origin is list:
        return {"type": "array", "items": _schema(inner[0], known)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(inner[1], known)}
    if is_dataclass(kind):
        return _object(kind, known)
    return {"type": _PLAIN[kind]}


def _object(kind: Any, known: dict[str, Any]) -> dict[str, Any]:
    name = kind.__name__
    if name not in known:
        known[name] = {}  # so that a report with sub-agents, which are reports, ends
        hints = get_type_hints(kind)
        names = [field.name for field in fields(kind)]
        known[name] = {
            "type": "object",
            "description": " ".join((getdoc(kind) or "").split()),
            "properties": {each: _schema(hints[each], known) for each in names},
            "required": names,
            "additionalProperties": False,
        }
        known[name]["properties"].update({"schema": {"const": SCHEMA}} if "schema" in names else {})
    return {"$ref": f"#/$defs/{name}"}


if __name__ == "__main__":
    Path(str(FILE)).write_bytes(text())
