"""Bytes → records: JSON Lines and JSON documents, plain or packed, read lazily and with bounded memory.

The content decides. A file whose first line holds a whole JSON value is JSON Lines; else it may be one document over
many lines; else it is JSON Lines whose first line is damaged. Damage costs what it covers, and is told with its line
number. Lines end at line feeds only: U+2028 and its like are ordinary characters of a string.
"""

from __future__ import annotations

import codecs
import io
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from ctxbudget.errors import EmptyTrace, TraceError
from ctxbudget.records import lines, unpack
from ctxbudget.records.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from ctxbudget import trace

HEAD_BYTES = 64 * 1024
"""How much of a file its format is told by."""
CONTAINER_BYTES = 1024**2
"""The same for a database: what its tables are called stands not at its very beginning."""
MAX_LINE = 1024**3
"""Bytes a line may have, and a document over many lines."""


class Record(NamedTuple):
    """One raw item: its data (parsed JSON), and where it stands.

    ``line`` is 1-based: the line of a JSON Lines file, the element of an array, 1 for a single document. (A named
    tuple, since a frozen dataclass takes a quarter of the time that parsing an average line takes.)
    """

    data: Any
    line: int


class Reading:
    """The records of one file. It can be iterated again; ``parse`` and ``warnings`` tell of the latest pass.

    ``head`` is the beginning of the plain text, without byte order mark: at most ``HEAD_BYTES`` (of a database
    ``CONTAINER_BYTES``), to tell the format by. Iterating raises TraceError if the file cannot be read on, or unpacks
    to more than is allowed.
    """

    def __init__(self, path: str, data: bytes | None = None) -> None:
        """Made by ``read``. ``data`` are the bytes, where they do not lie in a regular file at ``path``."""
        self.path = path
        self.only: str | None = None
        """The label of the one conversation that is wanted; loaders may leave out the others, where it saves work."""
        self._data = data
        self._tally = Tally()
        self.head = self._read_head()

    @property
    def parse(self) -> trace.Parse:
        """How the latest pass went; complete when it has ended."""
        return self._tally.parse

    @property
    def warnings(self) -> tuple[trace.Warning, ...]:
        """What the latest pass had to tell: at most 20 of a code, then how many more there were."""
        return self._tally.warnings

    @property
    def held(self) -> bool:
        """Whether the bytes are in memory (standard input, a pipe), so that nothing lies beside them."""
        return self._data is not None

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The plain bytes from the beginning, unpacked where they are packed: for formats that are no JSON text.

        Raises TraceError as reading the records does, but for no format that a loader may know (``CONTAINERS``).
        """
        with self._open(self._tally, unpack.CONTAINERS) as stream:
            yield stream

    def note(self, code: str, message: str) -> None:
        """Damage that a loader met which reads the bytes itself: a warning of every trace of the file."""
        self._tally.damage(code, message)

    def unwrap(self) -> Iterator[Record]:
        """The same records; but where the whole file is one array with objects in it, those objects.

        Their ``line`` is the number of the element, from 1. The counts are of the elements then.
        """
        records = iter(self)
        ahead = [record for record in (next(records, None), next(records, None)) if record is not None]
        if (
            len(ahead) == 1
            and isinstance(ahead[0].data, list)
            and any(isinstance(item, dict) for item in ahead[0].data)
        ):
            self._tally.ok -= 1
            yield from self._elements(ahead[0].data)
        else:
            yield from ahead
            yield from records

    def _elements(self, items: list[Any]) -> Iterator[Record]:
        for number, item in enumerate(items, 1):
            if isinstance(item, dict):
                self._tally.ok += 1
                yield Record(item, number)
            else:
                self._tally.no_record(number)

    def __iter__(self) -> Iterator[Record]:
        self._tally = Tally()
        with self._open(self._tally) as stream:
            number, line = _first_line(stream)
            found, rest = lines.find(line), stream
            if not found.values and found.breaks_off:
                text = line + stream.read(MAX_LINE)
                document = lines.find_document(text, len(line))
                if document is not None:
                    yield from self._document(document, number)
                    return
                rest = unpack.rejoin(text[len(line) :], stream)
            first = list(self._take(found, line, number, None))
            yield from first
            yield from self._lines(rest, number, first[-1].data if first else None)

    def _lines(self, stream: BinaryIO, number: int, last: Any) -> Iterator[Record]:
        """The lines after line ``number``. The way of an ordinary line is short: long files have 100,000 of them."""
        loads, ok = orjson.loads, 0
        try:
            for line in iter(partial(stream.readline, MAX_LINE), b""):
                number += 1
                try:
                    data = loads(line)
                except orjson.JSONDecodeError:
                    data = None
                if type(data) is dict and not (len(line) > lines.SHORT and lines.is_deep(line, data)):
                    ok += 1
                    last = data
                    yield Record(data, number)
                else:
                    yield from self._take(lines.find(line), line, number, last)
        finally:
            self._tally.ok += ok

    def _take(self, found: lines.Found, line: bytes, number: int, last: Any) -> Iterator[Record]:
        """The records of a line out of the ordinary: blank, glued, an array, damaged, unfinished, or no record."""
        if len(line) >= MAX_LINE:
            raise TraceError(f"{self.path}: line {number} is longer than {MAX_LINE:,} bytes")
        values = [value for value, _ in found.values]
        if values and not isinstance(values[0], dict | list):
            self._tally.no_record(number)
            return
        if found.breaks_off and not line.endswith(b"\n"):
            self._tally.cut_off("the last record is unfinished, and left out", number)
        elif found.rest:
            values += lines.resume(found, values[-1] if values else last)
            self._tally.bad += not values
            what = "a part of the line" if values else "the line"
            self._tally.damage("damaged-line", f"{what} is left out, it is no JSON ({found.reason})", number)
        elif found.invalid:
            self._tally.damage("invalid-utf8", "bytes that are not UTF-8, replaced by U+FFFD", number)
        self._tally.ok += len(values)
        for value in values:
            yield Record(value, number)

    def _document(self, found: lines.Found, number: int) -> Iterator[Record]:
        """A text over many lines: one value, or several one after another (as ``jq`` prints them)."""
        if found.invalid:
            self._tally.damage("invalid-utf8", "bytes that are not UTF-8, replaced by U+FFFD")
        if found.rest:
            at = number + found.text.count("\n", 0, found.fault)
            if "\n" in found.text[found.fault :]:
                self._tally.damage("damaged-document", f"no JSON from here on ({found.reason}), left out", at)
            else:
                self._tally.cut_off("the document breaks off here; what is whole before is used", at)
        self._tally.ok += len(found.values)
        for value, start in found.values:
            yield Record(value, number + found.text.count("\n", 0, start) if len(found.values) > 1 else 1)

    @contextmanager
    def _open(self, tally: Tally, known: tuple[bytes, ...] = ()) -> Iterator[BinaryIO]:
        try:
            with io.BytesIO(self._data) if self._data is not None else Path(self.path).open("rb") as file:
                yield unpack.plain(file, self.path, tally.damage, known)
        except OSError as error:
            raise TraceError(f"{self.path}: {error.strerror or error}") from None

    def _read_head(self) -> bytes:
        with self._open(self._tally, unpack.CONTAINERS) as stream:
            first = head = stream.read(HEAD_BYTES)
            if head.startswith(unpack.CONTAINERS):
                head += stream.read(CONTAINER_BYTES - HEAD_BYTES)
            while head and lines.is_blank(head):
                head = stream.read(HEAD_BYTES)
        if not head and self.warnings:
            raise TraceError(f"{self.path}: nothing in it can be read: {self.warnings[0].message}")
        if not head:
            what = "holds nothing but blank lines" if first else "is empty"
            raise EmptyTrace(
                f"{self.path} {what}", hint="0 records: nothing was recorded in it, or another file is meant"
            )
        return head.removeprefix(codecs.BOM_UTF8)


def read(path: str, data: bytes | None = None) -> Reading:
    """The records of a file, of standard input (``-``), or of ``data`` (``path`` is then only a name).

    Raises EmptyTrace if there is nothing but blanks; TraceError if the file is missing, a folder, unreadable, no
    format that anything here reads by its first bytes (a zip archive), or packed too often.
    """
    return Reading(path, _read_stream(path) if data is None else data)


def _read_stream(path: str) -> bytes | None:
    """The bytes of what can be read only once (standard input, a pipe); None for a regular file."""
    try:
        if path == "-":
            return sys.stdin.buffer.read(unpack.MAX_BYTES)
        mode = Path(path).stat().st_mode
        if S_ISDIR(mode):
            raise TraceError(f"{path}: a folder, not a file", hint="give the session files in it")
        if S_ISREG(mode):
            return None
        with Path(path).open("rb") as file:
            return file.read(unpack.MAX_BYTES)
    except FileNotFoundError:
        raise TraceError(
            f"{path}: no such file", hint="give the path of a session file, or - for standard input"
        ) from None
    except (OSError, ValueError) as error:
        # ValueError: a path with a NUL in it
        raise TraceError(f"{path}: {getattr(error, 'strerror', None) or error}") from None


def _first_line(stream: BinaryIO) -> tuple[int, bytes]:
    """The first line that is not blank, and its number."""
    numbered = enumerate(iter(partial(stream.readline, MAX_LINE), b""), 1)
    return next(((number, line) for number, line in numbered if not lines.is_blank(line)), (0, b""))
