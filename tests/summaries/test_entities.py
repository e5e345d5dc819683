import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxbudget.summaries.entities import entities_in, find, lost, recall

TABLE = [
    ("invoice #8842 is overdue", ["#8842"]),
    ("policy REF-12, case WC-6072, customer C-2071", ["REF-12", "WC-6072", "C-2071"]),
    ("limited to $240.00 in total, and 5,000 dollars", ["$240.00", "5,000 dollars"]),
    ('{"amount": 240.0, "paid": 0.0, "due": "2026-01-13"}', ["240.0", "2026-01-13"]),
    ("request rq-37a5c5492c, parcel HX442190771", ["rq-37a5c5492c", "HX442190771"]),
    ("due on 13 January, sent 2026-02-02 14:33", ["13 January", "2026-02-02 14:33"]),
    ("see src/pay.py, ./b.toml and /etc/hosts/allow", ["src/pay.py", "b.toml", "/etc/hosts/allow"]),
    ("do not touch legacy/, it is old", ["legacy/"]),
    ("https://a.example/c?d=1, or dana@example.org.", ["https://a.example/c?d=1", "dana@example.org"]),
    ("commit b1946ac92492, order 5519", ["b1946ac92492", "5519"]),
    ("km/h and/or 1,240 degrees at 50 %", []),
    ("3d6f0a1e-1111-4222-8333-abcdefabcdef", ["3d6f0a1e-1111-4222-8333-abcdefabcdef"]),
    (r"C:\work\a.py", [r"C:\work\a.py"]),
]


@pytest.mark.parametrize("text,expected", TABLE)
def test_table(text, expected):
    assert [one.text.removeprefix("./") for one in entities_in([text])] == expected


@pytest.mark.parametrize(
    "one,other",
    [("#8842", '"invoice": "8842"'), ("$240", "$240.00"), ("$240", '"amount": 240.0'), ("$1,234.50", '"total": 1234.5'),
     ("./a/b.py", "a/b.py"), ("legacy/", "the folder legacy/ stays")],
)  # fmt: skip
def test_one_thing_in_two_spellings(one, other):
    assert lost(entities_in([f"x {one} "]), other) == ()


@pytest.mark.parametrize("one,other", [("#8842", "98842"), ("$240", "$240.50"), ("5519", "55190"), ("REF-1", "REF-12")])
def test_a_part_of_another_is_lost(one, other):
    assert len(lost(entities_in([one]), other)) == 1


def test_recall():
    found = entities_in(["#8842, REF-12, $240 and 2026-01-13"])
    assert recall(found, "#8842 and REF-12 only") == 0.5
    assert recall(found, "") == 0
    assert recall((), "anything") == 1


@given(st.text(max_size=500))
def test_what_is_found_stands_there(text):
    for start, one in find(text):
        assert text.startswith(one.text, start)
    assert recall(entities_in([text]), text) == 1


@pytest.mark.timed
@pytest.mark.parametrize(
    "unit", ["a", "a/", "-", "1", "a.b", "/", "$1,", "a@", "a_", "0a", "\\", "A-1", "1.", "#1-", "12:"]
)
def test_long_runs_take_no_time(unit):
    started = time.perf_counter()
    entities_in([unit * (200_000 // len(unit))])
    assert time.perf_counter() - started < 5
