"""Each estimator on a few calls, and what they get wrong."""

import pytest

from ctxbudget.errors import UnknownName
from ctxbudget.estimators import ESTIMATORS, estimator


@pytest.mark.parametrize(
    "name,expected",
    [
        ("bpe", [1_000, 2_000, 3_000]),
        ("chars4", [1_000, 2_000, 3_000]),
        ("ema", [1_000, 2_400, 3_600]),  # learns 10/3 characters per token from the first call
        ("anchored", [1_000, 2_200, 3_400]),  # the overhead of 200 and the factor of the step are in the anchor
    ],
)
def test_three_calls(name, expected):
    guess = estimator(name)
    given = []
    for counted in (1_000, 2_000, 3_000):
        given.append(guess.estimate(counted, counted * 4))
        guess.report(round(counted * 1.2))
    assert given == expected


def test_the_anchor_forgets_an_additive_overhead_at_once():
    guess = estimator("anchored")
    guess.estimate(500, 2_000)
    guess.report(30_500)
    assert guess.estimate(700, 2_800) == 30_700


def test_a_zero_reading_teaches_nothing():
    guess = estimator("ema")
    guess.estimate(0, 0)
    guess.report(0)
    assert guess.estimate(100, 400) == 100


def test_a_typo_is_told_the_nearest():
    with pytest.raises(UnknownName) as error:
        estimator("anchord")
    assert "anchored" in error.value.hint
    assert set(ESTIMATORS) == {"bpe", "chars4", "ema", "anchored"}
