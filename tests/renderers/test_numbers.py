"""Numbers as they are shown."""

import pytest

from ctxbudget.renderers import _numbers
from ctxbudget.sizes import counted


@pytest.mark.parametrize(
    "fraction, shown",
    [
        (0, "0 %"),
        (1, "100 %"),
        (0.392, "39.2 %"),
        (0.0001, "<0.1 %"),
        (0.9999, "99.9 %"),
        (1.0001, ">100 %"),
        (1.031, "103.1 %"),
        (12.345, "1,234.5 %"),
        (None, "-"),
    ],
)
def test_a_percentage_is_0_or_100_only_where_it_is(fraction, shown):
    assert _numbers.percent(fraction) == shown


@pytest.mark.parametrize("fraction, shown", [(0.013, "+1.3 %"), (-0.004, "-0.4 %"), (0, "0 %"), (-0.0001, "<0.1 %")])
def test_a_deviation_has_its_sign(fraction, shown):
    assert _numbers.signed(fraction) == shown


def test_tokens_have_separators_and_estimates_their_mark():
    assert _numbers.tokens(1_234_567) == "1,234,567"
    assert _numbers.tokens(1_234, estimated=True) == "~1,234"
    assert _numbers.tokens(None) == "-"


@pytest.mark.parametrize("number, shown", [(1204.4, "+1,204"), (-3.21, "-3.2"), (0, "0"), (0.01, "<0.1")])
def test_growth(number, shown):
    assert _numbers.gain(number) == shown


def test_words_follow_their_number():
    assert counted(1, "call") == "1 call"
    assert counted(0, "call") == "0 calls"
    assert counted(2, "entry", "entries") == "2 entries"
