"""``ctxbudget export``."""

from __future__ import annotations

from typing import Annotated

import typer

from ctxbudget.cli import complete


def export(
    path: Annotated[str, typer.Argument(metavar="PATH", help="A file, - for standard input, or file#3.")],
    api: Annotated[
        str,
        typer.Option("--as", metavar="anthropic|openai", help="Whose request.", autocompletion=complete.apis),
    ],
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy", "-s", metavar="NAME|A+B|FILE.toml", help="How the context is kept small.",
            autocompletion=complete.strategies,
        ),
    ] = "",
    turn: Annotated[int | None, typer.Option(metavar="N", help="The turn; else the last.", show_default=False)] = None,
    window: Annotated[
        str | None, typer.Option(metavar="TOKENS", help="The context window, as 200000, 200k or 1M.")
    ] = None,
    reserve: Annotated[str, typer.Option(metavar="TOKENS", help="Tokens to keep free for the reply.")] = "0",
    options: Annotated[
        list[str] | None, typer.Option("--set", metavar="PASS.OPTION=VALUE", help="Change an option of the strategy.")
    ] = None,
    must_keep: Annotated[
        list[str] | None, typer.Option(metavar="TEXT|/REGEX/", help="Pin what holds this text.")
    ] = None,
    must_keep_file: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="The same for each line of a file.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="The model to ask, in place of the recorded one.")
    ] = None,
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
    """Write a turn of a replay as an API request.

    \b
    Examples:
      ctxbudget export session.jsonl --strategy category-budget --turn 35 --as anthropic -o request.json
      ctxbudget export session.jsonl -s none --turn 12 --as openai --model gpt-4.1
    """  # noqa: D301 - \b keeps the lines of a block together
    from ctxbudget import exports, output  # noqa: PLC0415 - the help does without
    from ctxbudget.cli.preparing import prepared  # noqa: PLC0415
    from ctxbudget.safe import visible  # noqa: PLC0415

    target = output.open_output(out, force=force, inputs=[path])
    ready = prepared(
        path, strategy, window=window, reserve=reserve, options=options, must_keep=must_keep,
        must_keep_files=must_keep_file, model=None, select=select, format_name=from_format,
    )  # fmt: skip
    made = exports.export_of(ready, turn, api=api, model=model)
    with target.writing() as stream:
        stream.write(made.to_json())
    for note in made.notes:
        typer.echo(f"note: {visible(note)}", err=True)
