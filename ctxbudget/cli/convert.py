"""``ctxbudget convert``."""

from __future__ import annotations

from typing import Annotated

import typer

from ctxbudget.cli import complete
from ctxbudget.cli.options import (  # noqa: TC001 - the options are read from the types at run time
    AnyPath,
    Force,
    FromFormat,
    Out,
    Quiet,
    Select,
)


def convert(
    path: AnyPath,
    target: Annotated[
        str,
        typer.Option(
            "--to", metavar="native|openai|anthropic|atif", help="What to write.", autocompletion=complete.targets
        ),
    ],
    select: Select = None,
    from_format: FromFormat = None,
    out: Out = None,
    force: Force = False,
    quiet: Quiet = False,
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
    for note in () if quiet else made.notes:
        typer.echo(f"note: {visible(note)}", err=True)
