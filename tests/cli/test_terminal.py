"""Terminals, pipes, encodings (cases C82 to C87)."""

import json
import os
import pty
import re
import select
import subprocess
import sys

import pytest
from forked import clean, start

WORDS = "caf\u00e9 \u2699 \u6f22\u5b57 \U0001f600 "


@pytest.fixture(scope="module")
def foreign(tmp_path_factory, write_session):
    """A session whose texts and tool names hold emoji and CJK."""
    return write_session(
        tmp_path_factory.mktemp("foreign") / "\u6f22\u5b57.jsonl", words=WORDS, tool=f"Read{WORDS.strip()}"
    )


def numbers(page):
    return re.findall(rb"\d[\d,.]*", page)


@pytest.fixture(scope="module")
def plain(command, foreign):
    """The answer and the JSON where stdout is UTF-8."""
    return command("analyze", foreign), command("analyze", foreign, "--format", "json")


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "cp437"])
def test_any_encoding_of_stdout_carries_every_number(command, foreign, plain, encoding):
    page = command("analyze", foreign, env={"PYTHONIOENCODING": encoding})
    assert (page.returncode, page.stderr) == (0, b"")
    assert numbers(page.stdout) == numbers(plain[0].stdout)


def test_json_and_help_do_not_mind_the_encoding(command, foreign, plain):
    data = command("analyze", foreign, "--format", "json", env={"PYTHONIOENCODING": "cp1252"})
    assert data.stdout == plain[1].stdout
    assert command("analyze", "--help", env={"PYTHONIOENCODING": "ascii"}).returncode == 0


def test_what_we_write_and_read_is_utf8_in_every_locale(command, foreign, tmp_path):
    copy = tmp_path / "session.jsonl"
    copy.write_bytes(foreign.read_bytes())
    bare = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    outputs = []
    for name, environment in (("c", bare), ("utf8", {"LC_ALL": "C.UTF-8"})):
        file = tmp_path / f"{name}.md"
        done = command("analyze", copy, "-o", file, env=environment, python=("-X", "warn_default_encoding"))
        assert done.returncode == 0
        assert b"EncodingWarning" not in done.stderr
        outputs.append(file.read_bytes())
    assert outputs[0] == outputs[1]
    assert "\u6f22\u5b57" in outputs[0].decode()


@pytest.mark.parametrize("form, unbuffered", [("table", ""), ("json", "1"), ("csv", "1")])
def test_a_reader_that_goes_away_ends_it_quietly(tmp_path, write_session, form, unbuffered):
    long = write_session(tmp_path / "long.jsonl", 1500)
    flags = ["--format", form] if form == "json" else ["--format", form, "--table", "turns"]
    process = subprocess.Popen(
        [sys.executable, "-m", "ctxbudget", "analyze", str(long), *flags],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )  # fmt: skip
    assert process.stdout.read(40)
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait(30) in {0, -13}
    assert errors == b""


def test_a_pipe_gets_names_and_numbers_whole(command, text, tmp_path, write_session):
    name = "mcp__" + "a_very_long_server_name" * 3
    file = write_session(tmp_path / f"{'long' * 20}.jsonl", tool=name)
    for environment in ({}, {"TERM": "dumb", "FORCE_COLOR": "0"}):
        page = text(command("analyze", file, env=environment))
        assert name in page
        assert str(file) in page
        assert "\u2026" not in page
    report = json.loads(text(command("analyze", file, "--format", "json")))
    rows = [*report["by_layer"], *report["by_tool"], *report["by_resource"]]
    for number in {value for row in rows for value in row.values() if isinstance(value, int)}:
        assert f"{number:,}" in page
    for value in (*report["usage"].values(), *report["messages"].values()):
        assert value is None or isinstance(value, bool) or f"{value:,}" in page


def test_columns_set_on_purpose_are_kept(command, text, session):
    page = text(command("analyze", session, env={"COLUMNS": "50"}))
    tables = [line for line in page.splitlines() if "  " in line and not line.startswith("/")]
    assert max(map(len, tables)) <= 50


def on_terminal(*arguments, **environment):
    """Output and exit code of the command on a pseudo-terminal of 80 columns."""
    control, terminal = pty.openpty()
    process = start([str(each) for each in arguments], clean(environment), None, [os.ttyname(terminal)] * 3)
    page, ready = b"", [control]
    while control in ready:
        ready = select.select([control, process.sentinel], [], [], 30)[0]
        if control in ready:
            page += os.read(control, 65536)
    os.close(terminal)
    os.close(control)
    process.join(30)
    return page, process.exitcode


@pytest.mark.parametrize(
    "environment, colored",
    [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False), ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False)],
    ids=str,
)
def test_colours_on_a_terminal(session, environment, colored):
    page, code = on_terminal("analyze", session, **environment)
    assert code == 0
    assert (b"\x1b[" in page) is colored
    assert b"Layers at the peak" in page


@pytest.mark.parametrize("form, colored", [("table", True), ("json", False), ("csv", False), ("markdown", False)])
def test_colours_in_a_pipe_only_when_forced_and_never_in_data(command, text, session, form, colored):
    assert "\x1b" not in text(command("analyze", session, "--format", form))
    assert ("\x1b" in text(command("analyze", session, "--format", form, env={"FORCE_COLOR": "1"}))) is colored


def test_a_bar_while_a_long_file_is_read(tmp_path, write_session):
    file = write_session(tmp_path / "big.jsonl", 20, words="word " * 60_000)
    page, code = on_terminal("analyze", file, "--format", "json")
    assert code == 0
    assert b"reading big.jsonl" in page


def test_no_bar_for_a_short_one(session):
    page, _ = on_terminal("analyze", session, "--format", "json")
    assert b"reading" not in page


def test_parquet_is_not_written_to_a_screen(session):
    page, code = on_terminal("analyze", session, "--format", "parquet")
    assert code == 2
    assert b"parquet is not for a screen" in page
