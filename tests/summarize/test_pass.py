"""The pass on small sketched traces: what goes, what stays, what is refused."""

from pathlib import Path

import pytest
from sketch import sketch, words

from ctxbudget.errors import UnknownName, UsageError
from ctxbudget.passes.summarize import Summarising, Summarize
from ctxbudget.replay import generations, replay, view_at
from ctxbudget.strategy import Stage, Strategy
from ctxbudget.summaries import STEPS
from ctxbudget.view import SummaryNote

LONG = "S5 U9 | R4 c1:8 r1:40 | R4 c2:8 r2:40 | R4 c3:8 r3:40 | R4 c4:8 r4:40 | R4 c5:8 r5:40"
FACTS = Path(__file__).parents[1] / "cases" / "C42"


def alone(*, pin=(), atomic=False, **options):
    """The pass before every call."""
    given = {"to": 12, "to_share": 1, "keep_tail": 0, "least": 0, **options}
    return Strategy("own", (Stage(passes=(Summarize(**given),)),), pin=pin, atomic_loops=atomic)


def at(trace, turn, strategy, summariser, *, window=1_000, fail=0):
    return view_at(trace, strategy, turn, window=window, count=words, aids=(Summarising(summariser, fail),))


def shown(fragments):
    """Live fragments: the letter of what was recorded, Y for a summary, with their tokens."""
    letters = {
        "user": "U",
        "system_prompt": "S",
        "reasoning": "R",
        "answer": "A",
        "summary": "Y",
        "call": "c",
        "result": "r",
    }
    return " ".join(f"{letters[one.kind]}{one.call + ':' if one.call else ''}{one.tokens}" for one in fragments)


def notes(run):
    return [note for row in run.turns for note in row.notes if isinstance(note, SummaryNote)]


def test_one_summary_replaces_everything_but_the_overhead(says):
    view = at(sketch(LONG), 3, alone(floor=150), says("so far so good"))
    assert shown(view.fragments()) == "S5 U9 R4 c1:8 r1:40 R4 c2:8 r2:40"
    view = at(sketch(LONG), 4, alone(floor=150), says("so far so good"))
    assert shown(view.fragments()) == "S5 Y4"
    (new,) = [one for one in view.fragments() if one.form]
    assert (new.role, new.text, new.kind) == ("user", "so far so good", "summary")


def test_the_tail_stays_and_its_pairs_are_whole(says):
    trace = sketch("S5 U9 | R4 c1:8 c2:8 r1:40 r2:40 | R4 c3:8 r3:40 | R4 c4:8 r4:40")
    view = at(trace, 4, alone(keep_tail=99, tail_share=1, floor=200), says("so far so good"))
    assert shown(view.fragments()) == "S5 Y4 R4 c3:8 r3:40 R4 c4:8 r4:40"
    view = at(trace, 4, alone(keep_tail=70, tail_share=1, floor=200), says("so far so good"))
    assert shown(view.fragments()) == "S5 Y4 R4 c4:8 r4:40"
    view = at(trace, 4, alone(keep_turns=2, floor=200), says("so far so good"))
    assert shown(view.fragments()) == "S5 Y4 R4 c3:8 r3:40 R4 c4:8 r4:40"


def test_what_has_arrived_stays_though_it_is_larger_than_the_tail(says):
    view = at(sketch("S5 U9 | R4 c1:8 r1:40 | R4 c2:8 r2:300"), 3, alone(keep_tail=20, floor=150), says("so far"))
    assert shown(view.fragments()) == "S5 Y2 R4 c2:8 r2:300"


def test_what_is_pinned_stays_and_is_not_read(says):
    summariser = says("so far so good")
    view = at(sketch(LONG + " U7*"), 6, alone(pin=("task",), floor=250), summariser)
    assert shown(view.fragments()) == "S5 U9 Y4 U7"
    assert {one.kind for one in summariser.seen[0].span} == {"reasoning", "call", "result"}
    view = at(sketch(LONG), 6, alone(keep_first=True, floor=250), summariser)
    assert shown(view.fragments()) == "S5 U9 Y4"


def test_the_earlier_summary_is_folded_in_from_its_text_alone(says):
    summariser = says("so far so good")
    run = replay(sketch(LONG), alone(floor=60), window=1_000, count=words, aids=(Summarising(summariser),))
    assert [note.generation for note in notes(run)] == [1, 2, 3, 4, 5]
    first, second, *_ = summariser.seen
    assert first.earlier is None
    assert second.earlier == "so far so good"
    assert {one.turn for one in second.span} == {one.turn for one in sketch(LONG).fragments if one.turn == 3}
    assert [one.number for one in generations(sketch(LONG).fragments, run.turns)] == [1, 2, 3, 4, 5]


def test_without_folding_the_earlier_one_stays(says):
    view = at(sketch(LONG), 6, alone(floor=60, fold_earlier=False), says("so far so good"))
    assert shown(view.fragments()).startswith("S5 Y4 Y4")


def test_as_much_of_the_oldest_as_is_needed(says):
    view = at(sketch(LONG), 5, alone(floor=200, down_to=150), says("so far so good"))
    assert shown(view.fragments()) == "S5 Y4 R4 c3:8 r3:40 R4 c4:8 r4:40"
    assert view.tokens <= 150


def test_the_edit_carries_its_sizes(says):
    run = replay(
        sketch(LONG),
        alone(floor=250, keep_turns=1),
        window=1_000,
        count=words,
        aids=(Summarising(says("so far so good")),),
    )
    (note,) = notes(run)
    (change,) = [change for row in run.turns for change in row.edits]
    assert (note.tokens, note.summarised, note.summary, note.tail) == (213, 217, 4, 52)
    assert (change.freed, change.before, change.after) == (213, 217, 4)
    assert change.reason == note.message == "summary by m-1; 213 tokens freed: 217 became 4, 52 kept after it"
    assert (note.calls, note.tokens_in, note.tokens_out, note.simulated) == (1, 217, 4, False)
    totals = run.totals
    assert (totals.summaries, totals.summary_calls, totals.summary_tokens_in, totals.summary_tokens_out) == (
        1,
        1,
        217,
        4,
    )
    assert not totals.summary_simulated


@pytest.mark.parametrize("fail", range(4))
def test_each_step_down_can_be_forced(says, fail):
    strategy = alone(floor=250, to=30)
    run = replay(sketch(LONG), strategy, window=1_000, count=words, aids=(Summarising(says("so far so good"), fail),))
    note = notes(run)[0]
    assert note.step == STEPS[fail]
    assert note.failures == tuple(f"{step}: made to fail" for step in STEPS[:fail])
    assert note.calls == (1 if fail < 3 else 0)
    forms = {change.form for row in run.turns for change in row.edits}
    assert forms == ({"summary"} if fail < 3 else {"noticed"})


def test_no_step_no_change(says):
    run = replay(sketch(LONG), alone(floor=250), window=1_000, count=words, aids=(Summarising(says("x"), 4),))
    (note,) = notes(run)
    assert (note.code, note.step, note.calls) == ("summary-refused", "", 0)
    assert note.message.startswith("no summary: full: made to fail; ")
    assert not any(row.edits for row in run.turns)


def test_the_bare_notice_counts_what_is_missing_by_then(says):
    trace = sketch(LONG + " | A5 U9 | A5 U9")
    view = at(trace, 6, alone(floor=250, to=30), says(None))
    assert [one.text for one in view.fragments() if one.form] == [
        "[11 earlier messages removed; no summary could be made]"
    ]
    view = at(trace, 8, alone(floor=40, to=30), says(None))
    assert next(one.text for one in view.fragments() if one.form).startswith("[15 earlier messages removed")


def test_c42_a_summary_that_is_not_smaller_changes_nothing(case, says):
    text = (FACTS / "fake_summary.txt").read_text()
    trace = case("C42/chat.json")
    strategy = Strategy("own", (Stage(passes=(Summarize(keep_tail=0, keep_turns=1, least=0),)),))
    before = replay(trace, "none", window=8_000, count=words)
    run = replay(trace, strategy, window=8_000, count=words, aids=(Summarising(says(text)),))
    assert [row.tokens for row in run.turns] == [row.tokens for row in before.turns]
    assert not any(row.edits for row in run.turns)
    assert run.totals.summaries == 0
    refused = notes(run)
    assert refused
    assert all("did not reduce" in note.message and not note.tokens for note in refused)
    assert run.totals.summary_calls > 0  # what was refused was paid for


def test_c41_where_nothing_may_go_nobody_is_asked(says):
    trace = sketch("S5 U9* | H9 c1:8 r1:40 | c2:8 r2:40 | c3:8 r3:40")
    summariser = says("so far so good")
    strategy = Strategy("own", (Stage(when=0.5, passes=(Summarize(keep_tail=0.2, least=0),)),), atomic_loops=True)
    run = replay(trace, strategy, window=100, count=words, aids=(Summarising(summariser),))
    assert summariser.seen == ()
    assert not any(row.edits for row in run.turns)
    assert {note.code for note in run.turns[-1].notes} == {"nothing-removable", "cannot-fit"}


def test_too_little_besides_the_earlier_summary_is_left_alone(says):
    summariser = says("so far so good")
    trace = sketch(LONG + " | A5 U9 | A5 U9")
    run = replay(trace, alone(least=100), window=1_000, count=words, aids=(Summarising(summariser),))
    assert [row.turn for row in run.turns if row.edits] == [3, 5]


@pytest.mark.parametrize("repair, code", [(True, "summary"), (False, "summary-refused")])
def test_a_text_that_must_show_is_put_back_or_the_summary_refused(says, repair, code):
    trace = sketch(LONG, texts={"r1": "invoice #8842 is overdue " + "word " * 40})
    strategy = alone(floor=250, must_show=("#8842", "overdue", "/never/"), repair=repair, steps=("full",), to=20)
    run = replay(trace, strategy, window=1_000, count=words, aids=(Summarising(says("so far so good")),))
    (note,) = notes(run)
    assert note.code == code
    if repair:
        (new,) = [new for row in run.turns for change in row.edits for new in change.inserted]
        assert "#8842" in new.text
        assert "overdue" in new.text
    else:
        assert note.message == "no summary: full: drops: #8842, overdue"


def test_a_step_that_leaves_it_over_fails_where_it_must_fit(says):
    trace = sketch("S5 U9* | R4 c1:8 r1:40 | R4 c2:8 r2:40")
    strategy = alone(must_fit=True, steps=("full", "notice"), notice="[gone]", to=40)
    run = replay(trace, strategy, window=40, count=words, aids=(Summarising(says("w " * 30)),))
    first, *_ = notes(run)
    assert first.step == "notice"
    assert first.failures == ("full: still over: 44 tokens for 40",)
    assert not any(row.overflow for row in run.turns)


def test_mistakes_in_options_are_said():
    with pytest.raises(UnknownName, match="ful"):
        Summarize(steps=("ful",))
    with pytest.raises(UsageError):
        Summarize(must_show=("/(/",))
