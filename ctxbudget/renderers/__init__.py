"""Outputs: one file each, found by folder scan. A renderer gets the finished report and computes nothing.

A renderer is a module with a docstring whose first line says what it makes, and:

``suffix``
    the ending of its files, as ``.json``: ``-o FILE`` picks the renderer by it.
``render(report: AnyReport, look: Look, out: BinaryIO) -> None``
    Write the report. Everything but a terminal gets UTF-8. Not every one knows every kind of report: those that
    services of continuous integration read know a check alone, tables have no check.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Literal, Protocol, TypeAlias

from ctxbudget.registry import Registry

if TYPE_CHECKING:
    from ctxbudget.report import Report
    from ctxbudget.report.check import CheckReport
    from ctxbudget.report.compare import Comparison
    from ctxbudget.report.run import RunReport

AnyReport: TypeAlias = "Report | RunReport | Comparison | CheckReport"
"""Whatever a renderer may be given."""

CHECKS = ("github", "json", "junit", "markdown", "sarif", "terminal")
"""The renderers that know a check."""
ONLY_CHECKS = ("github", "junit", "sarif")
"""Those that know nothing else."""

BREAKDOWNS = ("layer", "kind", "tool", "resource")
"""What ``--by`` may name."""

TABLES = ("turns", "layers", "tools", "resources", "fragments", "findings")
"""What ``--table`` may name, for a trace."""

RUN_TABLES = (
    "turns", "layers", "lives", "edits", "losses", "summaries", "fragments", "constraints", "findings",
)  # fmt: skip
"""What it may name for a run."""


Colors: TypeAlias = Literal["standard", "256", "truecolor"]


@dataclass(frozen=True, slots=True)
class Look:
    """What of a report is shown, and how. The numbers are the report's own."""

    by: str | None = None
    """One breakdown in full instead of the usual tables."""
    table: str | None = None
    """One table and nothing else; the only thing that CSV and Parquet can hold."""
    children: bool = False
    """Sub-agents too, each like a trace of its own."""
    width: int | None = None
    """Columns of the terminal; None is as wide as it takes, nothing cut."""
    colors: Colors | None = None
    """``standard``, ``256``, ``truecolor``, or None for no escape sequence at all."""
    encoding: str = "utf-8"
    """What the terminal can carry."""


class Renderer(Protocol):
    """What a renderer module offers."""

    suffix: str

    def render(self, report: AnyReport, look: Look, out: BinaryIO) -> None:
        """Write the report."""


RENDERERS: Registry[Renderer] = Registry("format", "ctxbudget.renderers")


def for_suffix(suffix: str) -> str | None:
    """The name of the renderer whose files end so, or None."""
    return next((name for name in RENDERERS.names() if RENDERERS.get(name).suffix == suffix.lower()), None)


def render(report: AnyReport, name: str, out: BinaryIO, look: Look = Look()) -> None:
    """Write a report with the renderer of that name (``terminal``, ``json``, ``markdown`` …). Raises UnknownName."""
    RENDERERS.get(name).render(report, look, out)
