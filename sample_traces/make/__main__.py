"""Make the sample traces: ``python sample_traces/make [--check] [--to FOLDER] [STORY ...]``.

Every story is played again from its script, with its small tools really run, and written beside this folder (or
to FOLDER). The bytes are the same each time. ``--check`` writes nothing and exits with 1 if a file differs.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

STORIES = ("migrate_module", "refund_support", "order_supplies", "forensic_review", "fix_failing_test")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python sample_traces/make", description="Make the sample traces.")
    parser.add_argument("stories", nargs="*", metavar="STORY", help=f"which ones (default: {', '.join(STORIES)})")
    parser.add_argument("--to", type=Path, default=Path(__file__).resolve().parent.parent, help="folder to write to")
    parser.add_argument("--check", action="store_true", help="write nothing, exit with 1 if a file differs")
    asked = parser.parse_args()
    unknown = set(asked.stories) - set(STORIES)
    if unknown:
        parser.error(f"no such story: {', '.join(sorted(unknown))}")
    return asked


def main() -> int:
    """Make the stories that were asked for; the exit code."""
    asked = arguments()
    differing = 0
    for story in asked.stories or STORIES:
        for name, data in importlib.import_module(story).build().items():
            differing += settle(asked.to / name, data, check=asked.check)
    return int(asked.check and differing > 0)


def settle(path: Path, data: bytes, *, check: bool) -> bool:
    """Write one file, or only compare it; whether it was different before."""
    differs = not path.is_file() or path.read_bytes() != data
    if differs and not check:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    print(f"{'differs' if differs and check else 'written' if differs else 'same':>8} {len(data):>9,} {path.name}")
    return differs


if __name__ == "__main__":
    sys.exit(main())
