"""JSON: the whole report by its contract, versioned and re-loadable. One trace is one object."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, BinaryIO

import orjson

from ctxbudget.report.check import CheckReport
from ctxbudget.report.compare import Comparison
from ctxbudget.report.run import RunReport
from ctxbudget.safe import encodable

if TYPE_CHECKING:
    from ctxbudget.renderers import AnyReport, Look

suffix = ".json"

_COMMAND = re.compile(rb"##(\w*\[)", re.ASCII)
"""The older commands of build logs (``##[add-path]``, ``##vso[``, ``##teamcity[``), which act anywhere in a line."""


def render(report: AnyReport, look: Look, out: BinaryIO) -> None:
    """Write the report's own object; ``look`` changes nothing."""
    del look
    out.write(dumped(report if isinstance(report, RunReport | Comparison | CheckReport) else report.single or report))


def dumped(value: Any) -> bytes:
    """UTF-8, one line. A half of a surrogate pair, which a damaged file or a strange path may hold, becomes U+FFFD;
    what a build's log would take for a command is written with an escape, which reads the same."""
    try:
        plain = orjson.dumps(value)
    except TypeError:  # orjson refuses such text
        plain = orjson.dumps(encodable(value), option=orjson.OPT_PASSTHROUGH_DATACLASS, default=_fields)
    return _COMMAND.sub(rb"#\\u0023\1", plain) + b"\n"


def _fields(value: Any) -> Any:
    return {name: encodable(getattr(value, name)) for name in value.__dataclass_fields__}
