"""Patterns of paths: ``*`` and ``?`` within a folder, ``**`` across folders; a pattern without a slash is of a name."""

from __future__ import annotations

from fnmatch import fnmatchcase
from itertools import takewhile
from typing import TYPE_CHECKING

from ctxbudget.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST = 300
"""Characters of a pattern."""


def checked(patterns: Iterable[str]) -> None:
    """Raise UsageError for a pattern that cannot match anything below the folder of its file."""
    for pattern in patterns:
        if len(pattern) > LONGEST or pattern.startswith("/") or ".." in pattern.split("/"):
            hint = "patterns are relative to the folder of this file, as traces/**/*.jsonl"
            raise UsageError(f"the pattern {pattern[:60]!r} cannot match", hint=hint)


def matches(path: str, pattern: str) -> bool:
    """Whether a path with forward slashes matches. Each pair of parts is looked at once, so no pattern takes long."""
    parts = [part for part in path.split("/") if part not in {"", "."}]
    wanted = [part for part in pattern.split("/") if part not in {"", "."}]
    if "/" not in pattern:
        return bool(parts) and fnmatchcase(parts[-1], pattern)
    alive = {0}
    for part in (*parts, None):
        alive = _skipping(alive, wanted)
        if part is None:
            break
        alive = {
            at if wanted[at] == "**" else at + 1
            for at in alive
            if at < len(wanted) and (wanted[at] == "**" or fnmatchcase(part, wanted[at]))
        }
    return len(wanted) in alive


def _skipping(alive: set[int], wanted: list[str]) -> set[int]:
    """The places to go on from, ``**`` taken for no folder at all too."""
    found = set(alive)
    for start in sorted(alive):
        free = takewhile(lambda at: wanted[at] == "**", range(start, len(wanted)))
        found.update(at + 1 for at in free)
    return found
