"""The command in a process of its own, and small sessions for it."""

from __future__ import annotations

import json

import pytest
from forked import run


@pytest.fixture(scope="session")
def command():
    """Run ``ctxbudget``: the finished process, its output as bytes."""
    return run


@pytest.fixture(scope="session")
def text():
    """Output as text, its absence of errors checked."""

    def of(done, code=0):
        assert done.returncode == code, done.stderr.decode()
        assert b"Traceback" not in done.stderr
        return done.stdout.decode()

    return of


def session_lines(turns=4, key="m", *, tool="Read", words="value = 240  # limit\n"):
    """A Claude Code session: each turn one call of a tool, its usage, and its result."""

    def record(role, name, parent, content, **more):
        message = {"role": role, "content": content, **more.pop("message", {})}
        return {"type": role, "uuid": name, "parentUuid": parent, "sessionId": "s", "message": message, **more}

    yield record("user", "r0", None, "go")
    for number in range(1, turns + 1):
        usage = {"input_tokens": 10, "cache_read_input_tokens": 100 * number, "cache_creation_input_tokens": 90}
        reply = {"id": f"{key}{number}", "model": "claude-opus-4-5", "stop_reason": "tool_use"}
        reply["usage"] = {**usage, "output_tokens": 30}
        call = {"type": "tool_use", "id": f"c{number}", "name": tool, "input": {"file_path": f"/repo/part_{number}.py"}}
        yield record("assistant", f"a{number}", f"r{number - 1}", [call], message=reply, requestId=f"{key}{number}")
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": words * 10}
        yield record("user", f"r{number}", f"a{number}", [result])


@pytest.fixture(scope="session")
def write_session():
    """Write a session file."""

    def write(path, turns=4, **options):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{json.dumps(line)}\n" for line in session_lines(turns, **options)), encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="session")
def session(tmp_path_factory, write_session):
    """A session of four calls and a pending one."""
    return write_session(tmp_path_factory.mktemp("one") / "session.jsonl")


@pytest.fixture(scope="session")
def chats(tmp_path_factory):
    """A file of three conversations."""
    file = tmp_path_factory.mktemp("many") / "chats.jsonl"
    lines = (
        {
            "messages": [
                {"role": "user", "content": f"question {number} " * number},
                {"role": "assistant", "content": "yes"},
            ]
        }
        for number in (1, 2, 3)
    )
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return file
