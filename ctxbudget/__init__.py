"""ctxbudget: a profiler for agent context windows.

    report = ctxbudget.analyze("session.jsonl", window=200_000)
    for turn in report.traces[0].turns:
        print(turn.turn, turn.tokens, turn.layers)

``load`` reads the traces of a file, ``analyze`` makes a report of paths or traces, ``render`` writes it. Importing the
package does no work: each name is fetched when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ctxbudget.analysis import analyze
    from ctxbudget.errors import CtxbudgetError
    from ctxbudget.loaders import Options, load
    from ctxbudget.renderers import Look, render
    from ctxbudget.report import Report, TraceReport
    from ctxbudget.report.loading import from_json
    from ctxbudget.trace import Fragment, Kind, Trace, Turn, Usage

__all__ = [
    "CtxbudgetError",
    "Fragment",
    "Kind",
    "Look",
    "Options",
    "Report",
    "Trace",
    "TraceReport",
    "Turn",
    "Usage",
    "analyze",
    "from_json",
    "load",
    "render",
]

_HOMES = {
    "analyze": "analysis",
    "CtxbudgetError": "errors",
    "Options": "loaders",
    "load": "loaders",
    "Look": "renderers",
    "render": "renderers",
    "Report": "report",
    "TraceReport": "report",
    "from_json": "report.loading",
    "Fragment": "trace",
    "Kind": "trace",
    "Trace": "trace",
    "Turn": "trace",
    "Usage": "trace",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
