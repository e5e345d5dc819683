"""The baseline: what is known passes, what is new or worse fails, moved lines do not matter."""

import json

import pytest

from ctxbudget.checking import baseline, check
from ctxbudget.errors import ConfigError, UsageError


def known(path, file, **options):
    return check(path, window=1_000, baseline=str(file), **options)


@pytest.fixture
def made(session, tmp_path):
    """A session over its limit, and a baseline that knows it."""
    path = session("a.jsonl", [100, 900, 300], into=tmp_path)
    file = tmp_path / "known.json"
    report = known(path, file, update_baseline=True)
    assert report.exit_code == 0
    assert report.baseline.updated
    assert [(one.id, one.known) for one in report.failures] == [("CB102", True), ("CB205", False)], "a warning is none"
    return path, file


def test_what_is_known_passes_and_stays_visible(made):
    report = known(*made)
    (failure,) = [one for one in report.checked[0].failures if one.id == "CB102"]
    assert (report.exit_code, failure.known, failure.ways) == (0, True, [])
    assert report.checked[0].status == "clean"
    assert (report.baseline.known, report.baseline.new, report.baseline.worse, report.baseline.stale) == (1, 0, 0, [])
    assert report.totals.known == 1
    assert report.totals.errors == 0


@pytest.mark.parametrize("peak, code, row", [(899, 0, (1, 0, 0)), (900, 0, (1, 0, 0)), (901, 1, (0, 0, 1))])
def test_what_is_worse_fails(made, session, tmp_path, peak, code, row):
    session("a.jsonl", [100, peak, 300], into=tmp_path)
    report = known(*made)
    assert report.exit_code == code
    assert (report.baseline.known, report.baseline.new, report.baseline.worse) == row


def test_what_is_new_fails(made, session, tmp_path):
    session("a.jsonl", [100, 900, 300], into=tmp_path, orphan=True)
    report = known(*made)
    assert report.exit_code == 1
    assert [(one.id, one.known) for one in report.checked[0].failures if one.level == "error"] == [
        ("CB102", True), ("CB202", False),
    ]  # fmt: skip


@pytest.mark.parametrize("prompts, pad", [([100, 900, 300], 40), ([100, 200, 150, 180, 900], 0)])
def test_moved_lines_and_turns_do_not_matter(made, session, tmp_path, prompts, pad):
    session("a.jsonl", prompts, into=tmp_path, pad=pad)
    assert known(*made).exit_code == 0


def test_what_is_fixed_is_stale_until_the_next_update(made, session, tmp_path):
    path, file = made
    session("a.jsonl", [100, 200], into=tmp_path)
    report = known(path, file)
    assert (report.exit_code, [one.id for one in report.baseline.stale]) == (0, ["CB102"])
    known(path, file, update_baseline=True)
    assert known(path, file).baseline.stale == []
    session("a.jsonl", [100, 900], into=tmp_path)
    assert known(path, file).exit_code == 1, "the ratchet does not turn back"


def test_entries_of_other_files_are_kept(made, session, tmp_path):
    path, file = made
    other = session("b.jsonl", [100, 800], into=tmp_path)
    report = known(other, file, update_baseline=True)
    assert report.baseline.stale == []
    assert known([path, other], file).exit_code == 0
    path.unlink()
    assert [one.path for one in known(other, file).baseline.stale] == ["a.jsonl"]
    known(other, file, update_baseline=True)
    assert [one["path"] for one in json.loads(file.read_text())["entries"]] == ["b.jsonl"]


def test_it_does_not_depend_on_the_working_folder(made, tmp_path, monkeypatch):
    path, file = made
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    assert known("../a.jsonl", "../known.json").exit_code == 0
    first = file.read_bytes()
    known("../a.jsonl", "../known.json", update_baseline=True)
    assert file.read_bytes() == first
    assert str(tmp_path) not in first.decode()
    assert path.exists()


def test_alike_failures_are_told_apart_by_size(session, tmp_path):
    file = tmp_path / "known.json"
    small, large = "s " * 300, "l " * 400
    path = session("a.jsonl", [None] * 3, into=tmp_path, results=[small, large], tool="Bash")
    check(path, window=10_000, max_result="200", baseline=str(file), update_baseline=True)
    entries = json.loads(file.read_text())["entries"]
    assert len({one["key"] for one in entries}) == len(entries) == 2
    again = check(path, window=10_000, max_result="200", baseline=str(file))
    assert (again.exit_code, again.baseline.known) == (0, 2)


def test_keys_number_what_is_alike_by_size():
    same = ("1", "CB105", "Bash")
    first = baseline.numbered([(same, 30), (same, 25)])
    second = baseline.numbered([(same, 25), (same, 30)])
    assert first == second[::-1]
    assert len(set(first)) == 2
    assert baseline.numbered([(("\ud800",), 1)])


@pytest.mark.parametrize(
    "text, words",
    [
        ("{", "not a baseline"),
        ("[]", "not a baseline of version 1"),
        ('{"baseline": 2, "entries": []}', "not a baseline of version 1"),
        ('{"baseline": 1, "entries": [3]}', "entries[0] is no entry"),
        (
            '{"baseline": 1, "entries": [{"path": 1, "key": "k", "id": "CB102", "name": "n", "measured": 3}]}',
            "entries[0].path is 1",
        ),
    ],
)
def test_a_damaged_baseline_is_told(session, tmp_path, text, words):
    file = tmp_path / "known.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as error:
        known(session("d.jsonl", [100]), file)
    assert words in error.value.message
    assert error.value.hint
    with pytest.raises(ConfigError):
        known(session("d.jsonl", [100]), file, update_baseline=True)
    assert file.read_text(encoding="utf-8") == text, "it may be something else: it stays"


def test_a_missing_one_is_told_unless_it_is_being_made(session, tmp_path):
    with pytest.raises(ConfigError) as error:
        known(session("m.jsonl", [100]), tmp_path / "none.json")
    assert "--update-baseline" in error.value.hint
    with pytest.raises(UsageError):
        known(session("m.jsonl", [100]), tmp_path / "no" / "where.json", update_baseline=True)
