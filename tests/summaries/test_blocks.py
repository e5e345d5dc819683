from hypothesis import given
from hypothesis import strategies as st

from ctxbudget.summaries.blocks import BLOCK, MOST, blocks, clipped, pieces, shortened
from ctxbudget.summaries.prompts import transcript
from ctxbudget.summaries.summary import Request


def test_blocks_are_cut_between_texts():
    text = "\n\n".join("x" * 90 for _ in range(5))
    assert [len(block) for block in blocks(text, 280)] == [274, 182]


@given(st.text("ab\n", max_size=400), st.integers(1, 90))
def test_the_fewest_blocks_of_a_size_hold_everything(text, size):
    found = list(blocks(text, size))
    assert len(found) <= -(-len(text) // size)
    assert all(len(block) <= size for block in found)
    assert "".join(found).replace("\n", "") == text.replace("\n", "")


@given(st.text(max_size=300), st.integers(0, 120))
def test_shortened_keeps_the_ends(text, limit):
    short = shortened(text, limit)
    assert len(short) <= max(limit, 0)
    assert short[:5] == text[: min(5, limit)]


def test_a_long_span_is_levelled_and_every_message_is_still_there(play, count):
    play.user("Read all of it.")
    for number in range(8):
        play.does("Read", {"file_path": f"f{number}.txt"}, f"start{number} " + "word " * 20_000 + f"end{number}")
    read = pieces(play.span)
    assert len(read) == len(play.span)
    assert sum(len(piece.text) for piece in read) <= BLOCK * MOST
    assert read[0].text == "Read all of it."
    parts = transcript(Request(play.span, 400, count))
    assert len(parts) == MOST
    assert all(len(part) <= BLOCK for part in parts)
    whole = "".join(parts)
    assert all(f"start{number}" in whole and f"end{number}" in whole for number in range(8))


def test_of_too_many_messages_the_newest_are_read(play):
    for number in range(50):
        play.user(f"message {number} " * 10)
    read = pieces(play.span, 400)
    assert [piece.fragment.id for piece in read] == [f"f{number}" for number in range(40, 50)]


@given(st.text("ab \n", max_size=200), st.integers(0, 60))
def test_clipped_is_a_beginning_within_the_cap(text, cap):
    short = clipped(text, cap, lambda part: len(part.split()))
    assert len(short.split()) <= cap
    assert text.startswith(short) or "\n".join(text.splitlines()).startswith(short)
