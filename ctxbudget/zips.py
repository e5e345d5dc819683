"""Zip archives: their members, read with bounds, also where the archive is cut off or damaged.

The list at the end of the archive says where its members are; where it is missing (a cut download, a run that was
killed), the header before each member does. What a member unpacks to is bounded as for any packed file: in ratio and
size over all members together, so that overlapping members gain nothing, and in number. Nothing is written to a disk.
Members may be stored, deflated, or packed with zstd, which Python itself reads from 3.14 on (APPNOTE.TXT 6.3.10).
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import zstandard

from ctxbudget.errors import TraceError
from ctxbudget.records.unpack import FREE_BYTES, MAX_BYTES, MAX_RATIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, BinaryIO

    from ctxbudget.records import Reading
    from ctxbudget.records.unpack import Note

MAGIC = b"PK\x03\x04"

MAX_MEMBERS = 100_000
"""Members an archive may have; an evaluation has some 10,000 samples."""
MAX_MEMBER = 1024**3
"""Bytes one member may unpack to."""

STORED, DEFLATED, ZSTD = 0, 8, 93
STEP = 512
"""Packed bytes that are fed at once: they give at most some MB."""

_HEADER = struct.Struct("<4s5H3L2H")
_STREAMED = 1 << 3
"""The flag of a member whose sizes stand behind it."""
_NEXT = re.compile(rb"PK(?:\x03\x04|\x01\x02|\x07\x08)")


@dataclass(frozen=True, slots=True)
class Member:
    """One file in an archive: where its packed bytes are, and how they are packed."""

    name: str
    start: int
    size: int
    method: int


class Archive:
    """The members of an open archive."""

    def __init__(self, file: BinaryIO, path: str, members: dict[str, Member], size: int, note: Note) -> None:
        """Made by ``opened``."""
        self._file = file
        self._path = path
        self._members = members
        self._note = note
        self._left = min(MAX_BYTES, max(FREE_BYTES, MAX_RATIO * size))

    @property
    def names(self) -> list[str]:
        """The names of the members, in the order they were written."""
        return list(self._members)

    def read(self, name: str) -> bytes:
        """The bytes of a member; of a damaged one what is readable, and a note; empty where there is none.

        Raises TraceError for more bytes than are allowed.
        """
        member = self._members.get(name)
        if member is None:
            return b""
        engine = _engine(member.method)
        if engine is None:
            self._note("unread-member", f"{name}: packed by a method that is not read ({member.method})")
            return b""
        self._file.seek(member.start)
        packed = io.BytesIO(self._file.read(member.size))
        found, given = [], 0
        try:
            for piece in iter(partial(packed.read, STEP), b""):
                found.append(engine(piece))
                given += len(found[-1])
                self._left -= len(found[-1])
                if self._left < 0 or given > MAX_MEMBER:
                    raise TraceError(
                        f"{self._path}: {name} unpacks to more than is allowed, which looks like a trap",
                        hint="unpack it yourself if you trust it",
                    )
        except (zlib.error, zstandard.ZstdError) as error:
            self._note("damaged-member", f"{name}: damaged after {given:,} bytes ({error})")
        return b"".join(found)


def names(head: bytes) -> list[str]:
    """The names of the members in the first bytes of an archive; none for any other file."""
    return [member.name for member in _scanned(head)] if head.startswith(MAGIC) else []


@contextmanager
def opened(reading: Reading) -> Iterator[Archive]:
    """The archive in a file. Raises TraceError if it cannot be read, or has no member or too many."""
    with reading.open() as stream:
        file = stream if stream.seekable() else io.BytesIO(stream.read(MAX_MEMBER))
        size = file.seek(0, io.SEEK_END)
        members = _listed(file)
        if members is None:
            reading.note("damaged-archive", "the list of its members is missing or damaged: they were looked for")
            file.seek(0)
            members = list(_scanned(file.read(MAX_MEMBER)))
        if not members or len(members) > MAX_MEMBERS:
            raise TraceError(f"{reading.path}: {len(members):,} files in the archive, 1 to {MAX_MEMBERS:,} are read")
        yield Archive(file, reading.path, {member.name: member for member in members}, size, reading.note)


def _engine(method: int) -> Callable[[bytes], bytes] | None:
    if method == STORED:
        return bytes
    if method == DEFLATED:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress
    if method == ZSTD:
        unpack: Any = zstandard.ZstdDecompressor().decompressobj()
        return lambda piece: b"" if unpack.eof else bytes(unpack.decompress(piece))
    return None


def _listed(file: BinaryIO) -> list[Member] | None:
    """The members by the list at the end; None where it is not whole."""
    file.seek(0)
    try:
        entries = zipfile.ZipFile(file).infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OverflowError, struct.error, OSError):
        return None
    found = []
    for entry in entries:
        file.seek(max(0, entry.header_offset))
        header = file.read(_HEADER.size)
        if len(header) < _HEADER.size or not header.startswith(MAGIC) or entry.header_offset < 0:
            return None
        *_, name, extra = _HEADER.unpack(header)
        start = entry.header_offset + _HEADER.size + name + extra
        found.append(Member(entry.filename, start, max(0, entry.compress_size), entry.compress_type))
    return found


def _scanned(data: bytes) -> Iterator[Member]:
    """The members by the headers before them, up to where the data ends or makes no sense."""
    at = data.find(MAGIC)
    while 0 <= at <= len(data) - _HEADER.size:
        _, _, flags, method, _, _, _, packed, _, name, extra = _HEADER.unpack_from(data, at)
        named = data[at + _HEADER.size : at + _HEADER.size + name]
        start = at + _HEADER.size + name + extra
        stop = start + packed
        if (flags & _STREAMED and not packed) or stop > len(data):
            found = _NEXT.search(data, min(start, len(data)))
            stop = found.start() if found else len(data)
        if len(named) == name:
            yield Member(named.decode(errors="replace"), start, max(0, stop - start), method)
        at = data.find(MAGIC, max(stop, at + 4))
