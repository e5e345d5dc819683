"""Make the sample archives: ``python sample_traces/make/archives.py [--to FOLDER]``.

An archive holds the samples of ``formats/inspect.json`` in the members that Inspect AI writes. The bytes are the same
each time: no clock, and nothing packed, since two versions of zlib may pack the same text differently.
"""

from __future__ import annotations

import argparse
import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMATS = Path(__file__).resolve().parent.parent / "formats"
EPOCH = (1980, 1, 1, 0, 0, 0)


def members(log: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Name and content of each member, in the order of a run: samples as they end, the header last."""
    settings = {"version": log["version"], "eval": log["eval"], "plan": log["plan"]}
    yield "_journal/start.json", settings
    for sample in log["samples"]:
        yield f"samples/{sample['id']}_epoch_{sample['epoch']}.json", sample
    yield "summaries.json", [{"id": sample["id"], "epoch": sample["epoch"]} for sample in log["samples"]]
    yield "header.json", {**settings, "status": log["status"], "results": log["results"], "stats": log["stats"]}


def make(folder: Path) -> None:
    """Write all of them."""
    log = json.loads((FORMATS / "inspect.json").read_text(encoding="utf-8"))
    with zipfile.ZipFile(folder / "inspect-archive.eval", "w", zipfile.ZIP_STORED) as archive:
        for name, content in members(log):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.create_system = 3
            archive.writestr(entry, json.dumps(content, separators=(",", ":")))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make the sample archives.")
    parser.add_argument("--to", type=Path, default=FORMATS, help="folder to write to")
    make(parser.parse_args().to)
