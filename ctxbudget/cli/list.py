"""``ctxbudget list``."""

from __future__ import annotations

from typing import Annotated

import typer

from ctxbudget.cli import complete


def list_names(
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT", help="strategies, passes, formats, layers, models or estimators; else what there is.",
            show_default=False, autocompletion=complete.listings,
        ),
    ] = "",
    match: Annotated[str, typer.Argument(metavar="[MATCH]", help="Only what holds this.", show_default=False)] = "",
) -> None:  # fmt: skip
    """List the names that other commands take.

    \b
    Examples:
      ctxbudget list
      ctxbudget list strategies
      ctxbudget list passes clear-tool-results
      ctxbudget list formats
      ctxbudget list models opus
    """  # noqa: D301 - \b keeps the lines of a block together
    from ctxbudget import listings, output  # noqa: PLC0415 - the help does without
    from ctxbudget.cli import outputs  # noqa: PLC0415

    target = output.open_output(None)
    outputs.write_blocks(listings.pages(what, match), outputs.look(target, by=None, table=None, children=False), target)
