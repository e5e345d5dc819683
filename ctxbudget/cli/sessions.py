"""``ctxbudget sessions``."""

from __future__ import annotations

from typing import Annotated

import typer

from ctxbudget.cli import complete
from ctxbudget.cli.options import Force, Out, Quiet  # noqa: TC001 - the options are read from the types at run time


def sessions(
    agent: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="One agent's only.", autocompletion=complete.agents),
    ] = None,
    project: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Only where the project's folder holds this.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="WHEN", help="Only what was written since: 2026-11-01, 12h, 7d or 2w.")
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", min=0, help="How many to show; 0 is all.")] = 20,
    quick: Annotated[
        bool, typer.Option("--quick", help="Read no session: no model, turns or peak.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The rows as JSON.")] = False,
    out: Out = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:  # fmt: skip
    """Find the sessions that agents left on this machine, newest first.

    Their places are only read. Every command takes what stands in the first column: @1, also @latest, @claude, or @
    and a part of the id.

    \b
    Examples:
      ctxbudget sessions
      ctxbudget sessions --agent codex --since 7d
      ctxbudget sessions --project my-app --json
      ctxbudget analyze @latest
    """  # noqa: D301 - \b keeps the lines of a block together
    from datetime import UTC, datetime  # noqa: PLC0415 - the help does without

    from ctxbudget import output  # noqa: PLC0415
    from ctxbudget import sessions as found  # noqa: PLC0415
    from ctxbudget.cli import outputs, progress  # noqa: PLC0415
    from ctxbudget.renderers import _sessions, json  # noqa: PLC0415
    from ctxbudget.report.sessions import rows  # noqa: PLC0415

    target = output.open_output(out, force=force)
    moment = None if since is None else found.moment(since, datetime.now(UTC))
    every = found.find(agent=agent, project=project, since=moment)
    shown = every[:limit] if limit else every
    with progress.reading(quiet=quiet) as on_file:
        made = list(rows(shown, quick=quick, on_file=on_file))
    if as_json:
        with target.writing() as stream:
            stream.write(json.dumped(made))
    else:
        look = outputs.look(target, by=None, table=None, children=False)
        outputs.write_blocks(_sessions.blocks(made, len(every) - len(shown)), look, target)
