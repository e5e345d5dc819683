"""User text is cut where the harness injected something, and nothing of it is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxbudget.injected import split
from ctxbudget.trace import Kind

USER, INJECTED, MEMORY = Kind.USER, Kind.INJECTED, Kind.MEMORY_FILE


@pytest.mark.parametrize(
    "text,kinds",
    [
        ("Count the boats.", [USER]),
        ("Is a < b?", [USER]),
        ("", [USER]),
        ("<system-reminder>Be brief.</system-reminder>", [INJECTED]),
        ("Go on.\n<system-reminder>Be brief.</system-reminder>", [USER, INJECTED]),
        ("<system-reminder>a</system-reminder>\nGo on.", [INJECTED, USER]),
        ("<system-reminder>Contents of CLAUDE.md:\nRun the tests.</system-reminder>", [MEMORY]),
        (
            "<command-name>/clear</command-name>\n<command-message>clear</command-message>",
            [INJECTED, INJECTED, INJECTED],
        ),
        ("[Request interrupted by user]", [INJECTED]),
        ("<system-reminder>never closed", [USER]),
    ],
)
def test_pieces(text, kinds):
    assert [kind for kind, _ in split(text)] == kinds


@given(st.text() | st.lists(st.sampled_from(["a", " ", "<system-reminder>", "</system-reminder>", "\n"])).map("".join))
def test_every_character_lands_in_one_piece(text):
    assert "".join(piece for _, piece in split(text)) == text


def test_a_text_full_of_opening_tags_is_read_in_one_pass():
    text = "<system-reminder>" * 200_000
    assert list(split(text)) == [(Kind.USER, text)]
