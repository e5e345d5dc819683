"""The per-turn chart."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxbudget.renderers import _bars, _chart
from ctxbudget.renderers._palette import ORANGE, letters
from ctxbudget.report import chart
from ctxbudget.report.chart import Column

INK = _bars.Ink(("system", "task", "state"), colored=False)


def column(turn, *parts, rest=0.0, compacted=False):
    return Column(turn, turn, turn, sum(parts) + rest, parts, rest, compacted)


def drawn(columns, ink=INK, width=60):
    return [line.plain.rstrip() for line in _chart.lines(columns, ink, width)]


def bars(columns, **options):
    """The rows between the marks and the axis, without the labels."""
    rows = drawn(columns, **options)
    end = next(at for at, row in enumerate(rows) if row.startswith("  0 %"))
    return [row[_chart.AXIS :] for row in rows[:end]]


def test_layers_are_stacked_from_the_bottom():
    rows = bars([column(1, 0.3, 0.2, 0.1)])
    assert [row[0] for row in rows[-6:]] == ["A", "T", "T", "S", "S", "S"]


def test_less_than_half_a_row_is_a_small_letter():
    assert bars([column(1, 0.33, 0, 0)])[-4][0] == "s"


def test_hairlines_at_70_and_90_percent():
    rows = drawn([column(1, 0.3, 0, 0)] * 4)
    assert [row[: _chart.AXIS + 4].strip() for row in rows if "┈" in row] == ["90 % ┈┈┈┈", "70 % ┈┈┈┈"]


def test_a_bar_covers_the_hairline_only_when_it_is_past_it():
    below, above = bars([column(1, 0.69, 0, 0)]), bars([column(1, 0.71, 0, 0)])
    assert below[-8][0] == "┈"
    assert above[-8][0] == "s"


def test_over_the_window_is_drawn_whole_and_never_cut_at_100():
    rows = drawn([column(1, 0.9, 0, 0), column(2, 1.5, 0, 0)])
    assert rows[0].startswith("140 %")
    assert any(row.startswith("100 % ───") for row in rows)
    assert sum("S" in row for row in rows[:-1]) == 15


@pytest.mark.parametrize("peak", [0.0, 0.0004, 0.004, 0.08, 0.2, 0.6, 1.0, 1.9, 2.5, 7.0, 40.0, 1234.0])
def test_the_scale_always_holds_the_peak_in_a_screenful(peak):
    scale = _bars.scale_for(peak)
    assert 5 <= scale.rows <= 24
    assert scale.top >= peak - 1e-9
    assert scale.top >= 1 or peak <= 0.2


def test_a_trace_that_uses_little_has_a_scale_that_says_so():
    rows = drawn([column(1, 0.004, 0.001, 0)])
    assert rows[0].strip() == "up to 0.5 % of the window; 70 % and 90 % are above"
    assert rows[1].startswith("0.5 %")
    assert any("S" in row for row in rows)


def test_compactions_and_the_peak_are_marked():
    rows = drawn([column(1, 0.3, 0, 0), column(2, 0.8, 0, 0), column(3, 0.2, 0, 0, compacted=True)])
    assert rows[0].startswith("100 %")
    assert "▼" in rows[0]
    assert rows[-1].strip() == "▲ peak, turn 2"


def test_what_the_provider_reported_beyond_our_count_is_a_band_of_its_own():
    assert bars([column(1, 0.2, 0, 0, rest=0.3)])[-5][0] == "?"


def test_colour_comes_with_letters_in_the_bars():
    ink = _bars.Ink(("system", "task", "state"), colored=True)
    rows = drawn([column(turn, 0.5, 0.3, 0) for turn in range(1, 33)], ink=ink)
    assert "S" in "".join(rows)
    assert "T" in "".join(rows)
    assert any(
        ORANGE in str(span.style) for line in _chart.lines([column(1, 1.2, 0, 0)], ink, 60) for span in line.spans
    )


def test_two_layers_part_within_a_row():
    ink = _bars.Ink(("system", "task", "state"), colored=True)
    bar = _bars.bands(column(1, 0.05, 0.05, 0), ink.layers)
    drawn_cell = _bars.cell(bar, 0, _bars.Scale(0.1, 10), ink, 1, named=True)
    assert drawn_cell.plain == "▄"
    assert str(drawn_cell.spans[0].style) == f"{ink.shades['system']} on {ink.shades['task']}"


def test_many_bars_fill_the_width_and_few_are_apart():
    assert _chart.edges_of(60, 94)[-1] == 94
    assert {end - start for start, end in pairwise(_chart.edges_of(60, 94))} == {1, 2}
    assert _chart.edges_of(3, 94) == [0, 6, 12, 18]


def test_letters_are_all_different():
    names = ("system", "state", "s", "task", "tt", "sss", "working_memory")
    given_letters = list(letters(names).values())
    assert len(set(given_letters)) == len(names)


@given(st.lists(st.floats(0, 1.4), min_size=1, max_size=300), st.integers(12, 200))
def test_no_line_is_wider_than_asked(shares, width):
    columns = [column(turn, share, 0, 0) for turn, share in enumerate(shares[: width - _chart.AXIS], 1)]
    for line in list(_chart.lines(columns, INK, width))[:-1]:
        assert line.cell_len <= max(width, _chart.AXIS + 4) or "window" in line.plain


@given(st.integers(1, 400), st.integers(1, 120), st.integers(0, 399))
def test_thinning_keeps_every_turn_once_and_the_peak(number, width, peak):
    shown = _Report(number, peak % number)
    columns = chart.columns(shown, width)
    assert len(columns) == min(number, width)
    assert [turn for each in columns for turn in range(each.first, each.last + 1)] == list(range(1, number + 1))
    assert max(columns, key=lambda each: each.utilization).turn == peak % number + 1
    sizes = {each.last - each.first for each in columns}
    assert max(sizes) - min(sizes) <= 1


class _Turn:
    def __init__(self, turn, peak):
        self.turn = turn
        self.utilization = 0.9 if peak else 0.2
        self.layers = {"system": 100}


class _Report:
    """As much of a report as the chart looks at."""

    window, layers, compactions = 1000, ("system",), ()

    def __init__(self, number, peak):
        self.turns = [_Turn(turn, turn == peak + 1) for turn in range(1, number + 1)]


def test_parts_add_up_to_the_utilization(report):
    for trace in (report.traces[0], replace(report.traces[0], window=700)):
        for each in chart.columns(trace, 80):
            assert sum(each.parts) + each.rest == pytest.approx(each.utilization)


def test_no_turn_no_column(report):
    assert chart.columns(replace(report.traces[0], turns=[]), 80) == []
