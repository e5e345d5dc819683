"""JUnit XML: a suite per trace, a case per rule, by the schema of Jenkins."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import xmlschema

from ctxbudget.trace import Warning as TraceWarning

SCHEMA = xmlschema.XMLSchema(Path(__file__).with_name("junit-10.xsd"))


@pytest.fixture(scope="module")
def suites(shown):
    def of(report):
        text = shown(report, "junit")
        SCHEMA.validate(text)
        return ET.fromstring(text)  # noqa: S314 - our own output

    return of


def outcome(case):
    return next((child.tag for child in case if child.tag != "system-out"), "passed")


def outcomes(root):
    return {(suite.get("name"), case.get("name")): outcome(case) for suite in root for case in suite.iter("testcase")}


def test_a_suite_per_trace_a_case_per_rule(check_report, suites):
    assert outcomes(suites(check_report)) == {
        ("logs/a.jsonl", "measured"): "passed",
        ("logs/a.jsonl", "CB102 over the budget"): "failure",
        ("logs/a.jsonl", "CB103 layer over its budget"): "failure",
        ("logs/a.jsonl", "CB104 one turn grew too much"): "skipped",
        ("logs/a.jsonl", "CB205 context shrank without a compaction"): "passed",
        ("logs/b.jsonl, sub-agent a1", "measured"): "passed",
        ("logs/c.jsonl#3", "measured"): "passed",
        ("logs/d.jsonl", "measured"): "error",
        ("logs/e.bin", "measured"): "error",
        ("ctxbudget check", "must-keep-unseen"): "error",
    }


def test_the_counts_are_those_of_the_cases(check_report, suites):
    root = suites(check_report)
    for suite in root:
        cases = [outcome(case) for case in suite]
        counted = {name: int(suite.get(name)) for name in ("tests", "failures", "errors", "skipped")}
        assert counted == {
            "tests": len(cases), "failures": cases.count("failure"), "errors": cases.count("error"),
            "skipped": cases.count("skipped"),
        }  # fmt: skip
    for name in ("tests", "failures", "errors"):
        assert int(root.get(name)) == sum(int(suite.get(name)) for suite in root)


@pytest.mark.parametrize("exit_code, expected", [(2, "error"), (1, "skipped"), (0, "skipped")])
def test_a_warning_of_the_whole_check_is_a_case(make, suites, exit_code, expected):
    warnings = [TraceWarning("must-keep-unseen", f"no prompt holds {fact!r}") for fact in "xy"]
    root = suites(make.report([make.trace()], exit_code, warnings=warnings))
    assert outcomes(root)["ctxbudget check", "must-keep-unseen"] == expected
    assert root.find("*[2]/testcase/*").text == "no prompt holds 'x'\n\nno prompt holds 'y'"


def test_a_failure_says_where_what_and_what_to_do(check_report, suites):
    failure = suites(check_report).find(".//failure")
    assert failure.get("message") == "turn 24 holds 118,204 tokens, 28,204 over 90,000"
    for said in ("logs/a.jsonl:48, turn 24", "result of Read, src/app.py", "75 % of the window", "--strategy clear-"):
        assert said in failure.text


@pytest.mark.parametrize("exit_code, expected", [(2, "error"), (0, "skipped")])
def test_a_check_of_nothing_is_never_green_without_a_word(make, suites, exit_code, expected):
    assert list(outcomes(suites(make.report([], exit_code))).values()) == [expected]


def test_the_schema_refuses_what_others_would_write(check_report, shown):
    text = shown(check_report, "junit").replace('time="0"', 'time="0" file="x"', 3)
    with pytest.raises(xmlschema.XMLSchemaValidationError):
        SCHEMA.validate(text)
