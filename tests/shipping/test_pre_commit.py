"""The pre-commit hook: its definition, and what it runs."""

import re
import shlex
from pathlib import Path

import jsonschema
import pytest
import yaml

HOOKS = yaml.safe_load((Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))


def test_the_definition_is_one(published):
    jsonschema.validate(HOOKS, published(".pre-commit-hooks.yml"))


@pytest.mark.parametrize("flags, code", [([], 0), (["--max=500"], 1)])
def test_what_it_runs_on_the_files_that_it_chooses(traces, called, flags, code):
    (hook,) = HOOKS
    files = [str(file.relative_to(traces)) for file in sorted(traces.rglob("*.json"))]
    assert [file for file in files if re.search(hook["files"], file)] == files
    program, *words = shlex.split(hook["entry"])
    assert program == "ctxbudget"
    assert called([*words, *flags, *files], traces) == code
