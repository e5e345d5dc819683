"""What cannot be done is one clear line, a hint, and exit code 2; never a traceback."""

import os

import pytest

BAD = [
    (["analize"], "no such command 'analize'", "did you mean 'analyze'?"),
    (["analyze", "{session}", "--widow", "3"], "no such option: --widow", "did you mean --window?"),
    (["analyze"], "missing argument 'PATH'", "see: ctxbudget analyze --help"),
    (["analyze", "{session}", "--window"], "option '--window' requires an argument", "see: ctxbudget --help"),
    (["analyze", "{session}", "--turn", "x"], "--turn takes a whole number", "see: ctxbudget analyze --help"),
    (["compare", "{session}", "-j", "x"], "--jobs takes a whole number", "see: ctxbudget compare --help"),
    (["compare", "{session}", "--by", "model"], "unknown grouping 'model'", "known: outcome"),
    (["sessions", "--limit", "-1"], "--limit takes a whole number from 0 on", "see: ctxbudget sessions --help"),
    (["replay", "{session}", "-s", "window", "--fragment", "zz"], "unknown fragment 'zz'", "--turn N lists"),
    (["replay", "{session}", "-s", "./no.toml"], "./no.toml: no such file", "a .toml or .py file"),
    (["analyze", "{tmp}/nothing.jsonl"], "nothing.jsonl: no such file", "give the path"),
    (["analyze", "{tmp}/*.nothing"], "*.nothing: no file matches", "quote a pattern"),
    (["analyze", "{empty}"], "no trace in this folder, 0 records read", "ctxbudget list formats"),
    (["analyze", "{zero}"], "zero.jsonl is empty", "0 records"),
    (["analyze", "{alien}"], "alien.json: not a format ctxbudget knows", "scores:"),
    (["analyze", "{session}", "--from", "codx"], "unknown format 'codx'", "did you mean 'codex'?"),
    (["analyze", "{session}", "--format", "jsn"], "unknown format 'jsn'", "did you mean 'json'?"),
    (["analyze", "{session}", "--scheme", "windows"], "unknown scheme 'windows'", "did you mean 'window'?"),
    (["analyze", "{session}", "--by", "layers"], "unknown breakdown 'layers'", "did you mean 'layer'?"),
    (["analyze", "{session}", "--table", "turn"], "unknown table 'turn'", "did you mean 'turns'?"),
    (["analyze", "{session}", "--fail-on", "errors"], "unknown level 'errors'", "did you mean 'error'?"),
    (["analyze", "{session}", "--window", "big"], "--window 'big' is no number of tokens", "200k"),
    (["analyze", "{session}", "--window", "0"], "--window '0' is too small", "at least 1"),
    (["analyze", "{session}", "--window", "32768", "--reserve", "32768"], "leaves nothing of the window", "smaller"),
    (["analyze", "{session}", "--turn", "9"], "there is no turn 9", "turns 1 to 5"),
    (["analyze", "{session}", "--select", "7"], "there is no trace '7' in it", "it holds one trace"),
    (["analyze", "{session}", "{tmp}/one.jsonl", "--turn", "1"], "one turn can be shown of one trace only", "--select"),
    (["analyze", "{session}", "-o", "{tmp}/no/where.json"], "there is no folder", "make it first"),
    (["analyze", "{session}", "-o", "{tmp}"], "it is a folder", "-o report.json"),
    (["analyze", "{session}", "-o", "{tmp}/x.doc"], ".doc tells no format", "--format"),
    (["analyze", "{session}", "--format", "csv", "--by", "tool"], "--by is for the answer", "--table"),
    (["analyze", "{session}", "--format", "json", "--table", "turns"], "JSON always holds every table", "csv"),
    (["list", "fromats"], "unknown list 'fromats'", "did you mean 'formats'?"),
]  # fmt: skip


@pytest.fixture(scope="module")
def places(tmp_path_factory, session, write_session):
    tmp = tmp_path_factory.mktemp("bad")
    (tmp / "empty").mkdir()
    (tmp / "zero.jsonl").write_bytes(b"")
    (tmp / "alien.json").write_text('{"name": "x"}', encoding="utf-8")
    write_session(tmp / "one.jsonl", 1)
    return {
        "session": session,
        "tmp": tmp,
        "empty": tmp / "empty",
        "zero": tmp / "zero.jsonl",
        "alien": tmp / "alien.json",
    }


@pytest.mark.parametrize("arguments, message, hint", BAD, ids=[" ".join(case[0]) for case in BAD])
def test_one_line_and_a_hint(command, places, arguments, message, hint):
    done = command(*(argument.format(**places) for argument in arguments))
    lines = done.stderr.decode().splitlines()
    assert done.returncode == 2
    assert done.stdout == b""
    assert len(lines) == 2
    assert lines[0].startswith("error: ")
    assert message in lines[0]
    assert lines[1].startswith("hint: ")
    assert hint in lines[1]


def test_an_unwritable_folder(command, session, tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    tmp_path.chmod(0o500)
    done = command("analyze", session, "-o", tmp_path / "x.json")
    assert done.returncode == 2
    assert b"cannot write" in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a disk that is full, on Linux")  # noqa: PTH110
@pytest.mark.parametrize("form", ["json", "table", "csv"])
def test_a_full_disk_is_an_error_and_not_a_traceback(command, session, form):
    done = command("analyze", session, "--format", form, "-o", "/dev/full")
    assert done.returncode == 2
    assert done.stderr.decode() == "error: cannot write /dev/full: No space left on device\n"


def test_a_failed_write_leaves_no_file(tmp_path):
    from ctxbudget.output import open_output

    def fail():
        with open_output(str(tmp_path / "x.json")).writing() as stream:
            stream.write(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_a_hostile_path_does_not_reach_the_terminal(command):
    done = command("analyze", "\x1b]0;owned\x07.jsonl")
    assert done.returncode == 2
    assert b"\x1b" not in done.stderr
    assert rb"\x1b]0;owned\x07.jsonl: no such file" in done.stderr


def test_hostile_bytes_are_a_clean_error_or_an_answer(command, tmp_path):
    for number, data in enumerate(
        (b"\x00\xff\xfe", b"{" * 3000, b"[[[[", b'{"type":"user"}\n', b"PK\x03\x04", b"\x1f\x8b")
    ):
        file = tmp_path / f"{number}.jsonl"
        file.write_bytes(data)
        done = command("analyze", file)
        assert done.returncode in {0, 2}, data
        assert b"Traceback" not in done.stderr
