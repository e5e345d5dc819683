"""When a text holds a string: the one rule of the index and of stand-ins."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stories import numbered

from ctxbudget.evidence import Signal, Use, holds, stands
from ctxbudget.evidence.standing import all_stand, words

LINE = 'return {"side": side * side}'


@pytest.mark.parametrize(
    "shown",
    [
        LINE,
        f"        {LINE}   ",
        f"\t{LINE}\r\n",
        numbered("def f():", f"    {LINE}"),
        f"12: {LINE}",
        f"12:{LINE}",
        f"   12\t    {LINE}",
        f"src/geo.py:12:    {LINE}",
        f"src/geo.py-12-    {LINE}",
        f"-    {LINE}\n+    return 1",
        f"> {LINE}",
        json.dumps({"output": f"x\n{LINE}\n"}),
        json.dumps({"command": f"echo '{LINE}'"}),
        f"if x: {LINE}  # why",
    ],
)
def test_what_stands_in_front_of_a_line_does_not_matter(shown):
    assert stands(LINE, shown)
    assert words(LINE) <= words(shown)


@pytest.mark.parametrize(
    "needle, text",
    [
        (LINE, 'return {"side": side  * side}'),
        (LINE, 'Return {"side": side * side}'),
        ("return side", "return sides"),
        ("turn side", "return side"),
        ("240", "1240"),
        ("240", "240.50"),
        ("240", "1.240"),
        ("240", "id240"),
        ("2026", "2026-02-02"),
        ("/b/c.py", "/a/b/c.py"),
        ("/b/c.py", "./b/c.py"),
        ("~/c.py", "x~/c.py"),
        ("", "x"),
    ],
)
def test_what_is_a_piece_of_something_longer_does_not_stand(needle, text):
    assert not needle or not stands(needle, text)


@pytest.mark.parametrize(
    "needle, text",
    [
        ("240", "(240)"),
        ("240", "costs 240."),
        ("240", "id=240,17"),
        ("20824", "20824,246,V31"),
        ("31.50", "V31,31.50,rb"),
        ("8842", "#8842"),
        ("WH-110", '{"sku": "WH-110"}'),
        ("/w/shop", "/w/shop/a.py"),
        ("/b/c.py", '"/b/c.py:14:"'),
        ("/b/c.py", "a\\n/b/c.py"),
        ("name", "x\\nname\\ty"),
    ],
)
def test_what_stands_by_itself(needle, text):
    assert stands(needle, text)


def test_the_first_place_need_not_be_the_right_one():
    assert stands("area(side)", "myarea(side) area(side)")


def test_lines_may_come_in_any_order():
    assert all_stand(("two words", "one word"), "one word\ntwo words")
    assert not all_stand(("two words", "three words"), "one word\ntwo words")


def test_a_stand_in_holds_a_use_if_it_holds_every_string():
    use = Use(Signal.EDIT, 3, "t4.0", ("def area(side):", "return side * side"))
    assert holds("[shortened] def area(side):\n   return side * side", use)
    assert not holds("[shortened] def area(side):", use)
    assert not holds("anything", Use(Signal.AGAIN, 3, "t4.0"))


@given(st.text(alphabet='ab"\\\n\té_ 1.,-/', min_size=1, max_size=12), st.text(max_size=5), st.text(max_size=5))
def test_what_stands_in_a_text_stands_in_its_json_and_has_its_words_there(needle, before, after):
    needle = needle.strip()
    if not needle or "\n" in needle:
        return
    text = f"{before}\n  {needle}\n{after}"
    assert stands(needle, text)
    assert words(needle) <= words(text)
    written = json.dumps({"x": text}, ensure_ascii=False)
    assert stands(needle, written)
    assert words(needle) <= words(written)


@given(st.text(max_size=30), st.text(min_size=1, max_size=6))
def test_the_index_never_misses_what_stands(text, needle):
    if stands(needle, text):
        assert words(needle) <= words(text)
