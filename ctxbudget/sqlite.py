"""SQLite: the tables of a database, read from a private copy of it and of its write-ahead log.

An agent may be writing while we read. So its database is never opened: its bytes and those of the log beside it
(``-wal``, where the latest sessions still are) are copied to a temporary folder that only we can see, and the copy is
opened read-only. Nothing is locked, checkpointed or migrated (SQLite, "Write-Ahead Logging"). Only real tables are
read, never views or virtual tables: those can run whatever their author wrote.
"""

from __future__ import annotations

import re
import sqlite3
import tempfile
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxbudget.errors import MalformedTrace, TraceError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from typing import BinaryIO

    from ctxbudget.records import Reading

MAGIC = b"SQLite format 3\0"

MAX_BYTES = 4 * 1024**3
"""Bytes a database may have, and its log."""
MAX_VALUE = 256 * 1024**2
"""Bytes of one value: a message with all its images has some 10 MB."""
MAX_TRIES = 3
"""Copies made until database and log are of one moment; a busy writer may change them while they are copied."""

_ALL: Mapping[str, Collection[str]] = {}
_CHUNK = 1024**2
_TABLE = re.compile(rb"CREATE TABLE\s+(?:IF NOT EXISTS\s+)?[\"'`\[]?(\w{1,100})", re.IGNORECASE)


def tables(head: bytes, path: str) -> frozenset[str]:
    """Names of the tables of a database, for telling a format; none for any other file.

    From its first bytes and those of its log (a young database has nothing but a header of its own), and, where it
    is a file, from its schema, opened as immutable: so SQLite takes no lock and looks at no log.
    """
    if not head.startswith(MAGIC):
        return frozenset()
    found = {name.decode(errors="replace") for name in _TABLE.findall(head + _beginning(_log(path)))}
    if _beginning(Path(path)).startswith(MAGIC):
        try:
            with closing(
                sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro&immutable=1", uri=True)
            ) as connection:
                found.update(Database(connection, Path(path).stat().st_size).tables)
        except (OSError, sqlite3.Error, ValueError):
            pass  # what is damaged fails when it is read; this only tells what it may be
    return frozenset(found)


def _beginning(file: Path | None) -> bytes:
    try:
        if file is None or not file.is_file():
            return b""
        with file.open("rb") as opened:
            return opened.read(_CHUNK)
    except (OSError, ValueError):
        return b""


def moment(value: Any, unit: int = 1) -> datetime:
    """The time that a column holds: seconds since 1970 times ``unit``, or ``YYYY-MM-DD hh:mm:ss`` in UTC.

    What is no time is the beginning of 1970, so that it sorts last.
    """
    try:
        if isinstance(value, str):
            told = datetime.fromisoformat(value)
            return told if told.tzinfo else told.replace(tzinfo=UTC)
        return datetime.fromtimestamp(value / unit, UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)


class Database:
    """The open copy. What cannot be read in it is left out, and told in ``damage``."""

    def __init__(self, connection: sqlite3.Connection, size: int) -> None:
        """Made by ``opened``; ``size`` is the bytes of the file and its log, more than which no table can hold."""
        self._connection = connection
        self._size = size
        self.damage: list[str] = []
        """What went wrong, one text for each table."""
        # a damaged schema, or a file that was cut off, is with the second no reason to read nothing; nothing is written
        for pragma in ("trusted_schema = OFF", "writable_schema = ON", "cell_size_check = ON"):
            list(self._take("sqlite_master", f"PRAGMA {pragma}"))
        schema = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
        self.tables = frozenset(name for (name,) in self._take("sqlite_master", schema) if isinstance(name, str))

    def rows(self, table: str, *order: str, only: Mapping[str, Collection[str]] = _ALL) -> list[dict[str, Any]]:
        """The rows of a table as dicts, by the columns ``order`` (those that it has), then as they were written.
        ``only``: of a column (one that it has) the values whose rows are wanted.

        A table that is not there has none. Text that is not UTF-8 has U+FFFD in it. Where the table is damaged, the
        rows before that place are read, and those behind it from the end.
        """
        if table not in self.tables:
            return []
        name = table.replace('"', '""')
        columns = [column for _, column, *_ in self._take(table, f'PRAGMA table_info("{name}")')]
        select, told = f'SELECT rowid, * FROM "{name}" ORDER BY rowid', len(self.damage)  # noqa: S608 - quoted
        wanted = [(columns.index(column), values) for column, values in only.items() if column in columns]
        found = {key: row for key, *row in self._take(table, select) if all(row[at] in values for at, values in wanted)}
        if len(self.damage) > told:
            del self.damage[told + 1 :]
            last = max(found, default=None)
            for key, *values in self._take(table, f"{select} DESC"):
                if last is not None and key <= last:
                    break
                if all(values[at] in kept for at, kept in wanted):
                    found[key] = values
            del self.damage[told + 1 :]
        rows = [dict(zip(columns, values, strict=False)) for _, values in sorted(found.items())]
        for column in reversed(order):
            rows.sort(key=lambda row: _rank(row.get(column)))
        return rows

    def _take(self, table: str, text: str) -> Iterator[tuple[Any, ...]]:
        """The rows that a query gives until it meets damage. Pages that are linked more than once give rows without
        end: what no file of this size can hold is damage too."""
        left = self._size
        try:
            for row in self._connection.execute(text):
                left -= 1 + sum(len(value) for value in row if isinstance(value, str | bytes))
                if left < 0:
                    self.damage.append(f"table {table[:40]!r}: its pages are linked more than once")
                    return
                yield row
        except (sqlite3.Error, ValueError, OverflowError, MemoryError) as error:
            # ValueError: a name or a message of SQLite's own that is not UTF-8
            self.damage.append(f"table {table[:40]!r}: {' '.join(str(error).split())[:200]}")


def _rank(value: Any) -> tuple[int, Any]:
    """SQLite's own order: nothing, numbers, texts, bytes."""
    match value:
        case int() | float():
            return 1, value
        case str():
            return 2, value
        case bytes():
            return 3, value
    return 0, 0


@contextmanager
def opened(reading: Reading) -> Iterator[Database]:
    """A private copy of the database that is read, with its log; gone when the block ends.

    Its damage is told to ``reading``. Raises TraceError where it cannot be copied (no space, too large),
    MalformedTrace where not even the names of its tables can be read.
    """
    with tempfile.TemporaryDirectory(prefix="ctxbudget-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder) / "copy.db"
        try:
            _copy(reading, copy)
            connection = sqlite3.connect(f"{copy.as_uri()}?mode=ro", uri=True)
        except (OSError, sqlite3.Error) as error:
            raise TraceError(
                f"{reading.path}: no copy of the database could be made ({error})",
                hint="it is copied before it is read: TMPDIR may name a folder with more room",
            ) from None
        with closing(connection):
            connection.text_factory = lambda raw: raw.decode(errors="replace")
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE)
            database = Database(connection, sum(file.stat().st_size for file in Path(folder).iterdir()))
            if not database.tables and database.damage:
                raise MalformedTrace(
                    f"{reading.path}: the database cannot be read ({database.damage[-1]})",
                    hint="if its agent is at work, try again when it has stopped; else restore a copy",
                )
            yield database
            for text in database.damage:
                reading.note("damaged-database", text)


def _copy(reading: Reading, copy: Path) -> None:
    """Database and log as they were at one moment: again, where either changed meanwhile."""
    log = None if reading.held else _log(reading.path)
    for _ in range(MAX_TRIES):
        before = _stamps(reading, log)
        with reading.open() as file:
            _pour(file, copy, reading.path)
        if log is not None and log.is_file():
            with log.open("rb") as file:
                _pour(file, copy.with_name("copy.db-wal"), reading.path)
        if before == _stamps(reading, log):
            return
    reading.note("changing-database", "it was written to while it was copied: its latest rows may be missing")


def _pour(file: BinaryIO, copy: Path, path: str) -> None:
    left = MAX_BYTES
    with copy.open("wb") as target:
        while chunk := file.read(_CHUNK):
            left -= len(chunk)
            if left < 0:
                raise TraceError(f"{path}: the database is larger than {MAX_BYTES:,} bytes")
            target.write(chunk)


def _log(path: str) -> Path | None:
    """The write-ahead log beside a database."""
    log = Path(f"{path}-wal")
    try:
        return log if log.is_file() else None
    except (OSError, ValueError):
        return None


def _stamps(reading: Reading, log: Path | None) -> list[tuple[int, int] | None]:
    files = [] if reading.held else [Path(reading.path), log]
    return [_stamp(file) for file in files]


def _stamp(file: Path | None) -> tuple[int, int] | None:
    try:
        found = file.stat() if file is not None else None
    except OSError:
        return None
    return (found.st_size, found.st_mtime_ns) if found is not None else None
