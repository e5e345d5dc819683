"""CSV: one table (``--table``), for spreadsheets: text in it never acts as a formula."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from ctxbudget.safe import csv_cell

if TYPE_CHECKING:
    from ctxbudget.renderers import Look
    from ctxbudget.report import Report
    from ctxbudget.report.compare import Comparison
    from ctxbudget.report.run import RunReport

suffix = ".csv"


def render(report: Report | RunReport | Comparison, look: Look, out: BinaryIO) -> None:
    """Write the table the look names, else the turns."""
    from ctxbudget import frames  # noqa: PLC0415 - pandas only where a table is asked for

    frame = frames.table(report, look.table or "turns", children=look.children)
    for name in frames.texts(frame):
        frame[name] = frame[name].map(csv_cell, na_action="ignore")
    out.write(frame.to_csv(index=False, lineterminator="\n").encode())
