"""``ctxbudget analyze``."""

from __future__ import annotations

from typing import Annotated

import typer

from ctxbudget.cli import complete


def analyze(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="A file, - for standard input, a folder, a quoted pattern, or file#3."),
    ],
    window: Annotated[
        str | None, typer.Option(metavar="TOKENS", help="The context window, as 200000, 200k or 1M.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="The model, in place of the recorded one.")
    ] = None,
    reserve: Annotated[str, typer.Option(metavar="TOKENS", help="Tokens to keep free for the reply.")] = "0",
    scheme: Annotated[
        str | None,
        typer.Option(metavar="agent|window", help="How kinds become layers.", autocompletion=complete.schemes),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="layer|kind|tool|resource", help="One breakdown in full.", autocompletion=complete.breakdowns
        ),
    ] = None,
    turn: Annotated[
        int | None, typer.Option(metavar="N", help="The context of one turn, fragment by fragment.")
    ] = None,
    select: Annotated[
        str | None, typer.Option(metavar="NAME|N", help="One trace of a file that holds several.")
    ] = None,
    from_format: Annotated[
        str | None,
        typer.Option("--from", metavar="FORMAT", help="Read as this format.", autocompletion=complete.formats),
    ] = None,
    no_calibrate: Annotated[
        bool, typer.Option("--no-calibrate", help="Plain counts, not fitted to the provider's.")
    ] = False,
    estimators: Annotated[
        bool, typer.Option("--estimators", help="The error of each way of estimating tokens.")
    ] = False,
    fragments: Annotated[bool, typer.Option("--fragments", help="Every fragment too.")] = False,
    children: Annotated[bool, typer.Option("--children", help="Each sub-agent in full too.")] = False,
    output_format: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="table|json|csv|parquet|markdown", help="What to write; else the suffix of -o tells.",
            autocompletion=complete.outputs,
        ),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(
            metavar="turns|layers|tools|resources|fragments|findings", help="One table only.",
            autocompletion=complete.tables,
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write here, not to stdout.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite FILE.")] = False,
    fail_on: Annotated[
        str | None,
        typer.Option(
            metavar="note|warning|error", help="Exit with 1 if there is a finding of this level or above.",
            autocompletion=complete.levels,
        ),
    ] = None,
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
    with progress.reading() as on_file:
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
