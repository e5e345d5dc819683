"""What runs are measured against: signals that chance finds too stand apart from every total."""

from __future__ import annotations

from dataclasses import replace

import pytest
from running import Swap, run_of, swapping
from stories import Story, edit, numbered, read

from ctxbudget.basis import basis_of
from ctxbudget.report.regret_build import cost_row, regret_row

EVERYWHERE = "from __future__ import annotations"


def session():
    """Six files begin alike; the first is read again in full, and later edited by the line they share."""
    story = Story("Look at the shop.")
    shown = [story.do(*read(f"/w/{name}.py"), numbered(EVERYWHERE, f"NAME = {name!r}"))[1] for name in "abcdef"]
    story.do("Bash", {"command": "ls"}, "a.py")
    story.do(*edit("/w/a.py", EVERYWHERE, "x"))
    story.do("find_orders", {"of": "Ann"}, '{"order": "KW-20417"}')
    story.do("Bash", {"command": "date"}, "Monday")
    story.do("get_order", {"id": "KW-20417"}, "open")
    return replace(story.end(), model="claude-opus-4-5"), shown


@pytest.fixture(scope="module")
def gone():
    """The session with all six reads and the order cleared before they are needed."""
    trace, shown = session()
    order = next(one for one in trace.fragments if "KW-20417" in one.text)
    swaps = [*(Swap(one.id, 8, "[cleared]") for one in shown), Swap(order.id, 11, "[cleared]")]
    return trace, run_of(trace, swapping(*swaps))


def test_a_signal_that_chance_finds_is_in_no_total(gone):
    trace, run = gone
    basis = basis_of(trace, chance=True)
    measured = basis.measured(run)
    assert [kind.value for kind in basis.counted] == ["D2"]
    assert [loss.use.kind.value for loss in measured.regret.losses] == ["D2"]
    assert [loss.use.kind.value for loss in measured.regret.shown] == ["D1"]
    assert (measured.uses, measured.kept) == (1, 0)
    row = regret_row(basis, measured)
    assert [(loss.signal, loss.counted) for loss in row.losses] == [("D1", False), ("D2", True)]
    assert row.missed == {"D1": 1, "D2": 1, "D3": 0}
    assert row.fetch_tokens == row.losses[1].tokens > 0
    assert row.fetch_turns == 1
    assert row.text == "would have removed the only visible source of 1 later use"


def test_without_chance_all_of_it_counts(gone):
    trace, run = gone
    basis = basis_of(trace, chance=False)
    measured = basis.measured(run)
    assert (measured.uses, measured.kept, measured.regret.shown, measured.by_chance) == (2, 0, (), None)
    assert regret_row(basis, measured).fetch_tokens == sum(loss.tokens for loss in measured.regret.losses)


def test_the_fetches_of_a_price_are_those_that_count(gone):
    trace, run = gone
    full = basis_of(trace, chance=False).full(run_of(trace))
    some, every = (basis_of(trace, chance=chance).measured(run).cost for chance in (True, False))
    assert 0 < some.fetches < every.fetches
    assert cost_row(some, full).saving == pytest.approx(full.price - some.price - some.fetches)


def test_rounds_are_told():
    told = []
    basis_of(session()[0], chance=True, told=told.append)
    assert told == list(range(1, 21))
