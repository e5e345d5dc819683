"""What a path means."""

import json
import sqlite3
from pathlib import Path

import pytest

from ctxbudget import loaders, sources
from ctxbudget.errors import UsageError
from ctxbudget.sources import Place

CHAT = '{"messages":[{"role":"user","content":"hello"},{"role":"assistant","content":"yes"}]}\n'
CLAUDE = (
    '{"uuid":"u","parentUuid":null,"sessionId":"s","isSidechain":false,"type":"user",'
    '"message":{"role":"user","content":"hi"}}\n'
)
FORMATS = Path(__file__).parents[2] / "sample_traces" / "formats"


@pytest.fixture(autouse=True)
def tree(tmp_path, monkeypatch):
    files = {
        "a.jsonl": CHAT,
        "b#1.jsonl": CHAT * 2,
        "c/d.json": CHAT,
        "c/d/subagents/agent-1.jsonl": CHAT,
        "s.jsonl": CLAUDE,
        "s/subagents/agent-2.jsonl": CLAUDE,
        ".git/config.jsonl": CHAT,
        "code.py": f"RECORD = '''{CHAT}'''\n",
        "notes.md": "# notes\n",
        "package.json": '{"name": "x"}',
        "empty.jsonl": "",
        "cut.json.gz": "no gzip",
        "extra.log": CHAT,
    }
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def paths(*given, **options):
    return [place.path.replace("\\", "/") for place in sources.expand(given, **options)]


def test_a_folder_holds_its_traces_and_what_should_be_one():
    assert paths(".") == [
        "a.jsonl",
        "b#1.jsonl",
        "empty.jsonl",
        "extra.log",
        "s.jsonl",
        "c/d.json",
        "c/d/subagents/agent-1.jsonl",
    ]


def test_sub_agents_can_be_asked_for_by_their_folder():
    assert paths("s/subagents") == ["s/subagents/agent-2.jsonl"]
    assert paths("s") == ["s/subagents/agent-2.jsonl"]


@pytest.mark.parametrize(
    "folder, found",
    [
        ("atif", ["trajectory.json"]),
        ("cline/task", ["api_conversation_history.json"]),
        ("gemini_cli-apiary", ["inv1.jsonl"]),
        ("kimi", ["agents/main/wire.jsonl"]),
    ],
)
def test_what_is_read_along_with_another_is_no_trace_of_its_own(folder, found):
    assert paths(str(FORMATS / folder)) == [str(FORMATS / folder / name) for name in found]


def test_files_beside_and_below_that_another_brings_along():
    names = {Path(path).relative_to(FORMATS).as_posix() for path in paths(str(FORMATS))}
    assert names.isdisjoint({"gemini_cli-apiary/inv1.jsonl", "cline-sdk.compaction.json"})
    assert {"gemini_cli.jsonl", "cline-sdk.messages.json", "goose-store.db", "inspect-archive.eval"} <= names


@pytest.mark.parametrize(
    "names",
    [
        ("wire.jsonl", "context.jsonl"),
        ("base_state.json", "events/event-00000-a.json", "events/event-00001-b.json"),
        ("events/0.json", "events/1.json"),
    ],
)
def test_the_same_session_in_several_files(tree, names):
    event = {"source": "user", "action": "message", "args": {"content": "hi"}, "message": "", "timestamp": "t"}
    begin = {"kind": "MessageEvent", "id": "e", "source": "user", "llm_message": {"role": "user", "content": "hi"}}
    contents = {
        "wire.jsonl": {"timestamp": 1, "message": {"type": "TurnBegin", "payload": {"user_input": "hi"}}},
        "context.jsonl": {"role": "_checkpoint", "id": 0},
        "base_state.json": {"id": "c", "agent": {}, "execution_status": "idle"},
    }
    for name in names:
        path = tree / "agent" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        newer = begin if "event-" in name else {"id": int(path.stem) if path.stem.isdigit() else 0, **event}
        path.write_text(json.dumps(contents.get(name, newer)) + "\n", encoding="utf-8")
    doubtful: list[str] = []
    assert [Path(path).relative_to("agent").as_posix() for path in paths("agent", passed=doubtful.append)] == [names[0]]
    assert doubtful == []


@pytest.mark.parametrize("tables, found", [("sessions, messages", False), ("sessions, messages, schema_version", True)])
def test_a_database_of_anything_else_is_no_trace(tree, tables, found):
    with sqlite3.connect(tree / "shop.db") as database:
        for name in tables.split(", "):
            database.execute(f"CREATE TABLE {name} (id text)")
    database.close()
    assert ("shop.db" in paths(".")) == found


def test_with_a_forced_format_the_name_decides():
    assert "package.json" in paths(".", format_name="openai-chat")
    assert "extra.log" not in paths(".", format_name="openai-chat")


def test_a_file_with_a_number_sign_in_its_name_comes_first():
    assert sources.expand(["b#1.jsonl"]) == [Place("b#1.jsonl")]
    assert sources.expand(["b#1.jsonl#2", "a.jsonl#1"]) == [Place("b#1.jsonl", "2"), Place("a.jsonl", "1")]
    assert sources.expand(["nothing.jsonl#2"]) == [Place("nothing.jsonl#2")]


def test_a_pattern():
    assert sources.expand(["*.jsonl"])[0] == Place("a.jsonl", found=True)
    assert paths("**/*.json") == ["c/d.json", "package.json"]
    assert "c/d.json" in paths("[c]")
    with pytest.raises(UsageError, match=r"\*.none: no file matches"):
        sources.expand(["*.none"])


def test_each_file_once(tree):
    assert paths("a.jsonl", "./a.jsonl", "*.jsonl", str(tree / "a.jsonl")).count("a.jsonl") == 1
    assert len(sources.expand(["b#1.jsonl#1", "b#1.jsonl#2"])) == 2


def test_odd_paths_are_left_for_the_reader_to_refuse():
    assert sources.expand(["-", "no\0where"]) == [Place("-"), Place("no\0where")]


def test_selecting():
    traces = loaders.load("b#1.jsonl")
    assert sources.selected(traces, None, "b") == traces
    assert sources.selected(traces, "2", "b") == [traces[1]]
    for wrong in ("3", "0", "-1", "x", "\u0663"):
        with pytest.raises(UsageError, match="there is no trace"):
            sources.selected(traces, wrong, "b")


@pytest.mark.parametrize(
    "name, label",
    [
        ("goose-store.db", "20261010_7"),
        ("opencode-store.db", "ses_7a10lighthouse01"),
        ("openai_responses-store.db", "hours"),
    ],
)
def test_one_conversation_of_a_database_is_what_it_is_among_all(name, label):
    path = str(FORMATS / name)
    (alone,) = loaders.load(path, only=label)
    assert [alone] == sources.selected(loaders.load(path), label, path)
    assert [alone] == sources.selected(loaders.load(path, only=label), label, path)
    assert len(loaders.load(path, only="1")) == len(loaders.load(path))
