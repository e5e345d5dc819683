"""Zip archives: bounds, damage, methods."""

import io
import random
import struct
import zipfile
import zlib

import pytest
import zstandard

from ctxbudget import zips
from ctxbudget.errors import TraceError
from ctxbudget.records import read

TEXT = b'{"a": "some text"}\n' * 300


def archive(*members, method=zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as made:
        for name, data in members:
            made.writestr(name, data)
    return file.getvalue()


def opened(data):
    return zips.opened(read("a.zip", data))


def codes(reading):
    return [warning.code for warning in reading.warnings]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_members_in_order(method):
    data = archive(("b.json", TEXT), ("dir/a.json", b"[]"), method=method)
    assert zips.names(data) == ["b.json", "dir/a.json"]
    with opened(data) as members:
        assert members.names == ["b.json", "dir/a.json"]
        assert [members.read(name) for name in (*members.names, "none")] == [TEXT, b"[]", b""]


def test_members_packed_with_zstd():
    packed = zstandard.ZstdCompressor().compress(TEXT)
    header = struct.pack("<4s5H3L2H", b"PK\x03\x04", 63, 0, 93, 0, 0, zlib.crc32(TEXT), len(packed), len(TEXT), 1, 0)
    reading = read("a.zip", header + b"a" + packed)
    with zips.opened(reading) as members:
        assert members.read("a") == TEXT
    assert codes(reading) == ["damaged-archive"]


def test_a_method_that_is_not_read_is_told():
    reading = read("a.zip", archive(("a", TEXT), ("b", b"1"), method=zipfile.ZIP_BZIP2))
    with zips.opened(reading) as members:
        assert members.read("a") == b""
    assert codes(reading) == ["unread-member"]


@pytest.mark.parametrize("kept", [0.2, 0.5, 0.8, 0.97])
def test_a_cut_archive_gives_what_is_whole(kept):
    dice = random.Random(7)
    members = [(f"{number}.json", bytes(dice.randrange(256) for _ in range(500))) for number in range(10)]
    data = archive(*members)
    reading = read("a.zip", data[: int(len(data) * kept)])
    with zips.opened(reading) as found:
        whole = [name for name, content in members if found.read(name) == content]
        assert len(whole) >= int(10 * kept) - 1
        assert whole == [name for name, _ in members[: len(whole)]]
    assert "damaged-archive" in codes(reading)


def test_a_damaged_member_costs_itself():
    data = bytearray(archive(("a", bytes(random.Random(1).randrange(99) for _ in range(3_000))), ("b", TEXT)))
    data[600:620] = bytes(20)
    with opened(bytes(data)) as members:
        members.read("a")
        assert members.read("b") == TEXT


def test_a_streamed_archive_has_its_sizes_behind():
    class Pipe(io.RawIOBase):
        def __init__(self):
            self.data = b""

        def write(self, data):
            self.data += bytes(data)
            return len(data)

        def seekable(self):
            return False

        def writable(self):
            return True

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("a", TEXT)
        made.writestr("b", b"second")
    with opened(pipe.data[: pipe.data.index(b"PK\x01\x02")]) as members:
        assert (members.read("a"), members.read("b")) == (TEXT, b"second")


def test_bombs_are_refused(monkeypatch):
    monkeypatch.setattr(zips, "FREE_BYTES", 1_000)
    monkeypatch.setattr(zips, "MAX_RATIO", 50)
    with opened(archive(("a", bytes(200_000)))) as members, pytest.raises(TraceError, match="trap"):
        members.read("a")
    # each within the bounds, together beyond them
    with opened(archive(*((str(number), TEXT) for number in range(20)))) as members, pytest.raises(TraceError):
        [members.read("1") for _ in range(200)]
    monkeypatch.setattr(zips, "MAX_MEMBER", 100)
    with opened(archive(("a", TEXT), method=zipfile.ZIP_STORED)) as members, pytest.raises(TraceError, match="trap"):
        members.read("a")
    monkeypatch.setattr(zips, "MAX_MEMBERS", 1)
    with pytest.raises(TraceError, match="2 files in the archive"), opened(archive(("a", b""), ("b", b""))):
        pass


def test_bytes_that_only_begin_like_an_archive():
    for tail in (b"", b"x" * 30, b"\xff" * 200, b"PK\x03\x04" * 50):
        try:
            with opened(zips.MAGIC + tail) as members:
                for name in members.names:
                    members.read(name)
        except TraceError:
            continue


def test_an_archive_in_a_packed_file():
    import gzip

    with opened(gzip.compress(archive(("a", TEXT)))) as members:
        assert members.read("a") == TEXT
