"""Paths as identities: normalised as text, never looked up on disk."""

from __future__ import annotations

import re
from functools import lru_cache
from posixpath import normpath
from urllib.parse import unquote

_DRIVE = re.compile(r"[A-Za-z]:(?=/|$)")
_SCHEME = re.compile(r"[A-Za-z][\w+.-]*://")


def is_url(text: str) -> bool:
    """Whether ``text`` starts like ``https://`` (any scheme but ``file``)."""
    return _SCHEME.match(text) is not None and not text.startswith("file://")


def is_absolute(path: str) -> bool:
    """Whether a normalised path starts at a root, a drive or a home directory."""
    return path.startswith(("/", "~")) or _DRIVE.match(path) is not None


_LONGEST = 4096
"""Characters of a path (PATH_MAX of Linux)."""


def normal(path: str, base: str = "") -> str:
    """One spelling per path: ``./``, ``//`` and ``x/..`` collapsed, joined to ``base`` where it is relative.

    Backslashes become slashes and a drive letter lower case, so that both spellings of a Windows path compare equal;
    ``file://`` goes, other URLs stay as they are.
    """
    return _normal(path[:_LONGEST], base)


@lru_cache(maxsize=8192)
def _normal(path: str, base: str) -> str:
    path = path.strip().strip("'\"")
    if is_url(path):
        return path
    if path.startswith("file://"):
        path = unquote(path[7:])
        path = path[1:] if _DRIVE.match(path[1:]) else path
    if "\\" in path and "/" not in path:
        path = path.replace("\\", "/")
    if base and not is_absolute(path):
        path = f"{base}/{path}"
    path = normpath(path.replace("\x00", ""))
    path = path[1:] if path.startswith("//") else path
    return path[0].lower() + path[1:] if _DRIVE.match(path) else path


def below(path: str, root: str) -> str:
    """``path`` as seen from ``root`` where it lies below it, else as it is. Both normalised."""
    if path == root:
        return "."
    prefix = root if root.endswith("/") else f"{root}/"
    return path.removeprefix(prefix)


def same(one: str, other: str) -> bool:
    """Whether two normalised paths may be the same file: equal, or one is relative and ends the other."""
    if one == other:
        return True
    if is_absolute(one) == is_absolute(other):
        return False
    longer, shorter = (one, other) if is_absolute(one) else (other, one)
    return longer.endswith(f"/{shorter}")
