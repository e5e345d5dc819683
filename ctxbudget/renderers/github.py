"""GitHub workflow annotations: one per failure, at its file and line, and the whole answer below them in the log.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions. GitHub shows the first ten errors and
warnings of a step: the failures that fail the check come first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO

from ctxbudget.renderers import terminal
from ctxbudget.renderers._check_sentences import named, unmeasured, verdict, warned, whole
from ctxbudget.safe import command_data, command_property

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.renderers import Look
    from ctxbudget.report.check import CheckReport, Failure

suffix = ".github.txt"

_LEVELS = {"error": "error", "warning": "warning", "note": "notice"}


def render(report: CheckReport, look: Look, out: BinaryIO) -> None:
    """Write the annotations, then the pages as the terminal has them, in a group that can be folded."""
    out.write("".join(f"{line}\n" for line in _annotations(report)).encode())
    out.write(f"::group::{command_data([verdict(report)])}\n".encode())
    terminal.render(report, replace(look, width=None, encoding="utf-8"), out)
    out.write(b"::endgroup::\n")


def _annotations(report: CheckReport) -> Iterator[str]:
    for trace in report.checked:
        if trace.reason:
            said = [f"{named(trace)}: {trace.reason}", trace.hint]
            yield _command(_LEVELS[unmeasured(trace)], trace.path, None, trace.status, said)
    failures = [failure for failure in report.failures if not failure.known]
    for failure in sorted(failures, key=lambda failure: not failure.fails):
        yield _annotation(failure)
    for warning in report.warnings:
        yield _command(warned(report), None, warning.line, warning.code, [warning.message])


def _annotation(failure: Failure) -> str:
    title = f"{failure.id} {failure.name}"
    return _command(_LEVELS.get(failure.level, "notice"), failure.path, failure.line, title, whole(failure))


def _command(level: str, path: str | None, line: int | None, title: str, lines: list[str]) -> str:
    given = {"file": path, "line": None if line is None else str(line), "title": title}
    properties = ",".join(f"{name}={command_property(text)}" for name, text in given.items() if text)
    return f"::{level} {properties}::{command_data(filter(None, lines))}"
