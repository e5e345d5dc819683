"""``ctxbudget compare``."""

from __future__ import annotations

from typing import Annotated

import typer

from ctxbudget.cli import complete


def compare(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="Files, folders, patterns, - for standard input, or file#3."),
    ],
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            "--strategy", "-s", metavar="NAME|A+B|FILE.toml", help="One to compare; give it again for more.",
            autocompletion=complete.strategies,
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Every preset; what is done where no strategy is given.")
    ] = False,
    window: Annotated[
        str | None, typer.Option(metavar="TOKENS", help="The context window, as 200000, 200k or 1M.")
    ] = None,
    reserve: Annotated[str, typer.Option(metavar="TOKENS", help="Tokens to keep free for the reply.")] = "0",
    sweep: Annotated[
        str | None,
        typer.Option(metavar="OPTION=A..B|A,B,C", help="Vary window or PASS.OPTION; the knee is named."),
    ] = None,
    options: Annotated[
        list[str] | None, typer.Option("--set", metavar="PASS.OPTION=VALUE", help="Change an option of each strategy.")
    ] = None,
    no_placebo: Annotated[
        bool, typer.Option("--no-placebo", help="Do not count what chance would find; much quicker.")
    ] = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", metavar="N", help="Processes that share the files.")] = 1,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="The model, in place of the recorded one.")
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
    output_format: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="table|json|csv|parquet|markdown", help="What to write; else the suffix of -o tells.",
            autocompletion=complete.outputs,
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write here, not to stdout.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite FILE.")] = False,
) -> None:  # fmt: skip
    """Compare strategies: what each costs, and what it would have taken away before it was needed.

    \b
    Examples:
      ctxbudget compare session.jsonl
      ctxbudget compare traces/ -s sliding-window -s clear --window 120k --jobs 4
      ctxbudget compare session.jsonl -s none -s clear --sweep window=64k..1M
      ctxbudget compare session.jsonl --sweep clear-tool-results.keep=1..20
      ctxbudget compare traces/ --all --format csv -o compared.csv
    """  # noqa: D301 - \b keeps the lines of a block together
    from pathlib import Path  # noqa: PLC0415 - the help does without

    from ctxbudget import comparing, config, output, sizes  # noqa: PLC0415
    from ctxbudget.cli import outputs, progress  # noqa: PLC0415

    target = output.open_output(out, force=force, inputs=paths)
    renderer = outputs.choose(output_format, out)
    outputs.check_run(renderer, target, table=None)
    with progress.steps() as told:
        report = comparing.compare(
            paths,
            comparing.chosen(strategy or (), every=every),
            window=None if window is None else sizes.tokens(window, "--window"),
            reserve=sizes.tokens(reserve, "--reserve", least=0),
            options=options or (),
            model=model,
            format_name=from_format,
            select=select,
            calibrate=not no_calibrate,
            placebo=not no_placebo,
            sweep=None if sweep is None else comparing.read_sweep(sweep),
            jobs=jobs,
            settings=config.discover(Path.cwd()),
            on_step=told,
        )
    outputs.write(report, renderer, outputs.look(target, by=None, table=None, children=False), target)
