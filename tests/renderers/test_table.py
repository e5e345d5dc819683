"""Tables of any width."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from ctxbudget.renderers import _table
from ctxbudget.renderers._sections import Column, Row, Section

SECTION = Section(
    "t",
    (
        Column("name", text=True),
        Column("tokens"),
        Column("share", drop=1),
        Column("what", text=True, cut="middle", room=20),
    ),
    (Row(("alpha", "1,234", "3.1 %", "a long description of something")), Row(("b", "5", "<0.1 %", "short"))),
)


def plain(section, width):
    return [line.plain for line in _table.lines(section, width, {})]


def test_without_a_width_nothing_is_cut():
    assert plain(SECTION, None) == [
        "name   tokens   share  what",
        "alpha   1,234   3.1 %  a long description of something",
        "b           5  <0.1 %  short",
    ]


def test_words_give_way_before_a_column_goes():
    assert plain(SECTION, 48)[1] == "alpha   1,234   3.1 %  a long d…ion of something"


def test_the_least_important_column_goes_first():
    assert plain(SECTION, 36) == ["name   tokens  what", "alpha   1,234  a long…n of something", "b           5  short"]


@pytest.mark.parametrize("cut, shown", [("end", "abcde…"), ("start", "…fghij"), ("middle", "a…ghij")])
def test_where_words_are_cut(cut, shown):
    assert _table._cut("abcdefghij", 6, cut) == shown


@given(
    st.text(st.characters(categories=["L", "So", "Lo"])),
    st.integers(1, 20),
    st.sampled_from(["end", "start", "middle"]),
)
def test_wide_characters_keep_the_columns_straight(text, width, cut):
    shown = _table._padded(text, width, Column("x", text=True, cut=cut))
    assert cell_len(shown) == width


@given(st.lists(st.text(max_size=60), min_size=1, max_size=5), st.integers(30, 120))
def test_a_table_fits(texts, width):
    columns = (Column("name", text=True), Column("n"), Column("m", drop=1), Column("what", text=True))
    section = Section("t", columns, tuple(Row((text, "1,000", "2,000", text)) for text in texts))
    for line in _table.lines(section, width, {}):
        assert line.cell_len <= width
        assert "\n" not in line.plain
