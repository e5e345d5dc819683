"""``ctxbudget export``."""

from __future__ import annotations

from typing import Annotated

import typer

from ctxbudget.cli import complete
from ctxbudget.cli.options import (  # noqa: TC001 - the options are read from the types at run time
    AnyPath,
    FailSummary,
    Force,
    FromFormat,
    LlmModel,
    LlmUrl,
    MustKeep,
    MustKeepFile,
    NoCache,
    NoCalibrate,
    Out,
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


def export(
    path: AnyPath,
    api: Annotated[
        str,
        typer.Option("--as", metavar="anthropic|openai", help="Whose request.", autocompletion=complete.apis),
    ],
    strategy: Strategy = "",
    turn: Annotated[int | None, typer.Option(metavar="N", help="The turn; else the last.", show_default=False)] = None,
    window: Window = None,
    reserve: Reserve = "0",
    options: Settings = None,
    must_keep: MustKeep = None,
    must_keep_file: MustKeepFile = None,
    scheme: Scheme = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="The model to ask, in place of the recorded one.")
    ] = None,
    select: Select = None,
    from_format: FromFormat = None,
    no_calibrate: NoCalibrate = False,
    summariser: Summariser = "extractive",
    llm_url: LlmUrl = None,
    llm_model: LlmModel = None,
    no_cache: NoCache = False,
    fail_summary: FailSummary = 0,
    store: StoreFolder = None,
    out: Out = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:  # fmt: skip
    """Write a turn of a replay as an API request.

    \b
    Examples:
      ctxbudget export session.jsonl --strategy category-budget --turn 35 --as anthropic -o request.json
      ctxbudget export session.jsonl -s none --turn 12 --as openai --model gpt-4.1
    """  # noqa: D301 - \b keeps the lines of a block together
    from ctxbudget import exports, output  # noqa: PLC0415 - the help does without
    from ctxbudget.cli import summarising  # noqa: PLC0415
    from ctxbudget.cli.preparing import prepared  # noqa: PLC0415
    from ctxbudget.safe import visible  # noqa: PLC0415

    target = output.open_output(out, force=force, inputs=[path])
    ready = prepared(
        path, strategy, window=window, reserve=reserve, scheme=scheme, options=options, must_keep=must_keep,
        must_keep_files=must_keep_file, model=None, select=select, format_name=from_format, calibrate=not no_calibrate,
        summariser=summarising.summariser(summariser, llm_url, llm_model, cached=not no_cache),
        fail_summary=fail_summary, store=store, quiet=quiet,
    )  # fmt: skip
    made = exports.export_of(ready, turn, api=api, model=model)
    with target.writing() as stream:
        stream.write(made.to_json())
    for note in made.notes if not quiet else ():
        typer.echo(f"note: {visible(note)}", err=True)
