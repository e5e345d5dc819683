"""Parquet: one table (``--table``) with its types, for pandas, DuckDB and their like; needs the extra ``parquet``."""

from __future__ import annotations

from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO

from ctxbudget.errors import MissingExtra

if TYPE_CHECKING:
    from ctxbudget.renderers import Look
    from ctxbudget.report import Report
    from ctxbudget.report.compare import Comparison
    from ctxbudget.report.run import RunReport

suffix = ".parquet"


def render(report: Report | RunReport | Comparison, look: Look, out: BinaryIO) -> None:
    """Write the table the look names, else the turns. Raises MissingExtra where pyarrow is not installed."""
    if find_spec("pyarrow") is None:
        raise MissingExtra("Parquet", "parquet")
    from ctxbudget import frames  # noqa: PLC0415 - pandas only where a table is asked for

    file = BytesIO()
    frames.table(report, look.table or "turns", children=look.children).to_parquet(file, index=False, engine="pyarrow")
    out.write(file.getvalue())
