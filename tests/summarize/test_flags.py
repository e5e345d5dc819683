"""The flags of ``replay`` about summaries."""

import json
from pathlib import Path

import pytest

from ctxbudget.cli import summarising
from ctxbudget.errors import UnknownName, UsageError
from ctxbudget.prepared import prepare
from ctxbudget.replays import replay
from ctxbudget.summaries.config import MODEL, URL

SAMPLES = Path(__file__).parents[2] / "sample_traces"


@pytest.fixture(autouse=True)
def bare(monkeypatch, tmp_path):
    monkeypatch.delenv(URL, raising=False)
    monkeypatch.delenv(MODEL, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_offline_ones_go_by_name():
    assert summarising.summariser("extractive", None, None, cached=True) == "extractive"
    assert summarising.summariser("recorded", None, None, cached=True) == "recorded"


def test_a_model_needs_an_endpoint_from_flags_or_environment(monkeypatch, tmp_path):
    with pytest.raises(UsageError, match="no endpoint"):
        summarising.summariser("llm", None, None, cached=True)
    monkeypatch.setenv(URL, "http://127.0.0.1:9/v1")
    monkeypatch.setenv(MODEL, "m-1")
    made = summarising.summariser("llm", None, "m-2", cached=True)
    assert made.endpoint.config.model == "m-2"
    assert made.cache.folder == tmp_path / "ctxbudget" / "summaries"
    assert summarising.summariser("llm", None, None, cached=False).cache.folder is None


def test_what_does_not_go_together_is_said():
    with pytest.raises(UsageError, match="--llm-url"):
        summarising.summariser("extractive", "http://127.0.0.1:9/v1", None, cached=True)
    with pytest.raises(UnknownName, match="extractiv"):
        summarising.summariser("extractiv", None, None, cached=True)


def test_a_program_may_bring_its_own(sample, says):
    given = says("#8842 overdue")
    report = replay(sample("refund_support.json"), "recursive-summary", window=8_000, summariser=given)
    assert given.seen
    assert any(one.form == "summary" for row in report.turns for one in row.edits)
    with pytest.raises(UnknownName, match="recordd"):
        prepare(sample("refund_support.json"), "recursive-summary", window=8_000, summariser="recordd")


def test_a_recording_without_summaries_ends_in_a_notice_that_says_so(sample):
    report = replay(sample("refund_support.json"), "recursive-summary", window=8_000, summariser="recorded")
    reasons = [one.reason for row in report.turns for one in row.edits]
    assert reasons
    assert all("bare notice" in one and "it has none at all" in one for one in reasons)


def test_through_the_command(capsys):
    from ctxbudget.cli import main

    given = ["-s", "summary", "--window", "8000", "--fail-summary", "3", "--format", "json"]
    code = main(["replay", str(SAMPLES / "refund_support.json"), *given])
    assert code == 0
    forms = {one["form"] for row in json.loads(capsys.readouterr().out)["turns"] for one in row["edits"]}
    assert forms == {"noticed"}
