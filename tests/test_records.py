"""Bytes → records: every file reality, and no byte string that ends in a traceback."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path
from random import Random

import orjson
import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ctxbudget.errors import CtxbudgetError, EmptyTrace, TraceError
from ctxbudget.records import Record, read, unpack
from ctxbudget.trace import Parse

CASES = Path(__file__).parents[2] / "shared" / "cases"
A, B, C = b'{"n":1,"t":"a"}', b'{"n":2,"t":"b"}', b'{"n":3,"t":"c"}'
a, b, c = json.loads(A), json.loads(B), json.loads(C)


def zstd_stream(data: bytes) -> bytes:
    packer = zstandard.ZstdCompressor().compressobj()
    return packer.compress(data) + packer.flush()


def records(data: bytes) -> tuple[list[Record], Parse, list[tuple[str, int | None]]]:
    reading = read("session.jsonl", data)
    found = list(reading)
    return found, reading.parse, [(warning.code, warning.line) for warning in reading.warnings]


def datas(data: bytes) -> list[object]:
    return [record.data for record in records(data)[0]]


# ── lines ────────────────────────────────────────────────────────────────────────────────────────────────────────

WHOLE = {
    "one line each": (A + b"\n" + B + b"\n", [(a, 1), (b, 2)]),
    "no newline at the end": (A + b"\n" + B, [(a, 1), (b, 2)]),
    "byte order mark, CRLF, blank lines": (b"\xef\xbb\xbf" + A + b"\r\n\r\n   \r\n" + B + b"\r\n\n", [(a, 1), (b, 4)]),
    "a byte order mark where two files were joined": (A + b"\n\xef\xbb\xbf" + B + b"\n", [(a, 1), (b, 2)]),
    "NUL padding": (b"\0\0" + A + b"\0\0\n\0\0\0\n" + B + b"\n\0\0\0", [(a, 1), (b, 3)]),
    "records glued together": (A + b"\n" + B + C + b"\n" + A + b" \t" + B, [(a, 1), (b, 2), (c, 2), (a, 3), (b, 3)]),
    "glued records with }{ in a text": (b'{"t":"}{"}{"t":"\\"}{\\""}\n', [({"t": "}{"}, 1), ({"t": '"}{"'}, 1)]),
    "line ends of old Macs": (A + b"\r" + B + b"\r", [(a, 1), (b, 1)]),
    "line separators in a string": (
        '{"t":"a\u2028b\u2029c\u0085d"}\n'.encode(),
        [({"t": "a\u2028b\u2029c\u0085d"}, 1)],
    ),
    "JSON text sequence": (b"\x1e" + A + b"\n\x1e" + B + b"\n", [(a, 1), (b, 2)]),
    "an array in a line": (b'[{"n":1}]\n' + A + b"\n", [([{"n": 1}], 1), (a, 2)]),
    "UTF-16": (b"\xff\xfe" + (A + b"\r\n" + B).decode().encode("utf-16-le"), [(a, 1), (b, 2)]),
    "UTF-16, big end first": (b"\xfe\xff" + (A + b"\n" + B).decode().encode("utf-16-be"), [(a, 1), (b, 2)]),
    "a document on one line": (b'{"messages":[{"n":1}]}\n', [({"messages": [{"n": 1}]}, 1)]),
    "a document over many lines": (b'\n{\n "messages": [\n  {"n": 1}\n ]\n}\n', [({"messages": [{"n": 1}]}, 1)]),
    "a document of one element": (b'[\n{"n": 1}\n]\n', [([{"n": 1}], 1)]),
    "several documents": (b'{\n "n": 1\n}\n{\n "n": 2\n}\n', [({"n": 1}, 1), ({"n": 2}, 4)]),
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_file_gives_its_records_and_no_damage(name):
    data, expected = WHOLE[name]
    found, parse, warnings = records(data)
    assert found == [Record(*pair) for pair in expected]
    assert parse == Parse(records_ok=len(expected))
    assert warnings == []


DAMAGED = {
    "cut in the last record": (A + b"\n" + B[:9], [(a, 1)], Parse(1, 0, 0, True), [("partial-tail", 2)]),
    "cut in a character": (A + b'\n{"t":"\xc3', [(a, 1)], Parse(1, 0, 0, True), [("partial-tail", 2)]),
    "cut after a glued record": (A + b"\n" + B + C[:5], [(a, 1), (b, 2)], Parse(2, 0, 0, True), [("partial-tail", 2)]),
    "cut, then NUL padding": (A + b"\n" + B[:9] + b"\0\0\0", [(a, 1)], Parse(1, 0, 0, True), [("partial-tail", 2)]),
    "cut in the only record": (A[:9], [], Parse(0, 0, 0, True), [("partial-tail", 1)]),
    "damage in the middle": (A + b"\n" + B[:9] + b"\n" + C, [(a, 1), (c, 3)], Parse(2, 1, 1), [("damaged-line", 2)]),
    "damage in the first line": (A[:9] + b"\n" + B, [(b, 2)], Parse(1, 1, 1), [("damaged-line", 1)]),
    "damage behind a record": (A + b"\n" + B + b"Killed\n", [(a, 1), (b, 2)], Parse(2, 0, 1), [("damaged-line", 2)]),
    "half a record before a whole one": (
        A + b"\n" + B[:9] + C + b"\n", [(a, 1), (c, 2)], Parse(2, 0, 1), [("damaged-line", 2)],
    ),
    "half a record, zeros, two whole ones": (
        A + b"\n" + B[:9] + b"\0\0" + C + A + b"\n", [(a, 1), (c, 2), (a, 2)], Parse(3, 0, 1), [("damaged-line", 2)],
    ),
    "a piece of a record is no record": (
        A + b'\n{"n":2,"t":{"x":1}\n', [(a, 1)], Parse(1, 1, 1), [("damaged-line", 2)],
    ),
    "a log line": (A + b"\nKilled\n", [(a, 1)], Parse(1, 1, 1), [("damaged-line", 2)]),
    "a log line at the end": (A + b"\nKilled", [(a, 1)], Parse(1, 1, 1), [("damaged-line", 2)]),
    "a prefix before a record": (b"12:00 " + B + b"\n" + A, [(b, 1), (a, 2)], Parse(2, 0, 1), [("damaged-line", 1)]),
    "bytes that are not UTF-8": (
        A + b'\n{"t":"\xff"}\n', [(a, 1), ({"t": "\ufffd"}, 2)], Parse(2, 0, 1), [("invalid-utf8", 2)],
    ),
    "values that are no records": (
        A + b'\n7\n"x"\nnull\n', [(a, 1)], Parse(1, 3, 0),
        [("not-a-record", 2), ("not-a-record", 3), ("not-a-record", 4)],
    ),
    "nesting beyond all measure": (
        A + b"\n" + b"[" * 100_000 + b"]" * 100_000 + b"\n", [(a, 1)], Parse(1, 1, 1), [("damaged-line", 2)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGED)
def test_damage_costs_what_it_covers_and_is_told_with_its_line(name):
    data, expected, parse, warnings = DAMAGED[name]
    assert records(data) == ([Record(*pair) for pair in expected], parse, warnings)


@pytest.mark.parametrize("depth", [150, 200, 201, 300, 900, 1100, 3000])
@pytest.mark.parametrize("opening, closing", [(b"[", b"]"), (b'{"a":', b"}")])
def test_depth_is_bounded(depth, opening, closing):
    inner = opening * (depth - 1) + b"1" + closing * (depth - 1)
    found, parse, _ = records(A + b'\n{"d":' + inner + b"}\n" + B)
    assert len(found) == (3 if depth <= 200 else 2)
    assert parse.records_bad == parse.damaged_places == (depth > 200)


def test_brackets_in_a_text_are_not_depth():
    text = {"t": "[{" * 5000}
    assert datas(json.dumps(text).encode() + b"\n" + json.dumps("{" * 500).encode()) == [text]


def test_numbers_that_orjson_refuses_are_passed_on():
    (data,) = datas(
        b'{"a":NaN,"b":1e400,"c":-Infinity,"d":123456789012345678901234567890,"e":' + b"9" * 5000 + b',"f":7}'
    )
    assert data["a"] != data["a"]
    assert [data[key] for key in "bcdef"] == [
        float("inf"),
        float("-inf"),
        123456789012345678901234567890.0,
        float("inf"),
        7,
    ]
    assert isinstance(data["d"], float)


def test_lone_surrogates_become_replacement_characters_everywhere():
    assert datas(rb'{"\ud83d":["\ud83d x",{"k":"\ude00"}],"pair":"\ud83d\ude00"}') == [
        {"\ufffd": ["\ufffd x", {"k": "\ufffd"}], "pair": "\U0001f600"}
    ]


def test_a_lone_surrogate_in_utf16_is_told():
    data = b"\xff\xfe" + '{"t":"\ud83d"}'.encode("utf-16-le", "surrogatepass")
    found, parse, _ = records(data)
    assert set(found[0].data["t"]) == {"\ufffd"}
    assert parse.damaged_places == 1


def test_repeated_warnings_are_summed_up_and_the_counts_kept():
    reading = read("x", A + b"\n" + b"oops\n" * 1000)
    list(reading)
    assert reading.parse == Parse(1, 1000, 1000)
    assert [warning.line for warning in reading.warnings] == [*range(2, 22), None]
    assert reading.warnings[-1].message == "and 980 more of these"


# ── documents ────────────────────────────────────────────────────────────────────────────────────────────────────

DOCUMENT = json.dumps(
    {"id": "s", "messages": [{"n": n, "content": [{"t": "x"}, {"t": "y"}]} for n in range(5)]}, indent=1
)


def test_a_document_that_is_cut_off_keeps_its_whole_messages():
    data = DOCUMENT[: DOCUMENT.index('"n": 3') + 40].encode()
    found, parse, warnings = records(data)
    assert [message["n"] for message in found[0].data["messages"]] == [0, 1, 2]
    assert parse == Parse(1, 0, 0, True)
    assert warnings == [("partial-tail", data.count(b"\n") + 1)]


def test_a_damaged_document_is_read_up_to_the_damage():
    found, parse, warnings = records(DOCUMENT.replace('"n": 3', '"n" 3').encode())
    assert [message["n"] for message in found[0].data["messages"]] == [0, 1, 2]
    assert parse == Parse(1, 0, 1)
    assert warnings == [("damaged-document", DOCUMENT[: DOCUMENT.index('"n": 3')].count("\n") + 1)]


@pytest.mark.parametrize("cut", range(2, len(DOCUMENT), 7))
def test_a_cut_document_never_makes_anything_up(cut):
    whole = json.loads(DOCUMENT)
    for record in records(DOCUMENT[:cut].encode())[0]:
        assert record.data.get("id") == "s"
        kept = record.data.get("messages", [])
        assert kept[:-1] == whole["messages"][: max(0, len(kept) - 1)]


def test_unwrap_gives_the_elements_of_an_array_document():
    reading = read("x", b'[{"n":1},\n7,\n{"n":2}]')
    assert list(reading.unwrap()) == [Record({"n": 1}, 1), Record({"n": 2}, 3)]
    assert reading.parse == Parse(2, 1)


@pytest.mark.parametrize(
    "data", [A + b"\n" + B + b"\n" + C, b'[{"n":1}]\n[{"n":2}]\n', b"[1,2]", b'{"messages":[{"n":1}]}']
)
def test_unwrap_leaves_everything_else_alone(data):
    reading = read("x", data)
    assert list(reading.unwrap()) == list(reading)


# ── packed files ─────────────────────────────────────────────────────────────────────────────────────────────────

LINES = b"".join(json.dumps({"n": n, "t": "ä" * (n % 97)}).encode() + b"\n" for n in range(4000))
RANDOM = b"".join(json.dumps({"n": n, "t": Random(n).randbytes(400).hex()}).encode() + b"\n" for n in range(1000))
PACK = {"gzip": gzip.compress, "zstd": zstandard.ZstdCompressor().compress}


@pytest.mark.parametrize("kind", PACK)
def test_a_packed_file_reads_like_the_plain_one(kind):
    pack = PACK[kind]
    plain = records(LINES)
    assert records(pack(LINES)) == plain
    assert records(pack(LINES[:50_000]) + pack(LINES[50_000:])) == plain
    assert records(pack(LINES) + b"\0" * 600) == plain
    assert records(gzip.compress(pack(LINES))) == plain
    assert read("x", pack(LINES)).head == LINES[: 64 * 1024]


@pytest.mark.parametrize("pack", [gzip.compress, zstd_stream])
@pytest.mark.parametrize("cut", [200_000, -1])
def test_of_a_cut_stream_what_is_readable_is_read(pack, cut):
    found, parse, warnings = records(pack(RANDOM)[:cut])
    assert parse.damaged_places == 1
    assert "truncated-stream" in {code for code, _ in warnings}
    assert [record.data for record in found] == [json.loads(line) for line in RANDOM.splitlines()[: len(found)]]
    assert len(found) > (300 if cut > 0 else 900)


@pytest.mark.parametrize("kind", PACK)
def test_a_stream_cut_before_its_first_bytes_is_an_error(kind):
    with pytest.raises(TraceError, match=f"{kind} stream is cut off"):
        read("x", PACK[kind](RANDOM)[:15])


@pytest.mark.parametrize("kind", PACK)
def test_a_damaged_stream_is_told(kind):
    packed = PACK[kind](LINES)
    for data in (packed + b"garbage", packed[: len(packed) // 2] + b"\xff" * 300 + packed[len(packed) // 2 + 300 :]):
        try:
            _, parse, warnings = records(data)
        except TraceError:
            continue
        assert parse.damaged_places >= 1
        assert {code for code, _ in warnings} >= {"damaged-stream"}


def test_a_stream_with_nothing_readable_in_it_is_an_error():
    with pytest.raises(TraceError, match="gzip stream is damaged"):
        read("x.gz", b"\x1f\x8b" + b"\xff" * 100)


@pytest.mark.parametrize("kind", PACK)
def test_a_decompression_bomb_is_refused(kind):
    with pytest.raises(TraceError, match="trap"):
        records(PACK[kind](b" " * (80 * 1024**2) + A))


def test_text_that_packs_well_is_no_bomb():
    assert len(records(gzip.compress(b'{"t":"' + b" " * 1_200_000 + b'"}\n' + A))[0]) == 2


def test_packings_in_packings_are_bounded():
    with pytest.raises(TraceError, match="packed more than 2 times"):
        records(gzip.compress(gzip.compress(gzip.compress(A))))


@pytest.mark.parametrize("magic", unpack.FOREIGN)
def test_a_foreign_file_is_named(magic):
    what, hint = unpack.FOREIGN[magic]
    with pytest.raises(TraceError, match=what) as error:
        list(read("x.bin", magic + b"\0" * 50))
    assert error.value.hint == hint


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("data", [b"", b"\n", b" \r\n\t\n", b"\xef\xbb\xbf\n", b"\0" * 200_000, zstd_stream(b"\n")])
def test_a_file_without_anything_is_empty(data):
    with pytest.raises(EmptyTrace, match=r"empty|blank") as error:
        read("x.jsonl", data)
    assert "0 records" in error.value.hint


def test_what_is_no_readable_file_is_an_error(tmp_path):
    with pytest.raises(TraceError, match=r"nowhere\.jsonl: no such file"):
        read(str(tmp_path / "nowhere.jsonl"))
    with pytest.raises(TraceError, match="a folder"):
        read(str(tmp_path))
    with pytest.raises(TraceError, match="null"):
        read("a\0b")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_must_not_be_read_is_an_error(tmp_path):
    file = tmp_path / "x.jsonl"
    file.write_bytes(A)
    file.chmod(0)
    with pytest.raises(TraceError, match="ermission"):
        read(str(file))


def test_a_file_that_is_gone_when_it_is_read_again_is_an_error(tmp_path):
    file = tmp_path / "x.jsonl"
    file.write_bytes(A)
    reading = read(str(file))
    file.unlink()
    with pytest.raises(TraceError, match="No such file"):
        list(reading)


def test_standard_input_is_read_as_bytes(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(LINES))))
    reading = read("-")
    assert reading.path == "-"
    assert len(list(reading)) == len(list(reading)) == 4000


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_read_once(tmp_path):
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: Path(pipe).write_bytes(LINES))
    writer.start()
    assert len(list(read(pipe))) == 4000
    writer.join()


def test_a_long_file_is_not_held_in_memory(tmp_path):
    for name, data in (("plain", LINES * 20), ("packed", gzip.compress(LINES * 20, 1))):
        file = tmp_path / name
        file.write_bytes(data)
        reading = read(str(file))
        tracemalloc.start()
        assert sum(1 for _ in reading) == 80_000
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < len(LINES) * 20 / 2


def test_a_pass_that_is_broken_off_counts_what_it_gave():
    reading = read("x", LINES)
    for record in reading:
        if record.line == 10:
            break
    del record
    assert len(list(reading)) == reading.parse.records_ok == 4000


# ── any bytes at all ─────────────────────────────────────────────────────────────────────────────────────────────

PIECES = [
    *(
        A,
        B,
        gzip.compress(A),
        zstd_stream(A),
        b'{"n":',
        b'"t"',
        b"\\ud83d",
        b"NaN",
        b"1e999",
        b"null",
        b"\r\n",
        b"\xff",
    ),
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xe2\x80\xa8"),
    *(bytes([byte]) for byte in b'{}[]",:\n\\-\0'),
]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=500, deadline=None)
@given(st.binary(max_size=300) | st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join))
@example(b'[]oops{"":0}')
def test_any_bytes_give_records_or_an_error_of_ours(data):
    try:
        reading = read("x", data)
        found = list(reading.unwrap())
    except CtxbudgetError as error:
        told, found = error.message, []
    else:
        told = ""
        assert len(found) == reading.parse.records_ok
    assert "\n" not in told
    json.dumps([record.data for record in found], ensure_ascii=False).encode()
    orjson.dumps([record.data for record in found])


@settings(max_examples=300, deadline=None)
@given(st.lists(st.dictionaries(st.text(), JSON, max_size=4), min_size=1, max_size=5), st.booleans(), st.data())
def test_a_cut_file_gives_the_records_before_the_cut(items, ascii_only, data):
    lines = [json.dumps(item, ensure_ascii=ascii_only).encode() + b"\n" for item in items]
    text = b"".join(lines)
    cut = data.draw(st.integers(1, len(text)))
    whole = text[: cut + 1].count(b"\n")  # a record is whole without its newline too
    found, parse, _ = records(text[:cut])
    assert [record.data for record in found] == items[:whole]
    assert parse == Parse(whole, 0, 0, partial_tail=cut > len(b"".join(lines[:whole])))


@settings(max_examples=100, deadline=None)
@given(st.lists(JSON, max_size=5), st.integers(0, 3))
def test_a_document_reads_the_same_however_it_is_laid_out(items, indent):
    plain = json.dumps(items).encode()
    assert datas(json.dumps(items, indent=indent).encode()) == datas(plain)


# ── cases from real use ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.skipif(not CASES.is_dir(), reason="the cases lie beside the checkout")
@pytest.mark.parametrize(
    "file, parse",
    [
        ("C22/plain/rollout-demo22.jsonl", Parse(8)),
        ("C22/packed/rollout-demo22.jsonl.zst", Parse(8)),
        ("C65/session.jsonl", Parse(4)),
        ("C69/cut.jsonl", Parse(5, partial_tail=True)),
        ("C69/no_newline.jsonl", Parse(6)),
        ("C71/session.jsonl", Parse(6)),
        ("C73/session.jsonl", Parse(4)),
        ("C74/session.jsonl", Parse(4)),
        ("C76/session.jsonl", Parse(4)),
        ("C78/session.jsonl", Parse(8)),
        ("C82/session.jsonl", Parse(4)),
    ],
)
def test_cases_from_real_use(file, parse):
    reading = read(str(CASES / file))
    list(reading)
    assert reading.parse == parse


@pytest.mark.skipif(not CASES.is_dir(), reason="the cases lie beside the checkout")
def test_byte_order_mark_and_line_ends_change_nothing():
    clean, session = (read(str(CASES / "C74" / name)) for name in ("clean.jsonl", "session.jsonl"))
    assert [record.data for record in session] == [record.data for record in clean]


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux tells it")
def test_a_huge_line_takes_memory_in_proportion(tmp_path):
    file = tmp_path / "huge.jsonl"
    file.write_bytes(A + b'\n{"blob":"' + b"QUJD" * 6_000_000 + b'"}\n' + B)
    script = """
import resource, sys
from ctxbudget.records import read
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before = peak()
assert sum(1 for _ in read(sys.argv[1])) == 3
print(peak() - before)
"""
    grown = subprocess.run([sys.executable, "-c", script, file], check=True, capture_output=True, text=True)
    assert int(grown.stdout) < 5 * file.stat().st_size
