"""The command in a process of its own, quickly: forked from one that has imported the library already.

A fresh interpreter spends most of a command's time on imports and on the tokenizer's vocabulary. The forked one has
its own arguments, environment, folder, standard streams and exit code, as a fresh one would.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
import traceback
from functools import cache
from pathlib import Path

CLEAN = (
    "NO_COLOR",
    "FORCE_COLOR",
    "COLUMNS",
    "COLORTERM",
    "PYTHONIOENCODING",
    "PYTHONUTF8",
    "PYTHONWARNINGS",
    "GITHUB_ACTIONS",
    "GITHUB_STEP_SUMMARY",
)
"""What the terminal or the service that runs the tests has set, and a command must not see."""

FRESH = ("PYTHON", "LC_", "LANG")
"""Variables that an interpreter reads when it starts begin so: with one of them it has to start."""

STREAMS = ("stdin", "stdout", "stderr")
FORKS = "forkserver" in multiprocessing.get_all_start_methods()


def run(*arguments, stdin=None, env=(), cwd=None, python=()):
    """Run ``ctxbudget``: the finished process, its output as bytes. ``python`` are the interpreter's own options."""
    environment = clean(env)
    words = [str(argument) for argument in arguments]
    if FORKS and not python and not any(name.startswith(FRESH) for name in dict(env)):
        return _forked(words, stdin or b"", environment, cwd)
    return subprocess.run(
        [sys.executable, *python, "-m", "ctxbudget", *words],
        input=stdin or b"", capture_output=True, env=environment, cwd=cwd, timeout=120, check=False,
    )  # fmt: skip


def clean(env=()):
    """The environment of a command: a terminal of many colours, UTF-8, and what is in ``env``."""
    kept = {name: value for name, value in os.environ.items() if name not in CLEAN}
    return {**kept, "TERM": "xterm-256color", "PYTHONUTF8": "1", **dict(env)}


def start(words, environment, cwd, files):
    """A process with the streams of these files; where the system has no forks, there is none."""
    context = multiprocessing.get_context("forkserver")
    _start_server(context)
    process = context.Process(target=child, args=(words, environment, cwd, files))
    process.start()
    return process


def _forked(words, stdin, environment, cwd):
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder, name) for name in STREAMS}
        files["stdin"].write_bytes(stdin)
        process = start(words, environment, cwd, [str(files[name]) for name in STREAMS])
        process.join(120)
        if process.is_alive():
            process.kill()
            raise subprocess.TimeoutExpired(words, 120)
        out, err = (files[name].read_bytes() if files[name].exists() else b"" for name in STREAMS[1:])
        return subprocess.CompletedProcess(["ctxbudget", *words], process.exitcode, out, err)


@cache
def _start_server(context):
    """Once; it finds ``preloaded`` by the environment only (python/cpython#117378, Python up to 3.13)."""
    from multiprocessing.forkserver import ensure_running

    context.set_forkserver_preload(["preloaded"])
    before = os.environ.get("PYTHONPATH")
    here = str(Path(__file__).parent)
    os.environ["PYTHONPATH"] = here if before is None else os.pathsep.join((here, before))
    try:
        ensure_running()
    finally:
        os.environ.pop("PYTHONPATH")
        if before is not None:
            os.environ["PYTHONPATH"] = before


def child(words, environment, cwd, files):
    """What the forked process does; it never returns."""
    os.environ.clear()
    os.environ.update(environment)
    for number, name in enumerate(files):
        opened = os.open(name, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    if cwd is not None:
        os.chdir(cwd)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - until the process ends
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - until the process ends
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115 - until the process ends
    os._exit(_code(words))


def _code(words):
    from ctxbudget.cli import main

    sys.argv = ["ctxbudget", *words]
    try:
        code = main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:  # noqa: BLE001 - what an interpreter does with it
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return code or 0
