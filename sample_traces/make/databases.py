"""Make the sample databases: ``python sample_traces/make/databases.py [--to FOLDER]``.

They hold the sessions of the samples in JSON beside them, in the tables that the agents use. The bytes are the same
each time: small pages, no free ones, and SQLite's own version, which it writes into every file, left out.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
from pathlib import Path
from typing import Any

FORMATS = Path(__file__).resolve().parent.parent / "formats"
PAGE = 512
VERSION = slice(96, 100)
"""Bytes of the header that name the version of SQLite that wrote it last."""

OPENCODE = """
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL,
 directory text NOT NULL, title text NOT NULL, version text NOT NULL, revert text, time_created integer NOT NULL,
 time_updated integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
 time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
 time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
"""

GOOSE = """
CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at TIMESTAMP);
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT NOT NULL, session_type TEXT NOT NULL, working_dir TEXT NOT NULL,
 created_at TIMESTAMP, updated_at TIMESTAMP, total_tokens INTEGER, input_tokens INTEGER, output_tokens INTEGER,
 accumulated_total_tokens INTEGER, provider_name TEXT, model_config_json TEXT, parent_session_id TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT NOT NULL,
 role TEXT NOT NULL, content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, metadata_json TEXT);
CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL,
 created_timestamp INTEGER NOT NULL, model TEXT, input_tokens INTEGER, output_tokens INTEGER, total_tokens INTEGER,
 cache_read_tokens INTEGER, cache_write_tokens INTEGER, is_compaction INTEGER DEFAULT 0);
"""
COPILOT = """
CREATE TABLE schema_version (version INTEGER PRIMARY KEY);
CREATE TABLE spans (span_id TEXT PRIMARY KEY, trace_id TEXT NOT NULL, parent_span_id TEXT, name TEXT NOT NULL,
 start_time_ms INTEGER NOT NULL, end_time_ms INTEGER NOT NULL, status_code INTEGER NOT NULL DEFAULT 0,
 operation_name TEXT, agent_name TEXT, conversation_id TEXT, input_tokens INTEGER, output_tokens INTEGER);
CREATE TABLE span_attributes (span_id TEXT NOT NULL, key TEXT NOT NULL, value TEXT, PRIMARY KEY (span_id, key));
CREATE TABLE span_events (id INTEGER PRIMARY KEY AUTOINCREMENT, span_id TEXT NOT NULL, name TEXT NOT NULL,
 timestamp_ms INTEGER NOT NULL, attributes TEXT);
"""
PHOENIX = """
CREATE TABLE projects (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE traces (id INTEGER PRIMARY KEY, project_rowid INTEGER NOT NULL, trace_id TEXT NOT NULL,
 start_time TIMESTAMP NOT NULL, end_time TIMESTAMP NOT NULL);
CREATE TABLE spans (id INTEGER PRIMARY KEY, trace_rowid INTEGER NOT NULL, span_id TEXT NOT NULL, parent_id TEXT,
 name TEXT NOT NULL, span_kind TEXT NOT NULL, start_time TIMESTAMP NOT NULL, end_time TIMESTAMP NOT NULL,
 attributes JSON NOT NULL, events JSON NOT NULL, status_code TEXT NOT NULL, status_message TEXT NOT NULL);
"""
AGENTS = """
CREATE TABLE agent_sessions (session_id TEXT PRIMARY KEY, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
 updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE agent_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL,
 message_data TEXT NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
"""

SUB_AGENT, HELPER = "20261010_8", "claude-haiku-4-5"
LEDGER = ((9, 0), (20, 0), (31, 1), (40, 0), (55, 0), (60, 0))
"""Seconds into the session, and whether the call wrote the summary; the usage stands with the messages too."""
SUMMARY = (4300, 70, 4370, 0)


def compact(value: Any) -> str:
    """Compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def without(data: dict[str, Any], *names: str) -> str:
    """The JSON of a row, without what has columns of its own."""
    return compact({key: value for key, value in data.items() if key not in names})


def opencode(database: sqlite3.Connection) -> None:
    """OpenCode's store: the session of the export, and that of its sub-agent."""
    database.executescript(OPENCODE)
    for name in ("opencode.json", "opencode-subagent.json"):
        session = json.loads((FORMATS / name).read_text())
        info, times = session["info"], session["info"]["time"]
        revert = compact(info["revert"]) if "revert" in info else None
        row = (info["id"], info["projectID"], info.get("parentID"), info["slug"], info["directory"], info["title"],
               info["version"], revert, times["created"], times["updated"])  # fmt: skip
        database.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        for message in session["messages"]:
            own = message["info"]
            made = own["time"]["created"]
            row = (own["id"], info["id"], made, made, without(own, "id", "sessionID"))
            database.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", row)
            for part in message["parts"]:
                row = (part["id"], own["id"], info["id"], made, made, without(part, "id", "messageID", "sessionID"))
                database.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", row)


def goose(database: sqlite3.Connection) -> None:
    """Goose's store: the session of the export, and that of the older file as its sub-agent."""
    database.executescript(GOOSE)
    database.execute("INSERT INTO schema_version VALUES (15, '2025-10-10 12:00:00')")
    main = json.loads((FORMATS / "goose-export.json").read_text())
    head, *told = [json.loads(line) for line in (FORMATS / "goose.jsonl").read_text().splitlines()]
    times, start = ("2025-10-10 12:40:00", "2025-10-10 12:41:00"), main["conversation"][0]["created"]
    sums = ("total_tokens", "input_tokens", "output_tokens", "accumulated_total_tokens")
    for name, parent, facts, messages in (
        (main["id"], None, main, main["conversation"]),
        (SUB_AGENT, main["id"], head, told),
    ):
        kind = "sub_agent" if parent else "user"
        model = compact(main["model_config"] if parent is None else {"model_name": HELPER})
        row = (name, facts.get("name", facts.get("description")), kind, main["working_dir"], *times,
               *(facts[key] for key in sums), "anthropic", model, parent)  # fmt: skip
        database.execute("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        for message in messages:
            metadata = compact(message["metadata"]) if "metadata" in message else None
            said = (message.get("id"), name, message["role"], compact(message["content"]), message["created"], metadata)
            database.execute("INSERT INTO messages VALUES (NULL, ?, ?, ?, ?, ?, ?)", said)
    usages = [message["metadata"]["usage"] for message in main["conversation"] if "usage" in message["metadata"]]
    given = iter([tuple(usage.values()) for usage in usages])
    for after, summarised in LEDGER:
        model, usage = (HELPER, SUMMARY) if summarised else (main["model_config"]["model_name"], next(given))
        row = (main["id"], start + after, model, *usage, 0, summarised)
        database.execute("INSERT INTO usage_ledger VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)


def agents(database: sqlite3.Connection) -> None:
    """The Agents SDK's ``SQLiteSession``: the items of the sample in JSON, and a session of two, in turns."""
    database.executescript(AGENTS)
    times = ("2026-02-13 09:00:00", "2026-02-13 09:05:00")
    for name in ("labels", "hours"):
        database.execute("INSERT INTO agent_sessions VALUES (?, ?, ?)", (name, *times))
    told = [("labels", item) for item in json.loads((FORMATS / "openai_responses-items.json").read_text())]
    told.insert(2, ("hours", {"role": "user", "content": "When do you open?"}))
    told.insert(5, ("hours", {"role": "assistant", "content": [{"type": "output_text", "text": "At ten."}]}))
    for name, item in told:
        row = (name, compact(item), times[0])
        database.execute("INSERT INTO agent_messages VALUES (NULL, ?, ?, ?)", row)


def copilot(database: sqlite3.Connection) -> None:
    """VS Code Copilot Chat's span store: the first session of the OpenTelemetry sample."""
    database.executescript(COPILOT)
    database.execute("INSERT INTO schema_version VALUES (1)")
    request = json.loads((FORMATS / "otel_genai.jsonl").read_text().splitlines()[0])
    for span in request["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        given = {item["key"]: next(iter(item["value"].values())) for item in span["attributes"]}
        begun = int(span["startTimeUnixNano"]) // 10**6
        columns = ("operation.name", "agent.name", "conversation.id", "usage.input_tokens", "usage.output_tokens")
        row = (span["spanId"], span["traceId"], span.get("parentSpanId"), span["name"], begun, begun + 400, 0,
               *(given.get(f"gen_ai.{name}") for name in columns))  # fmt: skip
        database.execute("INSERT INTO spans VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        for key, value in given.items():
            database.execute("INSERT INTO span_attributes VALUES (?, ?, ?)", (span["spanId"], key, value))


def phoenix(database: sqlite3.Connection) -> None:
    """Phoenix's database: the spans of the OpenInference sample."""
    database.executescript(PHOENIX)
    database.execute("INSERT INTO projects VALUES (1, 'default')")
    traces: dict[str, int] = {}
    for line in (FORMATS / "openinference.jsonl").read_text().splitlines():
        span = json.loads(line)
        trace, times = span["context"]["trace_id"], (span["start_time"], span["end_time"])
        if trace not in traces:
            traces[trace] = len(traces) + 1
            database.execute("INSERT INTO traces VALUES (?, 1, ?, ?, ?)", (traces[trace], trace, *times))
        row = (traces[trace], span["context"]["span_id"], span["parent_id"], span["name"], span["span_kind"], *times,
               compact(span["attributes"]), "[]", span["status_code"], "")  # fmt: skip
        database.execute("INSERT INTO spans VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)


STORES = {
    "goose-store.db": goose,
    "openinference-store.db": phoenix,
    "otel_genai-store.db": copilot,
    "openai_responses-store.db": agents,
    "opencode-store.db": opencode,
}


def make(folder: Path) -> None:
    """Write all of them."""
    for name, fill in STORES.items():
        path = folder / name
        path.unlink(missing_ok=True)
        database = sqlite3.connect(path)
        database.execute(f"PRAGMA page_size = {PAGE}")
        fill(database)
        database.commit()
        database.execute("VACUUM")
        database.close()
        data = bytearray(path.read_bytes())
        data[VERSION] = bytes(4)
        path.write_bytes(data)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make the sample databases.")
    parser.add_argument("--to", type=Path, default=FORMATS, help="folder to write to")
    make(parser.parse_args().to)
