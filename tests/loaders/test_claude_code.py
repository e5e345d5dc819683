"""Claude Code sessions: what was sent, and what only lies in the file. Real-use cases are in tests/test_cases.py."""

from __future__ import annotations

import json

import pytest

from ctxbudget.ledger import context
from ctxbudget.loaders import Options, load
from ctxbudget.trace import Kind

MODEL = "claude-sonnet-4-5-20250929"


class Session:
    """Writes records one after another, each the child of the one before unless told otherwise."""

    def __init__(self):
        self.records = []
        self.last = None

    def add(self, uuid, type, parent=..., **fields):
        record = {"type": type, "uuid": uuid, "parentUuid": self.last if parent is ... else parent}
        record |= {"sessionId": "s", "isSidechain": False, "userType": "external"} | fields
        self.records.append(record)
        self.last = uuid
        return self

    def user(self, uuid, content, parent=..., **fields):
        return self.add(uuid, "user", parent, message={"role": "user", "content": content}, **fields)

    def result(self, uuid, call, text, parent=..., **fields):
        block = {"type": "tool_result", "tool_use_id": call, "content": text}
        return self.user(uuid, [block], parent, **fields)

    def reply(self, uuid, *blocks, id=None, parent=..., prompt=100, output=9, stop="end_turn", model=MODEL, **fields):
        message = {
            "id": id or f"msg_{uuid}",
            "role": "assistant",
            "model": model,
            "content": list(blocks),
            "stop_reason": stop,
            "usage": {"input_tokens": prompt, "output_tokens": output},
        }
        return self.add(uuid, "assistant", parent, message=message, **fields)

    def write(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(record) + "\n" for record in self.records), encoding="utf-8")
        return str(path)


def text(words):
    return {"type": "text", "text": words}


def call(name, id, **arguments):
    return {"type": "tool_use", "id": id, "name": name, "input": arguments}


@pytest.fixture
def read(tmp_path):
    def read(session):
        return load(session.write(tmp_path / "session.jsonl"), Options(calibrate=False))[0]

    return read


def texts(trace):
    return [fragment.text for fragment in trace.fragments]


def test_a_reply_is_one_turn_and_its_parts_enter_with_the_next(read):
    session = Session().user("u1", "Read it.").reply("a1", text("Reading."), call("Read", "t1", file_path="a.py"))
    trace = read(session.result("r1", "t1", "x = 1").reply("a2", text("Done.")))
    assert [turn.index for turn in trace.turns] == [1, 2]
    assert [(f.turn, f.kind) for f in trace.fragments] == [
        (1, Kind.USER),
        (2, Kind.REASONING),
        (2, Kind.CALL),
        (2, Kind.RESULT),
        (3, Kind.ANSWER),
    ]
    assert trace.reply[0].text == "Done."
    assert trace.fragments[2].resource == trace.fragments[3].resource
    assert trace.fragments[2].unit == trace.fragments[3].unit == "u1"


def test_results_beside_the_path_are_not_lost(read):
    session = Session().user("u1", "Read both.")
    session.reply("a1", call("Read", "t1", file_path="a"), id="m", stop=None)
    session.reply("a2", call("Read", "t2", file_path="b"), id="m", stop="tool_use")
    session.result("r1", "t1", "aaa", parent="a1").result("r2", "t2", "bbb", parent="a2")
    trace = read(session.reply("a3", text("Both.")))
    assert [f.text for f in trace.fragments if f.answers] == ["aaa", "bbb"]
    assert len(trace.turns) == 2
    assert trace.abandoned == 0


def test_blocks_interleaved_with_results_stay_one_reply(read):
    session = Session().user("u1", "Read both.")
    session.reply("a1", call("Read", "t1", file_path="a"), id="m", stop=None).result("r1", "t1", "aaa")
    session.reply("a2", call("Read", "t2", file_path="b"), id="m", stop="tool_use").result("r2", "t2", "bbb")
    trace = read(session.reply("a3", text("Both.")))
    assert [(f.kind, f.turn) for f in trace.fragments[1:5]] == [
        (Kind.CALL, 2), (Kind.CALL, 2), (Kind.RESULT, 2), (Kind.RESULT, 2)
    ]  # fmt: skip


def test_a_rewound_branch_is_billed_and_not_sent(read):
    session = Session().user("u1", "One.").reply("a1", text("1")).user("u2", "Two.").reply("a2", text("2"))
    trace = read(session.user("u3", "Three.", parent="a1").reply("a3", text("3")))
    assert texts(trace) == ["One.", "1", "Three.", "3"]
    assert trace.abandoned == 2
    assert [billed.purpose for billed in trace.billed] == ["turn", "turn", "abandoned"]


def test_a_parent_that_is_not_in_the_file_is_the_line_before(read):
    session = Session().user("u1", "One.").reply("a1", text("1")).user("u2", "Two.", parent="gone")
    assert texts(read(session.reply("a2", text("2")))) == ["One.", "1", "Two.", "2"]


def test_what_a_compaction_puts_in_place_lives_in_its_edit(read):
    session = Session().user("u1", "One.").reply("a1", text("1"), prompt=160_000)
    session.add("b1", "system", None, subtype="compact_boundary", logicalParentUuid="a1",
                compactMetadata={"trigger": "auto", "preTokens": 167_000})  # fmt: skip
    session.user("s1", "It was one.", isCompactSummary=True)
    session.add("f1", "attachment", attachment={"type": "file", "filename": "a.py", "content": {"text": "x = 1"}})
    trace = read(session.user("u2", "Two.").reply("a2", text("2")))
    (compaction,) = trace.recorded
    assert (compaction.turn, compaction.trigger, compaction.pre_tokens) == (2, "auto", 167_000)
    assert [f.kind for f in compaction.edit.inserted] == [Kind.SUMMARY, Kind.RESULT]
    assert compaction.edit.inserted[1].resource.target == "a.py"
    assert texts(trace) == ["One.", "1", "Two.", "2"]
    assert [f.text for f in context(trace, 2)] == ["It was one.", "x = 1", "Two."]


def test_a_summary_without_its_originals_is_part_of_the_log(read):
    session = Session().user("s1", "It was one.", isCompactSummary=True).user("u2", "Two.")
    trace = read(session.reply("a2", text("2")))
    assert [f.kind for f in trace.fragments] == [Kind.SUMMARY, Kind.USER, Kind.ANSWER]
    assert trace.recorded == ()


@pytest.mark.parametrize(
    "attachment,kind,words",
    [
        (
            {"type": "nested_memory", "path": "CLAUDE.md", "content": {"content": "Be brief."}},
            Kind.MEMORY_FILE,
            "Be brief.",
        ),
        ({"type": "queued_command", "prompt": "And the pears?", "commandMode": "prompt"}, Kind.USER, "And the pears?"),
        ({"type": "queued_command", "prompt": "x", "commandMode": "task-notification"}, Kind.INJECTED, "x"),
        ({"type": "edited_text_file", "filename": "a", "snippet": "1 x"}, Kind.RESULT, "1 x"),
        ({"type": "todo_reminder", "content": [{"content": "Sow", "status": "open"}]}, Kind.INJECTED, "Sow\nopen"),
        ({"type": "a_new_one", "text": "Mind the gap."}, Kind.INJECTED, "Mind the gap."),
    ],
)
def test_attachments(read, attachment, kind, words):
    session = Session().user("u1", "One.").add("x", "attachment", attachment=attachment)
    trace = read(session.reply("a1", text("1")))
    assert (trace.fragments[1].kind, trace.fragments[1].text) == (kind, words)


def test_what_only_the_client_uses_is_counted_as_skipped(read):
    session = Session().user("u1", "One.").add("x", "attachment", attachment={"type": "command_permissions"})
    session.add("p", "progress", data={"type": "hook_progress"}).add("n", "newtype", note="?")
    trace = read(session.reply("a1", text("1")))
    assert texts(trace) == ["One.", "1"]
    assert dict(trace.parse.skipped) == {"attachment": 1, "progress": 1, "newtype": 1}
    assert [w.message for w in trace.warnings if w.code == "unknown-record"] == [
        "1 record(s) of type 'newtype' not read"
    ]


def test_inline_side_chains_are_children(read):
    session = Session().user("u1", "Look.").reply("a1", call("Task", "t1", prompt="Count."))
    session.user("x1", "Count.", parent=None, isSidechain=True).reply("x2", text("3"), isSidechain=True, prompt=40)
    trace = read(session.result("r1", "t1", "3", parent="a1").reply("a2", text("Three.")))
    assert texts(trace)[0] == "Look."
    assert len(trace.turns) == 2
    (child,) = trace.children
    assert texts(child) == ["Count.", "3"]
    assert [b.usage.input for b in child.billed] == [40]


def test_sub_agents_in_their_folder_and_the_compaction_call(tmp_path):
    main = Session().user("u1", "Look.").reply("a1", text("Done."))
    agent = Session().user("x1", "Count.", isSidechain=True).reply("x2", text("3"), isSidechain=True, prompt=40)
    compact = (
        Session().user("y1", "Look. Sum up.", isSidechain=True).reply("y2", text("s"), isSidechain=True, prompt=50)
    )
    agent.write(tmp_path / "main" / "subagents" / "agent-7f.jsonl")
    compact.write(tmp_path / "main" / "subagents" / "agent-acompact-1.jsonl")
    trace = load(main.write(tmp_path / "main.jsonl"), Options(calibrate=False))[0]
    assert [child.source.label for child in trace.children] == ["7f"]
    assert [(b.purpose, b.usage.input) for b in trace.billed] == [("turn", 100), ("compaction", 50)]
    alone = load(str(tmp_path / "main" / "subagents" / "agent-7f.jsonl"), Options(calibrate=False))[0]
    assert texts(alone) == ["Count.", "3"]


def test_an_interrupted_batch_is_a_pending_turn(read):
    session = (
        Session().user("u1", "Go.").reply("a1", call("Bash", "t1", command="ls"), call("Bash", "t2", command="pwd"))
    )
    trace = read(session.result("r1", "t1", "a"))
    assert [(turn.pending, turn.reported) for turn in trace.turns] == [(False, 100), (True, None)]
    assert [f.call for f in context(trace, 2) if f.asks] == ["t1", "t2"]


def test_an_image_in_a_result_belongs_to_it(read):
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
    session = Session().user("u1", "Look.").reply("a1", call("Read", "t1", file_path="a.png"))
    session.user("r1", [{"type": "tool_result", "tool_use_id": "t1", "content": [image]}])
    trace = read(session.reply("a2", text("A cat.")))
    shown = trace.fragments[2]
    assert (shown.kind, shown.call, shown.unit, shown.estimated, shown.text) == (Kind.MEDIA, "t1", "u1", True, "")


@pytest.mark.parametrize(
    "content",
    [
        None,
        7,
        [None],
        [7],
        [{"type": "text"}],
        [{"type": "tool_result"}],
        [{"type": "tool_result", "content": [7]}],
        [[]],
    ],
)
def test_hostile_user_content_is_read_or_told(read, content):
    trace = read(Session().user("u1", "One.").user("u2", content).reply("a1", text("1")))
    assert texts(trace)[0] == "One."


@pytest.mark.parametrize("message", [{}, {"role": "assistant"}, {"role": "assistant", "content": 7}, {"content": []}])
def test_a_malformed_reply_is_told_and_is_no_call(read, message):
    session = Session().user("u1", "One.").reply("a1", text("1")).user("u2", "Two.")
    trace = read(session.add("a2", "assistant", message=message))
    assert len([turn for turn in trace.turns if not turn.pending]) == 1
