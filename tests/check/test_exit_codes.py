"""The truth table of exit codes, from the command line on."""

import gc
import json

import pytest

from ctxbudget.checking import check
from ctxbudget.trace import Trace

GOOD, BAD, LOST = 0, 1, 2


@pytest.fixture(scope="module")
def places(tmp_path_factory, session):
    tmp = tmp_path_factory.mktemp("table")
    (tmp / "none").mkdir()
    (tmp / "mixed").mkdir()
    (tmp / "empty.jsonl").write_bytes(b"")
    (tmp / "blank.jsonl").write_bytes(b"\n\n \n")
    (tmp / "alien.jsonl").write_text("what is this\n", encoding="utf-8")
    (tmp / "no_turns.json").write_text('{"messages": []}', encoding="utf-8")
    chat = {"messages": [{"role": "user", "content": "hi " * 600}, {"role": "assistant", "content": "yes"}]}
    (tmp / "windowless.json").write_text(json.dumps(chat), encoding="utf-8")
    session("good.jsonl", [100, 700, 300], into=tmp)
    session("bad.jsonl", [100, 800, 300], into=tmp)
    session("good.jsonl", [100], into=tmp / "mixed")
    (tmp / "mixed" / "broken.jsonl").write_text("}{ what\n", encoding="utf-8")
    (tmp / "mixed" / "package.json").write_text("{}", encoding="utf-8")
    (tmp / "mixed" / "README.md").write_text("# traces", encoding="utf-8")
    return tmp


W = ["--window", "1000"]
TABLE = [
    # arguments, exit code, status of each trace
    (["good.jsonl", *W], GOOD, ["clean"]),
    (["bad.jsonl", *W], BAD, ["violated"]),
    (["bad.jsonl", *W, "--max", "80%"], GOOD, ["clean"]),
    (["bad.jsonl", *W, "--max", "79.9%"], BAD, ["violated"]),
    (["bad.jsonl", *W, "--max", "799"], BAD, ["violated"]),
    (["bad.jsonl", *W, "--max", "800"], GOOD, ["clean"]),
    (["bad.jsonl", *W, "--ignore", "CB102"], GOOD, ["clean"]),
    (["bad.jsonl", *W, "--select", "CB2"], GOOD, ["clean"]),
    (["good.jsonl", "bad.jsonl", *W], BAD, ["clean", "violated"]),
    (["empty.jsonl", *W], LOST, ["unmeasured"]),
    (["blank.jsonl", *W], LOST, ["unmeasured"]),
    (["no_turns.json", *W], LOST, ["unmeasured"]),
    (["none", *W], LOST, ["unmeasured"]),
    (["*.nothing", *W], LOST, ["unmeasured"]),
    (["good.jsonl", "good.jsonl", "*.nothing", *W], LOST, ["clean", "unmeasured"]),
    (["alien.jsonl", *W], LOST, ["unreadable"]),
    (["missing.jsonl", *W], LOST, ["unreadable"]),
    (["good.jsonl#7", *W], LOST, ["unreadable"]),
    (["windowless.json"], LOST, ["unmeasured"]),
    (["windowless.json", "--max", "1000"], GOOD, ["clean"]),
    (["windowless.json", "--max", "500"], BAD, ["violated"]),
    (["windowless.json", "--max", "500", "--growth", "10%"], LOST, ["unmeasured"]),
    (["windowless.json", "--growth", "20k"], LOST, ["unmeasured"]),  # the default for the whole stays, and is a share
    (["windowless.json", "--max", "1000", "--growth", "20k", "--max-result", "9k"], GOOD, ["clean"]),
    (["bad.jsonl", *W, "--growth", "20k"], BAD, ["violated"]),
    (["bad.jsonl", *W, "--max-layer", "observation=99%"], BAD, ["violated"]),
    (["bad.jsonl", *W, "--max-result", "20k"], BAD, ["violated"]),
    (["windowless.json", "--window", "2k"], GOOD, ["clean"]),
    (["windowless.json", "--window", "700"], BAD, ["violated"]),
    (["good.jsonl", "missing.jsonl", *W], LOST, ["clean", "unreadable"]),
    (["bad.jsonl", "missing.jsonl", *W], LOST, ["violated", "unreadable"]),
    (["bad.jsonl", "empty.jsonl", *W], LOST, ["violated", "unmeasured"]),
    (["mixed", *W], LOST, ["clean", "unreadable"]),
    (["empty.jsonl", *W, "--allow-empty"], GOOD, ["unmeasured"]),
    (["none", *W, "--allow-empty"], GOOD, ["unmeasured"]),
    (["no_turns.json", *W, "--allow-empty"], GOOD, ["unmeasured"]),
    (["bad.jsonl", "empty.jsonl", *W, "--allow-empty"], BAD, ["violated", "unmeasured"]),
    (["alien.jsonl", "empty.jsonl", *W, "--allow-empty"], LOST, ["unreadable", "unmeasured"]),
    (["@nobody", *W, "--allow-empty"], LOST, ["unreadable"]),
    (["alien.jsonl", *W, "--allow-empty"], LOST, ["unreadable"]),
    (["missing.jsonl", *W, "--allow-empty"], LOST, ["unreadable"]),
    (["windowless.json", "--allow-empty"], LOST, ["unmeasured"]),
    (["good.jsonl", *W, "--must-keep", "Never touch the billing schema"], GOOD, ["clean"]),
    (["good.jsonl", *W, "--must-keep", "nobody said this"], LOST, ["clean"]),
    (["good.jsonl", *W, "--strategy", "sliding-window"], GOOD, ["clean"]),
]


@pytest.mark.parametrize("arguments, code, statuses", TABLE, ids=[" ".join(row[0]) for row in TABLE])
def test_the_truth_table(run, places, arguments, code, statuses):
    done = run("check", *arguments, "--format", "json", cwd=places)
    assert done.returncode == code, done.stderr.decode()
    assert b"Traceback" not in done.stderr
    report = json.loads(done.stdout)
    assert report["exit_code"] == code
    assert [row["status"] for row in report["checked"]] == statuses
    for row in report["checked"]:
        assert (row["turns"] is None) == (row["peak"] is None) == (row["status"] in {"unmeasured", "unreadable"})
        assert row["excused"] is (
            row["status"] == "unmeasured" and "--allow-empty" in arguments and row["path"] != "windowless.json"
        )
        if row["reason"]:
            word = "note" if row["excused"] else "error"
            assert f"{word}: {row['path']}: {row['reason']}\n" in done.stderr.decode()


USAGE = [
    (["good.jsonl", "--max", "80"], "may mean a share or tokens", "80%"),
    (["good.jsonl", "--max-layer", "observation"], "names no layer", "observation=45%"),
    (["good.jsonl", "--max-layer", "observations=45%"], "unknown layer 'observations'", "observation"),
    (["good.jsonl", "--max-layer", "obs=45%"], "unknown layer 'obs'", "'observation'"),
    (["good.jsonl", "--from", "codx"], "unknown format 'codx'", "'codex'"),
    (["good.jsonl", "--select", "CB9"], "unknown rule 'CB9'", "ctxbudget explain"),
    (["good.jsonl", "--baseline", "none"], "none: Is a directory", "can be read"),
    (["good.jsonl", "--baseline", "alien.jsonl", "--update-baseline"], "not a baseline", "remove it"),
    (["good.jsonl", "--strategy", "slidng-window"], "unknown strategy 'slidng-window'", "sliding-window"),
    (["good.jsonl", "--baseline", "none.json"], "none.json: No such file", "--update-baseline"),
    (["good.jsonl", "--update-baseline"], "no baseline to update", "--baseline FILE"),
    (["good.jsonl", "--config", "none.yaml"], "none.yaml: No such file", "file of settings"),
    (["good.jsonl", "--format", "sarf"], "unknown format 'sarf'", "sarif"),
    (["good.jsonl", "--window", "10", "--reserve", "10"], "leaves nothing of the window", "smaller"),
]  # fmt: skip


@pytest.mark.parametrize("arguments, message, hint", USAGE, ids=[" ".join(row[0]) for row in USAGE])
def test_a_mistake_is_one_line_and_a_hint(run, places, arguments, message, hint):
    done = run("check", *arguments, cwd=places)
    first, second = done.stderr.decode().splitlines()
    assert done.returncode == 2
    assert done.stdout == b""
    assert first.startswith("error: ")
    assert message in first
    assert second.startswith("hint: ")
    assert hint in second


def test_nothing_given_is_nothing_measured():
    assert check([]).exit_code == LOST
    assert check([], allow_empty=True).exit_code == GOOD


def test_a_fact_that_nothing_held_is_told_to_whoever_pipes_the_answer_away(run, places):
    done = run("check", "good.jsonl", *W, "--must-keep", "no such\x1b fact", "-q", "--format", "json", cwd=places)
    assert done.stderr == b"error: no prompt of any trace holds the must-keep fact 'no such\\x1b fact'\n"


def test_what_was_allowed_is_a_note_and_quiet_says_nothing_of_it(run, places):
    arguments = ["check", "empty.jsonl", "alien.jsonl", *W, "--allow-empty"]
    loud, quiet = (run(*arguments, *more, cwd=places).stderr.decode() for more in ((), ("-q",)))
    assert "note: empty.jsonl: is empty: nothing to measure\n" in loud
    assert "error: alien.jsonl: not a format" in loud
    assert "--allow-empty" not in loud
    assert "empty.jsonl" not in quiet
    assert "error: alien.jsonl" in quiet


def test_what_holds_nothing_says_how_to_allow_it(run, places):
    for file in ("empty.jsonl", "no_turns.json", "none"):
        hints = [line for line in run("check", file, *W, cwd=places).stderr.decode().splitlines() if "hint: " in line]
        assert [hint.endswith("; --allow-empty lets it pass") for hint in hints] == [True]


def test_a_hint_is_said_once(run, places):
    done = run("check", "missing.jsonl", "gone.jsonl", cwd=places)
    assert done.stderr.count(b"error: ") == 2
    assert done.stderr.count(b"hint: ") == 1


def test_the_unknown_window_says_what_to_do(run, places):
    done = run("check", "windowless.json", cwd=places)
    assert b"--window 200k, or limit the fullest turn in tokens, as --max 150k" in done.stderr
    growth = run("check", "windowless.json", "--max", "9k", "--growth", "10%", cwd=places).stderr
    assert b"--window 200k, or give limits in tokens" in growth
    assert b"the window is unknown" in done.stdout


def test_the_exit_code_of_a_process(command, places):
    done = command("check", "bad.jsonl", *W, cwd=places)
    assert done.returncode == 1
    assert b"Context budget failed" in done.stdout


def test_the_same_bytes_wherever_it_runs(command, places, tmp_path):
    arguments = ["check", places / "bad.jsonl", places / "mixed", "--window", "1000", "--format", "json"]
    first = command(*arguments, cwd=places, env={"PYTHONHASHSEED": "1"})
    second = command(*arguments, cwd=tmp_path, env={"PYTHONHASHSEED": "2"})
    assert first.stdout == second.stdout
    assert first.returncode == second.returncode == json.loads(first.stdout)["exit_code"] == LOST


@pytest.mark.parametrize("form", ["text", "junit", "sarif", "github", "markdown"])
def test_and_in_every_form(run, places, tmp_path, form):
    arguments = ["check", places / "bad.jsonl", places / "mixed", *W, "--growth", "1%", "--format", form]
    assert run(*arguments, cwd=places).stdout == run(*arguments, cwd=tmp_path).stdout


def test_no_more_than_one_file_is_held_at_a_time(session, tmp_path):
    """Of a trace that was checked only its row is kept, whether it failed or not; a broken one hides no other."""
    for number in range(5):
        session(f"{number}.jsonl", [100, 710 + 20 * number, None], into=tmp_path, results=["word " * 200])
    (tmp_path / "1.jsonl").write_text("}{ what\n", encoding="utf-8")

    def traces():
        gc.collect()
        return sum(type(one) is Trace for one in gc.get_objects())

    before, seen = traces(), []
    report = check(
        tmp_path, window=1_000, on_file=lambda path, number, of: seen.append((number, of, traces() - before))
    )
    assert [(number, of) for number, of, _ in seen] == [(number, 5) for number in range(5)]
    assert max(held for _, _, held in seen) <= 1
    assert (report.totals.traces, report.totals.unreadable, report.totals.violated) == (5, 1, 2)


def test_standard_input_and_no_pandas(command, places):
    """What a gate does not need it does not load."""
    script = "code = main(['check', '-', '--window', '1k', '--format', 'json'])"
    whole = (
        f"import sys; from ctxbudget.cli import main; {script}; print(code, 'pandas' in sys.modules, file=sys.stderr)"
    )
    done = command(python=("-c", whole), cwd=places, stdin=(places / "bad.jsonl").read_bytes())
    assert json.loads(done.stdout)["checked"][0]["path"] == "-"
    assert done.stderr.decode().strip() == "1 False"
