"""Workflow annotations, read back as GitHub's runner reads them."""

import re

import pytest

from ctxbudget.trace import Warning as TraceWarning

COMMAND = re.compile(r"\s*::(?P<name>[^ :]+)(?: (?P<properties>.*?))?::(?P<data>.*)")


def unescaped(text):
    for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, character)
    return text


def commands(text):
    """Name, properties and message of every workflow command in a log."""
    for match in filter(None, (COMMAND.fullmatch(line) for line in text.splitlines())):
        pairs = dict(pair.split("=", 1) for pair in filter(None, (match["properties"] or "").split(",")))
        yield match["name"], {key: unescaped(value) for key, value in pairs.items()}, unescaped(match["data"])


def test_one_annotation_for_each_failure_that_is_news(check_report, shown):
    found = [
        (name, given.get("file"), given.get("line"), given.get("title"))
        for name, given, _ in commands(shown(check_report, "github"))
    ]
    assert found == [
        ("error", "logs/d.jsonl", None, "unmeasured"),
        ("error", "logs/e.bin", None, "unreadable"),
        ("error", "logs/a.jsonl", "48", "CB102 over the budget"),
        ("error", "logs/a.jsonl", "48", "CB103 layer over its budget"),
        ("warning", "logs/a.jsonl", "40", "CB102 over the budget"),
        ("notice", "logs/a.jsonl", None, "CB205 context shrank without a compaction"),
        ("error", None, None, "must-keep-unseen"),
        ("group", None, None, None),
        ("endgroup", None, None, None),
    ]


def test_the_message_is_the_whole_of_it(check_report, shown):
    message = [data for _, _, data in commands(shown(check_report, "github"))][2]
    assert message.splitlines()[:4] == [
        "turn 24 holds 118,204 tokens, 28,204 over 90,000",
        "at logs/a.jsonl:48, turn 24",
        "result of Read, src/app.py (observation), fragment f120",
        "limit 75 % of the window = 90,000 tokens (--max)",
    ]


def test_below_them_stands_the_whole_answer(check_report, shown):
    text = shown(check_report, "github")
    inside = text[text.index("\n", text.index("::group::")) + 1 : text.index("::endgroup::")]
    assert inside == shown(check_report, "terminal")


@pytest.mark.parametrize("exit_code, level", [(2, "error"), (1, "warning"), (0, "warning")])
def test_a_warning_is_an_error_where_it_may_be_the_reason(make, shown, exit_code, level):
    text = shown(make.report([], exit_code, warnings=[TraceWarning("x", "y")]), "github")
    assert text.startswith(f"::{level} title=x::y\n")


def test_errors_come_first(make, shown):
    failures = [make.failure(level="warning", id="CB104"), make.failure(known=True), make.failure()]
    text = shown(make.report([make.trace(failures=failures)]), "github")
    assert [name for name, _, _ in commands(text)][:2] == ["error", "warning"]


@pytest.mark.parametrize("path", ["a,b:c%.jsonl", "x::y.jsonl", "%2C.jsonl"])
def test_a_path_comes_through_whole(make, shown, path):
    text = shown(make.report([make.trace(path, failures=[make.failure(path=path)])]), "github")
    assert next(commands(text))[1]["file"] == path
