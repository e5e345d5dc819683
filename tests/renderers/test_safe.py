"""Text from a trace acts on nothing it is shown in."""

import unicodedata
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxbudget import safe

HOSTILE = st.text(
    st.one_of(
        st.characters(),
        st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp"]),
        st.sampled_from("`|\\=+-@<>![]()*_\x1b\x9b\u202e\u2066\r\n\t"),
    )
)


def acts(text):
    """Characters in a text that a terminal or a reader's eye would obey rather than see."""
    joiners = "\u200c\u200d"
    return [c for c in text if unicodedata.category(c) in {"Cc", "Zl", "Zp", "Cs"} or (c in BIDI and c not in joiners)]


BIDI = {chr(code) for code in (0x61C, *range(0x200E, 0x2010), *range(0x202A, 0x202F), *range(0x2066, 0x206A))}


@given(HOSTILE)
def test_nothing_visible_acts(text):
    assert not acts(safe.visible(text))


@given(st.text(st.characters(categories=["L", "N", "P", "S"])))
def test_ordinary_text_stays_as_it_is(text):
    assert safe.visible(text) == text


def test_what_is_replaced_can_be_read():
    assert safe.visible("a\x1b[31mb\nc\x9d\u202ed\ud800\U000e0041") == r"a\x1b[31mb\nc\x9d\u202ed\ud800\U000e0041"


def test_emoji_and_scripts_stay_whole():
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467 \u0915\u094d\u200c\u0937"
    assert safe.visible(family) == family


@given(HOSTILE)
def test_a_code_span_is_one_span_of_one_cell(text):
    span = safe.code_span(text)
    if not span:
        assert not safe.visible(text).strip()
        return
    fence = span[: len(span) - len(span.lstrip("`"))]
    inside = span[len(fence) : -len(fence)]
    assert span.endswith(fence)
    assert fence not in inside.split(" ", 1)[0] or not inside.startswith("`")
    runs = {len(run) for run in _runs(inside)}
    assert len(fence) not in runs
    assert not acts(span)
    assert _cells(f"| {span} |") == 1


def _runs(text):
    run = ""
    for character in f"{text} ":
        if character == "`":
            run += character
        elif run:
            yield run
            run = ""


def _cells(row):
    """Cells as GitHub splits a row: at every pipe that no backslash escapes, a backslash escaping the next sign."""
    bare, at = 0, 0
    while at < len(row):
        if row[at] == "\\":
            at += 1
        elif row[at] == "|":
            bare += 1
        at += 1
    return bare - 1


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\r", "\n", "  =", "\uff1d", "::error::"])
def test_a_cell_is_no_formula(start):
    assert safe.csv_cell(f"{start}1+1").startswith("'")


@given(HOSTILE)
def test_a_cell_never_starts_a_formula(text):
    cell = safe.csv_cell(text)
    assert not cell.lstrip().startswith(("=", "+", "-", "@"))
    assert not acts(cell)


def test_an_ordinary_cell_stays_as_it_is():
    assert safe.csv_cell("src/app.py") == "src/app.py"


@given(HOSTILE)
def test_any_text_becomes_encodable(text):
    safe.unicode_text(text).encode()


@pytest.mark.parametrize("command", ["##[add-path]x", "##vso[task.x]", "##teamcity[x]", "###[group]"])
def test_a_build_log_has_no_command_in_the_middle_of_a_line(command):
    shown = safe.visible(f"say {command}")
    assert shown == f"say {command[: command.rindex('#')]}" + r"\x23" + command[command.rindex("#") + 1 :]


@pytest.mark.parametrize("text", ["## title", "a##b", "C## [x]", "#[x]"])
def test_other_number_signs_stay(text):
    assert safe.visible(text) == text


@pytest.mark.parametrize(
    "line, shown",
    [
        ("::error::x", r"\x3a:error::x"),
        ("  ::error::x", r"  \x3a:error::x"),
        ("\u3000::x", "\u3000\\x3a:x"),
        ("a ::error::x", "a ::error::x"),
        (": x", ": x"),
        ("", ""),
    ],
)
def test_a_log_line_is_no_workflow_command(line, shown):
    assert safe.log_line(line) == shown


def test_parts_of_a_workflow_command_are_escaped():
    assert safe.command_data(["50 %", "a\nb", "c:d,e"]) == r"50 %25%0Aa\nb%0Ac:d,e"
    assert safe.command_property("a:b,c%\r\n") == r"a%3Ab%2Cc%25\r\n"


@given(HOSTILE)
def test_xml_can_hold_it(text):
    from xml.etree import ElementTree as ET

    assert ET.fromstring(f"<a>{escape(safe.xml_text(text))}</a>") is not None  # noqa: S314 - our own text
