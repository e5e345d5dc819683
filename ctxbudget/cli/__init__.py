"""The command line: thin commands, and ``main``, the one place that turns errors into exit codes.

Nothing but typer is imported here, so that ``--help`` is quick; each command imports the library when it runs.
"""

from __future__ import annotations

import gc
import re
import signal
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ctxbudget.cli.analyze import analyze
from ctxbudget.cli.check import check
from ctxbudget.cli.compare import compare
from ctxbudget.cli.config import config
from ctxbudget.cli.convert import convert
from ctxbudget.cli.explain import explain
from ctxbudget.cli.export import export
from ctxbudget.cli.list import list_names
from ctxbudget.cli.replay import replay
from ctxbudget.cli.sessions import sessions
from ctxbudget.errors import CtxbudgetError
from ctxbudget.safe import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["app", "main"]

app = typer.Typer(name="ctxbudget", rich_markup_mode=None, pretty_exceptions_enable=False)
app.command("analyze", short_help="Where the tokens of every model call went.")(analyze)
app.command("replay", short_help="What a strategy keeps and loses, turn by turn.")(replay)
app.command("compare", short_help="What strategies cost, and what they take away.")(compare)
app.command("check", short_help="Fail where a context outgrows its budget.")(check)
app.command("explain", short_help="What a finding says, why, and how to fix it.")(explain)
app.command("export", short_help="A turn of a replay as an API request.")(export)
app.command("convert", short_help="A trace in another format.")(convert)
app.command("sessions", short_help="The sessions that agents left on this machine.")(sessions)
app.command("list", short_help="The names that other commands take.")(list_names)
app.add_typer(config, name="config", short_help="The budget of a project: show it, or begin one.")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415 - takes longer than the help

        typer.echo(f"ctxbudget {version('ctxbudget')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 - its callback does it
        bool, typer.Option("--version", help="Show the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """A profiler for agent context windows: where the tokens of every model call went.

    \b
    Examples:
      ctxbudget analyze session.jsonl
      ctxbudget analyze ~/.claude/projects/my-project
      ctxbudget analyze session.jsonl --format json -o report.json
      ctxbudget replay session.jsonl --strategy sliding-window
      ctxbudget compare session.jsonl --window 120k
      ctxbudget check traces/ --max 75%

    Exit codes: 0 done, 1 findings (only where asked for), 2 could not do it.
    """  # noqa: D301 - \b keeps the lines of a block together
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code. ``arguments`` are those of the process if not given; then the process is
    ours to set up too."""
    if arguments is None:
        _prepare_process()
    try:
        return int(app(args=arguments, prog_name="ctxbudget", standalone_mode=False) or 0)
    except CtxbudgetError as error:
        return _failed(error.message, error.hint, error.exit_code)
    except typer.TyperException as error:
        return _failed(*_usage(error), CtxbudgetError.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        return 130


def _prepare_process() -> None:
    """Text that the console cannot carry is replaced, never fatal; a reader that goes away ends us in silence. A run is
    short and makes next to no cycles: looking for them costs a fourth of its time."""
    gc.disable()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def _failed(message: str, hint: str, code: int) -> int:
    sys.stderr.write(f"error: {visible(message)}\n")
    if hint:
        sys.stderr.write(f"hint: {visible(hint)}\n")
    return code


def _usage(error: typer.TyperException) -> tuple[str, str]:
    """Message and hint of an error of the command line itself: the nearest name, else where the help is."""
    message, _, near = error.format_message().partition(". Did you mean ")
    possible = getattr(error, "possibilities", None)
    if possible:
        message, near = error.message, possible[0]
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "ctxbudget"
    hint = f"did you mean {near.rstrip('?')}?" if near else f"see: {command} --help"
    words = " ".join(message.split()).rstrip(".")
    number = re.fullmatch(r"[Ii]nvalid value for '([^']+)'.*?: Input should be (.*)", words)
    if number is not None:
        least = number[2].partition("greater than or equal to ")[2]
        words = f"{number[1]} takes a whole number" + (f" from {least} on" if least else "")
    return words[:1].lower() + words[1:], hint
