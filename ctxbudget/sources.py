"""What a PATH means: a file, ``-``, a folder, a pattern, one trace of a file (``file#3``), a session (``@latest``)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING

from ctxbudget import loaders, sessions
from ctxbudget.errors import TraceError, UsageError
from ctxbudget.records import read, unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ctxbudget.trace import Trace

SUFFIXES = (".jsonl", ".ndjson", ".json", ".traj", ".eval")
"""Files of a folder that ought to be traces: one that cannot be read is told, where a README is passed over."""
PACKED = (".gz", ".zst")
SURE = 0.5
"""How surely a database or an archive that is not called like a trace has to be one: folders hold all kinds of them."""


@dataclass(frozen=True, slots=True)
class Place:
    """A file to read, as the user gave it, and which of its traces (None: all). ``found``: in a folder or pattern."""

    path: str
    select: str | None = None
    found: bool = False


def expand(
    paths: Iterable[str], format_name: str | None = None, *, passed: Callable[[str], object] | None = None
) -> list[Place]:
    """Every file that the paths name, each once, in the order given and sorted within a folder. ``passed`` is told the
    files of folders that are called like a trace and are in no format we know.

    Raises UsageError where a path names nothing, or a folder holds no trace.
    """
    places: dict[tuple[str, str | None], Place] = {}
    for path in paths:
        for place in _meant(path, format_name, passed or (lambda _path: None)):
            places.setdefault((_identity(place.path), place.select), place)
    return list(places.values())


def selected(traces: list[Trace], select: str | None, path: str) -> list[Trace]:
    """The trace with that label, else the one with that number, from 1; all where nothing is selected."""
    if select is None:
        return traces
    labelled = [trace for trace in traces if trace.source.label == select]
    if labelled:
        return labelled
    if select.isascii() and select.isdigit() and 0 < int(select) <= len(traces):
        return [traces[int(select) - 1]]
    hint = f"it holds {len(traces)}: give a number from 1 to {len(traces)}" if len(traces) > 1 else "it holds one trace"
    raise UsageError(f"{path}: there is no trace {select!r} in it", hint=hint)


def single(path: str, options: loaders.Options, select: str | None = None) -> Trace:
    """The one trace that a path means. Raises UsageError where it means several."""
    places = expand([path], options.format)
    if len(places) > 1:
        raise UsageError(f"{path}: {len(places)} files", hint="give one of them: this is for one trace")
    place = places[0]
    select = place.select or select
    traces = selected(loaders.load(place.path, options, select), select, place.path)
    if len(traces) > 1:
        raise UsageError(f"{path}: {len(traces)} traces in it", hint=f"choose one with --select N, or as {path}#N")
    return traces[0]


def _meant(path: str, format_name: str | None, passed: Callable[[str], object]) -> Iterator[Place]:
    if path == "-" or _is(path, os.path.isfile):
        yield Place(path)
    elif _is(path, os.path.isdir):
        yield from _inside(path, format_name, passed)
    elif len(path) > 1 and path.startswith("@"):
        session = sessions.named(path[1:])
        yield Place(session.file, session.select)
    elif "#" in path and _is(path.rpartition("#")[0], os.path.isfile):
        file, _, select = path.rpartition("#")
        yield Place(file, select)
    elif has_magic(path):
        yield from _matching(path, format_name, passed)
    else:
        yield Place(path)  # a pipe, or nothing: reading it tells


def _identity(path: str) -> str:
    """What tells files apart, however they are named."""
    try:
        return path if path == "-" else str(Path(path).resolve())
    except (OSError, ValueError):  # a NUL in it, a loop of links: reading it tells
        return path


def _is(path: str, kind: Callable[[str], bool]) -> bool:
    try:
        return kind(path)
    except ValueError:  # a NUL in it
        return False


def _matching(pattern: str, format_name: str | None, passed: Callable[[str], object]) -> Iterator[Place]:
    matches = sorted(glob(pattern, recursive=True))  # noqa: PTH207 - Path.glob takes no absolute pattern
    if not matches:
        raise UsageError(f"{pattern}: no file matches", hint="quote a pattern, and ** for folders below")
    for match in matches:
        if Path(match).is_dir():
            yield from _inside(match, format_name, passed, empty=True)
        else:
            yield Place(match, found=True)


def _inside(
    folder: str, format_name: str | None, passed: Callable[[str], object], *, empty: bool = False
) -> Iterator[Place]:
    """The traces below a folder. Hidden folders, and files that another trace brings along, are left out."""
    found: dict[str, bool] = {}
    along: set[str] = set()
    for path in _files(folder):
        if path not in along:
            found[path], more = _looked_at(path, format_name)
            along |= more
    for path, is_trace in found.items():
        if path in along:
            continue
        if is_trace:
            yield Place(path, found=True)
        elif _plain_suffix(path) in SUFFIXES:
            passed(path)
    if not any(found.values()) and not empty:
        raise UsageError(
            f"{folder}: no trace in this folder, 0 records read",
            hint="see: ctxbudget list formats; or force one with --from",
        )


def _files(folder: str) -> Iterator[str]:
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name[0] != ".")
        yield from (str(Path(parent, name)) for name in sorted(files) if name[0] != ".")


def _looked_at(path: str, format_name: str | None) -> tuple[bool, frozenset[str]]:
    """Whether some format recognises the file, or it is called like a trace and cannot be read; and the files that it
    brings along. Source code that quotes a record is no trace: what is not called like one has to begin like JSON, a
    database or an archive."""
    named = _plain_suffix(path) in SUFFIXES
    if not Path(path).is_file():
        return False, frozenset()
    try:
        reading = read(path)
    except TraceError:
        return named, frozenset()
    if format_name is not None:
        return named, loaders.companions(reading, format_name) if named else frozenset()
    packed = reading.head.startswith(unpack.CONTAINERS)
    if not (named or packed or reading.head.lstrip()[:1] in {b"{", b"["}):
        return False, frozenset()
    scores = loaders.sniff(reading)
    best = max(sorted(scores), key=lambda name: scores[name], default=None)
    if best is None or scores[best] < (SURE if packed and not named else loaders.LEAST_SURE):
        return False, frozenset()
    return True, loaders.companions(reading, best)


def _plain_suffix(path: str) -> str:
    name = Path(path)
    return (name.with_suffix("") if name.suffix.lower() in PACKED else name).suffix.lower()
