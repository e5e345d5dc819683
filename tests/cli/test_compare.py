"""``ctxbudget compare`` through a real process: its answer, its flags, its bar on stderr, its errors."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from forked import clean

from ctxbudget.cli import progress

SAMPLES = Path(__file__).parents[2] / "sample_traces"
ORDERS, REFUND = SAMPLES / "order_supplies.json", SAMPLES / "refund_support.json"
MIGRATION = SAMPLES / "migrate_module.jsonl"
QUICK = ("-s", "none", "-s", "window", "--no-placebo")


def test_csv_has_a_row_for_each_strategy_and_trace(command, text, tmp_path):
    file = tmp_path / "compared.csv"
    assert text(command("compare", ORDERS, REFUND, *QUICK, "-o", file)) == ""
    frame = pd.read_csv(file)
    assert frame["strategy"].value_counts().to_dict() == {"none": 3, "sliding-window": 3}
    assert frame["trace"].isna().sum() == 2
    alone = pd.read_csv(io.StringIO(text(command("compare", ORDERS, *QUICK, "--format", "csv"))))
    mine = frame[frame["trace"] == str(ORDERS)].set_index("strategy")["sent"]
    assert alone.dropna(subset=["trace"]).set_index("strategy")["sent"].to_dict() == mine.to_dict()


def test_processes_give_the_same_bytes(command, text):
    flags = ("compare", ORDERS, REFUND, MIGRATION, *QUICK, "--format", "json")
    assert text(command(*flags)) == text(command(*flags, "--jobs", "3"))


def test_facts_and_sub_agents(command, text):
    flags = ("--must-keep", "do not touch legacy/", "--must-keep", "/never said here/", "--window", "120k")
    data = json.loads(text(command("compare", MIGRATION, *QUICK, *flags, "--children", "--format", "json")))
    main, child = data["compared"]
    assert (main["window"], child["window"]) == (120_000, 200_000)
    assert child["source"]["select"] == "a3f81c7"
    kept = {row["strategy"]: (row["constraints_kept"], row["constraints"]) for row in main["rows"]}
    assert kept["none"] == kept["sliding-window"]  # what holds a fact is pinned
    assert [one["code"] for one in main["warnings"]] == ["must-keep-unseen"]
    without = json.loads(text(command("compare", MIGRATION, *QUICK, "--window", "120k", "--format", "json")))
    assert len(without["compared"]) == 1
    page = text(command("compare", MIGRATION, *QUICK, *flags))
    assert "warning must-keep-unseen: no prompt of this trace holds" in page


def test_summaries_are_made_as_in_replay(command, text):
    flags = ("-s", "summary", "--window", "8000", "--no-placebo", "--fail-summary", "3", "--format", "json")
    (trace,) = json.loads(text(command("compare", REFUND, *flags)))["compared"]
    asked = ("replay", REFUND, "-s", "summary", "--window", "8000", "--no-placebo", "--fail-summary", "3")
    run = json.loads(text(command(*asked, "--format", "json")))
    assert trace["rows"][0]["evidence_kept"] == run["regret"]["kept"]
    assert run["totals"]["summary_steps"].keys() == {"notice"}


def test_a_file_that_cannot_be_read_is_told_beside_the_others(command, text, tmp_path):
    broken = tmp_path / "broken.jsonl"
    broken.write_bytes(b'{"half": \n\x00\xff')
    for jobs in ("1", "2"):
        page = text(command("compare", ORDERS, broken, *QUICK, "--jobs", jobs))
        assert f"warning not read: {broken}: " in page
    alone = command("compare", broken, *QUICK)
    assert alone.returncode == 2
    assert alone.stderr.decode().startswith(f"error: {broken}: ")


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["-s", "windw"], "error: unknown strategy 'windw'\nhint: did you mean 'window'?\n"),
        (["-s", "none,clear"], "error: 'none,clear' is no strategy\nhint: give each of its own: -s none -s clear\n"),
        (["--jobs", "0"], "error: 0 jobs do nothing\nhint: give --jobs 1 or more\n"),
        (["--sweep", "window=9..3"], "error: window: a range from 9 to 3 holds nothing\nhint: the smaller end"),
        (["--sweep", "keep=1..3"], "error: 'keep' is no option to sweep\nhint: write it as PASS.OPTION, or window\n"),
        (["--sweep", "sliding-window.kep=1..3"], "error: unknown option"),
        (["--sweep", "window=10..20", "--reserve", "15"], "error: a reserve of 15 tokens leaves nothing of the window"),
        (["--must-keep", ""], "error: an empty must-keep fact\n"),
        (["--select", "7"], f"error: {ORDERS}: there is no trace '7' in it\n"),
        (["--format", "tabel"], "error: unknown format 'tabel'\nhint: did you mean 'table'?\n"),
    ],
)
def test_errors_say_what_to_do(command, arguments, message):
    done = command("compare", ORDERS, *arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith(message)


def test_an_error_of_a_process_of_its_own_is_told_in_full(command):
    done = command("compare", ORDERS, REFUND, "--jobs", "2", "--select", "7", "--no-placebo")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith(f"error: {ORDERS}: there is no trace '7' in it\nhint: it holds one trace\n")


def watched(*arguments):
    """Standard output, and what a terminal on standard error is sent."""
    import pty

    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "ctxbudget", *map(str, arguments)], stdout=subprocess.PIPE, stderr=theirs,
        env=clean(),
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    while piece := _read(ours):
        shown += piece
    out = process.stdout.read()
    process.stdout.close()
    assert process.wait() == 0
    os.close(ours)
    return out, shown


def _read(terminal):
    try:
        return os.read(terminal, 65_536)
    except OSError:  # the other end is closed
        return b""


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_the_bar_is_on_stderr_and_only_where_someone_watches(command):
    flags = ("compare", ORDERS, REFUND, *QUICK)
    piped = command(*flags)
    assert piped.stderr == b""
    out, shown = watched(*flags)
    assert out == piped.stdout
    assert b"comparing refund_support.json" in shown
    quiet_out, nothing = watched(*flags, "--quiet")
    assert (quiet_out, nothing) == (out, b"")


class Screen(io.StringIO):
    """A terminal to watch."""

    def isatty(self):
        return True


def test_rounds_of_a_placebo_are_shown_once_they_take_long(monkeypatch):
    screen = Screen()
    monkeypatch.setattr("sys.stderr", screen)
    with progress.rounds("a/b\x1b.jsonl") as told:
        told(1, 20)
        assert screen.getvalue() == ""
        monkeypatch.setattr(progress, "SOON", -1)
        told(2, 20)
    assert r"what chance finds in b\x1b.jsonl" in screen.getvalue()
    with progress.rounds("a", quiet=True) as told:
        assert told is None
