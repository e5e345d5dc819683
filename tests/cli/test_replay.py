"""``ctxbudget replay`` and ``export`` through a real process."""

import io
import json
import re
from pathlib import Path

import pandas as pd
import pytest

SAMPLE = Path(__file__).parents[2] / "sample_traces" / "migrate_module.jsonl"
CHANCE = (SAMPLE, "--strategy", "sliding-window", "--window", "120k")
WINDOW = (*CHANCE, "--no-placebo")


def test_the_answer(command, text):
    page = text(command("replay", *WINDOW))
    for part in (
        str(SAMPLE),
        "sliding-window (keep=20, unit=turns)",
        "lost at turn 23",
        "What it did",
        "CB101",
        "Prefix",
    ):
        assert part in page
    assert "…" not in page


def test_json_options_and_must_keep(command, text, tmp_path):
    facts = tmp_path / "facts.txt"
    facts.write_text("billing/rates.py\n", encoding="utf-8")
    flags = (
        "--set",
        "sliding-window.keep=10",
        "--reserve",
        "5k",
        "--must-keep",
        "/do not touch \\w+/",
        "--must-keep-file",
        facts,
        "--format",
        "json",
    )
    report = json.loads(text(command("replay", *WINDOW, *flags)))
    assert (report["schema"], report["strategy"], report["reserve"]) == (1, "sliding-window", 5000)
    assert report["options"] == {"sliding-window.keep": 10, "sliding-window.unit": "turns"}
    assert [(one["text"], one["source"], one["kept"]) for one in report["constraints"][:2]] == [
        ("/do not touch \\w+/", "must-keep", True),
        ("billing/rates.py", "must-keep", True),
    ]


def test_one_turn_and_one_fragment(command, text):
    page = text(command("replay", *WINDOW, "--turn", "23", "--fragment", "t3.2"))
    assert "Fragments at turn 23" in page
    assert (
        "At turn 23 sliding-window removed it, and left nothing (older than the last 20 turns); so it is to the end."
        in page
    )


def test_csv_markdown_and_the_suffix(command, text, tmp_path):
    frame = pd.read_csv(io.StringIO(text(command("replay", *WINDOW, "--format", "csv"))))
    assert frame["turn"].tolist() == list(range(1, 56))
    frame = pd.read_csv(io.StringIO(text(command("replay", *WINDOW, "--table", "fragments", "--format", "csv"))))
    assert set(frame["form"]) >= {"whole", "lost"}
    file = tmp_path / "run.md"
    assert text(command("replay", *WINDOW, "-o", file)) == ""
    assert file.read_text(encoding="utf-8").startswith("## `")
    done = command("replay", *WINDOW, "-o", file)
    assert done.returncode == 2
    assert b"exists already" in done.stderr


def test_a_strategy_of_one_s_own_and_a_pass(command, text, tmp_path):
    own = tmp_path / "mine.toml"
    own.write_text('[[stages]]\nwhen = 0.5\npasses = [{ name = "hard-limit", limit = 0.4 }]\n', encoding="utf-8")
    report = json.loads(text(command("replay", SAMPLE, "-s", own, "--window", "120k", "--format", "json")))
    assert report["strategy"] == "mine"
    assert report["totals"]["over"] == 0
    page = text(command("replay", SAMPLE, "-s", "drop-thinking+clear", "--window", "120k"))
    assert "drop-thinking+tool-result-clearing" in page


def test_two_runs_are_the_same_bytes(command, text):
    flags = ("replay", *WINDOW, "--format", "json", "--turn", "30")
    one, two = (text(command(*flags, env={"PYTHONHASHSEED": seed})) for seed in "12")
    assert one == two


def test_fail_on(command, text):
    text(command("replay", *WINDOW, "--fail-on", "error"), code=1)
    text(command("replay", SAMPLE, "-s", "category-budget", "--window", "120k", "--fail-on", "error"))


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["replay", SAMPLE], "error: no strategy given\nhint: give --strategy NAME; see: ctxbudget list strategies\n"),
        (
            ["replay", SAMPLE, "-s", "slidding-window"],
            "error: unknown strategy 'slidding-window'\nhint: did you mean 'sliding-window'?\n",
        ),
        (
            ["replay", *WINDOW, "--set", "keeep=3"],
            "error: unknown option of strategy 'keeep'\nhint: did you mean 'keep'?\n",
        ),
        (["replay", *WINDOW, "--table", "live"], "error: unknown table 'live'\nhint: did you mean 'lives'?\n"),
        (["replay", *WINDOW, "--turn", "56"], "error: there is no turn 56\nhint: the trace has turns 1 to 55\n"),
        (["replay", *WINDOW, "--must-keep", "/(/"], "error: must-keep pattern /(/ cannot be used\n"),
        (
            ["export", SAMPLE, "-s", "none", "--as", "gemini"],
            "error: unknown API 'gemini'\nhint: did you mean 'openai'?\n",
        ),
        (["list", "passes", "nothing-like-it"], "error: unknown name in passes: 'nothing-like-it'\nhint: "),
    ],
)
def test_errors_say_what_to_do(command, arguments, message):
    done = command(*arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith(message)


def test_a_request_ready_to_post(command, text, tmp_path):
    done = command("export", SAMPLE, "-s", "category-budget", "--window", "120k", "--turn", "35", "--as", "anthropic")
    body = json.loads(text(done))
    assert body["model"] == "claude-opus-4-5-20251101"
    assert body["messages"][0]["role"] == "user"
    assert b"note: 17," in done.stderr
    file = tmp_path / "request.json"
    assert text(command("export", SAMPLE, "-s", "none", "--as", "openai", "--model", "gpt-4.1", "-o", file)) == ""
    assert json.loads(file.read_bytes())["model"] == "gpt-4.1"


def test_export_takes_the_flags_of_summaries_and_of_the_store(command, text, tmp_path):
    refund = SAMPLE.with_name("refund_support.json")
    flags = ("export", refund, "-s", "summary", "--window", "8000", "--as", "openai", "--quiet")
    whole = command(*flags)
    assert whole.stderr == b""
    assert "[Extractive summary, turns 1 to 25, generation 2]" in text(whole)
    notice = text(command(*flags, "--fail-summary", "3"))
    assert "earlier messages removed; no summary could be made" in notice
    kept = tmp_path / "kept"
    moved = ("-s", "external-memory", "--set", "over=200", "--window", "120k", "--store", kept)
    request = text(command("export", SAMPLE, *moved, "--as", "anthropic", "--turn", "40"))
    keys = set(re.findall(r"in the store as ([0-9a-f]{12})", request))
    assert keys
    assert keys <= {file.name[:12] for file in kept.rglob("*") if file.is_file()}
    again = tmp_path / "again"
    text(command("replay", SAMPLE, *moved[:-1], again, "--no-placebo"))
    assert {one.name for one in again.rglob("*")} >= {one.name for one in kept.rglob("*")}
    assert b"error: " in command("replay", SAMPLE, *moved[:-1], SAMPLE).stderr


def test_what_chance_finds_is_counted_where_it_is_shown(command, text):
    data = [
        json.loads(text(command("replay", *CHANCE, "--format", "json", *flags)))["regret"]
        for flags in ((), ("--turn", "30"), ("--no-placebo",))
    ]
    assert data[0] == data[1]
    assert (data[0]["by_chance"] is None, data[2]["by_chance"]) == (False, None)
    assert [one["turn"] for one in data[0]["losses"]] == [32, 52]


def test_lists_document_strategies_and_passes(command, text):
    page = text(command("list", "strategies"))
    for part in (
        "sliding-window (also window)",
        "Keeps",
        "Costs",
        "Fails",
        "Use when",
        "before each call: sliding-window (keep=20, unit=turns)",
    ):
        assert part in page
    page = text(command("list", "passes", "clear-tool-results"))
    assert "clear_at_least" in page
    assert "Default: 3." in page
    assert "sliding-window" not in page
