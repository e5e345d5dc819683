"""Everything that one check writes: its answer, a file for each further format, and the summary of a GitHub step."""

from __future__ import annotations

import os
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from ctxbudget.cli import outputs
from ctxbudget.errors import UsageError
from ctxbudget.output import open_output
from ctxbudget.renderers import RENDERERS, Look

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ctxbudget.output import Output
    from ctxbudget.report.check import CheckReport

SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable that names the file whose Markdown GitHub shows on the page of a run."""


@dataclass(frozen=True, slots=True)
class Copy:
    """One output: what it is written with, how it looks, and where it goes."""

    renderer: str
    look: Look
    output: Output


def planned(given: Iterable[str], main: Output, *, force: bool, inputs: Iterable[str]) -> list[Copy]:
    """The further outputs of ``--out FORMAT=FILE``, all of them checked before any work is done.

    Raises UsageError for one that names no file, or a file that another output has; UnknownName for a format that
    there is not, and what ``open_output`` raises.
    """
    inputs = list(inputs)
    taken = {_place(main)}
    copies = []
    for one in given:
        name, equals, path = one.partition("=")
        if not equals or path in {"", "-"}:
            raise UsageError(f"--out {one!r} names no file", hint="write it as --out junit=report.xml")
        copy = Copy(outputs.choose_check(name, None), Look(), open_output(path, force=force, inputs=inputs))
        if _place(copy.output) in taken:
            raise UsageError(f"--out {one!r}: another output goes there too", hint="give each a file of its own")
        taken.add(_place(copy.output))
        copies.append(copy)
    return copies


def write(report: CheckReport, main: Copy, copies: Iterable[Copy]) -> None:
    """Write all of them, the main one last. Everything is rendered before the first is written, and each file appears
    whole or not at all. Where one is for GitHub and a step runs there, its summary gets the answer too.

    Raises UsageError, with nothing written, where an output would take the place of a trace in a folder.
    """
    ordered = [*copies, main]
    traces = {_resolved(trace.path) for trace in report.checked}
    for copy in ordered:
        if _place(copy.output) in traces:
            raise UsageError(f"cannot write {copy.output.path}: it is one of the traces", hint="give another file")
    rendered = [_rendered(report, copy.renderer, copy.look) for copy in ordered]
    for copy, data in zip(ordered, rendered, strict=True):
        with copy.output.writing() as stream:
            stream.write(data)
    if any(copy.renderer == "github" for copy in ordered):
        _summarise(report, os.environ)


def _rendered(report: CheckReport, renderer: str, look: Look) -> bytes:
    page = BytesIO()
    RENDERERS.get(renderer).render(report, look, page)
    return page.getvalue()


def _summarise(report: CheckReport, environment: Mapping[str, str]) -> None:
    """Add to the step's summary; other commands of the step may have written there before."""
    file = environment.get(SUMMARY)
    if not file:
        return
    try:
        with Path(file).open("ab") as stream:
            stream.write(_rendered(report, "markdown", Look()) + b"\n")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot write the summary of the step to {file}: {reason}", hint=f"unset {SUMMARY}") from None


def _place(output: Output) -> str | None:
    """Where it goes, however that is spelled."""
    return None if output.path is None else _resolved(output.path)


def _resolved(path: str) -> str:
    """The path in one spelling; as it is where no file can be called so."""
    try:
        return str(Path(path).resolve())
    except (OSError, ValueError):
        return path
