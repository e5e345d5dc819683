"""Forms of a fragment that come and go."""

from dataclasses import dataclass

from sketch import sketch, words

from ctxbudget.replay import replay
from ctxbudget.strategy import Stage, Strategy
from ctxbudget.trace import Edit, Form
from ctxbudget.view import stand_in


@dataclass(frozen=True, slots=True)
class Alternate:
    """A digest and a marker take turns in place of one result, now and then the original."""

    def plan(self, view):
        if "t2.1" not in view.known:
            return
        original, old = view.known["t2.1"], view.stand_for("t2.1")
        form = (None, Form.DIGEST, Form.CLEARED)[view.turn % 3]
        new = original if form is None else stand_in(view, original, f"the {form}", form)
        if new.id != old.id:
            yield Edit("alternate", (old.id,), (new,), form)


def test_a_form_that_comes_back_is_not_its_own_holder():
    trace = sketch("U9 | c1:5 r1:40 | " + " | ".join("A2 U2" for _ in range(9)))
    run = replay(trace, Strategy("own", (Stage(passes=(Alternate(),)),)), window=500, count=words)
    forms = [life.form for life in run.lives if life.id == "t2.1"]
    assert forms == ["cleared", "whole", "digest"] * 3 + ["cleared"]
    assert all(
        sum(row.survival.values()) == len(trace.fragments[: trace.turns[row.turn - 1].stop]) for row in run.turns
    )
