"""``ctxbudget check`` writes several formats at once, each whole or not at all."""

import json

import pytest

from ctxbudget.cli import main

FORMATS = {
    "text": "Context budget failed: 1 trace, 1 over a limit\n",
    "json": '{"schema":1,',
    "junit": "<?xml version=",
    "sarif": '{"$schema":"https://raw.githubusercontent.com/oasis-tcs/sarif-spec/',
    "github": "::error file=",
    "markdown": "## Context budget failed: 1 trace, 1 over a limit\n",
}
LIMIT = ("--max", "300", "--quiet")
"""Less than any turn of the session has."""


@pytest.fixture
def folder(tmp_path, write_session, monkeypatch):
    write_session(tmp_path / "session.jsonl")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)  # a width asked for is the screen's, not a file's
    return tmp_path


@pytest.fixture
def check(folder, capfdbinary):  # noqa: ARG001 - in this folder
    """Exit code, output and errors of ``ctxbudget check`` in the folder."""

    def of(*flags, name="check"):
        code = main([name, "session.jsonl", *(LIMIT if name == "check" else ()), *flags])
        done = capfdbinary.readouterr()
        return code, done.out.decode(), done.err.decode()

    return of


def test_all_of_them_at_once_are_what_each_is_alone(check, folder):
    code, answer, _ = check(*(f"--out={name}=out.{name}" for name in FORMATS))
    assert code == 1
    assert answer.startswith(FORMATS["text"])
    for name, start in FORMATS.items():
        code, alone, _ = check("--format", name)
        assert code == 1
        assert alone.startswith(start)
        assert (folder / f"out.{name}").read_text() == alone
    assert json.loads((folder / "out.json").read_text())["exit_code"] == 1


def test_in_a_process_of_its_own(command, text, folder):
    done = command("check", "session.jsonl", *LIMIT, "--out", "junit=x.xml", "--out", "sarif=x.sarif", cwd=folder)
    assert text(done, 1).startswith(FORMATS["text"])
    assert (folder / "x.xml").read_text().startswith(FORMATS["junit"])
    assert (folder / "x.sarif").read_text().startswith(FORMATS["sarif"])


@pytest.mark.parametrize("suffix, name", [("json", "json"), ("xml", "junit"), ("sarif", "sarif"), ("md", "markdown")])
def test_the_suffix_tells_the_format(check, folder, suffix, name):
    assert check("-o", f"out.{suffix}") == (1, "", "")
    assert (folder / f"out.{suffix}").read_text().startswith(FORMATS[name])


@pytest.mark.parametrize(
    "flags, message",
    [
        (["--out", "junit"], "error: --out 'junit' names no file"),
        (["--out", "junit="], "error: --out 'junit=' names no file"),
        (["--out", "junit=-"], "error: --out 'junit=-' names no file"),
        (["--out", "junti=x.xml"], "error: unknown format 'junti'\nhint: did you mean 'junit'?"),
        (["--out", "csv=x.csv"], "error: unknown format 'csv'"),
        (["--out", "junit=x.xml", "--out", "json=./x.xml"], "error: --out 'json=./x.xml': another output goes there"),
        (["--out", "json=x", "-o", "x", "--format", "json"], "error: --out 'json=x': another output goes there"),
        (["--out", "junit=nowhere/x.xml"], "error: cannot write nowhere/x.xml: there is no folder nowhere"),
        (["--out", "junit=old.xml"], "error: old.xml exists already\nhint: give --force"),
        (["--out", "junit=session.jsonl", "--force"], "error: cannot write session.jsonl: it is the trace itself"),
        (["-o", "x.csv"], "error: x.csv: .csv tells no format"),
        (["--format", "parquet"], "error: unknown format 'parquet'"),
    ],
)
def test_what_cannot_be_is_told_before_any_work(check, folder, flags, message):
    (folder / "old.xml").write_text("old")
    before = {each.name for each in folder.iterdir()}
    code, out, err = check("--out", "json=first.json", *flags)
    assert (code, out) == (2, "")
    assert err.startswith(message)
    assert {each.name for each in folder.iterdir()} == before
    assert (folder / "old.xml").read_text() == "old"


@pytest.mark.parametrize("command_name", ["analyze", "compare"])
@pytest.mark.parametrize("name", ["junit", "sarif", "github"])
def test_other_commands_do_not_offer_them(check, command_name, name):
    code, _, err = check("--format", name, name=command_name)
    assert code == 2
    assert err.startswith(f"error: unknown format '{name}'")
    code, _, err = check("-o", "x.sarif", name=command_name)
    assert code == 2
    assert err.startswith("error: x.sarif: .sarif tells no format")


def test_force_overwrites(check, folder):
    (folder / "x.xml").write_text("old")
    assert check("--out", "junit=x.xml", "--force")[0] == 1
    assert (folder / "x.xml").read_text().startswith("<?xml")


def test_no_trace_of_a_folder_is_overwritten(check, folder, capfdbinary):  # noqa: ARG001 - it puts signals back
    before = (folder / "session.jsonl").read_bytes()
    for flags in (["--out", "json=session.jsonl"], ["-o", "session.jsonl", "--format", "json"]):
        assert main(["check", ".", "--force", "--out", "junit=x.xml", *flags]) == 2
        assert "cannot write session.jsonl: it is one of the traces" in capfdbinary.readouterr().err.decode()
    assert (folder / "session.jsonl").read_bytes() == before
    assert not (folder / "x.xml").exists()


def test_a_failed_write_leaves_nothing_half_done(check, folder):
    code, out, err = check("--out", "junit=x.xml", "--out", f"json={'y' * 250}.json")
    assert (code, out) == (2, "")  # the draft beside that file has a longer name than a file may have
    assert err.startswith("error: cannot write yyy")
    assert sorted(each.name for each in folder.iterdir()) == ["session.jsonl", "x.xml"]
    assert (folder / "x.xml").read_text().endswith("</testsuites>\n")


@pytest.mark.parametrize("flag", ["--config", "--baseline"])
def test_no_file_of_the_check_is_an_output(check, folder, flag):
    (folder / "own.toml").write_text("")
    code, _, err = check(flag, "own.toml", "--out", "json=own.toml", "--force")
    assert code == 2
    assert err.startswith("error: cannot write own.toml")
    assert (folder / "own.toml").read_text() == ""


@pytest.mark.parametrize(
    "flags, annotated",
    [
        ([], True),
        (["--format", "github"], True),
        (["--out", "github=log.txt", "--format", "text"], True),
        (["--format", "text"], False),
        (["--format", "json"], False),
        (["-o", "x.json"], False),
    ],
)
def test_github_gets_annotations_and_a_summary(check, folder, monkeypatch, flags, annotated):
    summary = folder / "summary.md"
    summary.write_text("# before\n")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    code, out, _ = check(*flags)
    log = (folder / "log.txt").read_text() if (folder / "log.txt").exists() else out
    assert code == 1
    assert log.startswith("::error file=session.jsonl,line=") is annotated
    assert summary.read_text().startswith("# before\n" + ("## Context budget failed: 1 trace" if annotated else ""))
    assert ("Context budget" in summary.read_text()) is annotated


def test_a_summary_that_cannot_be_written_is_a_clean_error(check, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", ".")
    code, _, err = check("--format", "github")
    assert code == 2
    assert err.startswith("error: cannot write the summary of the step to .")


def test_elsewhere_nothing_of_github_is_written(check):
    code, out, _ = check()
    assert code == 1
    assert out.startswith(FORMATS["text"])
