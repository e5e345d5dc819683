"""Arguments and flags that several commands have: each is declared once, so that it is called and meant the same."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ctxbudget.cli import complete

AnyPath = Annotated[str, typer.Argument(metavar="PATH", help="A file, - for standard input, file#3, or @latest.")]
Paths = Annotated[
    list[str],
    typer.Argument(metavar="PATH", help="Files, folders, quoted patterns, - for standard input, file#3, @latest."),
]

Window = Annotated[str | None, typer.Option(metavar="TOKENS", help="The context window, as 200000, 200k or 1M.")]
Reserve = Annotated[str, typer.Option(metavar="TOKENS", help="Tokens to keep free for the reply.")]
Model = Annotated[str | None, typer.Option(metavar="NAME", help="The model, in place of the recorded one.")]
Scheme = Annotated[
    str | None,
    typer.Option(metavar="agent|window", help="How kinds become layers.", autocompletion=complete.schemes),
]
Select = Annotated[str | None, typer.Option(metavar="NAME|N", help="One trace of a file that holds several.")]
FromFormat = Annotated[
    str | None,
    typer.Option("--from", metavar="FORMAT", help="Read as this format.", autocompletion=complete.formats),
]
NoCalibrate = Annotated[
    bool, typer.Option("--no-calibrate", help="Plain counts, not fitted to the provider's.")
]  # fmt: skip

Strategy = Annotated[
    str,
    typer.Option(
        "--strategy", "-s", metavar="NAME|A+B|FILE.toml", help="How the context is kept small.",
        autocompletion=complete.strategies,
    ),
]  # fmt: skip
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="PASS.OPTION=VALUE", help="Change an option of the strategy.")
]
MustKeep = Annotated[
    list[str] | None, typer.Option(metavar="TEXT|/REGEX/", help="Pin what holds this text, and follow it.")
]
MustKeepFile = Annotated[list[str] | None, typer.Option(metavar="FILE", help="The same for each line of a file.")]
NoPlacebo = Annotated[
    bool, typer.Option("--no-placebo", help="Do not count what chance would find; much quicker on long traces.")
]

Summariser = Annotated[str, typer.Option(metavar="extractive|llm|recorded", help="Who writes summaries.")]
LlmUrl = Annotated[
    str | None, typer.Option(metavar="URL", help="OpenAI-compatible endpoint; else CTXBUDGET_LLM_URL.")
]  # fmt: skip
LlmModel = Annotated[str | None, typer.Option(metavar="NAME", help="Its model; else CTXBUDGET_LLM_MODEL.")]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Keep and read no answers of the model.")]
FailSummary = Annotated[int, typer.Option(metavar="K", min=0, help="Make the first K steps of each summary fail.")]
StoreFolder = Annotated[
    Path | None,
    typer.Option("--store", metavar="DIR", help="Keep here what the strategy moves out of the context, by its hash."),
]

OutputFormat = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="table|json|csv|parquet|markdown", help="What to write; else the suffix of -o tells.",
        autocompletion=complete.outputs,
    ),
]  # fmt: skip
Out = Annotated[str | None, typer.Option("--output", "-o", metavar="FILE", help="Write here, not to stdout.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite FILE.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Nothing on stderr but errors.")]
FailOn = Annotated[
    str | None,
    typer.Option(
        metavar="note|warning|error", help="Exit with 1 if there is a finding of this level or above.",
        autocompletion=complete.levels,
    ),
]  # fmt: skip
