"""SQLite: read from a private copy with its log, whatever state the database is in."""

import gzip
import sqlite3

import pytest

from ctxbudget import sqlite
from ctxbudget.errors import MalformedTrace, TraceError
from ctxbudget.records import read

ROWS = [(3, "brass"), (1, "rope"), (2, "wheel")]


@pytest.fixture
def bells(tmp_path):
    path = tmp_path / "bells.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE bell (id integer, name text)")
        database.executemany("INSERT INTO bell VALUES (?, ?)", ROWS)
    database.close()
    return path


def rows(path, data=None, table="bell", order=("id",)):
    reading = read(str(path), data)
    with sqlite.opened(reading) as database:
        found = database.rows(table, *order)
    return found, reading


@pytest.mark.parametrize(
    "order, expected",
    [(("id",), [1, 2, 3]), ((), [3, 1, 2]), (("nothing", "name"), [3, 1, 2]), (("name", "id"), [3, 1, 2])],
)
def test_rows_come_in_the_order_asked_for_then_as_written(bells, order, expected):
    assert [row["id"] for row in rows(bells, order=order)[0]] == expected
    assert rows(bells)[0][0] == {"id": 1, "name": "rope"}
    assert rows(bells, table="no such")[0] == []
    with sqlite.opened(read(str(bells))) as database:
        assert [row["id"] for row in database.rows("bell", "id", only={"name": {"wheel", "rope"}})] == [1, 2]
        assert len(database.rows("bell", only={"no such": {"rope"}})) == 3


def test_the_order_of_mixed_values_is_that_of_sqlite(tmp_path):
    path = tmp_path / "mixed.db"
    values = ["b", None, 2, b"\x00", 1.5, "a", -1]
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE bell (id)")
        database.executemany("INSERT INTO bell VALUES (?)", [(value,) for value in values])
        expected = [value for (value,) in database.execute("SELECT id FROM bell ORDER BY id")]
    database.close()
    assert [row["id"] for row in rows(path)[0]] == expected


def test_packed_and_from_memory(bells, tmp_path):
    packed = tmp_path / "bells.db.gz"
    packed.write_bytes(gzip.compress(bells.read_bytes()))
    assert rows(packed)[0] == rows("-", bells.read_bytes())[0] == rows(bells)[0]


def test_what_is_only_in_the_log_is_read_and_a_writer_is_not_disturbed(tmp_path):
    path = tmp_path / "live.db"
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("PRAGMA wal_autocheckpoint = 0")
    writer.execute("CREATE TABLE bell (id integer, name text)")
    writer.executemany("INSERT INTO bell VALUES (?, ?)", ROWS)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("INSERT INTO bell VALUES (9, 'not yet')")
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert sqlite.tables(read(str(path)).head, str(path)) == {"bell"}
    assert [row["id"] for row in rows(path)[0]] == [1, 2, 3]
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
    writer.execute("COMMIT")
    assert [row["id"] for row in rows(path)[0]] == [1, 2, 3, 9]
    writer.close()


def test_a_database_without_its_log_is_read_as_far_as_it_goes(tmp_path):
    path = tmp_path / "live.db"
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("CREATE TABLE bell (id integer, name text)")
    alone = path.read_bytes()
    writer.close()
    assert rows("-", alone)[0] == []


def test_views_and_virtual_tables_are_not_read(tmp_path):
    path = tmp_path / "trap.db"
    endless = "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n"
    with sqlite3.connect(path) as database:
        database.execute(f"CREATE VIEW bell AS {endless}")
        database.execute("CREATE TABLE quiet (id)")
    database.close()
    with sqlite.opened(read(str(path))) as database:
        assert database.tables == {"quiet"}
        assert database.rows("bell") == []


def test_text_that_is_not_utf8_is_replaced(bells):
    with sqlite3.connect(bells) as database:
        database.execute("UPDATE bell SET name = CAST(x'62ff' AS TEXT)")
    database.close()
    assert rows(bells)[0][0]["name"] == "b\ufffd"


def many(path):
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA page_size = 512")
        database.execute("CREATE TABLE bell (id integer, name text)")
        database.executemany("INSERT INTO bell VALUES (?, ?)", [(at, "x" * 100) for at in range(400)])
    database.close()
    return bytearray(path.read_bytes())


def test_of_a_damaged_table_both_ends_are_read(tmp_path):
    path = tmp_path / "many.db"
    data = many(path)
    middle = len(data) // 2 // 512 * 512
    data[middle : middle + 512] = b"\xff" * 512
    path.write_bytes(data)
    found, reading = rows(path)
    ids = [row["id"] for row in found]
    assert 380 < len(ids) < 400
    assert (ids[0], ids[-1], ids) == (0, 399, sorted(set(ids)))
    assert [warning.code for warning in reading.warnings] == ["damaged-database"]


def test_of_a_database_that_was_cut_off_the_beginning_is_read(tmp_path):
    path = tmp_path / "many.db"
    path.write_bytes(many(path)[:-3_000])
    found, reading = rows(path)
    assert 100 < len(found) < 400, "the last pages hold the last rows"
    assert reading.warnings


def test_rows_that_no_file_of_its_size_holds_are_damage(bells):
    connection = sqlite3.connect(bells)
    database = sqlite.Database(connection, 15)
    assert list(database._take("bell", "SELECT * FROM bell")) == [(3, "brass"), (1, "rope")]
    assert "linked more than once" in database.damage[-1]
    connection.close()


@pytest.mark.parametrize("data", [sqlite.MAGIC, sqlite.MAGIC + b"\0" * 5000, sqlite.MAGIC + b"\xff" * 5000])
def test_no_database_is_a_clean_error(tmp_path, data):
    path = tmp_path / "none.db"
    path.write_bytes(data)
    assert sqlite.tables(data, str(path)) == frozenset()
    with pytest.raises(MalformedTrace, match="cannot be read"):
        rows(path)


def test_a_database_that_is_too_large_or_gone_is_a_clean_error(bells, monkeypatch):
    reading = read(str(bells))
    monkeypatch.setattr(sqlite, "MAX_BYTES", 1000)
    with pytest.raises(TraceError, match="larger than 1,000 bytes"), sqlite.opened(reading):
        pass
    bells.unlink()
    with pytest.raises(TraceError), sqlite.opened(reading):
        pass


def test_a_log_that_changes_while_it_is_copied_is_copied_again(bells, monkeypatch):
    log = bells.with_name("bells.db-wal")
    log.write_bytes(b"")
    poured = []

    def pour(file, copy, _):
        poured.append(copy.name)
        if len(poured) == 1:
            log.write_bytes(b"x")
        copy.write_bytes(file.read())

    monkeypatch.setattr(sqlite, "_pour", pour)
    found, reading = rows(bells)
    assert (len(found), reading.warnings) == (3, ())
    assert poured == ["copy.db", "copy.db-wal"] * 2


def test_a_database_that_never_rests_is_read_with_a_warning(bells, monkeypatch):
    stamps = iter(range(100))
    monkeypatch.setattr(sqlite, "_stamps", lambda reading, log: next(stamps))
    found, reading = rows(bells)
    assert (len(found), [warning.code for warning in reading.warnings]) == (3, ["changing-database"])


@pytest.mark.parametrize(
    "moment, unit, expected",
    [
        (1_760_000_000_000, 1000, "2025-10-09T08:53:20+00:00"),
        (1_760_000_000, 1, "2025-10-09T08:53:20+00:00"),
        ("2026-08-05 21:19:21", 1, "2026-08-05T21:19:21+00:00"),
        ("soon", 1, "1970-01-01T00:00:00+00:00"),
        (None, 1, "1970-01-01T00:00:00+00:00"),
        (10**30, 1, "1970-01-01T00:00:00+00:00"),
    ],
)
def test_when_a_session_was_last_written(moment, unit, expected):
    assert sqlite.moment(moment, unit).isoformat() == expected
