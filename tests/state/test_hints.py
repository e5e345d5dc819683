"""What earlier context points at, and the gist of changes: small tables."""

from dataclasses import replace

import pytest
from sketch import sketch, words

from ctxbudget.passes.compress_at_entry.hints import FEW, hints
from ctxbudget.passes.compress_at_entry.hints import words as telling
from ctxbudget.passes.keep_state.deeds import Deed, gist, lasting
from ctxbudget.replay import view_at
from ctxbudget.strategy.naming import find
from ctxbudget.trace import Resource


@pytest.mark.parametrize("text, found", [
    ('fix `split_rest` in the "voucher rest" code', ["split_rest", "voucher rest", "split_rest"]),
    ("why does maxParcel of A fail with 20_000 g", ["maxParcel", "20_000"]),
    ("invoice #8842 and RULE-7 of Mr Smith", ["#8842"]),
    ("nothing to see here", []),
])  # fmt: skip
def test_words_that_may_be_names(text, found):
    assert list(telling(text)) == found


def pointed(texts, drawing, id):
    trace = sketch(drawing, texts=texts)
    view = view_at(trace, find("none"), len(trace.turns), window=10_000, count=words)
    return hints(view, view.known[id])


def test_a_search_hit_and_a_traceback_point_at_lines_of_the_file():
    texts = {
        "U1": "look at rest_of_voucher",
        "r1": "src/Read-3.py:41: def f\nsrc/other.py:7: x",
        "r2": 'File "/w/Read-3.py", line 88, in f',
        "R1": "now `split_share` itself",
    }
    found = pointed(texts, "U9 | c1=Grep:4 r1:9 | c2=Bash:4 r2:9 | R5 c3=Read:5 r3:900", "t4.2")
    assert found == ("rest_of_voucher", "split_share", "Read-3.py:41", "Read-3.py:88")


def test_nothing_that_comes_later_points():
    texts = {"r1": "words only", "r2": "Read-1.py:41: def f", "U2": "late_word"}
    assert pointed(texts, "U1 | c1=Read:5 r1:900 | c2=Grep:4 r2:9 U9", "t2.1") == ()


def test_hints_of_one_source_are_few():
    texts = {"U1": " ".join(f"name_{number}" for number in range(200))}
    assert len(pointed(texts, "U9 | c1=Read:5 r1:900", "t2.1")) == FEW


CALL = sketch("U1 | c1=Edit:5 r1:5").fragments[1]


@pytest.mark.parametrize("text, said", [
    ('Edit {"old_string": "a = 1\\nb = 2", "new_string": "a = 1\\nb = 3"}', "b = 3"),
    ('Edit {"old_string": "x", "new_string": "# why\\ny = 2"}', "y = 2"),
    ('Edit {"old_string": "x", "new_string": "# only a remark"}', "# only a remark"),
    ('Edit {"old_string": "x", "new_string": ""}', ""),
    ('Edit {"content": "\\n\\nfirst words\\nmore"}', "first words"),
    ("Edit *** Begin Patch\n@@\n-a = 1\n+a = 2\n", "a = 2"),
    ("Edit no arguments at all", ""),
])  # fmt: skip
def test_the_gist_of_a_change(text, said):
    assert gist(replace(CALL, text=text)) == said


@pytest.mark.parametrize("cls, target, lasts", [
    ("edit", "a.py", True), ("write", "a.py", True), ("act", "refund(amount=240)", True), ("test", "pytest", True),
    ("delegate", "look", True), ("read", "a.py", False), ("search", "x", False), ("shell", "git status", False),
    ("shell", "git commit -m x", True), ("fetch", "http://x", False),
])  # fmt: skip
def test_what_lasts_need_not_be_done_again(cls, target, lasts):
    assert lasting(replace(CALL, resource=Resource(cls, target))) is lasts


def test_a_deed_names_its_turns():
    assert Deed("Edit a.py", "x = 1", [22]).line() == "Edit a.py, turn 22: x = 1"
    assert Deed("Bash make", "", [3, 9]).line() == "Bash make, turns 3, 9"
    assert Deed("Bash make", "", list(range(1, 10))).line() == "Bash make, turns 1, 5, 6, 7, 8, 9 (9 times)"
