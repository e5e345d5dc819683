"""``ctxbudget config``."""

from __future__ import annotations

from typing import Annotated

import typer

from ctxbudget.cli.options import (  # noqa: TC001 - the options are read from the types at run time
    Force,
    FromFormat,
    Out,
    Paths,
    Quiet,
    Scheme,
    Window,
)

config = typer.Typer(rich_markup_mode=None)


@config.callback(invoke_without_command=True)
def root(context: typer.Context) -> None:
    """The settings and the budget of a project: show them, or begin them."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@config.command()
def show(
    path: Annotated[
        str | None, typer.Argument(metavar="PATH", help="A trace: the budget that holds for it.", show_default=False)
    ] = None,
    config: Annotated[
        str | None, typer.Option(metavar="FILE", help="The budget file; else the nearest one at or above this folder.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Show every setting, and the place that each value comes from.

    \b
    Examples:
      ctxbudget config show
      ctxbudget config show traces/long/session.jsonl
      ctxbudget config show --config budget.yaml
    """  # noqa: D301 - \b keeps the lines of a block together
    import os  # noqa: PLC0415 - the help does without
    from pathlib import Path  # noqa: PLC0415

    from ctxbudget import config as configs  # noqa: PLC0415
    from ctxbudget import output  # noqa: PLC0415
    from ctxbudget.cli import outputs  # noqa: PLC0415
    from ctxbudget.config import shown  # noqa: PLC0415
    from ctxbudget.renderers import _settings, json  # noqa: PLC0415

    settings = configs.settled(config, Path.cwd())
    rows = shown.rows(settings, path)
    target = output.open_output(None)
    if as_json:
        with target.writing() as stream:
            stream.write(json.dumped(rows))
        return
    source = None if settings.source is None else os.path.relpath(settings.source)
    look = outputs.look(target, by=None, table=None, children=False)
    outputs.write_blocks(_settings.blocks(rows, source), look, target)


@config.command()
def init(
    paths: Paths,
    scheme: Scheme = None,
    window: Window = None,
    from_format: FromFormat = None,
    out: Out = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Write a commented budget, fitted to the traces that are given.

    \b
    Examples:
      ctxbudget config init traces/ -o ctxbudget.yaml
      ctxbudget config init session.jsonl --scheme window
    """  # noqa: D301 - \b keeps the lines of a block together
    from ctxbudget import layers, loaders, output, sizes  # noqa: PLC0415 - the help does without
    from ctxbudget.checking import fitting  # noqa: PLC0415
    from ctxbudget.cli import progress  # noqa: PLC0415

    target = output.open_output(out, force=force, inputs=paths)
    chosen = layers.scheme(scheme or "agent")
    limit = None if window is None else sizes.tokens(window, "--window")
    skipped: list[str] = []
    with progress.reading(quiet=quiet) as told:
        traces = fitting.read(paths, loaders.Options(from_format), told, skipped)
        fit = fitting.fitted(traces, chosen, limit)
    with target.writing() as stream:
        stream.write(fitting.written(fit, chosen, skipped).encode())
