"""Texts of other projects: what a placebo puts in the place of a trace's own.

A trace's own texts are compared with those of traces that have nothing to do with it. Without others at hand they come
from the sample traces, whose texts are shipped in ``data/donors.json.zst``; ``python docs/donors.py``
writes that file.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import zstandard

from ctxbudget.evidence.sources import is_observed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ctxbudget.trace import Trace

FILE = files("ctxbudget") / "data" / "donors.json.zst"
LONG = 200
"""Characters of a text that two unrelated projects do not share."""


@dataclass(frozen=True, slots=True)
class Donor:
    """The texts of one trace: what tools answered, and everything else. ``targets`` are paths and URLs it worked on."""

    name: str
    observed: tuple[str, ...]
    said: tuple[str, ...]
    targets: frozenset[str]


def donor(trace: Trace) -> Donor:
    """The texts of a trace, each once, in order."""
    seen = dict.fromkeys(one.text for one in trace.fragments if one.text and is_observed(one))
    said = dict.fromkeys(one.text for one in trace.fragments if one.text and not is_observed(one))
    targets = (one.resource.target for one in trace.fragments if one.resource is not None)
    return Donor(
        Path(trace.source.path).name, tuple(seen), tuple(said), frozenset(t for t in targets if t and "/" in t)
    )


@cache
def shipped() -> tuple[Donor, ...]:
    """The donors that come with the package."""
    read = orjson.loads(zstandard.decompress(FILE.read_bytes()))
    return tuple(
        Donor(one["name"], tuple(one["observed"]), tuple(one["said"]), frozenset(one["targets"])) for one in read
    )


def foreign(trace: Trace, donors: Iterable[Donor]) -> tuple[Donor, ...]:
    """Those of another project: no path or URL in common, and no long text."""
    own = donor(trace)
    known = {text for text in (*own.observed, *own.said) if len(text) >= LONG}
    return tuple(
        one for one in donors if not one.targets & own.targets and known.isdisjoint((*one.observed, *one.said))
    )
