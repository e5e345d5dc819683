import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from ctxbudget.constraints import parse_fact
from ctxbudget.loaders import load
from ctxbudget.summaries import STEPS, Extractive, Request, Summary, SummaryError, descend, request
from ctxbudget.trace import Form, Kind

CASE = Path(__file__).parents[1] / "cases" / "C42"
PINNED = tuple(map(parse_fact, ("#8842", "overdue", "$240", "REF-12", "gateway_timeout")))


@dataclass
class Fixed:
    """Says the same whatever it is asked, or fails."""

    text: str | None = "short"
    seen: tuple = ()

    def summarise(self, request):
        self.seen = (*self.seen, request)
        if self.text is None:
            raise SummaryError("the endpoint refused the request, HTTP 400")
        return Summary(self.text, tokens_in=request.size, tokens_out=7, calls=1, simulated=False)


def long_play(play):
    play.user("Read the logs. " + "Please. " * 1_000)
    play.does("Bash", {"command": "cat big.log"}, "line\n" * 6_000)
    play.does("Bash", {"command": "cat small.log"}, "line\n" * 600)
    return play.does("Bash", {"command": "date"}, "Monday").span


def test_the_first_step_that_works_is_taken(play, count):
    outcome = descend(Extractive(), Request(long_play(play), 400, count))
    assert outcome.step == "full"
    assert outcome.failures == ()
    assert outcome.form is Form.SUMMARY
    assert (outcome.calls, outcome.tokens_out) == (1, count(outcome.summary.text))


@pytest.mark.parametrize("fail", range(5))
def test_the_first_steps_can_be_made_to_fail(play, count, fail):
    outcome = descend(Extractive(), Request(long_play(play), 400, count), fail=fail)
    assert outcome.step == (STEPS[fail] if fail < 4 else None)
    assert [(one.step, one.reason) for one in outcome.failures] == [(step, "made to fail") for step in STEPS[:fail]]
    assert (outcome.summary is None) == (fail == 4)


def test_what_each_step_reads(play, count):
    summariser = Fixed(None)
    outcome = descend(summariser, Request(long_play(play), 400, count))
    assert [len(one.span) for one in summariser.seen] == [7, 6, 5]  # the long user text stays
    assert outcome.step == "notice"
    assert outcome.form is Form.NOTICED
    assert outcome.summary.text == "[7 earlier messages removed, turns 1 to 3; no summary could be made]"
    assert [one.reason for one in outcome.failures] == ["the endpoint refused the request, HTTP 400"] * 3


def test_the_note_says_what_was_left_out(play, count):
    outcome = descend(Extractive(), Request(long_play(play), 400, count), fail=2)
    note = outcome.summary.text.splitlines()[-1]
    assert note.startswith("[left out of this summary: 2 of the longest texts, ")
    assert "Bash big.log, turn 1; Bash small.log, turn 2]" in note
    assert count(outcome.summary.text) <= 400


def test_a_text_that_is_too_large_is_asked_for_at_half_the_size(play, count):
    summariser = Fixed("a b c d e f g h i j k l m n o p q r s t u v w x y z")
    outcome = descend(summariser, Request(long_play(play), 20, count))
    assert [one.cap for one in summariser.seen[:2]] == [20, 10]
    assert outcome.failures[0].reason == "over its cap: 26 tokens for 20"
    assert outcome.step == "notice"
    assert (outcome.calls, outcome.tokens_out) == (3, 21)


def test_whoever_asked_may_refuse(refund, count):
    asked = Request(tuple(one for one in refund if one.turn <= 8), 400, count)
    sizes = []

    def accept(summary):
        sizes.append(count(summary.text))
        return "still 12 tokens over" if sizes[-1] > 200 else ""

    outcome = descend(Extractive(), asked, accept=accept)
    assert outcome.step == "partial"
    assert outcome.failures[0].reason == "still 12 tokens over"
    assert sizes[0] > 200 >= sizes[1]


def test_a_summary_that_drops_a_fact_goes_down_or_is_repaired(refund, count):
    span = tuple(one for one in refund if one.turn <= 8)
    asked = Request(span, 400, count, pinned=PINNED)
    strict = descend(Fixed("All is well with #8842, overdue, $240, REF-12."), asked, repair=False)
    assert strict.failures[0].reason == "drops: gateway_timeout"
    assert strict.step == "notice"
    assert strict.summary.text.endswith("Kept word by word: #8842; overdue; $240; REF-12; gateway_timeout")
    kind = descend(Fixed("All is well with #8842, overdue, $240, REF-12."), asked)
    assert (kind.step, kind.check.appended) == ("full", ("gateway_timeout",))


def test_the_facts_stand_after_every_step(refund, count):
    span = tuple(one for one in refund if one.turn <= 8)
    for fail in range(4):
        outcome = descend(Extractive(), Request(span, 400, count, pinned=PINNED), fail=fail)
        assert [fact.raw for fact in PINNED if fact.raw not in outcome.summary.text] == []


def test_numbers_that_the_edit_carries(play, count):
    asked = Request(long_play(play), 400, count)
    outcome = descend(Extractive(), asked)
    sizes = outcome.sizes(asked, tail=500)
    assert (sizes.summarised, sizes.tail) == (asked.size, 500)
    assert sizes.freed == sizes.summarised - sizes.summary == asked.size - count(outcome.summary.text)
    nothing = descend(Extractive(), asked, fail=4).sizes(asked, tail=500)
    assert (nothing.freed, nothing.summary) == (0, asked.size)


def test_c42_a_summary_larger_than_what_it_replaces():
    """Refused as not smaller, and with the steps that only summarise nothing happens at all."""
    (trace,) = load(str(CASE / "chat.json"))
    expected = json.loads((CASE / "expected.json").read_text())
    fake = (CASE / "fake_summary.txt").read_text()
    from ctxbudget.tokens import counter

    count = counter().count
    assert count(fake) == expected["reference"]["summary_tokens"]["o200k_base"]
    replaced = [one for one in trace.fragments if one.kind is not Kind.SYSTEM_PROMPT][:-1]
    asked = request(replaced, 4_000, count)
    outcome = descend(Fixed(fake), asked, steps=("full",))
    assert outcome.step is None
    assert outcome.failures[0].reason == f"not smaller: 152 tokens for {asked.size}"
    assert outcome.sizes(asked, tail=0).freed == expected["assert"]["saved"]
    assert descend(Fixed(fake), asked).step is None  # not even the notice would be smaller
