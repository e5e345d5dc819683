"""The page on continuous integration: every block of it is copied out and used."""

import re
import shlex
from pathlib import Path

import jsonschema
import pytest
import yaml

import ctxbudget.checking
import ctxbudget.renderers.terminal  # noqa: F401 - the suites inside forget what they import: all find these
from ctxbudget.cli import main

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


WORKFLOW, COMMENT, GITLAB, PRE_COMMIT = map(yaml.safe_load, blocks("yaml"))


def test_the_workflow_is_one(published):
    workflow = {"on" if key is True else key: value for key, value in WORKFLOW.items()}  # YAML 1.1 takes "on" for true
    jsonschema.validate(workflow, published("GitHub Workflow"))
    workflow["jobs"]["budget"]["steps"] += COMMENT
    jsonschema.validate(workflow, published("GitHub Workflow"))


def test_the_workflow_names_the_action_and_its_inputs():
    (step,) = (step for step in WORKFLOW["jobs"]["budget"]["steps"] if "/ctxbudget/" in step.get("uses", ""))
    folder = step["uses"].partition("@")[0].partition("/ctxbudget/")[2]
    action = yaml.safe_load((ROOT / folder / "action.yml").read_text(encoding="utf-8"))
    assert set(step["with"]) <= set(action["inputs"])
    assert all(name in PAGE for name in action["inputs"])


def test_the_hook_is_one_that_we_have(published):
    jsonschema.validate(PRE_COMMIT, published(".pre-commit-config.yml"))
    (hook,) = PRE_COMMIT["repos"][0]["hooks"]
    assert hook["id"] in {each["id"] for each in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}


COMMANDS = [line.removeprefix("$ ") for block in blocks("console") for line in block.splitlines()]
COMMANDS += [line for line in GITLAB["context budget"]["script"] if line.startswith("ctxbudget")]


def test_the_commands_run_in_their_order(traces, monkeypatch, capsys):
    monkeypatch.chdir(traces)
    for command in COMMANDS:
        report = traces / GITLAB["context budget"]["artifacts"]["reports"]["junit"]
        report.unlink(missing_ok=True)
        assert main(shlex.split(command)[1:]) == 0, (command, capsys.readouterr().err)
    assert report.is_file()


RUN = """
from pathlib import Path
from shutil import copy

def run_the_agent(task, log):
    copy({trace!r}, log)
    return log
"""


@pytest.mark.parametrize("size, outcome", [("small", "passed"), ("large", "failed")])
def test_the_tests_of_an_agent(pytester, traces, size, outcome):
    trace = traces / "traces" / f"{size}.json"
    code = blocks("python")[0].replace('max="75%"', 'max="500"').replace("20_000", "500")
    pytester.makepyfile(RUN.format(trace=str(trace)) + code)
    found = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    if outcome == "passed":
        assert found.parseoutcomes() == {"failed": 1, "passed": 1}  # the second asks for a fact that is not there
    else:
        found.assert_outcomes(failed=2)


def test_every_format_has_its_row():
    from ctxbudget.cli.outputs import check_names

    rows = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert sorted(rows) == sorted(check_names())
