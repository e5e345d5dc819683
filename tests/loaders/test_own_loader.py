"""A new format is one file: dropped into the folder of loaders it is sniffed, listed and read; or given with --from."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ctxbudget

LOADER = '''"""Diary of the imaginary agent Quill.

Where: nowhere.
"""

from ctxbudget.trace import Kind


def sniff(head, path):
    return 1.0 if head.startswith(b'{"quill":') else 0.0


def load(reading, start):
    trace = start()
    trace.agent = "quill"
    for record in reading:
        match record.data:
            case {"quill": str(task)}:
                trace.message("user", record.line)
                trace.add(Kind.USER, task)
            case {"wrote": str(text)}:
                trace.turn(line=record.line)
                trace.message("assistant", record.line)
                trace.add(None, text)
    yield trace.finish(reading.parse)
'''

DIARY = '{"quill": "Describe the harbour."}\n{"wrote": "Grey water, three boats."}\n'


def run(*arguments, path):
    environment = {**os.environ, "PYTHONPATH": str(path)}
    command = [sys.executable, "-m", "ctxbudget", *arguments]
    return subprocess.run(command, env=environment, cwd=path, capture_output=True, text=True, check=False)


@pytest.fixture
def diary(tmp_path):
    (tmp_path / "diary.jsonl").write_text(DIARY)
    return tmp_path


def test_a_file_in_the_folder_is_a_format(diary):
    package = Path(ctxbudget.__file__).parent
    shutil.copytree(package, diary / "ctxbudget", ignore=shutil.ignore_patterns("__pycache__"))
    assert run("analyze", "diary.jsonl", path=diary).returncode == 2
    (diary / "ctxbudget" / "loaders" / "quill.py").write_text(LOADER)
    done = run("analyze", "diary.jsonl", "--format", "json", path=diary)
    assert json.loads(done.stdout)["source"]["format"] == "quill"
    assert json.loads(done.stdout)["source"]["agent"] == "quill"
    assert "Diary of the imaginary agent Quill." in run("list", "formats", path=diary).stdout


def test_a_file_anywhere_is_a_format_when_it_is_given(diary):
    (diary / "my_quill.py").write_text(LOADER)
    done = run("analyze", "diary.jsonl", "--from", "./my_quill.py", "--format", "json", path=diary)
    made = json.loads(done.stdout)
    assert (made["source"]["format"], len(made["turns"])) == ("my-quill", 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import nothing_of_that_name\n", "does not load: ModuleNotFoundError"),
        (None, "no such file"),
    ],
)
def test_a_file_that_is_no_loader_is_an_error(diary, text, message):
    if text is not None:
        (diary / "bad.py").write_text(text)
    done = run("analyze", "diary.jsonl", "--from", "./bad.py", path=diary)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
