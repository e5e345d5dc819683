"""Sessions whose every number is chosen, and the command: in this process, and in one of its own."""

from __future__ import annotations

import json
from types import SimpleNamespace

import forked
import pytest

from ctxbudget.cli import main


def lines(prompts, *, results=(), model="claude-opus-4-5", tool="Read", orphan=False, dangling=False):
    """A Claude Code session: one call a turn, whose prompt the provider reports as ``prompts[turn]`` tokens; None
    reports nothing. ``results`` are the texts that come back, by turn."""

    def record(role, name, parent, content, **more):
        message = {"role": role, "content": content, **more.pop("message", {})}
        return {"type": role, "uuid": name, "parentUuid": parent, "sessionId": "s", "message": message, **more}

    yield record("user", "r0", None, "Never touch the billing schema. Go.")
    for number, prompt in enumerate(prompts, 1):
        reply = {"id": f"m{number}", "model": model, "stop_reason": "tool_use"}
        if prompt is not None:
            reply["usage"] = {"input_tokens": prompt, "output_tokens": 30}
        call = {"type": "tool_use", "id": f"c{number}", "name": tool, "input": {"file_path": f"/repo/part_{number}.py"}}
        yield record("assistant", f"a{number}", f"r{number - 1}", [call], message=reply, requestId=f"q{number}")
        if dangling and number == len(prompts):
            return
        text = results[number - 1] if number <= len(results) else f"value = {number}"
        answered = f"c{number}" if not (orphan and number == 1) else "nobody"
        result = {"type": "tool_result", "tool_use_id": answered, "content": text}
        yield record("user", f"r{number}", f"a{number}", [result])


def words(number, seed=0):
    """So many short words, and about as many tokens, never twice the same text for two seeds."""
    return " ".join(f"w{(seed * 7919 + at * 31) % 997}" for at in range(number // 2))


@pytest.fixture(scope="session")
def session(tmp_path_factory):
    """Write a session; its path."""
    folder = tmp_path_factory.mktemp("sessions")

    def write(name, prompts, *, into=None, pad=0, **options):
        path = (into or folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        empty = "\n" * pad
        path.write_text(
            empty + "".join(f"{json.dumps(line)}\n" for line in lines(prompts, **options)), encoding="utf-8"
        )
        return path

    return write


@pytest.fixture(scope="session")
def command():
    """Run ``ctxbudget``: the finished process, its output as bytes."""
    return forked.run


@pytest.fixture
def run(capfdbinary, monkeypatch):
    """The same inside this process, which is quicker."""

    def of(*arguments, cwd):
        monkeypatch.chdir(cwd)
        code = main([str(argument) for argument in arguments])
        done = capfdbinary.readouterr()
        return SimpleNamespace(returncode=code, stdout=done.out, stderr=done.err)

    return of
