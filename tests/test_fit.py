"""The calibration line: exact data gives the exact line, outliers do not bend it, and it extrapolates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxbudget.fit import Point, errors, fit_line, held_out, jumps, overheads_of


def points(factor, overhead, steps, *, stretch=0, fixed=0, start=0):
    found, counted, settled = [], start, 0
    for step in steps:
        counted += step
        settled += fixed
        found.append(Point(stretch, counted, settled, round(overhead + factor * counted + settled)))
    return found


@given(
    st.floats(0.7, 2.2),
    st.integers(0, 40_000),
    st.lists(st.integers(200, 9_000), min_size=6, max_size=60),
    st.integers(0, 500),
)
def test_exact_data_gives_the_line_back(factor, overhead, steps, fixed):
    line = fit_line(points(factor, overhead, steps, fixed=fixed))
    assert line.factor == pytest.approx(factor, abs=0.01)
    assert line.overheads[0] == pytest.approx(overhead, abs=0.01 * sum(steps) + 2)


def test_one_wild_call_does_not_bend_it():
    calls = points(1.3, 20_000, [1_000] * 40)
    calls[20] = Point(0, calls[20].counted, 0, calls[20].reported + 15_000)
    assert fit_line(calls).factor == pytest.approx(1.3, abs=0.01)


def test_a_jump_that_stays_is_kept_apart_from_the_factor():
    calls = points(1.2, 20_000, [1_000] * 40)
    late = [Point(0, c.counted, 0, c.reported + (2_500 if at >= 20 else 0), at + 1) for at, c in enumerate(calls)]
    line = fit_line(late)
    assert line.factor == pytest.approx(1.2, abs=0.001)
    assert line.late == {21: pytest.approx(2_500, abs=2)}


def test_dense_text_is_no_jump():
    calls = [Point(0, 0, 0, 10_000), Point(0, 1_000, 0, 12_200), Point(0, 2_000, 0, 14_400)]
    assert jumps(calls) == []


def test_each_stretch_has_its_own_overhead():
    calls = points(1.2, 18_000, [2_000] * 20) + points(1.2, 26_000, [2_000] * 20, stretch=1)
    line = fit_line(calls)
    assert line.overheads == pytest.approx({0: 18_000, 1: 26_000}, abs=5)


def test_an_overhead_stays_near_what_the_first_prompt_says():
    calls = points(1.2, 10_000, [1_000] * 3) + [Point(0, 9_000, 0, 60_000)] * 10
    assert overheads_of(calls, 1.2)[0] == pytest.approx(11_000, abs=1)


def test_no_overhead_is_negative():
    line = fit_line([Point(0, counted, 0, round(0.8 * counted) - 900) for counted in range(20_000, 40_000, 1_000)])
    assert line.overheads[0] == 0
    assert 0.7 < line.factor < 0.8


def test_held_out_errors_are_small_on_noisy_data():
    calls = points(1.3, 20_000, [700, 1_500, 300, 4_000, 90, 2_500] * 8)
    noisy = [Point(0, c.counted, 0, c.reported + (37 * at) % 101 - 50) for at, c in enumerate(calls)]
    first, second = held_out(noisy)
    assert max(first, second) < 0.003


def test_a_stretch_the_line_has_not_seen_starts_from_its_first_prompt():
    line = fit_line(points(1.2, 18_000, [2_000] * 10))
    later = points(1.2, 26_000, [2_000] * 10, stretch=1)
    assert len(errors(line, later)) == 9
    assert max(errors(line, later)) < 0.001


def test_too_few_calls_hold_nothing_out():
    assert held_out(points(1.2, 18_000, [2_000] * 3)) is None
