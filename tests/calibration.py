"""Print, for every real session with ten calls or more, how well its counts are calibrated.

usage: python tests/calibration.py [FOLDER]     (default: ../shared/real_traces beside the checkout)

Fitted on the first half of the calls and tested on the second, then on alternating calls: median error of each, as a
share of the reported prompt. Not a test: it prints what there is, and says so where the folder is absent.
"""

from __future__ import annotations

import sys
from pathlib import Path

from ctxbudget.calibrate import calibrate, points
from ctxbudget.errors import CtxbudgetError
from ctxbudget.fit import held_out
from ctxbudget.loaders import Options, load

REAL = Path(__file__).parents[2] / "shared" / "real_traces"
LEAST = 10


def sessions(folder):
    """Every trace below a folder that loads, sub-agents too, with the path to show."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if "subagents" in path.parts:
            continue
        try:
            traces = load(str(path), Options(calibrate=False))
        except CtxbudgetError:
            continue
        for trace in traces:
            for member in trace.family():
                yield path.relative_to(folder), member


def main(folder):
    if not folder.is_dir():
        print(f"{folder} is not here: nothing to measure")
        return
    print(f"{'half':>7} {'altern.':>7} {'factor':>7} {'overhead':>9} {'calls':>6}  session")
    for path, trace in sessions(folder):
        calls = points(trace)
        if len(calls) < LEAST:
            continue
        first, second = held_out(calls)
        found = calibrate(trace).calibration
        name = f"{path}{'' if trace.source.label is None else ' #' + trace.source.label}"
        verdict = "" if found.trusted else f"  not calibratable: {found.reason}"
        print(f"{first:7.2%} {second:7.2%} {found.factor:7.3f} {found.overhead:9,} {found.calls:6}  {name}{verdict}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else REAL)
