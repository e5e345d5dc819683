"""``ctxbudget analyze``."""

from __future__ import annotations

from typing import Annotated

import typer

from ctxbudget.cli import complete
from ctxbudget.cli.options import (  # noqa: TC001 - the options are read from the types at run time
    FailOn,
    Force,
    FromFormat,
    Model,
    NoCalibrate,
    Out,
    OutputFormat,
    Paths,
    Quiet,
    Reserve,
    Scheme,
    Select,
    Window,
)


def analyze(
    paths: Paths,
    window: Window = None,
    model: Model = None,
    reserve: Reserve = "0",
    scheme: Scheme = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="layer|kind|tool|resource", help="One breakdown in full.", autocompletion=complete.breakdowns
        ),
    ] = None,
    turn: Annotated[
        int | None, typer.Option(metavar="N", help="The context of one turn, fragment by fragment.")
    ] = None,
    select: Select = None,
    from_format: FromFormat = None,
    no_calibrate: NoCalibrate = False,
    estimators: Annotated[
        bool, typer.Option("--estimators", help="The error of each way of estimating tokens.")
    ] = False,
    fragments: Annotated[bool, typer.Option("--fragments", help="Every fragment too.")] = False,
    children: Annotated[bool, typer.Option("--children", help="Each sub-agent in full too.")] = False,
    output_format: OutputFormat = None,
    table: Annotated[
        str | None,
        typer.Option(
            metavar="turns|layers|tools|resources|fragments|findings", help="One table only.",
            autocompletion=complete.tables,
        ),
    ] = None,
    out: Out = None,
    force: Force = False,
    quiet: Quiet = False,
    fail_on: FailOn = None,
) -> int:  # fmt: skip
    """Say where the tokens of every model call went.

    \b
    Examples:
      ctxbudget analyze session.jsonl
      ctxbudget analyze session.jsonl --window 120k --turn 24
      ctxbudget analyze log.jsonl#3 --by tool
      ctxbudget analyze ~/.claude/projects --format csv --table turns -o turns.csv
      cat session.jsonl | ctxbudget analyze - --format json
    """  # noqa: D301 - \b keeps the lines of a block together
    from pathlib import Path  # noqa: PLC0415

    from ctxbudget import analysis, config, output, sizes  # noqa: PLC0415 - the help does without
    from ctxbudget.cli import outputs, progress  # noqa: PLC0415

    target = output.open_output(out, force=force, inputs=paths)
    renderer = outputs.choose(output_format, out)
    outputs.check(renderer, target, by=by, table=table)
    if fail_on is not None:
        analysis.levels_from(fail_on)
    with progress.reading(quiet=quiet) as on_file:
        report = analysis.analyze(
            paths,
            window=None if window is None else sizes.tokens(window, "--window"),
            reserve=sizes.tokens(reserve, "--reserve", least=0),
            scheme=scheme,
            model=model,
            format_name=from_format,
            select=select,
            turn=turn,
            calibrate=not no_calibrate,
            estimators=estimators,
            fragments=fragments or table == "fragments",
            settings=config.discover(Path.cwd()),
            on_file=on_file,
        )
    outputs.write(report, renderer, outputs.look(target, by=by, table=table, children=children), target)
    return int(fail_on is not None and analysis.failing(report, fail_on))
