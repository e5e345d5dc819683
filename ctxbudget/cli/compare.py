"""``ctxbudget compare``."""

from __future__ import annotations

from typing import Annotated

import typer

from ctxbudget.cli import complete
from ctxbudget.cli.options import (  # noqa: TC001 - the options are read from the types at run time
    FailSummary,
    Force,
    FromFormat,
    LlmModel,
    LlmUrl,
    Model,
    MustKeep,
    MustKeepFile,
    NoCache,
    NoCalibrate,
    NoPlacebo,
    Out,
    OutputFormat,
    Paths,
    Quiet,
    Reserve,
    Select,
    Settings,
    Summariser,
    Window,
)


def compare(
    paths: Paths,
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
    window: Window = None,
    reserve: Reserve = "0",
    sweep: Annotated[
        str | None,
        typer.Option(metavar="OPTION=A..B|A,B,C", help="Vary window or PASS.OPTION; the knee is named."),
    ] = None,
    options: Settings = None,
    must_keep: MustKeep = None,
    must_keep_file: MustKeepFile = None,
    no_placebo: NoPlacebo = False,
    children: Annotated[
        bool, typer.Option("--children", help="Each sub-agent too, as a trace under its own window.")
    ] = False,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="outcome", help="Each strategy over the runs that succeeded, failed, and those left open, too.",
            autocompletion=complete.groupings,
        ),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", metavar="N", help="Processes that share the files.")] = 1,
    model: Model = None,
    select: Select = None,
    from_format: FromFormat = None,
    no_calibrate: NoCalibrate = False,
    summariser: Summariser = "extractive",
    llm_url: LlmUrl = None,
    llm_model: LlmModel = None,
    no_cache: NoCache = False,
    fail_summary: FailSummary = 0,
    output_format: OutputFormat = None,
    out: Out = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:  # fmt: skip
    """Compare strategies: what each costs, and what it would have taken away before it was needed.

    \b
    Examples:
      ctxbudget compare session.jsonl
      ctxbudget compare traces/ -s sliding-window -s clear --window 120k --jobs 4
      ctxbudget compare session.jsonl -s none -s clear --sweep window=64k..1M
      ctxbudget compare session.jsonl --sweep clear-tool-results.keep=1..20
      ctxbudget compare evals/ -s clear -s compaction --by outcome
      ctxbudget compare traces/ --all --format csv -o compared.csv
    """  # noqa: D301 - \b keeps the lines of a block together
    from pathlib import Path  # noqa: PLC0415 - the help does without

    from ctxbudget import comparing, config, output, sizes  # noqa: PLC0415
    from ctxbudget.cli import outputs, progress, summarising  # noqa: PLC0415

    target = output.open_output(out, force=force, inputs=paths)
    renderer = outputs.choose(output_format, out)
    outputs.check_run(renderer, target, table=None)
    with progress.steps(quiet=quiet) as told:
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
            must_keep=must_keep or (),
            must_keep_files=must_keep_file or (),
            children=children,
            summariser=summarising.summariser(summariser, llm_url, llm_model, cached=not no_cache),
            fail_summary=fail_summary,
            placebo=not no_placebo,
            sweep=sweep,
            by=by,
            jobs=jobs,
            settings=config.discover(Path.cwd()),
            on_step=told,
        )
    outputs.write(report, renderer, outputs.look(target, by=None, table=None, children=False), target)
