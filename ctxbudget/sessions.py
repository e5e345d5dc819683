"""The sessions that agents left on this machine: which there are, newest first, and what ``@latest`` means."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

import orjson

from ctxbudget import homes, loaders
from ctxbudget.errors import CtxbudgetError, UnknownName, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

HEAD_BYTES = 64 * 1024
"""How much of a session its project is looked for in."""

_PROJECT = re.compile(rb'"(?:cwd|working_dir|workingDirectory|directory|projectRoot)"\s*:\s*("(?:[^"\\]|\\.){1,1000}")')
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_AGO = re.compile(r"([0-9]{1,6})\s*([hdw])")
_HOURS = {"h": 1, "d": 24, "w": 168}
_SAME_FOR_ALL = frozenset({"events", "wire", "context", "api_conversation_history"})
"""Files that every session calls alike: its folder has the name."""


@dataclass(frozen=True, slots=True)
class Session:
    """One session: its ``file``, and in a database of many the one to ``select``; its ``project`` folder where it
    tells, when it was last written (UTC), the bytes of its file, and its place among all sessions of the machine,
    newest first, from 1."""

    agent: str
    id: str
    file: str
    select: str | None
    project: str | None
    modified: datetime
    size: int
    number: int = 0

    @property
    def path(self) -> str:
        """What commands take."""
        return self.file if self.select is None else f"{self.file}#{self.select}"


def find(
    *,
    agent: str | None = None,
    project: str | None = None,
    since: datetime | None = None,
    environment: Mapping[str, str] | None = None,
    home: Path | None = None,
) -> list[Session]:
    """The sessions, newest first; of one ``agent``, of projects whose folder holds ``project``, written ``since``.

    Raises UnknownName for an agent whose places are not known.
    """
    if agent is not None and agent not in homes.AGENTS:
        raise UnknownName("agent", agent, homes.AGENTS)
    found = [one for name, path in homes.files(environment, home) for one in _sessions(name, path)]
    found.sort(key=lambda one: (-one.modified.timestamp(), one.agent, one.path))
    wanted = (project or "").lower()
    return [
        replace(one, number=number)
        for number, one in enumerate(found, 1)
        if agent in {None, one.agent}
        and (since is None or one.modified >= since)
        and wanted in (one.project or "").lower()
    ]


def named(reference: str, environment: Mapping[str, str] | None = None, home: Path | None = None) -> Session:
    """The session that ``latest``, a number from 1, an agent's name or a part of an id means.

    Raises UsageError where none or several are meant.
    """
    agent = reference if reference in homes.AGENTS else None
    found = find(agent=agent, environment=environment, home=home)
    if not found:
        whose = f"of {agent} " if agent else ""
        raise UsageError(f"@{reference}: no session {whose}found on this machine", hint="see: ctxbudget sessions")
    if agent or reference == "latest":
        return found[0]
    if reference.isascii() and reference.isdigit() and len(reference) < 6:
        number = int(reference)
        if not 0 < number <= len(found):
            raise UsageError(f"@{reference}: there are {len(found)} sessions", hint="see: ctxbudget sessions")
        return found[number - 1]
    return _with_id(reference, found)


def moment(text: str, now: datetime) -> datetime:
    """A date (``2026-11-01``), a time (ISO), or how long ago: ``12h``, ``7d``, ``2w``. Raises UsageError."""
    if ago := _AGO.fullmatch(text.strip().lower()):
        try:
            return now - timedelta(hours=int(ago[1]) * _HOURS[ago[2]])
        except OverflowError:
            return datetime.min.replace(tzinfo=UTC)
    try:
        told = datetime.fromisoformat(text.strip())
    except ValueError:
        raise UsageError(f"--since {text!r} is no date", hint="write it as 2026-11-01, 12h, 7d or 2w") from None
    return told if told.tzinfo else told.replace(tzinfo=UTC)


def _with_id(reference: str, found: list[Session]) -> Session:
    matching = [one for one in found if reference.lower() in one.id.lower()]
    if len(matching) == 1:
        return matching[0]
    if not matching:
        known = [*homes.AGENTS, "latest", *(one.id for one in islice(found, 50))]
        raise UnknownName("session", f"@{reference}", [f"@{name}" for name in known])
    some = ", ".join(one.id for one in matching[:3])
    raise UsageError(f"@{reference}: {len(matching)} sessions have this in their id", hint=f"give more of it: {some}")


def _sessions(agent: str, path: Path) -> Iterator[Session]:
    """The sessions in a file: one, or those a database lists."""
    try:
        told = path.stat()
    except OSError:  # gone since it was found
        return
    modified = datetime.fromtimestamp(told.st_mtime, UTC)
    if path.suffix == ".db":
        yield from _members(agent, path, told.st_size)
    else:
        yield Session(agent, _id(path), str(path), None, _project(path), modified, told.st_size)


def _members(agent: str, path: Path, size: int) -> Iterator[Session]:
    """The sessions that a database lists; one that cannot be read shows as itself, and reading it tells why."""
    try:
        stored = loaders.stored(agent, str(path))
    except CtxbudgetError:
        modified = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        yield Session(agent, path.name, str(path), None, None, modified, size)
        return
    for each in stored:
        yield Session(agent, each.label, str(path), each.label, each.project, each.modified, size)


def _id(path: Path) -> str:
    name = path.parent.name if path.stem in _SAME_FOR_ALL else path.name.partition(".")[0]
    if path.parent.name == "main" and path.parent.parent.name == "agents":
        name = path.parents[2].name
    found = _UUID.findall(name)
    return found[-1] if found else name


def _project(path: Path) -> str | None:
    """The folder the agent worked in, as the beginning of the file tells; else the folder the file is filed under."""
    try:
        with path.open("rb") as stream:
            told = _PROJECT.search(stream.read(HEAD_BYTES))
    except OSError:
        return None
    if told is not None:
        try:
            return str(orjson.loads(told[1]))
        except orjson.JSONDecodeError:
            return None
    return None
