import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxbudget.summaries.sections import SECTIONS, Item, read, titled, written


def words(text):
    return len(text.split())


def test_nine_sections_whose_shares_are_the_whole():
    assert len(SECTIONS) == 9
    assert sum(section.share for section in SECTIONS.values()) == pytest.approx(1)
    assert sorted(section.place for section in SECTIONS.values()) == list(range(1, 10))


def test_written_and_read_back():
    items = [
        Item("next", "turn 9: go on", 1),
        Item("terms", "b", 1),
        Item("terms", "a", 2),
        Item("intent", "turn 1: x", 5),
    ]
    text = written(items, "[head]", 100, words)
    assert text == (
        "[head]\n## User intent and goals\n- turn 1: x\n## Key terms\n- a\n- b\n## Next step\n- turn 9: go on"
    )  # fmt: skip
    assert read(text) == {"intent": ("turn 1: x",), "terms": ("a", "b"), "next": ("turn 9: go on",)}
    assert titled(text)[1] == ("Key terms", ("a", "b"))


def test_what_a_section_leaves_over_goes_to_the_weightiest():
    items = [Item("approach", f"light {number}", 1) for number in range(9)]
    items += [Item("approach", "heavy", 90)]
    assert "heavy" in written(items, "[head]", 12, words)


def test_of_two_with_a_key_the_later_stands():
    items = [Item("files", "a.py: read at turn 1", 5, "a.py"), Item("files", "a.py: edited at turn 2", 5, "a.py")]
    assert written(items, "[h]", 90, words).endswith("## Files and paths\n- a.py: edited at turn 2")


@pytest.mark.parametrize(
    "line,section",
    [
        ("## Errors and their fixes", "errors"), ("**Key Technical Concepts:**", "terms"),
        ("4. Errors and fixes:", "errors"), ("## Errors\n- a\n## Something else", "progress"),
        ("### Pending Tasks ###", "pending"), ("Optional Next Step:", "next"), ("6. All user messages:", "user"),
        ("1. Fix the file", "progress"), ("the next one", "progress"),
    ],
)  # fmt: skip
def test_headings_of_other_hands(line, section):
    assert "under it" in read(f"{line}\n- under it")[section]


def test_what_the_spot_check_put_back_is_kept_as_terms():
    found = read("## Next step\n- go on\nKept word by word: #8842; overdue")
    assert found == {"terms": ("#8842 (must keep)", "overdue (must keep)"), "next": ("go on",)}


def test_a_long_line_becomes_its_sentences():
    line = " ".join(f"This is sentence number {number} of a long paragraph." for number in range(20))
    assert len(read(line)["progress"]) == 20
    assert len(read("x" * 900)["progress"][0]) == 400


@given(st.text(max_size=300))
def test_reads_anything(text):
    assert set(read(text)) <= set(SECTIONS)


@pytest.mark.timed
@pytest.mark.parametrize("unit", [" ", "\n", "- ", "## ", "**", "1. ", "a ", "[", ":", "a:"])
def test_long_runs_take_no_time(unit):
    started = time.perf_counter()
    read(unit * (200_000 // len(unit)))
    assert time.perf_counter() - started < 5
