"""ctxbudget's own JSON Lines: any trace can be written in it, and read again (docs/native.md).

Where: wherever it was written; ``ctxbudget convert --to native`` makes it of any trace.
Seen: whatever its author wrote down: it can hold everything that a trace can.
Unseen: the content of images and files, of which it holds the size.
Counts: disjoint usage per call where it is given.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ctxbudget.loaders.native.read import Reader
from ctxbudget.loaders.native.write import dump

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Start
    from ctxbudget.records import Reading
    from ctxbudget.trace import Trace

__all__ = ["dump", "load", "sniff"]

_HEADER = re.compile(rb'\s*\{\s*"ctxbudget"\s*:')
_NAMED = re.compile(rb'^\{.*"ctxbudget"\s*:\s*\d')


def sniff(head: bytes, path: str) -> float:  # noqa: ARG001 - the bytes decide
    """The header line, which begins with the key ``ctxbudget``."""
    if _HEADER.match(head):
        return 1.0
    return 0.8 if _NAMED.search(head.lstrip()[:1_000].partition(b"\n")[0]) else 0.0


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """One trace for each header line."""
    reader = Reader(reading.path, start)
    for record in reading.unwrap():
        reader.take(record.data, record.line)
    yield from reader.finish(reading.parse)
