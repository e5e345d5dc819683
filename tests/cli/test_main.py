"""Help, version, lists, completion, and what is imported for them."""

import os
import signal
import subprocess
import sys
from importlib.metadata import version

import pytest


def test_version(command, text):
    assert text(command("--version")) == f"ctxbudget {version('ctxbudget')}\n"


def test_help_has_examples_and_exit_codes(command, text):
    page = text(command("--help"))
    assert page == text(command())
    for part in ("ctxbudget analyze session.jsonl", "analyze", "list", "--install-completion", "Exit codes: 0"):
        assert part in page
    lines = page.partition("Commands:\n")[2].splitlines()
    assert len(lines) == 10
    assert all(line.endswith(".") and not line.endswith("..") for line in lines)
    assert "ctxbudget analyze session.jsonl --window 120k" in text(command("analyze", "--help"))


@pytest.mark.parametrize(
    "what, parts",
    [
        ([], ["strategies", "passes", "formats", "layers", "models", "estimators"]),
        (["formats"], ["claude-code", "codex", "openai-chat"]),
        (["layers"], ["observation", "working_memory", "call, result"]),
        (["models", "opus"], ["claude-opus-4-5", "200,000"]),
        (["estimators"], ["anchored", "chars4"]),
        (["models", "no such model"], ["none"]),
    ],
    ids=str,
)
def test_lists(command, text, what, parts):
    page = text(command("list", *what))
    assert all(part in page for part in parts)


@pytest.mark.parametrize(
    "words, expected",
    [
        ("ctxbudget an", "analyze"),
        ("ctxbudget analyze --from claude-co", "claude-code"),
        ("ctxbudget analyze --scheme ag", "agent"),
        ("ctxbudget analyze --format mark", "markdown"),
        ("ctxbudget analyze --by res", "resource"),
        ("ctxbudget analyze --table frag", "fragments"),
        ("ctxbudget analyze --fail-on err", "error"),
        ("ctxbudget compare --by out", "outcome"),
        ("ctxbudget list est", "estimators"),
    ],
)
def test_the_shell_completes(command, text, words, expected):
    parts = words.split(" ")
    environment = {"_CTXBUDGET_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(parts) - 1)}
    assert text(command(env=environment)).strip() == expected


LOADED = """
import sys
from ctxbudget.cli import main
code = main(sys.argv[2:])
print([name for name in sys.argv[1].split(",") if name in sys.modules], file=sys.stderr)
sys.exit(code)
"""


def loaded(names, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", LOADED, names, *map(str, arguments)], capture_output=True, check=True, text=True
    )
    return done.stderr.strip()


def test_help_and_version_load_nothing_heavy():
    heavy = "pandas,rich.console,orjson,ctxbudget.trace,quicktok,tiktoken,genai_prices,pydantic"
    assert loaded(heavy, "--help") == "[]"
    assert loaded(heavy, "--version") == "[]"


def test_pandas_is_only_for_tables(session):
    assert loaded("pandas,pyarrow", "analyze", session) == "[]"
    assert loaded("pandas,pyarrow", "analyze", session, "--format", "json") == "[]"
    assert loaded("pandas", "analyze", session, "--format", "csv") == "['pandas']"


def test_importing_the_package_does_no_work():
    ours = "{'typer', 'rich', 'pandas', 'orjson', 'ctxbudget'}"
    code = f"import sys, ctxbudget; print([name for name in sys.modules if name.split('.')[0] in {ours}])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "['ctxbudget']"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a pipe with a name, to know when it is being read")
def test_an_interrupt_is_quiet(tmp_path):
    pipe = tmp_path / "session.jsonl"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [sys.executable, "-m", "ctxbudget", "analyze", str(pipe)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with pipe.open("wb"):  # waits until the command has opened it too
        os.kill(process.pid, signal.SIGINT)
        out, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (out, errors) == (b"", b"")
