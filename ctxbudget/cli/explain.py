"""``ctxbudget explain``."""

from __future__ import annotations

from typing import Annotated

import typer

from ctxbudget.cli import complete


def explain(
    name: Annotated[
        str,
        typer.Argument(
            metavar="ID", help="A finding, as CB303; all of them where none is named.", show_default=False,
            autocompletion=complete.findings,
        ),
    ] = "",
) -> None:  # fmt: skip
    """Explain a finding: what it says, why it matters, and how to fix it.

    \b
    Examples:
      ctxbudget explain CB303
      ctxbudget explain
    """  # noqa: D301 - \b keeps the lines of a block together
    from ctxbudget import output  # noqa: PLC0415 - the help does without
    from ctxbudget.cli import outputs  # noqa: PLC0415
    from ctxbudget.findings import catalogue  # noqa: PLC0415
    from ctxbudget.renderers import _explained  # noqa: PLC0415

    blocks = _explained.explained(catalogue.explain(name)) if name else [_explained.listed(catalogue.pages())]
    target = output.open_output(None)
    outputs.write_blocks(blocks, outputs.look(target, by=None, table=None, children=False), target)
