"""Chance finds next to nothing of what was planted, and all of what stands everywhere."""

from __future__ import annotations

import runpy
from functools import cache
from pathlib import Path

import pytest
from running import Swap, run_of, swapping
from stories import Story, edit, numbered, read

from ctxbudget.evidence import Signal, index
from ctxbudget.loaders import Options, load
from ctxbudget.placebo import placebo
from ctxbudget.placebo.donors import Donor, foreign, shipped
from ctxbudget.regret import Sight

ROOT = Path(__file__).parents[2]
BOTH = (Signal.EDIT, Signal.ARGUMENT)


def session(lines=("    return order.price_in_cents",)):
    story = Story("Look at the shop.")
    story.do(*read("/w/pay.py"), numbered(*lines))
    story.do(*read("/w/tax.py"), numbered("def tax(order):", "    return order.rate"))
    story.do("find_orders", {"of": "Ann"}, '{"order": "KW-20417"}')
    story.do(*edit("/w/pay.py", lines[0], "x"))
    story.do("get_order", {"id": "KW-20417"}, "open")
    return story.end()


@cache
def sample(name):
    return load(str(ROOT / "sample_traces" / name), Options(calibrate=False))[0]


def test_planted_strings_are_not_found_by_chance():
    trace = session()
    found = placebo(trace, index(trace))
    assert [len(rounds) for rounds in (found.project, found.resource)] == [20, 20]
    for kind in BOTH:
        chance = found.of(kind)
        assert (chance.observed, chance.worst.mean, chance.excess, chance.counts) == (1, 0, 1, True)
    assert found.counted == BOTH


def test_what_stands_everywhere_is_found_by_chance_and_not_added():
    everywhere = "from __future__ import annotations"
    story = Story("Look at the shop.")
    for name in "abcdef":
        story.do(*read(f"/w/{name}.py"), numbered(everywhere, f"NAME = {name!r}"))
    story.do(*edit("/w/a.py", everywhere, "x"))
    trace = story.end()
    donors = [Donor("other", (numbered(everywhere, "X = 1"),), (), frozenset())]
    found = placebo(trace, index(trace), donors)
    chance = found.of(Signal.EDIT)
    assert (chance.project.low, chance.resource.low, chance.excess, chance.counts) == (1, 1, 0, False)
    assert Signal.EDIT not in found.counted


def test_a_run_has_no_losses_by_chance_where_chance_finds_nothing():
    trace = session()
    shown = next(one.id for one in trace.fragments if one.answers)
    sight = Sight(trace, run_of(trace, swapping(Swap(shown, 3, "."))))
    assert placebo(trace, index(trace)).missed(1, sight, *BOTH).worst.high == 0


@pytest.mark.parametrize("name", ["migrate_module.jsonl", "refund_support.json"])
def test_the_samples_signals_stand_out(name):
    trace = sample(name)
    found = placebo(trace, index(trace))
    assert found.counted == BOTH
    assert found == placebo(trace, index(trace))
    assert found.of(*BOTH).worst.mean < 0.1 * found.of(*BOTH).observed


def test_a_trace_is_no_donor_to_itself():
    names = {one.name for one in shipped()}
    assert len(names) == 5
    for name in names:
        assert {one.name for one in foreign(sample(name), shipped())} == names - {name}


def test_without_a_donor_only_the_trace_itself_is_asked():
    trace = session()
    found = placebo(trace, index(trace), ())
    assert found.project == ()
    assert found.of(Signal.EDIT).project is None


def test_the_shipped_texts_are_those_of_the_samples():
    made = runpy.run_path(str(ROOT / "docs" / "donors.py"))["samples"]()
    assert tuple(made) == shipped(), "run: python docs/donors.py"
