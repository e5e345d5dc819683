"""The README's picture: ``python docs/picture.py`` writes docs/analyze.svg, the same bytes each time."""  # noqa: INP001

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

import ctxbudget
from ctxbudget.renderers import terminal

WIDTH = 100
SAMPLE = "sample_traces/migrate_module.jsonl"
UNTIL = "Resources by token-turns"
"""The picture ends before this table: the rest is for the reader's own terminal."""

SLATE = [(15, 23, 42), (249, 115, 22), (34, 211, 238), (249, 115, 22), (148, 163, 184), (148, 163, 184), (34, 211, 238)]
THEME = TerminalTheme((15, 23, 42), (226, 232, 240), [*SLATE, (248, 250, 252)])
FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def shown() -> list[Text]:
    """The command and its answer as far as the picture goes, then what it found."""
    report = ctxbudget.analyze(SAMPLE, window=120_000)
    lines = list(terminal.lines(report, ctxbudget.Look(width=WIDTH, colors="truecolor")))
    end = next(at for at, line in enumerate(lines) if line.plain == UNTIL)
    found = next(at for at, line in enumerate(lines) if line.plain.startswith("error CB101"))
    prompt = Text.assemble(("$ ", "#64748b"), f"ctxbudget analyze {SAMPLE} --window 120k")
    return [prompt, Text(), *lines[:end], *lines[found:]]


def main() -> None:
    """Write the picture beside this file."""
    console = Console(width=WIDTH, record=True, file=StringIO(), force_terminal=True, color_system="truecolor")
    for line in shown():
        console.print(line, no_wrap=True, overflow="ignore", crop=False, highlight=False)
    plain = re.sub(r"@font-face \{\{.*?\}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL).replace(
        "Fira Code", "ctxbudget"
    )
    svg = console.export_svg(title="ctxbudget", theme=THEME, code_format=plain, unique_id="ctxbudget")
    svg = svg.replace("font-family: ctxbudget, monospace", f"font-family: {FONTS}")
    Path(__file__).with_name("analyze.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
