"""Markdown that a stranger's text cannot take over."""

import re
from dataclasses import replace

import pytest

HOSTILE = "</td><img src=x onerror=a> ![x](http://e.vil) @octocat [x](javascript:1) `a` | \\| #1 **b** \u202e\n# title"


def test_the_answer_has_tables_and_the_chart(report, shown):
    text = shown(report, "markdown")
    assert text.startswith("## `session.jsonl`\n")
    assert "### Layers at the peak" in text
    assert "| layer | tokens | share |" in text
    assert "| :-- | --: | --: |" in text
    assert "```text\n" in text
    assert "- **error** `CB101 over the window`: `" in text
    assert text.endswith("\n")


def test_every_row_of_a_table_has_its_cells(report, shown, with_text):
    hostile = replace(report, traces=[with_text(report.traces[0], HOSTILE)])
    for page in (shown(report, "markdown"), shown(hostile, "markdown")):
        for block in re.split(r"\n\n", page):
            rows = [row for row in block.splitlines() if row.startswith("|")]
            assert len({_cells(row) for row in rows}) <= 1


def _cells(row):
    return len(re.findall(r"\\.|(\|)", row)) - len(re.findall(r"\\.", row))


@pytest.mark.parametrize(
    "look", [{}, {"table": "turns"}, {"table": "fragments"}, {"table": "findings"}, {"children": True}]
)
def test_nothing_of_a_trace_stands_outside_code(report, shown, with_text, look):
    page = shown(replace(report, traces=[with_text(report.traces[0], HOSTILE)]), "markdown", **look)
    outside = re.sub(r"```text.*?\n```", "", page, flags=re.DOTALL)
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", outside)
    for sign in ("<", "![", "@octocat", "javascript:", "# title", "\u202e"):
        assert sign not in outside
