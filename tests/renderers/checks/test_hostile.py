"""Whatever a trace says, no output of a check does anything but show it."""

import json
import re
import unicodedata
from xml.etree import ElementTree as ET

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ctxbudget.renderers import CHECKS
from ctxbudget.report.loading import from_json
from ctxbudget.safe import visible

CRAFTED = (
    "::error file=x::y", "::set-env name=PATH::/x", "::add-mask::e", " ::stop-commands::t", "\n::error::x",
    "\r\n::debug::", "##[add-path]/x", "##[command]", "##vso[task.setvariable]x", "##teamcity[x]", "%0A::error::", "%",
    "a,b=c:d", "<script>", "</failure>", "]]>", "<!--", "&amp;", "<img src=x>", "![x](http://e.vil)",
    "[x](http://e.vil)", "@octocat", "`", "``", "|", "\\|", "# x", "http://e.vil", "{0}", "{{", "=1+1", "+1", "-1",
    "@SUM(1)", "\x1b[31m", "\x9b2J", "\x00", "\x07", "\x0b", "\u202e", "\u2066", "\u200b", "\ufeff", "\ufffe", "\uffff",
    "\ud800", "\u2028", "\x85",
)  # fmt: skip
HOSTILE = st.lists(st.one_of(st.sampled_from(CRAFTED), st.text(max_size=5)), min_size=1, max_size=5)
HOSTILE = HOSTILE.map("".join).filter(lambda text: visible(text).strip())
FEW = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)

BIDI = {chr(code) for code in (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))}
OLD_COMMAND = re.compile(r"##\w*\[", re.ASCII)


def acting(text):
    return [c for c in text if c != "\n" and (unicodedata.category(c) in {"Cc", "Zl", "Zp", "Cs"} or c in BIDI)]


def own_commands(text, ours=()):
    """Lines that a runner would obey, without those we wrote."""
    return [line for line in text.split("\n") if line.lstrip().startswith("::") and not line.startswith(tuple(ours))]


@pytest.fixture(scope="module")
def shown_with(check_report, hostile, shown):
    def of(text, name, **look):
        return shown(hostile(check_report, text), name, **look)

    return of


@pytest.mark.parametrize("name", [name for name in CHECKS if name != "json"])
@FEW
@given(text=HOSTILE)
def test_no_character_acts_and_no_log_obeys(shown_with, name, text):
    page = shown_with(text, name)
    assert not OLD_COMMAND.search(page)
    if name != "sarif":
        assert not acting(page)
    if name != "github":
        assert not own_commands(page)


@pytest.mark.parametrize("width", [20, 33, 80])
@pytest.mark.parametrize("colors", [None, "truecolor"])
@FEW
@given(text=HOSTILE)
def test_a_terminal_of_any_width_obeys_nothing(shown_with, text, width, colors):
    page = re.sub(r"\x1b\[[0-9;]*m", "", shown_with(text, "terminal", width=width, colors=colors))
    assert not acting(page)
    assert not own_commands(page)
    assert not OLD_COMMAND.search(page)


@FEW
@given(text=HOSTILE)
def test_annotations_are_ours_alone(check_report, shown, shown_with, text):
    plain, page = shown(check_report, "github"), shown_with(text, "github")
    names = [re.match(r"::(\w+)", line)[1] for line in own_commands(plain)]
    assert [re.match(r"::(\w+)", line)[1] for line in own_commands(page)] == names
    for line in own_commands(page):
        properties = line.removeprefix("::").partition("::")[0].partition(" ")[2]
        keys = [pair.partition("=")[0] for pair in properties.split(",") if pair]
        assert set(keys) <= {"file", "line", "title"}
        assert len(keys) == len(set(keys))


@FEW
@given(text=HOSTILE)
def test_xml_holds_the_same_elements(check_report, shown, shown_with, text):
    def tags(page):
        return [each.tag for each in ET.fromstring(page).iter()]  # noqa: S314 - our own output

    plain = tags(shown(check_report, "junit"))
    assert sorted(tags(shown_with(text, "junit"))) == sorted(plain)


@FEW
@given(text=HOSTILE)
def test_sarif_stays_sarif(shown_with, text, sarif_valid):
    log = json.loads(shown_with(text, "sarif"))
    sarif_valid(log)
    for each in log["runs"][0]["results"]:
        message = each["message"]["text"]
        assert not acting(message)
        assert not re.search(r"(?<!\\)(?:\\\\)*[\[\]]", message)
        assert not re.search(r"(?<!\{)\{(?:\{\{)*(?!\{)", message)


@FEW
@given(text=HOSTILE)
def test_markdown_is_our_structure_with_code_in_it(check_report, shown, shown_with, text):
    reader = MarkdownIt("gfm-like", {"linkify": False})

    def structure(page):
        return [
            (token.type, [child.type for child in token.children or () if child.type not in {"code_inline", "text"}])
            for token in reader.parse(page)
        ]

    page = shown_with(text, "markdown")
    assert structure(page) == structure(shown(check_report, "markdown"))
    outside = "".join(
        child.content for token in reader.parse(page) for child in token.children or () if child.type == "text"
    )
    assert "e.vil" not in outside
    assert "@octocat" not in outside


@FEW
@given(text=HOSTILE)
def test_json_comes_back_whole(check_report, hostile, shown_with, text):
    page = shown_with(text, "json")
    assert not OLD_COMMAND.search(page)
    clean = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
    assert from_json(page) == hostile(check_report, clean)
