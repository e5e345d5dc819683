"""What holds for the digest of any text: within its cap and its source, true to the number, the same each time."""

from __future__ import annotations

import html
import json
import random
import re
import time
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxbudget.digests import _wording, digest, label, skeleton, without_blobs
from ctxbudget.digests._envelope import unwrapped
from ctxbudget.resources import CLASSES
from ctxbudget.tokens import counter
from ctxbudget.trace import Fragment, Kind, Origin, Resource

count = counter("o200k_base").count

ROWS = [
    row
    for path in sorted(Path(__file__).parent.glob("*.toml"))
    for row in tomllib.loads(path.read_text())["observation"]
]
TEXTS = sorted({row.get("text", "") for row in ROWS} - {""})
LINES = sorted({line for text in TEXTS for line in text.splitlines()})
TARGETS = [
    None,
    "src/pay.py",
    "a.csv",
    "x.log",
    "b.md",
    "c.json",
    "http://x.example/p",
    "git log -3",
    "pytest -q",
    "up 99",
]


def fragment(
    text, cls="shell", target="tool it", *, kind=Kind.RESULT, role="tool", tool="Tool", error=False, span=None
):
    counted = count(text)
    return Fragment(
        "t9.1", kind, text, counted, counted, 9, "u", 4, role, Origin("x", 1), call=None if role == "user" else "c1",
        tool=tool, resource=Resource(cls, target, span) if cls else None, error=error,
    )  # fmt: skip


# ── any text ───────────────────────────────────────────────────────────────────────────────────────────────────────

hostile = st.text(st.characters(), max_size=200)
pieces = st.one_of(
    st.sampled_from(LINES),
    st.sampled_from(TEXTS),
    hostile,
    st.sampled_from(
        [
            "\x1b[31m",
            "\x00",
            "\ud800",
            "\r\n",
            "\t",
            "  ",
            "1,234,567",
            "0x1f",
            "漢字1枚",
            "🧵" * 3,
            "-" * 90,
            "}]",
            "[{",
        ]
    ),
    st.integers().map(str),
    st.integers(2, 400).map(lambda size: "9" * size),
)
texts = st.lists(pieces, max_size=30).flatmap(
    lambda some: st.sampled_from(["\n", " ", ""]).map(lambda glue: glue.join(some))
)
observed = st.builds(
    fragment,
    texts,
    st.sampled_from(["", *sorted(CLASSES)]),
    st.sampled_from(TARGETS),
    kind=st.sampled_from([Kind.RESULT, Kind.CALL, Kind.RETRIEVAL, Kind.USER, Kind.MEDIA]),
    role=st.sampled_from(["tool", "assistant", "user"]),
    tool=st.sampled_from(["Tool", None, "mcp__x__snapshot"]),
    error=st.booleans(),
    span=st.sampled_from([None, (3, 9), (-20, -1), (10, -1)]),
)
caps = st.one_of(st.sampled_from([60, 400]), st.integers(0, 3000))
relaxed = settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@relaxed
@given(observed, caps, st.lists(st.sampled_from(["def", "pay.py:3", "test", "", "ERROR"]), max_size=3))
def test_never_over_its_cap_nor_longer_than_its_source_and_always_the_same(seen, cap, hints):
    made = digest(seen, cap, count, hints=hints)
    assert count(made) <= min(cap, seen.tokens)
    assert made == digest(seen, cap, count, hints=hints)
    assert not {"\x1b", "\x00"} & set(made)
    made.encode()  # no lone surrogates


NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)*")


def numbers(text):
    return set(NUMBER.findall(text))


def strings(value):
    """All text in a JSON value, keys included."""
    if isinstance(value, dict):
        return " ".join([*map(str, value), *map(strings, value.values())])
    return " ".join(map(strings, value)) if isinstance(value, list) else str(value)


def in_source(seen):
    """Every number that the source holds, in each way of reading it: raw, without colours, as HTML, as JSON."""
    text = seen.text
    plain = re.sub(
        r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])",
        "",
        unwrapped(text.replace("\r\n", "\n"))[0],
    )
    found = (
        numbers(text)
        | numbers(plain)
        | numbers(html.unescape(plain))
        | numbers(f"{seen.resource} {seen.turn - 1} {seen.turn}")
    )
    for part in (plain, text.removeprefix("Tool").lstrip(), *plain.split("\n")):
        try:
            found |= numbers(strings(json.loads(part, parse_int=str, parse_float=str)))
        except (ValueError, RecursionError):
            continue
    return found


@pytest.fixture
def written(monkeypatch):
    """Every number that a digest counted."""
    found = set()

    def spelled(value, separator):
        found.add(format(value, separator))
        return format(value, separator)

    monkeypatch.setattr(_wording, "_spelled", spelled)
    return found


@settings(relaxed, suppress_health_check=list(HealthCheck))
@given(observed, caps)
def test_every_number_is_in_the_source_or_was_counted(written, seen, cap):
    written.clear()
    made = digest(seen, cap, count)
    unknown = numbers(made) - in_source(seen) - written
    # cells of a quoted table stand side by side without their quotes: 1,2 for "1","2"
    parts = {part for number in in_source(seen) | written for part in re.split("[.,]", number)}
    assert not {number for number in unknown if not set(re.split("[.,]", number)) <= parts or '"' not in seen.text}


WORDS = ["1,234,567.89", "zz2026-02-02", "$5,000", "zzword", "zzunbroken", "zzx=12345678", "漢字", "(3.5)", "zz_9.1.2"]


@settings(relaxed, suppress_health_check=list(HealthCheck))
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=300), st.sampled_from(["", *sorted(CLASSES)]), caps)
def test_no_number_or_word_is_cut(written, words, cls, cap):
    written.clear()
    made = digest(fragment(" ".join(words), cls, "it"), cap, count)
    assert numbers(made) <= numbers(" ".join(words)) | written | {"8", "9"}
    whole = {word for each in words for word in re.findall(r"zz[\w.-]+", each)}
    assert set(re.findall(r"zz[\w.-]+", made)) <= whole


# ── counts, recomputed ─────────────────────────────────────────────────────────────────────────────────────────────

names = st.lists(st.from_regex(r"[a-z]{3,9}", fullmatch=True), min_size=2, max_size=6, unique=True)
sizes = st.integers(3, 3000)


@settings(relaxed, max_examples=60)
@given(names, sizes, st.sampled_from([",", ";", "\t"]))
def test_rows_and_columns_of_a_table(columns, rows, separator):
    lines = [
        separator.join(columns),
        *(separator.join(f"{row}.{at}5" for at, _ in enumerate(columns)) for row in range(rows)),
    ]
    made = digest(fragment("\n".join(lines), "read", "a.csv"), 100, count)
    assert f": {rows:,} rows; columns {', '.join(columns)}" in made


@settings(relaxed, max_examples=60)
@given(names, sizes)
def test_rows_of_json(columns, rows):
    value = [{column: f"{row}-{column}" for column in columns} for row in range(rows)]
    assert f": {rows:,} rows; columns" in digest(fragment(json.dumps(value), "retrieval", "it"), 100, count)
    lines = "\n".join(map(json.dumps, value))
    assert f": {rows:,} rows; columns" in digest(fragment(lines, "read", "a.jsonl"), 100, count)


@settings(relaxed, max_examples=60)
@given(st.lists(st.integers(3, 40), min_size=2, max_size=30))
def test_hits_of_a_search(hits):
    lines = [f"src/f{file}.py:{line}: found it" for file, times in enumerate(hits) for line in range(times)]
    made = digest(fragment("\n".join(lines), "search", "it"), 100, count)
    assert f": {len(lines):,} hits in {len(hits)} files; src/f{hits.index(max(hits))}.py {max(hits)}" in made


@settings(relaxed, max_examples=60)
@given(st.integers(20, 500), st.integers(0, 50))
def test_entries_of_a_listing(files, directories):
    lines = [f"lib/f{n}.py" for n in range(files)] + [f"lib/d{n}/" for n in range(directories)]
    made = digest(fragment("\n".join(lines), "list", "lib"), 100, count)
    assert f": {files + directories} entr" in made
    if directories > 1:
        assert f"{directories} directories" in made


@settings(relaxed, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=6))
def test_lines_of_a_diff(changes):
    text = "".join(
        f"diff --git a/f{n} b/f{n}\n--- a/f{n}\n+++ b/f{n}\n@@ -1,9 +1,9 @@\n same\n"
        + "-old\n" * removed
        + "+new\n" * added
        for n, (added, removed) in enumerate(changes)
    )
    made = digest(fragment(text, "shell", "git diff"), 100, count)
    added, removed = (sum(side) for side in zip(*changes, strict=True))
    assert f"+{added} -{removed} lines in {len(changes)} file" in made


@settings(relaxed, max_examples=60)
@given(st.integers(0, 40), st.integers(1, 900), st.integers(0, 9))
def test_counts_of_a_test_run(failed, passed, skipped):
    lines = [f"FAILED tests/test_a.py::test_{n} - assert {n} == -1" for n in range(failed)]
    told = [(failed, "failed"), (passed, "passed"), (skipped, "skipped")]
    summary = ", ".join(f"{number} {word}" for number, word in told if number)
    text = "\n".join([*lines, f"==== {summary} in 1.20s ===="])
    made = digest(fragment(text, "test", "pytest"), 400, count)
    assert f": {summary}" in made or count(text) < 30


@settings(relaxed, max_examples=60)
@given(st.lists(st.sampled_from(["INFO", "ERROR", "WARN", "DEBUG"]), min_size=6, max_size=300))
def test_levels_of_a_log(levels):
    text = "\n".join(f"2026-02-02 10:00:{n % 60:02} {level} worker does its work" for n, level in enumerate(levels))
    made = digest(fragment(text, "read", "it.log"), 100, count)
    assert f": {len(levels)} lines" in made
    for level in ("ERROR", "WARN"):
        assert (f"{levels.count(level)} {level}" in made) == (level in levels)


@settings(relaxed, max_examples=60)
@given(st.integers(1, 9_000), st.sampled_from(["     {}→", "{}: ", "{}\t", "{}| "]))
def test_lines_of_a_file_by_their_numbers(first, mark):
    text = "\n".join(mark.format(first + n) + f"def f{n}(): pass" for n in range(30))
    made = digest(fragment(text, "read", "a.py", span=(first, first + 99)), 100, count)
    assert made.startswith(f"a.py, lines {first}-{first + 29}, read at turn 8: 30 lines; defines f0, f1,")


# ── the parts that stand alone ─────────────────────────────────────────────────────────────────────────────────────


def test_blobs_are_named_and_measured():
    source = random.Random(1)
    blob = "".join(source.choice("ABCDEFghijkl0123456789+/") for _ in range(12_345))
    assert without_blobs(f"key: {blob}, end") == "key: [base64, 12,345 characters], end"
    assert without_blobs(f'"data:image/png;base64,{blob}"') == f'"[image/png, base64, {12_345 + 22:,} characters]"'
    assert without_blobs("x " + "0a1f9b2c4d" * 40) == "x [hex, 400 characters]"
    wrapped = "\n".join(blob[at : at + 76] for at in range(0, 7_600, 76))
    assert without_blobs(f"head\n{wrapped}\nend") == f"head\n[base64, {len(wrapped):,} characters]\nend"


NO_BLOBS = ["a" * 5_000, "src/" * 200 + "Pay1.py", "0a1f9b2c" * 16, "sk-" + "aB3" * 50, "one two " * 900]


@pytest.mark.parametrize("text", NO_BLOBS, ids=lambda text: text[:6])
def test_what_is_no_blob_stays(text):
    assert without_blobs(text) == text


def test_a_snapshot_is_reduced_to_what_can_be_acted_on():
    text = "- Page URL: http://x.example/\n- Page Title: Bells\n" + "\n".join(
        f'- generic [ref=e{n}]: words\n- link "L{n}" [ref=l{n}]' for n in range(50)
    )
    text += '\n- button "Ring" [ref=b1]\n- textbox "Minutes" [ref=b2]\n- img: data:image/png;base64,' + "iVBO" * 900
    made = skeleton(text, 120, count)
    assert made.startswith("page http://x.example/: Bells; 1 button, 1 textbox, 50 links\n")
    for line in ('button "Ring" [ref=b1]', 'textbox "Minutes" [ref=b2]'):
        assert line in made
    assert "iVBO" not in made
    assert count(made) <= 120
    assert skeleton("no page at all", 120, count) == ""


def test_the_call_and_its_result_are_of_the_same_turn():
    call = fragment('Edit {"file_path": "src/pay.py", "old_string": "a", "new_string": "b"}', "edit", "src/pay.py",
        kind=Kind.CALL, role="assistant", tool="Edit")  # fmt: skip
    assert label(call) == "Edit src/pay.py, turn 8"
    assert digest(call, 60, count, ok=True) == "Edit src/pay.py, turn 8: 1 line replaced, ok"
    result = fragment("The file src/pay.py has been updated.", "edit", "src/pay.py", tool="Edit")
    assert digest(result, 60, count).startswith("src/pay.py, edited at turn 8")


def test_a_lead_gets_shorter_before_it_is_left_out():
    deep = fragment("word " * 400, "read", "/very/long/path/" * 4 + "pay.py")
    assert digest(deep, 60, count).startswith("/very/long/path/")
    assert digest(deep, 10, count).startswith("pay.py, read at turn 8")
    assert digest(deep, 5, count) == "Tool, turn 8"
    assert digest(deep, 2, count) == ""


def test_hints_bring_the_part_that_matters_and_change_nothing_at_a_small_cap():
    text = "\n".join(f"line {n} of the file says nothing" for n in range(400)) + "\nthe kiln holds 1,240 degrees\nend"
    file = fragment(text, "read", "notes.txt")
    assert "1,240 degrees" in digest(file, 400, count, hints=["kiln holds"])
    assert "line 77 of" in digest(file, 400, count, hints=["work/notes.txt:78"])
    assert digest(file, 60, count, hints=["kiln holds"]) == digest(file, 60, count)


@pytest.mark.timed
@pytest.mark.parametrize(
    "text",
    [
        " " * 2_000_000, "\n" * 1_000_000, "a" * 2_000_000, "1" * 2_000_000, "[" * 2_000_000, "<script>" * 200_000,
        "at " * 600_000, '"' * 1_000_000, "|\n" * 700_000, "key=1;" * 300_000, "--- a\n" * 300_000, "x:" * 900_000,
        "bash-$\n" * 200_000, "<system-reminder>" * 100_000, "a/" * 900_000, "ERROR 1\n" * 200_000, "=" * 2_000_000,
        "Traceback (most recent call last):\n" * 60_000, "# 1\n" * 400_000, "\x1b[" * 800_000,
        "FAILED a::b\n" * 100_000,
    ],
    ids=lambda text: repr(text[:12]),
)  # fmt: skip
@pytest.mark.parametrize("cls", ["shell", "read", "search", "list"])
def test_time_grows_with_the_text_and_no_faster(text, cls):
    seen = fragment(text, cls, "a.ts" if cls == "read" else "it")
    began = time.process_time()
    for cap in (60, 400):
        assert count(digest(seen, cap, count)) <= cap
    assert time.process_time() - began < 15, "a pattern that backtracks takes minutes here"
