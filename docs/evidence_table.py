"""The table of docs/evidence.md: ``python docs/evidence_table.py`` makes it of the real edit logs."""  # noqa: INP001

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ctxbudget.errors import CtxbudgetError
from ctxbudget.evidence import Signal, index
from ctxbudget.loaders import Options, load
from ctxbudget.placebo import placebo
from ctxbudget.placebo.donors import donor, shipped
from ctxbudget.prepared import prepare
from ctxbudget.regret import regret, touched

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.placebo import Spread
    from ctxbudget.trace import Trace

ROOT = Path(__file__).parents[1]
REAL = ROOT.parent / "shared" / "real_traces"
PAGE = Path(__file__).with_name("evidence.md")
BEGIN, END = "<!-- table: docs/evidence_table.py -->", "<!-- end of table -->"
HEAD = (
    "| file | turns | edits by old text | in one fragment (D1) | other projects | other resources | beyond chance "
    "| gone under sliding-window | to read again |"
)


def logs() -> Iterator[tuple[str, Trace]]:
    """The main trace of every edit log, by its path below the folder."""
    for folder in ("claude_code", "swe_agent", "pi"):
        for path in sorted((REAL / folder).rglob("*")):
            if path.is_file() and "subagents" not in path.parts:
                try:
                    traces = load(str(path), Options(calibrate=False))
                except CtxbudgetError:
                    continue
                yield str(path.relative_to(REAL)), max(traces, key=lambda trace: len(trace.turns))


def row(name: str, trace: Trace, others: list[Trace]) -> str | None:
    """One line of the table; None where the log has no edit by old text."""
    evidence = index(trace)
    observed = len(evidence.of(Signal.EDIT))
    edits = observed + len(evidence.partly)
    if not edits:
        return None
    chance = placebo(trace, evidence, [*(donor(one) for one in others), *shipped()]).of(Signal.EDIT)
    found = regret(trace, prepare(trace, "sliding-window").run(), evidence, touched(trace))
    gone, again = len(found.of(Signal.EDIT)), sum(loss.tokens for loss in found.of(Signal.EDIT))
    project = "no donor" if chance.project is None else _spread(chance.project)
    cells = (
        f"`{name}`", len(trace.turns), edits, observed, project, _spread(chance.resource), f"{chance.excess:.1f}", gone,
        f"{again:,}",
    )  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"


def table() -> str:
    """The whole table."""
    every = list(logs())
    made = (row(name, trace, [other for _, other in every if other is not trace]) for name, trace in every)
    return "\n".join([HEAD, "|:--|" + "--:|" * 8, *(line for line in made if line is not None)])


def _spread(spread: Spread) -> str:
    return f"{spread.mean:.2f} ({spread.low}-{spread.high})"


def main() -> int:
    """Write the table into the page."""
    if not REAL.is_dir():
        sys.stderr.write(f"{REAL} is not there: the table stays as it is\n")
        return 0
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
