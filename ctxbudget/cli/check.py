"""``ctxbudget check``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ctxbudget.cli import complete
from ctxbudget.cli.options import (  # noqa: TC001 - the options are read from the types at run time
    Force,
    FromFormat,
    Model,
    NoCalibrate,
    Out,
    Paths,
    Quiet,
    Reserve,
    Scheme,
    Window,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ctxbudget.report.check import CheckReport


def check(
    paths: Paths,
    most: Annotated[
        str | None,
        typer.Option("--max", metavar="75%|150k", help="Most that any turn may hold; 75% unless a budget file tells."),
    ] = None,
    max_layer: Annotated[
        list[str] | None,
        typer.Option(metavar="LAYER=45%|20k", help="Most of one layer, at any turn; give it again for more."),
    ] = None,
    max_result: Annotated[
        str | None, typer.Option(metavar="50%|20k", help="Most that a single tool result may have.")
    ] = None,
    growth: Annotated[str | None, typer.Option(metavar="20k|10%", help="Most that one turn may add.")] = None,
    must_keep: Annotated[
        list[str] | None, typer.Option(metavar="TEXT|/REGEX/", help="Must stay in view once it was said.")
    ] = None,
    must_keep_file: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="The same for each line of a file.")
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(
            "--strategy", "-s", metavar="NAME|A+B|FILE.toml", help="Check the replay under it, not the recording.",
            autocompletion=complete.strategies,
        ),
    ] = None,
    config: Annotated[
        str | None, typer.Option(metavar="FILE", help="The budget file; else the nearest one at or above this folder.")
    ] = None,
    select: Annotated[
        list[str] | None, typer.Option(metavar="RULE,...", help="These rules only, as CB102 or CB2.")
    ] = None,
    ignore: Annotated[list[str] | None, typer.Option(metavar="RULE,...", help="Not these rules.")] = None,
    baseline: Annotated[
        str | None, typer.Option(metavar="FILE", help="Fail only on what is new or worse than in this file.")
    ] = None,
    update_baseline: Annotated[
        bool, typer.Option("--update-baseline", help="Write that file: what is found now is known from then on.")
    ] = False,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Files and folders with nothing to measure pass.")
    ] = False,
    window: Window = None,
    reserve: Reserve = "0",
    scheme: Scheme = None,
    model: Model = None,
    from_format: FromFormat = None,
    no_calibrate: NoCalibrate = False,
    children: Annotated[bool, typer.Option("--children", help="Sub-agents too, under their own window.")] = False,
    output_format: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="text|json|junit|sarif|github|markdown",
            help="What to write; else the suffix of -o tells.",
            autocompletion=complete.checks,
        ),
    ] = None,
    out: Out = None,
    also: Annotated[
        list[str] | None,
        typer.Option("--out", metavar="FORMAT=FILE", help="Another output, as junit=report.xml; again for more."),
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> int:  # fmt: skip
    """Fail where a context outgrows its budget, at any turn.

    \b
    Examples:
      ctxbudget check traces/ --max 75%
      ctxbudget check session.jsonl --max-layer observation=45% --max-result 50% --growth 20k
      ctxbudget check traces/ --config budget.yaml --out junit=budget.xml --out sarif=budget.sarif
      ctxbudget check session.jsonl --strategy priority --must-keep "never push to main"
      ctxbudget check traces/ --baseline known.json --update-baseline

    \b
    A limit passes at its value and fails above it: 75% passes at exactly 75 % of the window.
    A flag takes no other limit away: with --growth alone the fullest turn is held to 75 % too.
    Exit codes: 0 within the limits, 1 beyond one, 2 something could not be measured.
    """  # noqa: D301 - \b keeps the lines of a block together
    from pathlib import Path  # noqa: PLC0415 - the help does without

    from ctxbudget import checking, output, sizes  # noqa: PLC0415
    from ctxbudget import config as configs  # noqa: PLC0415
    from ctxbudget.cli import copies, outputs, progress  # noqa: PLC0415

    inputs = [*paths, *(file for file in (config, baseline) if file is not None)]
    target = output.open_output(out, force=force, inputs=inputs)
    renderer = outputs.choose_check(output_format, out)
    more = copies.planned(also or (), target, force=force, inputs=inputs)
    with progress.reading(quiet=quiet) as on_file:
        report = checking.check(
            paths,
            max=most,
            max_layer=dict(_named(max_layer or ())),
            max_result=max_result,
            growth=growth,
            must_keep=must_keep or (),
            must_keep_files=must_keep_file or (),
            strategy=strategy,
            window=None if window is None else sizes.tokens(window, "--window"),
            reserve=sizes.tokens(reserve, "--reserve", least=0),
            scheme=scheme,
            model=model,
            format_name=from_format,
            calibrate=not no_calibrate,
            children=children,
            allow_empty=allow_empty,
            settings=configs.settled(config, Path.cwd()),
            rules=checking.Rules.asked(select, ignore or ()),
            baseline=baseline,
            update_baseline=update_baseline,
            anywhere=True,
            on_file=on_file,
        )
    look = outputs.look(target, by=None, table=None, children=children)
    copies.write(report, copies.Copy(renderer, look, target), more)
    _complain(report, quiet=quiet)
    return report.exit_code


def _named(given: Iterable[str]) -> Iterable[tuple[str, str]]:
    """``layer=amount`` as a pair."""
    from ctxbudget.errors import UsageError  # noqa: PLC0415

    for one in given:
        layer, equals, amount = one.partition("=")
        if not equals or not layer.strip():
            raise UsageError(f"--max-layer {one!r} names no layer", hint="write it as --max-layer observation=45%")
        yield layer.strip(), amount


def _complain(report: CheckReport, *, quiet: bool) -> None:
    """What was not measured, on stderr too: the result may have gone to a file or to another program. What
    ``--allow-empty`` excuses is a note."""
    import sys  # noqa: PLC0415

    from ctxbudget.safe import visible  # noqa: PLC0415

    if sys.stdout.isatty():
        return
    rows = [row for row in report.checked if row.reason and not (quiet and row.excused)]
    said = [f"{'note' if row.excused else 'error'}: {visible(row.path)}: {visible(row.reason)}\n" for row in rows]
    said += [f"error: {visible(each.message)}\n" for each in report.warnings]
    hints = dict.fromkeys(row.hint for row in rows if row.hint)
    sys.stderr.write("".join((*said, *(f"hint: {visible(hint)}\n" for hint in hints))))
