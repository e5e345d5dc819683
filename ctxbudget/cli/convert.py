"""``ctxbudget convert``."""

from __future__ import annotations

from typing import Annotated

import typer

from ctxbudget.cli import complete


def convert(
    path: Annotated[str, typer.Argument(metavar="PATH", help="A file, - for standard input, file#3 or @latest.")],
    target: Annotated[
        str,
        typer.Option(
            "--to", metavar="native|openai|anthropic|atif", help="What to write.", autocompletion=complete.targets
        ),
    ],
    select: Annotated[
        str | None, typer.Option(metavar="NAME|N", help="One trace of a file that holds several.")
    ] = None,
    from_format: Annotated[
        str | None,
        typer.Option("--from", metavar="FORMAT", help="Read as this format.", autocompletion=complete.formats),
    ] = None,
    out: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write here, not to stdout.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite FILE.")] = False,
) -> None:  # fmt: skip
    """Write a trace in another format, and say on stderr what that format cannot hold.

    \b
    Examples:
      ctxbudget convert session.jsonl --to native -o session.ctx.jsonl
      ctxbudget convert @latest --to openai -o messages.json
      ctxbudget convert log.eval#3 --to atif
    """  # noqa: D301 - \b keeps the lines of a block together
    from ctxbudget import output, sources, targets  # noqa: PLC0415 - the help does without
    from ctxbudget.loaders import Options  # noqa: PLC0415
    from ctxbudget.safe import visible  # noqa: PLC0415

    destination = output.open_output(out, force=force, inputs=[path])
    targets.TARGETS.get(target)
    trace = sources.single(path, Options(from_format, calibrate=False), select)
    made = targets.convert(trace, target)
    with destination.writing() as stream:
        stream.write(made.data)
    for note in made.notes:
        typer.echo(f"note: {visible(note)}", err=True)
