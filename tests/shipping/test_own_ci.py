"""This project's own CI: its workflow, and the budget that its samples are held to."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml

from ctxbudget import config
from ctxbudget.checking import check

ROOT = Path(__file__).parents[2]
BUDGET = ROOT / ".ci" / "budget.yaml"


def test_the_workflow_is_one_and_runs_the_action(published):
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    workflow = yaml.safe_load(re.sub(r"^on:", '"on":', text, flags=re.MULTILINE))  # YAML 1.1 takes "on" for true
    jsonschema.validate(json.loads(json.dumps(workflow)), published("GitHub Workflow"))
    used = {step.get("uses") for job in workflow["jobs"].values() for step in job["steps"]}
    assert "./.github/actions/check" in used


def test_the_checks_hold_the_samples_to_it():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    (line,) = re.findall(r"ctxbudget check .*", script)
    assert line == "ctxbudget check sample_traces --config .ci/budget.yaml"


@pytest.mark.parametrize("most, code", [(None, 0), ("150k", 1)])
def test_the_samples_are_within_it_and_would_not_be_within_less(monkeypatch, most, code):
    monkeypatch.chdir(ROOT)
    report = check("sample_traces", max=most, settings=config.settled(str(BUDGET), ROOT))
    assert report.exit_code == code
    assert report.totals.traces > 50
    assert report.totals.unmeasured == report.totals.unreadable == 0
