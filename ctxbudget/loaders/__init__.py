"""Formats: one file each, found by folder scan; the bytes decide which one reads a file.

A loader is a module with a docstring whose first line names the format, and two functions:

``sniff(head: bytes, path: str) -> float``
    How sure it is, 0 to 1, from the first bytes (decompressed) and the path. It need not be careful: whatever it
    raises counts as 0, and the value is brought into 0 to 1.

``load(reading: Reading, start: Start) -> Iterator[Trace]``
    Turn the records into traces. ``start(label=None)`` gives a TraceBuilder; a file of many conversations starts one
    for each, with its number as label. Provider differences live here, and in ``providers`` what several formats share
    of them.

A loader of databases offers a third, so that their conversations can be listed without reading them:

``stored(path: str) -> Iterator[Stored]``
    What the database lists.

A loader whose sessions have several files offers another, so that a folder does not show them twice:

``companions(reading: Reading) -> Iterable[Path]``
    Files that are read along with this one (sub-agents, counts, what follows), or tell of the same session again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from ctxbudget.builder import Start, TraceBuilder
from ctxbudget.calibrate import calibrate
from ctxbudget.errors import EmptyTrace, MalformedTrace, TraceError, UnknownFormat
from ctxbudget.records import read
from ctxbudget.registry import Registry, called
from ctxbudget.tokens import counter, encoding_for
from ctxbudget.trace import Warning

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from ctxbudget.records import Reading
    from ctxbudget.trace import Trace

_MODEL = re.compile(rb'"model"\s*:\s*"([^"]{1,100})"')

LEAST_SURE = 0.1
"""Below this nobody recognises a file."""


class Loader(Protocol):
    """What a loader module offers."""

    def sniff(self, head: bytes, path: str) -> float:
        """How sure the loader is, 0 to 1."""

    def load(self, reading: Reading, start: Start) -> Iterator[Trace]:
        """The traces in a file."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A conversation that a database lists: the label it is read by (``file#label``), its project's folder where
    known, and when it was last written (UTC)."""

    label: str
    project: str | None
    modified: datetime


LOADERS: Registry[Loader] = Registry("format", "ctxbudget.loaders")


@dataclass(frozen=True, slots=True)
class Options:
    """How to read: a forced ``format`` (a name, or the file of a loader), tool-class ``rules`` (name pattern → class),
    whether to ``calibrate``, and a ``model`` in place of the recorded one."""

    format: str | None = None
    rules: Mapping[str, str] | None = None
    calibrate: bool = True
    model: str | None = None


def load(path: str, options: Options = Options(), only: str | None = None) -> list[Trace]:
    """Every trace of a file (``-`` is stdin), calibrated. ``only`` is the label of the one that is wanted: a database
    may leave out the others.

    Raises UnknownFormat with the scores, MalformedTrace where the format asked for cannot read it, EmptyTrace where
    nothing in it is usable. A format that we chose and that fails gives way to the next best, with a warning.
    """
    reading = read(path)
    reading.only = only
    _warm(reading, options)
    if options.format is not None:
        return _load_as(options.format, reading, options)
    scores = sniff(reading)
    ranked = [name for name in sorted(scores, key=lambda name: (-scores[name], name)) if scores[name] >= LEAST_SURE]
    if not ranked:
        raise UnknownFormat(path, scores)
    failures: list[Warning] = []
    for name in ranked:
        try:
            traces = _load_as(name, reading, options)
        except TraceError as error:
            failures.append(Warning("format-failed", f"read as {name} it failed: {error.message}"))
            if name == ranked[-1] or isinstance(error, EmptyTrace):
                raise
        else:
            return [replace(trace, warnings=(*failures, *trace.warnings)) for trace in traces]
    raise UnknownFormat(path, scores)


def stored(name: str, path: str) -> list[Stored]:
    """The conversations that a database of that format lists. Raises TraceError where it cannot be read."""
    return list(LOADERS.get(name).stored(path))  # type: ignore[attr-defined]  # only loaders of databases have it


def companions(reading: Reading, name: str) -> frozenset[str]:
    """The files that a format reads along with this one."""
    told = getattr(LOADERS.get(name, anywhere=True), "companions", None)
    try:
        return frozenset(map(str, told(reading))) if told is not None else frozenset()
    except (OSError, TraceError):  # a folder that cannot be read: reading the file tells
        return frozenset()


def _warm(reading: Reading, options: Options) -> None:
    """Load the vocabulary of the first model named, before the file: loading takes 80 MB for a moment, which would
    else come on top of the parsed records."""
    named = _MODEL.search(reading.head)
    model = options.model or (named[1].decode(errors="replace") if named else None)
    counter(encoding_for(model).name)


def sniff(reading: Reading) -> dict[str, float]:
    """How sure each format is of a file, 0 to 1."""
    return {name: _score(name, reading) for name in LOADERS.names()}


def _score(name: str, reading: Reading) -> float:
    try:
        score = float(LOADERS.get(name).sniff(reading.head, reading.path))
    except Exception:  # noqa: BLE001 - a plug-in's guess must not stop the others
        return 0.0
    return min(1.0, max(0.0, score)) if score == score else 0.0  # noqa: PLR0124 - NaN is no score


def _says_so(trace: Trace) -> bool:
    """A conversation may be empty and say so; a file of another format, or of bookkeeping alone, is none."""
    return any(warning.code == "no-messages" for warning in trace.warnings)


def _load_as(name: str, reading: Reading, options: Options) -> list[Trace]:
    loader, shown = LOADERS.get(name, anywhere=True), called(name)

    def start(label: str | None = None, path: str | None = None) -> TraceBuilder:
        return TraceBuilder(path or reading.path, shown, label=label, rules=options.rules, as_model=options.model)

    loaded = loader.load(reading, start)
    traces = [trace for trace in loaded if trace.fragments or trace.turns or _says_so(trace)]
    if not traces:
        if reading.parse.records_ok:
            raise EmptyTrace(
                f"{reading.path}: nothing to measure: 0 messages in {reading.parse.records_ok} records",
                hint=f"read as {name}; force another with --from FORMAT",
            )
        raise MalformedTrace(
            f"{reading.path}: no usable record", hint=f"read as {name}; force another with --from FORMAT"
        )
    traces = [replace(trace, warnings=(*reading.warnings, *trace.warnings)) for trace in traces]
    return [calibrate(trace) for trace in traces] if options.calibrate else traces
