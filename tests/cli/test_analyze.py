"""``ctxbudget analyze``, flag by flag, through a real process."""

import io
import json

import pandas as pd
import pytest


def test_the_answer(command, text, session):
    page = text(command("analyze", session))
    for part in (str(session), "claude-opus-4-5", "5 turns", "Layers at the peak", "Read", "/repo/part_1.py", "Billed"):
        assert part in page


def test_json_is_the_contract(command, text, session):
    report = json.loads(text(command("analyze", session, "--format", "json")))
    assert report["schema"] == 1
    assert report["source"]["path"] == str(session)
    assert report["usage"]["calls"] == 4
    assert report["context"]["by_call"] == [200, 300, 400, 500]
    assert report["fragments"] == []
    assert report["estimators"] == []


def test_window_reserve_model_and_scheme(command, text, session):
    flags = ("--window", "1.5k", "--reserve", "200", "--model", "gpt-4.1", "--scheme", "window", "--format", "json")
    report = json.loads(text(command("analyze", session, *flags)))
    assert (report["window"], report["window_source"], report["reserve"]) == (1500, "--window", 200)
    assert report["source"]["model"] == "gpt-4.1"
    assert report["encoding_exact"]
    assert report["layers"] == ["system", "tools", "retrieval", "working_memory"]
    assert report["usage"]["calls"] == 4
    assert report["peak"]["utilization"] == report["peak"]["tokens"] / 1500


def test_a_reserve_as_large_as_a_derived_window_is_a_warning(command, text, session):
    report = json.loads(text(command("analyze", session, "--reserve", "200k", "--format", "json")))
    assert report["reserve"] == 0
    assert [each["code"] for each in report["warnings"]].count("reserve-ignored") == 1
    assert report["findings"] == []


def test_more_when_asked(command, text, session):
    flags = ("--fragments", "--estimators", "--no-calibrate", "--turn", "2", "--format", "json")
    report = json.loads(text(command("analyze", session, *flags)))
    assert report["calibration"] is None
    assert len(report["fragments"]) == 9
    assert [each["name"] for each in report["estimators"]] == ["bpe", "chars4", "ema", "anchored"]
    assert report["shown_turn"]["turn"] == 2
    assert [row["turn"] for row in report["shown_turn"]["fragments"]] == [1, 2, 2]


def test_one_turn(command, text, session):
    page = text(command("analyze", session, "--turn", "3"))
    assert "Context of turn 3" in page
    assert "part_2.py" in page
    assert "part_3.py" not in page


def test_one_breakdown(command, text, session):
    page = text(command("analyze", session, "--by", "resource"))
    assert all(f"/repo/part_{number}.py" in page for number in (1, 2, 3, 4))
    assert "Layers" not in page


def test_standard_input(command, text, session):
    report = json.loads(text(command("analyze", "-", "--format", "json", stdin=session.read_bytes())))
    assert report["source"]["path"] == "-"
    assert report["usage"]["calls"] == 4


def test_csv_and_parquet(command, text, session, tmp_path):
    frame = pd.read_csv(io.StringIO(text(command("analyze", session, "--format", "csv"))))
    assert frame["turn"].tolist() == [1, 2, 3, 4, 5]
    file = tmp_path / "layers.parquet"
    text(command("analyze", session, "--table", "layers", "-o", file))
    assert set(pd.read_parquet(file)["layer"]) == {"system", "task", "state", "reasoning", "observation"}


def test_a_file_of_many_conversations(command, text, chats):
    page = text(command("analyze", chats))
    assert "3 traces" in page
    assert f"{chats}#2" in page
    for flags in ((f"{chats}#2",), (chats, "--select", "2")):
        report = json.loads(text(command("analyze", *flags, "--format", "json")))
        assert report["source"]["select"] == "2"


def test_a_folder_is_a_row_each_and_a_total(command, text, write_session, tmp_path):
    write_session(tmp_path / "b.jsonl", 3)
    write_session(tmp_path / "deep" / "a.jsonl", 2, key="other")
    write_session(tmp_path / "b" / "subagents" / "agent-x.jsonl", 1, key="sub")
    write_session(tmp_path / ".hidden" / "c.jsonl", 1)
    (tmp_path / "README.md").write_text("not a trace", encoding="utf-8")
    (tmp_path / "package.json").write_text('{"name": "x"}', encoding="utf-8")
    (tmp_path / "broken.jsonl").write_text("", encoding="utf-8")
    done = command("analyze", tmp_path, "--format", "json")
    report = json.loads(text(done))
    assert [each["source"]["path"] for each in report["traces"]] == [
        str(tmp_path / "b.jsonl"),
        str(tmp_path / "deep" / "a.jsonl"),
    ]
    assert [each["path"] for each in report["unreadable"]] == [str(tmp_path / "broken.jsonl")]
    assert report["totals"]["usage_main"]["calls"] == 5
    page = text(command("analyze", tmp_path))
    assert "broken.jsonl" in page
    assert "not read" in page


def test_calls_that_files_share_are_billed_once(command, text, write_session, tmp_path):
    write_session(tmp_path / "old.jsonl", 3)
    write_session(tmp_path / "resumed.jsonl", 5)
    report = json.loads(text(command("analyze", str(tmp_path / "*.jsonl"), "--format", "json")))
    assert [each["usage"]["calls"] for each in report["traces"]] == [3, 5]
    assert report["totals"]["usage"]["calls"] == 5


def test_a_path_given_twice_is_read_once(command, text, session):
    assert json.loads(text(command("analyze", session, session, "--format", "json")))["usage"]["calls"] == 4


def test_fail_on(command, text, session):
    small = ("analyze", session, "--window", "300")
    text(command(*small))
    assert "CB101" in text(command(*small, "--fail-on", "error"), code=1)
    text(command(*small, "--fail-on", "note"), code=1)
    text(command("analyze", session, "--fail-on", "note"))


@pytest.mark.parametrize(
    "suffix, start", [(".json", b'{"schema":1'), (".md", b"## `"), (".csv", b"trace,"), (".txt", b"/")]
)
def test_the_suffix_picks_the_format(command, text, session, tmp_path, suffix, start):
    file = tmp_path / f"out{suffix}"
    assert text(command("analyze", session, "-o", file)) == ""
    assert file.read_bytes().startswith(start)
    assert [each.name for each in tmp_path.iterdir()] == [file.name]


def test_nothing_is_overwritten_without_force(command, text, session, tmp_path):
    file = tmp_path / "out.json"
    file.write_text("mine", encoding="utf-8")
    done = command("analyze", session, "-o", file)
    assert text(done, code=2) == ""
    assert (
        done.stderr.decode()
        == f"error: {file} exists already\nhint: give --force to overwrite it, or another -o FILE\n"
    )
    assert file.read_text(encoding="utf-8") == "mine"
    text(command("analyze", session, "-o", file, "--force"))
    assert json.loads(file.read_bytes())["schema"] == 1


def test_the_trace_itself_is_never_overwritten(command, text, session):
    before = session.read_bytes()
    done = command("analyze", session, "-o", session, "--force", "--format", "json")
    text(done, code=2)
    assert b"it is the trace itself" in done.stderr
    assert session.read_bytes() == before


@pytest.mark.parametrize("form", ["table", "json"])
def test_two_runs_are_the_same_bytes(command, text, session, form):
    one, two = (text(command("analyze", session, "--format", form, env={"PYTHONHASHSEED": seed})) for seed in "12")
    assert one == two
