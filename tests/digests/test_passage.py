"""Head and tail of a text: what is kept from one try to the next never shows, and quick looks tell no other story."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_truth import relaxed

from ctxbudget.digests import without_blobs
from ctxbudget.digests._passage import Passage
from ctxbudget.digests._wording import clip, flat

WORDS = st.sampled_from(["a", "beta", "x;y{z}", "…", "中文字符。", "w" * 70, "", " ", "\n", "\t ", "\x1f", "\xa0"])
TEXTS = st.builds(str.join, st.sampled_from([" ", "", "\n", "  "]), st.lists(WORDS, max_size=120))
SIZES = st.lists(st.integers(1, 400), min_size=1, max_size=6)


@relaxed
@given(TEXTS, SIZES)
def test_an_earlier_try_changes_nothing(text, sizes):
    passage = Passage(text)
    assert [passage.ends(most) for most in sizes] == [Passage(text)._far(most) for most in sizes]


@relaxed
@given(TEXTS, SIZES)
def test_it_takes_no_more_room_than_it_has(text, sizes):
    passage = Passage(text)
    for most in sizes:
        assert len(passage.fit(most)[0]) <= most
        assert len(clip(text, most)) <= most


@relaxed
@given(TEXTS)
def test_one_line_is_one_line(text):
    assert flat(text) == " ".join(text.split())


def test_white_space_other_than_a_space_is_not_printable():
    spaces = [each for each in map(chr, range(sys.maxunicode + 1)) if each.isspace() and each.isprintable()]
    assert spaces == [" "]


@pytest.mark.parametrize("before", ["word " * 40_000, "word\n" * 40_000, ""])
def test_a_blob_is_found_behind_long_text(before):
    assert without_blobs(f"{before}{'0a1f9b2c4d' * 13} x") == f"{before}[hex, 130 characters] x"
    assert without_blobs(f"{before}{'0a1f9b2c' * 16} x") == f"{before}{'0a1f9b2c' * 16} x"
