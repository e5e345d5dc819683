"""``ctxbudget replay``."""

from __future__ import annotations

from typing import Annotated

import typer

from ctxbudget.cli import complete
from ctxbudget.cli.options import (  # noqa: TC001 - the options are read from the types at run time
    AnyPath,
    FailOn,
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
    Quiet,
    Reserve,
    Scheme,
    Select,
    Settings,
    StoreFolder,
    Strategy,
    Summariser,
    Window,
)


def replay(
    path: AnyPath,
    strategy: Strategy = "",
    window: Window = None,
    reserve: Reserve = "0",
    turn: Annotated[
        int | None, typer.Option(metavar="N", help="Every fragment at one turn: whole, stand-in or lost.")
    ] = None,
    fragment: Annotated[str | None, typer.Option(metavar="ID", help="The life of one fragment.")] = None,
    options: Settings = None,
    must_keep: MustKeep = None,
    must_keep_file: MustKeepFile = None,
    scheme: Scheme = None,
    model: Model = None,
    select: Select = None,
    from_format: FromFormat = None,
    no_calibrate: NoCalibrate = False,
    no_placebo: NoPlacebo = False,
    children: Annotated[
        bool, typer.Option("--children", help="Each sub-agent too, under its own window.")
    ] = False,
    summariser: Summariser = "extractive",
    llm_url: LlmUrl = None,
    llm_model: LlmModel = None,
    no_cache: NoCache = False,
    fail_summary: FailSummary = 0,
    store: StoreFolder = None,
    output_format: OutputFormat = None,
    table: Annotated[
        str | None,
        typer.Option(
            metavar="turns|layers|lives|edits|losses|summaries|fragments|constraints|findings", help="One table only.",
            autocompletion=complete.run_tables,
        ),
    ] = None,
    out: Out = None,
    force: Force = False,
    quiet: Quiet = False,
    fail_on: FailOn = None,
) -> int:  # fmt: skip
    """Say what a strategy keeps and loses, turn by turn.

    \b
    Examples:
      ctxbudget replay session.jsonl --strategy sliding-window
      ctxbudget replay session.jsonl -s category-budget --window 120k --turn 35
      ctxbudget replay session.jsonl -s clear --set clear-tool-results.keep=5
      ctxbudget replay session.jsonl -s window --must-keep "do not touch legacy/"
      ctxbudget list strategies
    """  # noqa: D301 - \b keeps the lines of a block together
    from ctxbudget import analysis, output, replays  # noqa: PLC0415 - the help does without
    from ctxbudget.cli import outputs, progress, summarising  # noqa: PLC0415
    from ctxbudget.cli.preparing import prepared  # noqa: PLC0415

    target = output.open_output(out, force=force, inputs=[path])
    renderer = outputs.choose(output_format, out)
    outputs.check_run(renderer, target, table=table)
    if fail_on is not None:
        analysis.levels_from(fail_on)
    ready = prepared(
        path, strategy, window=window, reserve=reserve, scheme=scheme, options=options, must_keep=must_keep,
        must_keep_files=must_keep_file, model=model, select=select, format_name=from_format, calibrate=not no_calibrate,
        summariser=summarising.summariser(summariser, llm_url, llm_model, cached=not no_cache),
        fail_summary=fail_summary, store=store, quiet=quiet,
    )  # fmt: skip
    if table == "fragments" and turn is None:
        turn = len(ready.trace.turns)
    whole = renderer in outputs.PAGES and turn is None and fragment is None and table is None
    with progress.rounds(path, quiet=quiet) as told:
        report = replays.report_of(
            ready, turn=turn, fragment=fragment, children=children, told=told,
            placebo=not no_placebo and (whole or renderer == "json"),  # only where it is shown
        )  # fmt: skip
    outputs.write(report, renderer, outputs.look(target, by=None, table=table, children=children), target)
    return int(fail_on is not None and analysis.failing(report, fail_on))
