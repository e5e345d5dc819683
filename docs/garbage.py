"""What collecting garbage frees, and what a summary does: ``python docs/garbage.py [FILE] [WINDOW]``."""  # noqa: INP001

from __future__ import annotations

import sys
from pathlib import Path

import ctxbudget

SAMPLE = Path(__file__).parents[1] / "sample_traces" / "migrate_module.jsonl"
STRATEGIES = ("collect-garbage", "recursive-summary")


def main() -> None:
    """Per strategy: tokens it keeps out of the last prompt, its peak, and what would have been gone when needed."""
    path = sys.argv[1] if len(sys.argv) > 1 else SAMPLE
    window = int(sys.argv[2]) if len(sys.argv) > 2 else 120_000
    whole = ctxbudget.replay(path, "none", window=window).turns[-1].tokens
    for name in STRATEGIES:
        run = ctxbudget.replay(path, name, window=window)
        last, regret = run.turns[-1], run.regret
        lost = [one.text for one in run.constraints if not one.kept]
        print(f"{name}: frees {whole - last.tokens:,} of {whole:,} tokens at turn {last.turn}")
        print(f"  peak {run.peak.tokens:,} of {window:,} tokens; {run.totals.over} turns over it")
        print(f"  constraints lost: {len(lost)} of {len(run.constraints)}", *lost, sep="\n    ")
        print(f"  later uses without a source in view: {regret.uses - regret.kept} of {regret.uses}")
        for loss in regret.losses:
            print(f"    {loss.text}")


if __name__ == "__main__":
    main()
