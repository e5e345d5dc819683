"""``ctxbudget replay``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path  # noqa: TC003 - the options are read from the types at run time
from typing import Annotated

import typer

from ctxbudget.cli import complete


def replay(
    path: Annotated[str, typer.Argument(metavar="PATH", help="A file, - for standard input, or file#3.")],
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy", "-s", metavar="NAME|A+B|FILE.toml", help="How the context is kept small.",
            autocompletion=complete.strategies,
        ),
    ] = "",
    window: Annotated[
        str | None, typer.Option(metavar="TOKENS", help="The context window, as 200000, 200k or 1M.")
    ] = None,
    reserve: Annotated[str, typer.Option(metavar="TOKENS", help="Tokens to keep free for the reply.")] = "0",
    turn: Annotated[
        int | None, typer.Option(metavar="N", help="Every fragment at one turn: whole, stand-in or lost.")
    ] = None,
    fragment: Annotated[str | None, typer.Option(metavar="ID", help="The life of one fragment.")] = None,
    options: Annotated[
        list[str] | None, typer.Option("--set", metavar="PASS.OPTION=VALUE", help="Change an option of the strategy.")
    ] = None,
    must_keep: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT|/REGEX/", help="Pin what holds this text, and follow it."),
    ] = None,
    must_keep_file: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="The same for each line of a file.")
    ] = None,
    scheme: Annotated[
        str | None,
        typer.Option(metavar="agent|window", help="How kinds become layers.", autocompletion=complete.schemes),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="The model, in place of the recorded one.")
    ] = None,
    select: Annotated[
        str | None, typer.Option(metavar="NAME|N", help="One trace of a file that holds several.")
    ] = None,
    from_format: Annotated[
        str | None,
        typer.Option("--from", metavar="FORMAT", help="Read as this format.", autocompletion=complete.formats),
    ] = None,
    no_calibrate: Annotated[
        bool, typer.Option("--no-calibrate", help="Plain counts, not fitted to the provider's.")
    ] = False,
    children: Annotated[
        bool, typer.Option("--children", help="Each sub-agent too, under its own window.")
    ] = False,
    summariser: Annotated[
        str, typer.Option(metavar="extractive|llm|recorded", help="Who writes summaries.")
    ] = "extractive",
    llm_url: Annotated[
        str | None, typer.Option(metavar="URL", help="OpenAI-compatible endpoint; else CTXBUDGET_LLM_URL.")
    ] = None,
    llm_model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Its model; else CTXBUDGET_LLM_MODEL.")
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Keep and read no answers of the model.")] = False,
    fail_summary: Annotated[
        int, typer.Option(metavar="K", min=0, help="Make the first K steps of each summary fail.")
    ] = 0,
    store: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep here what the strategy moves out of the context, by its hash."),
    ] = None,
    output_format: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="table|json|csv|parquet|markdown", help="What to write; else the suffix of -o tells.",
            autocompletion=complete.outputs,
        ),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(
            metavar="turns|layers|lives|edits|fragments|constraints|findings", help="One table only.",
            autocompletion=complete.run_tables,
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write here, not to stdout.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite FILE.")] = False,
    fail_on: Annotated[
        str | None,
        typer.Option(
            metavar="note|warning|error", help="Exit with 1 if there is a finding of this level or above.",
            autocompletion=complete.levels,
        ),
    ] = None,
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
    from ctxbudget.cli import outputs, summarising  # noqa: PLC0415
    from ctxbudget.cli.preparing import prepared  # noqa: PLC0415
    from ctxbudget.store import Store  # noqa: PLC0415

    target = output.open_output(out, force=force, inputs=[path])
    renderer = outputs.choose(output_format, out)
    outputs.check_run(renderer, target, table=table)
    if fail_on is not None:
        analysis.levels_from(fail_on)
    ready = prepared(
        path, strategy, window=window, reserve=reserve, scheme=scheme, options=options, must_keep=must_keep,
        must_keep_files=must_keep_file, model=model, select=select, format_name=from_format, calibrate=not no_calibrate,
        summariser=summarising.summariser(summariser, llm_url, llm_model, cached=not no_cache),
        fail_summary=fail_summary,
    )  # fmt: skip
    if store is not None:
        ready = replace(ready, store=Store(store))
    if table == "fragments" and turn is None:
        turn = len(ready.trace.turns)
    report = replays.report_of(ready, turn=turn, fragment=fragment, children=children)
    outputs.write(report, renderer, outputs.look(target, by=None, table=table, children=children), target)
    return int(fail_on is not None and analysis.failing(report, fail_on))
