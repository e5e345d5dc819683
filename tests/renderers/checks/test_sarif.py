"""SARIF 2.1.0 by the schema of its standard, and what code scanning asks beyond it."""

import json

import jsonschema
import pytest


@pytest.fixture(scope="session")
def sarif_run(shown, sarif_valid):
    def of(report):
        log = json.loads(shown(report, "sarif"))
        sarif_valid(log)
        return log["runs"][0]

    return of


def test_a_result_per_failure(check_report, sarif_run):
    results = sarif_run(check_report)["results"]
    assert [(each["ruleId"], each["level"], "suppressions" in each) for each in results] == [
        ("CB102", "error", False),
        ("CB103", "error", False),
        ("CB102", "warning", False),
        ("CB103", "error", True),
        ("CB104", "warning", True),
        ("CB205", "note", False),
    ]


def test_a_result_names_its_place_and_keeps_its_fingerprint(check_report, sarif_run):
    result = sarif_run(check_report)["results"][0]
    (location,) = result["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "logs/a.jsonl", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 48},
    }
    assert location["logicalLocations"] == [{"name": "f120", "kind": "fragment"}]
    assert result["partialFingerprints"] == {"ctxbudget/v1": "0123456789abcdef:logs/a.jsonl"}
    assert result["properties"]["measured"] == 118_204
    assert result["message"]["text"].startswith("turn 24 holds 118,204 tokens, 28,204 over 90,000\n")


def test_every_result_points_at_its_rule(check_report, sarif_run):
    one = sarif_run(check_report)
    rules = one["tool"]["driver"]["rules"]
    assert all(rules[each["ruleIndex"]]["id"] == each["ruleId"] for each in one["results"])
    for rule in rules:
        assert 0 < len(rule["shortDescription"]["text"]) < len(rule["fullDescription"]["text"]) <= 1024
        assert f"ctxbudget explain {rule['id']}" in rule["help"]["text"]
        assert rule["help"]["markdown"].startswith("**Why**: ")
    assert all(rule["name"].isalnum() for rule in rules)


def test_what_was_not_measured_is_a_notification(check_report, make, sarif_run):
    (invocation,) = sarif_run(check_report)["invocations"]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 2)
    assert [each["descriptor"]["id"] for each in invocation["toolExecutionNotifications"]] == [
        "unmeasured",
        "unreadable",
        "must-keep-unseen",
    ]
    (invocation,) = sarif_run(make.report([make.trace()], 0))["invocations"]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (True, 0)


@pytest.mark.parametrize(
    "path, artifact",
    [
        ("a b/ü#1%.jsonl", {"uri": "a%20b/%C3%BC%231%25.jsonl", "uriBaseId": "%SRCROOT%"}),
        ("c:d.jsonl", {"uri": "c%3Ad.jsonl", "uriBaseId": "%SRCROOT%"}),
        ("/logs/a.jsonl", {"uri": "file:///logs/a.jsonl"}),
        ("a\udcff.jsonl", {"uri": "a%EF%BF%BD.jsonl", "uriBaseId": "%SRCROOT%"}),
    ],
)
def test_paths_are_uris(make, sarif_run, path, artifact):
    one = make.report([make.trace(path, failures=[make.failure(path=path)])])
    place = sarif_run(one)["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == artifact


def test_nothing_in_a_message_is_a_link_or_a_placeholder(make, sarif_run):
    one = make.report([make.trace(failures=[make.failure(message=r"[x](http://e.vil) {0} \[y](1)")])])
    text = sarif_run(one)["results"][0]["message"]["text"].split("\n")[0]
    assert text == r"\[x\](http://e.vil) {{0}} \\\[y\](1)"


def test_the_schema_refuses_what_is_not_in_it(check_report, shown, sarif_valid):
    log = json.loads(shown(check_report, "sarif"))
    log["runs"][0]["results"][0]["line"] = 1
    with pytest.raises(jsonschema.ValidationError):
        sarif_valid(log)
