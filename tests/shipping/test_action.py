"""The composite GitHub Action: its shell steps, run as a runner runs them.

Starting ctxbudget costs a second, so most runs note down what the action calls it with, and the call is made here.
"""

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml

FOLDER = Path(__file__).parents[2] / ".github" / "actions" / "check"
ACTION = yaml.safe_load((FOLDER / "action.yml").read_text(encoding="utf-8"))
EXPRESSION = re.compile(r"\$\{\{ (\w+)\.([\w-]+)(?:\.outputs\.([\w-]+))? \}\}")

PYTHON = """#!/usr/bin/env bash
# In place of Python: a virtual environment of two links, and an installation that is only noted down.
set -euo pipefail
if [ "$2" = venv ]; then
  mkdir -p "$3/bin"
  ln -sf "$0" "$3/bin/python"
  cp "$RUNNER_TEMP/stand-in" "$3/bin/ctxbudget"
  chmod +x "$3/bin/ctxbudget"
else
  echo "$@" >> "$RUNNER_TEMP/installed"
fi
"""
REAL = """#!/usr/bin/env bash
exec "$REAL_PYTHON" -m ctxbudget "$@"
"""
NOTED = """#!/usr/bin/env bash
printf '%s\\0' "$@" > "$RUNNER_TEMP/arguments"
exit 7
"""


class Runner:
    """As much of GitHub's runner as the action needs: inputs, outputs of steps, and their environment."""

    def __init__(self, folder, ctxbudget):
        self.folder = folder
        self.temp = folder / "runner"
        self.temp.mkdir()
        self.given = {}
        self.outputs = {}
        self.python = self.temp / "python"
        self.python.write_text(PYTHON)
        (self.temp / "stand-in").write_text(ctxbudget)
        self.python.chmod(self.python.stat().st_mode | stat.S_IXUSR)

    def run(self, **inputs):
        """Run every step until one fails: the last one's process."""
        given = {name: spec.get("default", "") for name, spec in ACTION["inputs"].items()} | inputs
        self.given = given | {"python": str(self.python)}
        for step in ACTION["runs"]["steps"]:
            done = self.step(step)
            if done.returncode:
                break
        return done

    def step(self, step):
        output = self.temp / f"output-{step['id']}"
        output.touch()
        environment = {name: self.resolved(value) for name, value in step["env"].items()}
        environment |= {
            "PATH": os.environ["PATH"], "REAL_PYTHON": sys.executable, "RUNNER_TEMP": str(self.temp),
            "GITHUB_ACTION_PATH": str(FOLDER), "GITHUB_OUTPUT": str(output), "GITHUB_ACTIONS": "true",
            "GITHUB_STEP_SUMMARY": str(self.temp / "summary.md"), "PYTHONUTF8": "1",
        }  # fmt: skip
        done = subprocess.run(
            [step["shell"], "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.folder / self.resolved(step.get("working-directory", ".")),
            env=environment, capture_output=True, encoding="utf-8", timeout=60, check=False,
        )  # fmt: skip
        pairs = (line.partition("=") for line in output.read_text().splitlines())
        self.outputs[step["id"]] = {name: value for name, _, value in pairs}
        return done

    def resolved(self, text):
        return EXPRESSION.sub(
            lambda found: self.given[found[2]] if found[1] == "inputs" else self.outputs[found[2]][found[3]], text
        )

    @property
    def arguments(self):
        """What the action called ctxbudget with, where that was only noted down."""
        return (self.temp / "arguments").read_text().split("\0")[:-1]


@pytest.fixture
def runner(traces):
    return Runner(traces, REAL)


@pytest.fixture
def noted(traces):
    return Runner(traces, NOTED)


def test_it_is_an_action(published):
    jsonschema.validate(ACTION, published("GitHub Action"))


def test_no_input_is_pasted_into_a_script():
    assert all("${{" not in step["run"] for step in ACTION["runs"]["steps"])


def test_every_input_is_used_and_none_other():
    used = set(re.findall(r"\$\{\{ inputs\.([\w-]+) \}\}", json.dumps(ACTION["runs"])))
    assert used == set(ACTION["inputs"])


def test_it_installs_the_checkout_it_came_with(noted):
    noted.run(paths="traces/small.json")
    *_, target = (noted.temp / "installed").read_text().split()
    assert (Path(target).resolve() / "pyproject.toml").is_file()


@pytest.mark.parametrize(
    "inputs, code",
    [
        ({"paths": "traces/small.json"}, 0),
        ({"paths": "traces", "max": "500"}, 1),
        ({"paths": "traces/small.json\ntraces/nothing.json\n"}, 2),
        ({"paths": "traces/*.json", "max": "500"}, 1),
        ({"paths": "small.json", "working-directory": "traces"}, 0),
        ({"paths": "traces", "config": "budget.yaml"}, 1),
        ({"paths": "traces", "flags": "--max-result=1k\n--window=100k\n"}, 0),
        ({"paths": "traces", "flags": "--window=1k"}, 1),
        ({"paths": "traces", "max": "500", "strategy": "none"}, 1),
        ({"paths": "--version"}, 2),
        ({"paths": "traces/small.json", "max": "$(touch pwned)"}, 2),
        ({"paths": "traces/small.json\n; touch pwned"}, 2),
        ({"paths": ""}, 2),
    ],
)
def test_what_it_calls_the_check_with(noted, called, inputs, code):
    (noted.folder / "budget.yaml").write_text("context_budget: {max_input_tokens: 600, hard_threshold: 0.9}\n")
    done = noted.run(**inputs)
    assert done.returncode == 7, done.stderr
    assert noted.outputs["check"] == {"exit-code": "7"}
    assert called(noted.arguments, noted.folder / inputs.get("working-directory", ".")) == code
    assert not (noted.folder / "pwned").exists()


def test_it_annotates_and_summarises_and_writes_every_file(runner):
    names = {"junit": "a b.xml", "sarif": "a.sarif", "markdown": "a.md", "json": "a.json"}
    for name in names.values():
        (runner.folder / name).write_text("from the run before")
    done = runner.run(paths="traces", max="500", **names)
    assert done.returncode == 1
    assert runner.outputs["check"] == {"exit-code": "1"}
    assert done.stdout.startswith("::error file=traces/large.json,")
    assert (runner.temp / "summary.md").read_text().startswith("## Context budget failed: 2 traces, 1 over a limit\n")
    starts = {"junit": "<?xml", "sarif": '{"$schema"', "markdown": "## Context", "json": '{"schema"'}
    for name, start in starts.items():
        assert (runner.folder / names[name]).read_text().startswith(start)


def test_a_baseline_excuses_what_it_knows_and_nothing_worse(noted, called, chat):
    called(["check", "traces", "--max=500", "--baseline=known.json", "--update-baseline"], noted.folder)
    noted.run(paths="traces", max="500", baseline="known.json")
    assert called(noted.arguments, noted.folder) == 0
    (noted.folder / "traces" / "large.json").write_text(chat(2000))
    assert called(noted.arguments, noted.folder) == 1
