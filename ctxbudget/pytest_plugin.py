"""A pytest plug-in: with the fixture ``ctx_budget`` an agent's own tests check the trace it has just written.

    def test_it_stays_within_its_window(ctx_budget, tmp_path):
        run_the_agent(log=tmp_path / "session.jsonl")
        ctx_budget(tmp_path / "session.jsonl", max="75%")

pytest loads it by its entry point; nothing of the library is imported before a test checks something.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from ctxbudget.report.check import CheckReport


@dataclass(frozen=True, slots=True)
class ContextBudget:
    """What the fixture gives. ``folder`` is where budget files are looked for: the root of the tests, and above."""

    folder: Path

    def __call__(self, *traces: Any, config: str | None = None, **limits: Any) -> CheckReport:
        """Fail the test where a trace (a path, or one already loaded) is over a limit, or where nothing was measured.

        ``limits`` are those of ``ctxbudget.checking.check``: ``max="75%"``, ``max_layer={"observation": "45%"}``,
        ``max_result``, ``growth``, ``must_keep``, ``strategy``, ``window`` … They stand above those of the budget file
        ``config``, else of the nearest one. Returns the report, for assertions of one's own.
        """
        __tracebackhide__ = True
        from ctxbudget.checking import check  # noqa: PLC0415 - not before a test asks
        from ctxbudget.config import settled  # noqa: PLC0415
        from ctxbudget.errors import CtxbudgetError  # noqa: PLC0415

        try:
            file = None if config is None else str(self.folder / config)
            report = check(traces, settings=settled(file, self.folder), **limits)
        except CtxbudgetError as error:
            error.add_note(f"hint: {error.hint}")
            raise
        if report.exit_code:
            pytest.fail(_page(report), pytrace=False)
        return report


@pytest.fixture(scope="session")
def ctx_budget(pytestconfig: pytest.Config) -> ContextBudget:
    """Check a trace against its context budget: ``ctx_budget("session.jsonl", max="75%")``."""
    return ContextBudget(pytestconfig.rootpath)


def _page(report: CheckReport) -> str:
    """The answer as a terminal shows it."""
    from io import BytesIO  # noqa: PLC0415

    from ctxbudget.renderers import render  # noqa: PLC0415

    page = BytesIO()
    render(report, "terminal", page)
    return page.getvalue().decode()
