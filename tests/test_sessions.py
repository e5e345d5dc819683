"""Finding the sessions of a machine: a home with one session of each agent, and what ``@`` means in it."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import forked
import pytest

from ctxbudget import homes, sessions
from ctxbudget.errors import CtxbudgetError
from ctxbudget.loaders import load
from ctxbudget.report.sessions import rows

SAMPLES = Path(__file__).parents[1] / "sample_traces"
UUID = "0a1b2c3d-1111-4222-8333-444455556666"
OTHER = "0a1b9999-1111-4222-8333-444455556666"
CWD = '{"type":"user","cwd":"/srv/app-%s"}\n'

PLACES = [
    ("claude", ".claude/projects/-srv-app/%s.jsonl", "CLAUDE_CONFIG_DIR", "projects/-srv-app/%s.jsonl"),
    ("codex", ".codex/sessions/2026/11/02/rollout-1-%s.jsonl", "CODEX_HOME", "archived_sessions/%s.jsonl"),
    ("gemini", ".gemini/tmp/app/chats/session-%s.json", "GEMINI_CLI_HOME", ".gemini/tmp/app/chats/session-%s.jsonl"),
    ("copilot", ".copilot/session-state/%s/events.jsonl", "COPILOT_HOME", "session-state/%s/events.jsonl"),
    ("pi", ".pi/agent/sessions/--srv--/1_%s.jsonl", "PI_CODING_AGENT_DIR", "sessions/--srv--/1_%s.jsonl"),
    ("qwen", ".qwen/projects/-srv/chats/%s.jsonl", "QWEN_RUNTIME_DIR", "projects/-srv/chats/%s.jsonl"),
    ("qwen", ".qwen/projects/-srv/chats/%s.jsonl", "QWEN_HOME", "projects/-srv/chats/%s.jsonl"),
    ("kimi", ".kimi/sessions/abc/%s/wire.jsonl", "KIMI_SHARE_DIR", "sessions/abc/%s/wire.jsonl"),
    ("kimi", ".kimi-code/sessions/x/%s/agents/main/wire.jsonl", "KIMI_CODE_HOME", "sessions/%s/agents/main/wire.jsonl"),
    ("goose", ".local/share/goose/sessions/%s.jsonl", "GOOSE_PATH_ROOT", "data/sessions/%s.jsonl"),
    ("goose", ".local/share/goose/sessions/%s.jsonl", "XDG_DATA_HOME", "goose/sessions/%s.jsonl"),
    (
        "cline",
        ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/%s/api_conversation_history.json",
        "APPDATA",
        "Cursor/User/globalStorage/rooveterinaryinc.roo-cline/tasks/%s/api_conversation_history.json",
    ),
]  # fmt: skip


def put(root, name, text, age=0):
    path = Path(root, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    moment = datetime(2026, 11, 20, tzinfo=UTC) - timedelta(hours=age)
    os.utime(path, (moment.timestamp(), moment.timestamp()))
    return path


@pytest.mark.parametrize(("agent", "place", "variable", "moved"), PLACES)
def test_each_agent_is_found_in_its_place_and_where_it_was_moved_to(tmp_path, agent, place, variable, moved):
    here = put(tmp_path / "home", place % UUID, CWD % agent)
    there = put(tmp_path / "moved", moved % OTHER, CWD % agent)
    (one,) = sessions.find(environment={}, home=tmp_path / "home")
    assert (one.agent, one.id, one.path, one.project) == (agent, UUID, str(here), f"/srv/app-{agent}")
    environment = {variable: str(tmp_path / "moved")}
    found = sessions.find(environment=environment, home=tmp_path / "home")
    paths = [one.path for one in found]
    assert str(there) in paths
    assert (str(here) in paths) is (variable == "APPDATA")  # an addition, where the others move everything


def test_every_agent_has_a_place_in_the_table():
    assert {agent for agent, *_ in PLACES} | {"opencode"} == set(homes.AGENTS)


@pytest.fixture
def home(tmp_path):
    put(tmp_path, f".claude/projects/-srv-app/{UUID}.jsonl", CWD % "one", age=1)
    put(tmp_path, f".claude/projects/-srv-app/{OTHER}.jsonl", CWD % "two", age=30)
    put(tmp_path, ".claude/projects/-srv-app/agent-77.jsonl", CWD % "one", age=0)
    put(tmp_path, f".pi/agent/sessions/--srv--/1_{UUID[::-1]}.jsonl", CWD % "three", age=2)
    return tmp_path


def test_newest_first_numbered_and_sub_agents_are_no_sessions(home):
    found = sessions.find(environment={}, home=home)
    assert [(one.number, one.agent, one.project) for one in found] == [
        (1, "claude", "/srv/app-one"),
        (2, "pi", "/srv/app-three"),
        (3, "claude", "/srv/app-two"),
    ]


@pytest.mark.parametrize(
    ("asked", "numbers"),
    [
        ({}, [1, 2, 3]),
        ({"agent": "claude"}, [1, 3]),
        ({"project": "APP-T"}, [2, 3]),
        ({"since": datetime(2026, 11, 19, 22, 30, tzinfo=UTC)}, [1]),
        ({"agent": "codex"}, []),
    ],
)
def test_filters_keep_the_numbers(home, asked, numbers):
    assert [one.number for one in sessions.find(environment={}, home=home, **asked)] == numbers


@pytest.mark.parametrize(
    ("reference", "number"),
    [("latest", 1), ("1", 1), ("3", 3), ("claude", 1), ("pi", 2), ("0a1b9", 3), (OTHER.upper(), 3), ("a1b2c3d", 1)],
)
def test_a_reference_means_one_session(home, reference, number):
    assert sessions.named(reference, {}, home).number == number


@pytest.mark.parametrize(
    ("reference", "message", "hint"),
    [
        ("0", "@0: there are 3 sessions", "see: ctxbudget sessions"),
        ("4", "@4: there are 3 sessions", "see: ctxbudget sessions"),
        ("0a1b", "@0a1b: 2 sessions have this in their id", f"give more of it: {UUID}, {OTHER}"),
        ("clause", "unknown session '@clause'", "did you mean '@claude'?"),
        ("codex", "@codex: no session of codex found on this machine", "see: ctxbudget sessions"),
    ],
)
def test_a_reference_that_means_none_or_several_says_so(home, reference, message, hint):
    with pytest.raises(CtxbudgetError) as error:
        sessions.named(reference, {}, home)
    assert (error.value.message, error.value.hint) == (message, hint)


NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12h", datetime(2026, 11, 20, tzinfo=UTC)),
        ("7d", datetime(2026, 11, 13, 12, tzinfo=UTC)),
        ("2 W", datetime(2026, 11, 6, 12, tzinfo=UTC)),
        ("999999w", datetime.min.replace(tzinfo=UTC)),
        ("2026-11-01", datetime(2026, 11, 1, tzinfo=UTC)),
        ("2026-11-01T10:00:00+02:00", datetime(2026, 11, 1, 8, tzinfo=UTC)),
    ],
)
def test_moments(text, expected):
    assert sessions.moment(text, NOW) == expected


@pytest.mark.parametrize("text", ["", "yesterday", "7 years", "2026-13-01"])
def test_no_moment(text):
    with pytest.raises(CtxbudgetError, match="is no date"):
        sessions.moment(text, NOW)


@pytest.mark.parametrize(
    "head",
    [b"", b'{"cwd":', b'{"cwd":"' + b"x" * 2000 + b'"}', b"\xff\xfe\x00", b'{"cwd":"\\ud800"}', b'{"cwd": 7}'],
)
def test_a_project_that_cannot_be_told_is_none(tmp_path, head):
    path = put(tmp_path, f".claude/projects/x/{UUID}.jsonl", "")
    path.write_bytes(head)
    (one,) = sessions.find(environment={}, home=tmp_path)
    assert one.project is None


@pytest.mark.parametrize(
    ("agent", "place", "sample"),
    [
        ("opencode", ".local/share/opencode/opencode.db", "opencode-store.db"),
        ("goose", ".local/share/goose/sessions/sessions.db", "goose-store.db"),
    ],
)
def test_a_database_lists_its_sessions(tmp_path, agent, place, sample):
    path = put(tmp_path, place, "")
    path.write_bytes((SAMPLES / "formats" / sample).read_bytes())
    found = sessions.find(environment={}, home=tmp_path)
    traces = {trace.source.label: trace for trace in load(str(path))}
    assert len(found) == len(traces) >= 1
    assert {one.agent for one in found} == {agent}
    assert {one.select for one in found} == set(traces)
    for row in rows(found):
        assert row.path == f"{path}#{row.id}"
        assert row.turns == sum(not turn.pending for turn in traces[row.id].turns)
        assert row.problem is None


def test_a_damaged_database_is_listed_as_itself(tmp_path):
    put(tmp_path, ".local/share/opencode/opencode.db", "no database")
    (one,) = sessions.find(environment={}, home=tmp_path)
    assert (one.agent, one.id, one.project) == ("opencode", "opencode.db", None)


MOVING = [variable for home in homes.HOMES for variable, _ in home.moved]


# ── the command ────────────────────────────────────────────────────────────────────────────────────────────────────


def run(home, *arguments):
    done = forked.run(*arguments, env={"HOME": str(home), "USERPROFILE": str(home), **dict.fromkeys(MOVING, "")})
    return SimpleNamespace(returncode=done.returncode, stdout=done.stdout.decode(), stderr=done.stderr.decode())


@pytest.fixture
def lived_in(tmp_path):
    put(tmp_path, f".claude/projects/-srv-app/{UUID}.jsonl", (SAMPLES / "migrate_module.jsonl").read_text(), age=2)
    put(tmp_path, f".codex/sessions/2026/11/02/rollout-{OTHER}.jsonl", '{"no": "session\x1b[2J"}\n', age=3)
    return tmp_path


def test_the_listing_says_what_each_session_holds(lived_in):
    done = run(lived_in, "sessions", "--json")
    first, second = json.loads(done.stdout)
    analyzed = json.loads(run(lived_in, "analyze", "@claude", "--format", "json").stdout)
    assert (first["number"], first["agent"], first["id"]) == (1, "claude", UUID)
    assert first["modified"] == "2026-11-19T22:00:00Z"
    assert first["peak"] == analyzed["peak"]["tokens"]
    assert first["utilization"] == analyzed["peak"]["utilization"]
    assert first["turns"] == sum(not turn["pending"] for turn in analyzed["turns"])
    assert second["peak"] is None
    assert second["problem"]
    assert done.returncode == 0
    assert not done.stderr


def test_quick_reads_no_session_and_the_table_says_how_to_go_on(lived_in):
    shown = run(lived_in, "sessions", "--quick", "--limit", "1").stdout
    assert "1 older one: --limit 0 shows all" in shown
    assert "ctxbudget analyze @1" in shown
    assert UUID in shown
    assert OTHER not in shown


def test_an_empty_home_says_where_it_looked(tmp_path):
    done = run(tmp_path, "sessions")
    assert done.stdout == f"No session found in the known places of {', '.join(homes.AGENTS)}.\n"
    assert done.returncode == 0
    assert json.loads(run(tmp_path, "sessions", "--json").stdout) == []


def test_every_command_takes_a_reference(lived_in):
    assert run(lived_in, "replay", "@1", "--strategy", "none", "--format", "json").returncode == 0
    missing = run(lived_in, "analyze", "@latest2")
    assert missing.returncode == 2
    assert missing.stderr == "error: unknown session '@latest2'\nhint: did you mean '@latest'?\n"


def test_nothing_is_written_to_the_agents_folders(lived_in):
    before = sorted((str(path), path.stat().st_mtime_ns) for path in lived_in.rglob("*"))
    run(lived_in, "sessions")
    run(lived_in, "analyze", "@1")
    assert sorted((str(path), path.stat().st_mtime_ns) for path in lived_in.rglob("*")) == before
