"""ctxbudget: a profiler for agent context windows.

    report = ctxbudget.analyze("session.jsonl", window=200_000)
    for turn in report.traces[0].turns:
        print(turn.turn, turn.tokens, turn.layers)

``load`` reads the traces of a file, ``analyze`` makes a report of paths or traces, ``replay`` of a trace under a
strategy, ``compare`` of traces under several, ``check`` holds them against a budget, ``render`` writes it. Importing
the package does no work: each name is fetched when it is first used.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ctxbudget.analysis import analyze
    from ctxbudget.checking import check
    from ctxbudget.comparing import compare
    from ctxbudget.errors import CtxbudgetError
    from ctxbudget.exports import Exported, export
    from ctxbudget.loaders import Options, load
    from ctxbudget.prepared import Prepared, prepare
    from ctxbudget.renderers import Look, render
    from ctxbudget.replays import replay
    from ctxbudget.report import Report, TraceReport
    from ctxbudget.report.check import CheckReport
    from ctxbudget.report.compare import Comparison
    from ctxbudget.report.loading import from_json
    from ctxbudget.report.run import RunReport
    from ctxbudget.trace import Fragment, Kind, Trace, Turn, Usage

__all__ = [
    "CheckReport",
    "Comparison",
    "CtxbudgetError",
    "Exported",
    "Fragment",
    "Kind",
    "Look",
    "Options",
    "Prepared",
    "Report",
    "RunReport",
    "Trace",
    "TraceReport",
    "Turn",
    "Usage",
    "analyze",
    "check",
    "compare",
    "export",
    "from_json",
    "load",
    "prepare",
    "render",
    "replay",
]

_HOMES = {
    "analyze": "analysis",
    "CheckReport": "report.check",
    "check": "checking",
    "Comparison": "report.compare",
    "compare": "comparing",
    "CtxbudgetError": "errors",
    "Exported": "exports",
    "export": "exports",
    "Options": "loaders",
    "load": "loaders",
    "Look": "renderers",
    "render": "renderers",
    "Prepared": "prepared",
    "prepare": "prepared",
    "replay": "replays",
    "Report": "report",
    "RunReport": "report.run",
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


class _Package(ModuleType):
    """The import system makes a submodule an attribute of its package: the engine's folder, ``replay``, would take the
    place of the function of that name."""

    def __setattr__(self, name: str, value: object) -> None:
        if name != "replay" or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
