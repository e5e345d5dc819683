"""The placebo's shipped texts: ``python docs/donors.py`` packs those of sample_traces/ into ctxbudget/data."""  # noqa: INP001

from __future__ import annotations

from pathlib import Path

import orjson
import zstandard

from ctxbudget.loaders import Options, load
from ctxbudget.placebo.donors import FILE, Donor, donor

SAMPLES = Path(__file__).parents[1] / "sample_traces"
SUFFIXES = {".json", ".jsonl", ".traj"}


def samples() -> list[Donor]:
    """The donors that the sample traces make, by name."""
    paths = sorted(path for path in SAMPLES.iterdir() if path.suffix in SUFFIXES)
    return [donor(trace) for path in paths for trace in load(str(path), Options(calibrate=False))]


def main() -> None:
    """Write the shipped file."""
    rows = [
        {"name": one.name, "observed": one.observed, "said": one.said, "targets": sorted(one.targets)}
        for one in samples()
    ]
    Path(str(FILE)).write_bytes(zstandard.ZstdCompressor(level=19).compress(orjson.dumps(rows)))


if __name__ == "__main__":
    main()
