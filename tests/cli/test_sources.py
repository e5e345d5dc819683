"""What a path means."""

import pytest

from ctxbudget import loaders, sources
from ctxbudget.errors import UsageError
from ctxbudget.sources import Place

CHAT = '{"messages":[{"role":"user","content":"hello"},{"role":"assistant","content":"yes"}]}\n'


@pytest.fixture(autouse=True)
def tree(tmp_path, monkeypatch):
    files = {
        "a.jsonl": CHAT,
        "b#1.jsonl": CHAT * 2,
        "c/d.json": CHAT,
        "c/d/subagents/agent-1.jsonl": CHAT,
        "s.jsonl": CHAT,
        "s/subagents/agent-2.jsonl": CHAT,
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
