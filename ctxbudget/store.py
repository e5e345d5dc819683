"""Content-addressed store: texts by their SHA-256, in memory, or in a folder that several processes may share.

    store = Store(Path("kept"))
    key = store.put(text)
    assert store.get(key[:SHOWN]) == text

A file is named by the hash of what it holds, so no name ever comes from a trace. It appears whole or not at all (a
draft beside it, then a rename); only its owner may read it; and it is checked against its name whenever it is read.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp
from typing import Final

from ctxbudget.errors import CtxbudgetError

SHOWN: Final = 12
"""Digits of a key that a text shows: enough to tell any two of the texts that fit on a disk from each other."""
_DIGITS: Final = frozenset("0123456789abcdef")
_WHOLE: Final = 64


class StoreError(CtxbudgetError):
    """The store cannot be used, does not hold what was asked for, or holds something else under its name."""


def key_of(text: str) -> str:
    """The key of a text: its SHA-256 in hexadecimal digits."""
    return hashlib.sha256(_bytes(text)).hexdigest()


class Store:
    """Texts by content. ``get`` takes a key or the beginning of one, as an index line shows it."""

    __slots__ = ("_held", "folder")

    def __init__(self, folder: Path | None = None) -> None:
        """In memory, or in a folder, which is made (mode 0700) if it is not there.

        Raises StoreError where that fails.
        """
        self.folder = folder
        self._held: dict[str, str] = {}
        if folder is not None:
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise _unusable(folder, error) from error

    def put(self, text: str) -> str:
        """Keep a text and give its key. What is there already and whole is left as it is.

        Raises StoreError where it cannot be written; nothing is left behind then.
        """
        data = _bytes(text)
        key = hashlib.sha256(data).hexdigest()
        if self.folder is None:
            self._held[key] = text
        elif not self._whole(self.folder / key, key):
            try:
                _write(self.folder / key, data)
            except OSError as error:
                raise _unusable(self.folder, error) from error
        return key

    def get(self, key: str) -> str:
        """The text of a key, or of the beginning of one.

        Raises StoreError where there is none, where the beginning fits several, and where the content was changed.
        """
        found = self._named(key)
        if self.folder is None:
            return self._held[found]
        try:
            data = (self.folder / found).read_bytes()
        except OSError as error:
            raise _unusable(self.folder, error) from error
        if hashlib.sha256(data).hexdigest() != found:
            text = f"{found[:SHOWN]} in the store was changed"
            raise StoreError(text, hint="remove the file; a replay writes it again")
        return data.decode("utf-8", "surrogatepass")

    def __contains__(self, key: str) -> bool:
        return len(self._matching(key)) == 1

    def __len__(self) -> int:
        return len(self._matching(""))

    def _named(self, key: str) -> str:
        found = self._matching(key)
        if len(found) == 1:
            return found[0]
        shown = "".join(one for one in key[:_WHOLE] if one in _DIGITS) or "such a key"
        raise StoreError(f"the store holds {'several texts' if found else 'nothing'} under {shown}")

    def _matching(self, key: str) -> list[str]:
        """Keys that begin so, in order. Whatever else lies in the folder is no key."""
        if self.folder is None:
            return sorted(one for one in self._held if one.startswith(key))
        try:
            names = [entry.name for entry in self.folder.iterdir()]
        except OSError as error:
            raise _unusable(self.folder, error) from error
        return sorted(one for one in names if one.startswith(key) and len(one) == _WHOLE and _DIGITS.issuperset(one))

    @staticmethod
    def _whole(file: Path, key: str) -> bool:
        """Whether a file is there and holds what its name says."""
        try:
            return file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == key
        except OSError:
            return False


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _write(file: Path, data: bytes) -> None:
    """The file, whole, by a draft that takes its place. (mkstemp's files are 0600.)"""
    handle, name = mkstemp(prefix=".", suffix=".part", dir=file.parent)
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        draft.replace(file)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise


def _unusable(folder: Path, error: OSError) -> StoreError:
    reason = error.strerror or type(error).__name__
    text = f"{folder}: cannot be used as a store: {reason}"
    return StoreError(text, hint="--store takes a folder that can be written")
