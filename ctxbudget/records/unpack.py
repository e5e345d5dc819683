"""Packed or foreign bytes → plain UTF-8 bytes.

gzip, zstd and UTF-16 are told by their first bytes, never by the name. Every step is bounded: a file may unpack to
``MAX_BYTES``, to ``MAX_RATIO`` times its own size beyond the first ``FREE_BYTES``, and through ``MAX_LAYERS`` packings.
"""

from __future__ import annotations

import codecs
import io
import zlib
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO

import zstandard

from ctxbudget.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from _typeshed import WriteableBuffer

    Note = Callable[[str, str], None]
    """Takes the code and the message of a place where packed bytes were damaged."""

MAX_BYTES = 4 * 1024**3
"""Bytes a packed file may unpack to."""
FREE_BYTES = 64 * 1024**2
"""Bytes that are unpacked whatever the ratio: text of one repeated character packs more than 1000 times."""
MAX_RATIO = 1000
"""Unpacked over packed bytes beyond ``FREE_BYTES``; logs that repeat a whole history in every line reach some 100."""
MAX_LAYERS = 2
"""Packings inside packings."""

CHUNK = 64 * 1024
LONGEST_MAGIC = 16


@dataclass(frozen=True, slots=True)
class Packing:
    """A compression format: ``magic`` begins every member, ``step`` bytes are fed at a time.

    A step bounds what comes out at once: 16 KiB of gzip give at most 16 MiB, and so do 512 bytes of zstd.
    """

    name: str
    magic: bytes
    start: Callable[[], Any]
    step: int


PACKINGS = (
    Packing("gzip", b"\x1f\x8b", partial(zlib.decompressobj, 16 + zlib.MAX_WBITS), 16 * 1024),
    Packing("zstd", b"\x28\xb5\x2f\xfd", lambda: zstandard.ZstdDecompressor().decompressobj(), 512),
)

FOREIGN = {
    b"PK\x03\x04": ("a zip archive", "unpack it, and give the files in it"),
    b"SQLite format 3\0": ("an SQLite database", "export the session as JSON with the agent's own command"),
    b"BZh": ("a bzip2 file", "unpack it first"),
    b"\xfd7zXZ\0": ("an xz file", "unpack it first"),
    b"PAR1": ("a Parquet file", "export it as JSON Lines"),
}
"""First bytes of files that hold no JSON text as they are: what it is, and what to do."""

CONTAINERS = (b"SQLite format 3\0", b"PK\x03\x04")
"""Those of them that loaders may know: they are refused only where JSON is looked for in them."""


def plain(file: BinaryIO, path: str, note: Note, known: tuple[bytes, ...] = ()) -> BinaryIO:
    """The same file if it is plain text, else a stream of its unpacked bytes; ``file`` must be seekable.

    A foreign file that begins with one of ``known`` is given as it is.

    Raises TraceError for a foreign file, too many packings or, while it is read, more bytes than are allowed.
    """
    head = file.read(LONGEST_MAGIC)
    file.seek(0)
    chunks = iter(partial(file.read, CHUNK), b"")
    for layer in range(MAX_LAYERS + 1):
        if packing := next((known for known in PACKINGS if head.startswith(known.magic)), None):
            if layer == MAX_LAYERS:
                raise TraceError(f"{path}: packed more than {MAX_LAYERS} times", hint="unpack it first")
            head, chunks = _peek(unpacked(chunks, packing, path, note))
        elif head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return io.BufferedReader(_Stream(_transcoded(chunks)), CHUNK)
        else:
            if not head.startswith(known):
                _refuse_foreign(head, path)
            return io.BufferedReader(_Stream(chunks), CHUNK) if layer else file
    raise AssertionError  # the last layer returns or raises


def rejoin(head: bytes, rest: BinaryIO) -> BinaryIO:
    """``head`` and then the bytes of ``rest``, as one file."""
    return io.BufferedReader(_Stream(chain([head], iter(partial(rest.read, CHUNK), b""))), CHUNK)


def unpacked(chunks: Iterator[bytes], packing: Packing, path: str, note: Note) -> Iterator[bytes]:
    """The members of a packed stream one after another; of a cut or damaged one, what was readable, and a note."""
    engine, fresh, taken, given = packing.start(), True, 0, 0
    for piece in _steps(chunks, packing.step):
        taken += len(piece)
        # between members zeros are padding
        left = piece.lstrip(b"\0") if fresh else piece
        while left:
            try:
                data = engine.decompress(left)
            except (zlib.error, zstandard.ZstdError) as error:
                note("damaged-stream", f"the {packing.name} stream is damaged after {given:,} bytes ({error})")
                return
            given += len(data)
            _refuse_bomb(given, taken, path)
            yield data
            left, fresh = b"", False
            if engine.eof:
                left, fresh = engine.unused_data.lstrip(b"\0"), True
                engine = packing.start()
    if not fresh:
        note("truncated-stream", f"the {packing.name} stream is cut off after {given:,} bytes")


def _steps(chunks: Iterator[bytes], size: int) -> Iterator[bytes]:
    for chunk in chunks:
        for at in range(0, len(chunk), size):
            yield chunk[at : at + size]


def _refuse_bomb(given: int, taken: int, path: str) -> None:
    if given > MAX_BYTES or given > max(FREE_BYTES, MAX_RATIO * taken):
        raise TraceError(
            f"{path}: unpacks to more than {min(given, MAX_BYTES):,} bytes from {taken:,}, which looks like a trap",
            hint="unpack it yourself if you trust it",
        )


def _refuse_foreign(head: bytes, path: str) -> None:
    for magic, (what, hint) in FOREIGN.items():
        if head.startswith(magic):
            raise TraceError(f"{path}: this is {what}, not JSON", hint=hint)


def _transcoded(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """UTF-16 as UTF-8; a lone surrogate becomes invalid UTF-8, which the line it is in will tell."""
    decoder = codecs.getincrementaldecoder("utf-16")(errors="surrogatepass")
    for chunk in chunks:
        yield decoder.decode(chunk).encode("utf-8", "surrogatepass")


def _peek(chunks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    head = b""
    for chunk in chunks:
        head += chunk
        if len(head) >= LONGEST_MAGIC:
            break
    return head, chain([head], chunks)


class _Stream(io.RawIOBase):
    """Chunks of bytes as a raw file, for ``io.BufferedReader`` to find the lines in."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        while not self._left:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._left = memoryview(chunk)
        target = memoryview(buffer)
        size = min(len(target), len(self._left))
        target[:size] = self._left[:size]
        self._left = self._left[size:]
        return size
