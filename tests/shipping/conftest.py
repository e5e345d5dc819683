"""Small traces, one within its budget and one beyond it."""

import json

import pytest

from ctxbudget.cli import main


def conversation(words):
    """A conversation of one call with so many words in its prompt."""
    question = " ".join(f"word{number}" for number in range(words))
    messages = [{"role": "user", "content": question}, {"role": "assistant", "content": "yes"}]
    return json.dumps({"model": "gpt-4.1", "messages": messages})


@pytest.fixture
def chat():
    """Makes such a conversation."""
    return conversation


@pytest.fixture
def called(monkeypatch, capfd):
    """Run ``ctxbudget`` with these arguments in a folder, inside this process: the exit code."""

    def run(arguments, folder):
        monkeypatch.chdir(folder)
        code = main(arguments)
        capfd.readouterr()
        return code

    return run


@pytest.fixture
def traces(tmp_path):
    """A project's folder with ``traces/small.json`` and ``traces/large.json``; 1,000 tokens lie between the two."""
    folder = tmp_path / "traces"
    folder.mkdir()
    (folder / "small.json").write_text(conversation(10), encoding="utf-8")
    (folder / "large.json").write_text(conversation(1000), encoding="utf-8")
    return tmp_path
