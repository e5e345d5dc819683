import pytest

from ctxbudget.constraints import parse_fact
from ctxbudget.summaries import Refused, Request, Summary, accepted, check

PINNED = tuple(map(parse_fact, ("#8842", "overdue", "$240", "REF-12", "gateway_timeout")))
GOOD = "Invoice #8842 is overdue; $240 under REF-12; issue_refund ended with gateway_timeout."


def made(text):
    return Summary(text, tokens_in=1, tokens_out=1, calls=1, simulated=False)


def early(refund):
    return tuple(one for one in refund if one.turn <= 8)


def test_counts_what_was_lost(play):
    play.user("Order 5519 of 2026-01-13 costs $78, see notes.md.")
    found = check(play.span, "Order 5519 costs $78.00.")
    assert (found.lost, found.kept, found.total) == (("2026-01-13", "notes.md"), 2, 4)
    assert found.recall == 0.5


def test_counts_what_the_earlier_summary_held(play):
    play.user("Go on.")
    assert check(play.span, "nothing", earlier="order 5519").lost == ("5519",)


def test_a_good_summary_stands_as_it_is(refund, count):
    asked = Request(early(refund), 400, count, pinned=PINNED)
    summary, found = accepted(asked, made(GOOD), repair=False)
    assert summary.text == GOOD
    assert found.appended == found.dropped == ()


@pytest.mark.parametrize("gone", ["#8842", "overdue", "$240", "REF-12", "gateway_timeout"])
def test_a_summary_that_drops_one_is_refused_and_says_which(refund, count, gone):
    asked = Request(early(refund), 400, count, pinned=PINNED)
    with pytest.raises(Refused) as refused:
        accepted(asked, made(GOOD.replace(gone, "it")), repair=False)
    assert refused.value.message == f"drops: {gone}"
    assert refused.value.dropped == (gone,)


@pytest.mark.parametrize("gone", ["#8842", "overdue", "$240", "REF-12", "gateway_timeout"])
def test_or_repaired_and_says_which(refund, count, gone):
    asked = Request(early(refund), 400, count, pinned=PINNED)
    summary, found = accepted(asked, made(GOOD.replace(gone, "it")))
    assert summary.text.endswith(f"\nKept word by word: {gone}")
    assert summary.notes == (f"put back: {gone}",)
    assert found.appended == found.dropped == (gone,)


def test_its_own_last_lines_make_room(refund, count):
    text = "\n".join(f"- line {number} says nothing" for number in range(60))
    asked = Request(early(refund), count(text), count, pinned=PINNED)
    summary, found = accepted(asked, made(text))
    assert count(summary.text) <= asked.cap
    assert summary.text.startswith("- line 0 says nothing\n")
    assert summary.text.endswith("Kept word by word: #8842; overdue; $240; REF-12; gateway_timeout")
    assert len(found.appended) == 5


def test_no_room_to_put_it_back(refund, count):
    asked = Request(early(refund), 5, count, pinned=PINNED)
    with pytest.raises(Refused, match=r"drops: #8842, overdue, .* and there is no room to put it back"):
        accepted(asked, made("It went on."))


def test_what_the_span_does_not_hold_cannot_be_dropped(play, count):
    play.user("Hello, this is a rather long message about nothing in particular.")
    accepted(Request(play.span, 50, count, pinned=PINNED), made("A greeting."), repair=False)


def test_a_pattern_protects_what_it_matches(play, count):
    play.user("Under REF-12 and REF-15, but not under DUN-01, as I said three times before now.")
    asked = Request(play.span, 50, count, pinned=(parse_fact(r"/REF-\d+/"),))
    assert asked.protected() == ("REF-12", "REF-15")
    summary, _ = accepted(asked, made("Under REF-12."))
    assert summary.text == "Under REF-12.\nKept word by word: REF-15"


@pytest.mark.parametrize("text", ["", "  \n "])
def test_an_empty_one_is_refused(play, count, text):
    with pytest.raises(Refused, match=r"^empty$"):
        accepted(Request(play.user("Hello there.").span, 50, count), made(text))


def test_one_that_is_not_smaller_is_refused(play, count):
    asked = Request(play.user("Hello there.").span, 50, count)
    with pytest.raises(Refused, match="not smaller: 3 tokens for 3"):
        accepted(asked, made("Hello there."))


def test_one_over_its_cap_is_refused(play, count):
    asked = Request(play.user("Hello there, how are you?").span, 2, count)
    with pytest.raises(Refused, match="over its cap: 3 tokens for 2"):
        accepted(asked, made("Hello there."))
