import pytest

from ctxbudget.summaries import Recorded, Request, SummaryError
from ctxbudget.trace import Compaction, Edit, Form


def compaction(play, removed, text, turn):
    from ctxbudget.trace import Kind

    fragment = type(play)(turn=turn).summary(text).span[0]
    assert fragment.kind is Kind.SUMMARY
    return Compaction(turn, Edit("recorded", removed, (fragment,), Form.SUMMARY), "auto", pre_tokens=9_000)


def story(play):
    return play.user("One.").answers("Two.").user("Three.").answers("Four.").span


def test_gives_what_was_recorded_for_the_place(play, count):
    span = story(play)
    recorded = Recorded((compaction(play, ("f0", "f1", "f2"), "What went before.", 3),))
    summary = recorded.summarise(Request(span, 100, count, turn=3))
    assert summary.text == "What went before."
    assert (summary.tokens_in, summary.tokens_out, summary.calls) == (9_000, 4, 1)
    assert not summary.simulated
    assert summary.notes == ("recorded at turn 3; it replaced 75% of this span",)


def test_of_two_the_one_that_covers_more(play, count):
    span = story(play)
    recorded = Recorded((compaction(play, ("f0", "f1", "f2"), "A.", 3), compaction(play, ("f2", "f3"), "B.", 3)))
    assert recorded.summarise(Request(span, 100, count, turn=3)).text == "A."


def test_says_so_where_there_is_none(play, count):
    asked = Request(story(play), 100, count, turn=3)
    with pytest.raises(SummaryError, match="holds no summary of this span; it has none at all"):
        Recorded(()).summarise(asked)
    elsewhere = Recorded((compaction(play, ("f7",), "A.", 2), compaction(play, ("f8",), "B.", 9)))
    with pytest.raises(SummaryError, match="it has summaries at turns 2, 9"):
        elsewhere.summarise(asked)


def test_does_not_look_ahead(play, count):
    recorded = Recorded((compaction(play, ("f0", "f1", "f2", "f3"), "Later.", 9),))
    with pytest.raises(SummaryError):
        recorded.summarise(Request(story(play), 100, count, turn=8))


def test_one_without_text(play, count):
    recorded = Recorded((compaction(play, ("f0", "f1", "f2", "f3"), "", 3),))
    with pytest.raises(SummaryError, match="turn 3 has no readable text"):
        recorded.summarise(Request(story(play), 100, count, turn=3))
