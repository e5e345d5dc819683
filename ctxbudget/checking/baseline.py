"""The baseline: failures a project lives with for now, so that a check fails only on what is new or worse.

Entries are known by their file (relative to the baseline's folder) and a key made of what failed: rule, layer, tool,
resource, and a number where several are alike, the largest first. No line, turn or text is in it, so a session that
was recorded anew, or has moved lines, still matches.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from ctxbudget.errors import ConfigError
from ctxbudget.output import open_output
from ctxbudget.report.check import BaselineRow, StaleRow
from ctxbudget.safe import unicode_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ctxbudget.report.check import CheckedTrace, Failure

VERSION = 1
LARGEST = 50_000_000
"""Bytes of a file of a baseline."""
ANEW: Final = "it is not written over, since it may be something else: remove it, then make it with --update-baseline"
_KEYS = {"path": str, "key": str, "id": str, "name": str, "measured": int | None}


@dataclass(frozen=True, slots=True)
class Entry:
    """One failure that is known; ``measured`` in tokens, None for rules that measure none."""

    path: str
    key: str
    id: str
    name: str
    measured: int | None


@dataclass(frozen=True, slots=True)
class Baseline:
    """What is known, by file and key. ``updating``: everything found now is taken as known."""

    path: str
    entries: Mapping[tuple[str, str], Entry]
    updating: bool = False

    def seen(self, failure: Failure) -> Failure:
        """The failure, marked as known or worse where an entry says so. Only what would fail a check is looked up."""
        if failure.level != "error":
            return failure
        if self.updating:
            return replace(failure, known=True)
        entry = self.entries.get((self.relative(failure.path), failure.key))
        if entry is None:
            return failure
        worse = failure.measured is not None and entry.measured is not None and failure.measured > entry.measured
        return replace(failure, known=not worse, worse=worse)

    def relative(self, path: str) -> str:
        """A trace's file seen from the folder of the baseline, wherever the command runs."""
        if path == "-":
            return path
        try:
            return Path(os.path.relpath(Path(path).resolve(), Path(self.path).resolve().parent)).as_posix()
        except (OSError, ValueError):  # another drive, a NUL
            return path

    def row(self, checked: Sequence[CheckedTrace]) -> BaselineRow:
        """What it excused, and which of its entries nothing matches any longer."""
        failures = [failure for trace in checked for failure in trace.failures if failure.level == "error"]
        found = {(self.relative(one.path), one.key) for one in failures}
        looked_at = {self.relative(trace.path) for trace in checked if trace.turns is not None}
        stale = [
            StaleRow(one.path, one.id, one.key, one.measured)
            for key, one in self.entries.items()
            if key not in found and (one.path in looked_at or not self._there(one.path))
        ]
        return BaselineRow(
            path=self.path,
            known=sum(one.known for one in failures),
            new=sum(not one.known and not one.worse for one in failures),
            worse=sum(one.worse for one in failures),
            updated=self.updating,
            stale=stale,
        )

    def write(self, checked: Sequence[CheckedTrace]) -> None:
        """Write it anew: what was found now, and what is known of files that were not checked and are still there."""
        looked_at = {self.relative(trace.path) for trace in checked if trace.turns is not None}
        entries = {key: one for key, one in self.entries.items() if one.path not in looked_at and self._there(one.path)}
        for failure in (one for trace in checked for one in trace.failures if one.level == "error"):
            path = self.relative(failure.path)
            entries[path, failure.key] = Entry(path, failure.key, failure.id, failure.name, failure.measured)
        with open_output(self.path, force=True).writing() as stream:
            stream.write(_written(entries.values()))

    def _there(self, path: str) -> bool:
        return path != "-" and (Path(self.path).resolve().parent / path).exists()


def read(path: str, *, updating: bool) -> Baseline:
    """The baseline in a file; one that is about to be made may be missing. Raises ConfigError with the place."""
    file = Path(path)
    if updating and not file.exists():
        open_output(path)
        return Baseline(path, {}, updating)
    try:
        data = orjson.loads(file.read_bytes())
    except OSError as error:
        new = "make it with: ctxbudget check … --baseline FILE --update-baseline"
        hint = new if isinstance(error, FileNotFoundError) else "give a file that can be read"
        raise ConfigError(f"{path}: {error.strerror or error}", hint=hint) from None
    except ValueError as error:
        raise ConfigError(f"{path}: not a baseline: {error}", hint=ANEW) from None
    if not isinstance(data, dict) or data.get("baseline") != VERSION or not isinstance(data.get("entries"), list):
        raise ConfigError(f"{path}: not a baseline of version {VERSION}", hint=ANEW)
    entries = (_entry(one, f"{path}: entries[{number}]") for number, one in enumerate(data["entries"]))
    return Baseline(path, {(one.path, one.key): one for one in entries}, updating)


def numbered(keys: Sequence[tuple[tuple[str, ...], int]]) -> list[str]:
    """A key for each failure, given what it is (rule, layer, tool, resource) and how large (to tell like from like, the
    largest is the first)."""
    order = sorted(range(len(keys)), key=lambda at: -keys[at][1])
    made = [""] * len(keys)
    times: dict[tuple[str, ...], int] = {}
    for at in order:
        what = keys[at][0]
        times[what] = times.get(what, 0) + 1
        text = unicode_text("\0".join((*what, str(times[what]))))
        made[at] = blake2b(text.encode(), digest_size=8).hexdigest()
    return made


def _entry(value: Any, place: str) -> Entry:
    if not isinstance(value, dict) or value.keys() != _KEYS.keys():
        raise ConfigError(f"{place} is no entry", hint=f"an entry has the keys {', '.join(_KEYS)}")
    for key, kind in _KEYS.items():
        if not isinstance(value[key], kind) or isinstance(value[key], bool):
            raise ConfigError(f"{place}.{key} is {value[key]!r}", hint=ANEW)
    return Entry(**value)


def _written(entries: Iterable[Entry]) -> bytes:
    """One entry per line and sorted, so that a review shows what changed."""
    lines = [
        orjson.dumps({name: _plain(getattr(one, name)) for name in _KEYS})
        for one in sorted(entries, key=lambda one: (one.path, one.id, one.key))
    ]
    body = b",\n".join(lines)
    return b'{"baseline": %d, "entries": [\n%b%b]}\n' % (VERSION, body, b"\n" if body else b"")


def _plain(value: Any) -> Any:
    return unicode_text(value) if isinstance(value, str) else value
