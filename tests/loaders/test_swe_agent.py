"""SWE-agent trajectories: the history as log, the prompts of the steps as what was sent."""

import json
from pathlib import Path

import pytest

from ctxbudget.builder import TraceBuilder
from ctxbudget.loaders import swe_agent
from ctxbudget.loaders.swe_agent.log import split
from ctxbudget.records import read
from ctxbudget.trace import Outcome

REAL = Path(__file__).parents[3] / "shared" / "real_traces" / "swe_agent"


def load(run, raw=None):
    reading = read("run.traj", json.dumps(run).encode() if raw is None else raw)
    return list(swe_agent.load(reading, lambda label=None: TraceBuilder("run.traj", "swe_agent", label=label)))


def one(run):
    [trace] = load(run)
    return trace


def view(trace, turn):
    """The texts of the context at ``turn`` as recorded, without calls that the prompts keep apart from their text."""
    live, cuts = [], list(trace.recorded)
    for number in range(1, turn + 1):
        live += trace.entering(trace.turns[number - 1])
        while cuts and cuts[0].turn == number:
            edit = cuts.pop(0).edit
            at = next((place for place, part in enumerate(live) if part.id in edit.removed), len(live))
            assert set(edit.removed) <= {part.id for part in live}
            live[at:at] = edit.inserted
            live = [part for part in live if part.id not in edit.removed]
    return [part.text for part in live if not part.asks and part.text]


SYSTEM = {"role": "system", "content": "you fix bugs", "agent": "main", "message_type": "system_prompt"}
TASK = {"role": "user", "content": [{"type": "text", "text": "the bell is mute"}], "agent": "main"}
LONG = "brass\n" * 40


def acted(number, tool="open", **arguments):
    call = {"id": f"c{number}", "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
    return {"role": "assistant", "content": f"thought {number}", "agent": "main", "tool_calls": [call]}


def seen(number, text):
    return {"role": "tool", "content": text, "agent": "main", "tool_call_ids": [f"c{number}"]}


def elided(message):
    return {**message, "content": "Old environment output: (40 lines omitted)"}


HISTORY = [
    SYSTEM,
    TASK,
    acted(1, path="bell.py"),
    seen(1, LONG),
    acted(2),
    seen(2, "ring"),
    acted(3, "submit"),
    seen(3, "ok"),
]
PROMPTS = [HISTORY[:2], HISTORY[:4], [*HISTORY[:3], elided(HISTORY[3]), *HISTORY[4:6]]]
AFTER = [*PROMPTS[1:], [*PROMPTS[2], *HISTORY[6:]]]


def steps(name, prompts):
    return [{"action": "a", "observation": "o", "response": "r", name: prompt} for prompt in prompts]


@pytest.mark.parametrize("name, prompts", [("query", PROMPTS), ("messages", AFTER)])
def test_the_context_as_recorded_is_the_prompt(name, prompts):
    trace = one({"trajectory": steps(name, prompts), "history": HISTORY, "info": {}})
    assert [turn.pending for turn in trace.turns] == [False, False, False, True]
    for number, prompt in enumerate(PROMPTS, 1):
        texts = [message["content"] for message in prompt]
        assert view(trace, number) == [text if isinstance(text, str) else text[0]["text"] for text in texts]
    [cut] = trace.recorded
    assert (cut.turn, cut.trigger, cut.edit.form) == (3, "elision", "cleared")
    [stand_in] = cut.edit.inserted
    assert (stand_in.text, stand_in.call, stand_in.tool) == (elided(HISTORY[3])["content"], "c1", "open")
    assert LONG in [part.text for part in trace.fragments]


def test_what_the_messages_are():
    trace = one({"trajectory": [], "history": HISTORY})
    assert [(str(part.kind), part.role, part.tool, part.origin.line) for part in trace.fragments[:5]] == [
        ("system_prompt", "system", None, 1),
        ("user", "user", None, 2),
        ("reasoning", "assistant", None, 3),
        ("call", "assistant", "open", 3),
        ("result", "tool", "open", 4),
    ]
    assert trace.fragments[3].resource.target == "bell.py"
    assert [turn.usage for turn in trace.turns] == [None] * 4
    assert trace.source.agent == "swe-agent"


def test_text_replies_are_cut_into_reasoning_and_action():
    reply = {"role": "assistant", "content": "Let me look.\n```\nopen bell.py 12\n```"}
    history = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "t"},
        reply,
        {"role": "user", "content": "saw"},
    ]
    trace = one({"trajectory": [{"action": "open bell.py 12\n", "observation": "saw"}], "history": history})
    texts = [(str(part.kind), part.role, part.text) for part in trace.fragments[2:]]
    assert texts == [
        ("reasoning", "assistant", "Let me look.\n```\n\n```"),
        ("call", "assistant", "open bell.py 12"),
        ("result", "user", "saw"),
    ]
    assert trace.fragments[4].call == trace.fragments[3].call


@pytest.mark.parametrize(
    "text, action, thought, expected",
    [
        ("t\n```\nls -a\n```", "ls -a\n", "t", ("t\n```\n\n```", ("ls", "-a"))),
        ("ls", "ls", "", ("", ("ls", ""))),
        ("edit 1:2\nx\nend_of_edit", "edit 1:2\nx\nend_of_edit", "", ("", ("edit", "1:2\nx\nend_of_edit"))),
        ("t <function=view><p>a</p>", "view a", "t", ("t ", ("view", "<function=view><p>a</p>"))),
        ("I think: view, a", "view a", "I think", ("I think", ("view", ": view, a"))),
        ("nothing to run", "ls", "", ("nothing to run", None)),
        ("nothing to run", "", "nothing", ("nothing to run", None)),
    ],
)
def test_split(text, action, thought, expected):
    assert split(text, action, thought) == expected


OPEN = {"open_file": "/bells/src/ring.py", "working_dir": "/bells"}


@pytest.mark.parametrize(
    ("action", "state", "target"),
    [
        ("edit 3:4\nloud = True\nend_of_edit", OPEN, "src/ring.py"),
        ("edit 3:4\nloud = True\nend_of_edit", json.dumps(OPEN), "src/ring.py"),
        ("insert 3\nloud = True", {"open_file": "/etc/ring.py"}, "/etc/ring.py"),
        ("edit 3:4\nloud = True", {"open_file": "n/a", "working_dir": "/bells"}, "3:4"),
        ("edit 3:4\nloud = True", "no json", "3:4"),
        ("cat README", OPEN, "README"),
    ],
)
def test_an_edit_of_the_open_file_is_an_edit_of_that_file(action, state, target):
    step = {"action": action, "observation": "done", "state": state}
    reply = {"role": "assistant", "content": action, "agent": "main"}
    result = {"role": "user", "content": "done", "agent": "main"}
    trace = one({"trajectory": [step], "history": [SYSTEM, TASK, reply, result]})
    (call,) = (part for part in trace.fragments if part.asks)
    assert call.resource.target == target


def test_a_refused_edit_is_an_error():
    refused = "Your proposed edit has introduced new syntax error(s): line 3"
    trace = one({"history": [SYSTEM, TASK, acted(1, "edit"), seen(1, refused), acted(2), seen(2, f"saw: {refused}")]})
    assert [part.error for part in trace.fragments if part.answers] == [True, False]


def test_demonstrations_are_injected_and_no_calls():
    shown = [
        {"role": "user", "content": "an example:", "is_demo": True},
        {"role": "assistant", "content": "ls", "message_type": "demonstration"},
    ]
    trace = one({"trajectory": [], "history": [SYSTEM, *shown, TASK, *HISTORY[2:]]})
    assert [str(part.kind) for part in trace.fragments[:4]] == ["system_prompt", "injected", "injected", "user"]
    assert len(trace.turns) == 4


def test_messages_that_only_a_prompt_holds_come_and_go():
    refused = [{"role": "assistant", "content": "no format"}, {"role": "user", "content": "use the format"}]
    prompts = [PROMPTS[0], [*PROMPTS[1], *refused], PROMPTS[2]]
    trace = one({"trajectory": steps("query", prompts), "history": HISTORY})
    assert view(trace, 2)[-2:] == ["no format", "use the format"]
    assert view(trace, 3) == view(one({"trajectory": steps("query", PROMPTS), "history": HISTORY}), 3)
    kinds = [str(part.kind) for part in trace.fragments if part.text in {"no format", "use the format"}]
    assert kinds == ["reasoning", "injected"]


def test_messages_that_a_prompt_leaves_out_are_gone():
    windowed = [*HISTORY[:2], *HISTORY[4:6]]
    trace = one({"trajectory": steps("query", [*PROMPTS[:2], windowed]), "history": HISTORY})
    assert view(trace, 3) == ["you fix bugs", "the bell is mute", "thought 2", "ring"]
    replaced = [*HISTORY[:2], {"role": "user", "content": "what was"}, *HISTORY[4:6]]
    trace = one({"trajectory": steps("query", [*PROMPTS[:2], replaced]), "history": HISTORY})
    assert view(trace, 3) == ["you fix bugs", "the bell is mute", "what was", "thought 2", "ring"]


def test_marks_of_the_cache_are_no_edit_and_what_returns_is_one():
    marked = {**HISTORY[3], "content": [{"type": "text", "text": LONG, "cache_control": {"type": "ephemeral"}}]}
    prompts = [PROMPTS[0], [*HISTORY[:3], marked], PROMPTS[2]]
    assert len(one({"trajectory": steps("query", prompts), "history": HISTORY}).recorded) == 1
    back = [PROMPTS[0], [*HISTORY[:3], elided(HISTORY[3])], HISTORY[:6]]
    cuts = one({"trajectory": steps("query", back), "history": HISTORY}).recorded
    assert [(cut.turn, cut.edit.form) for cut in cuts] == [(2, "cleared"), (3, None)]


def test_an_image_is_no_text():
    url = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJ"
    shown = {
        **HISTORY[3],
        "content": [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": url}}],
    }
    raw = {**HISTORY[3], "content": f"see ![]({url})"}
    history = [*HISTORY[:3], raw, *HISTORY[4:]]
    trace = one({"trajectory": steps("query", [PROMPTS[0], [*HISTORY[:3], shown]]), "history": history})
    parts = [part for part in trace.fragments if part.call == "c1" and part.answers]
    assert [(str(part.kind), part.text) for part in parts] == [("result", "see"), ("media", "")]
    odd = one({"history": [{"role": "user", "content": [{"type": "hologram"}, 5, "x"]}, *HISTORY[2:]]})
    assert dict(odd.parse.skipped) == {"content/hologram": 1, "content/int": 1}


def test_steps_alone_are_enough():
    told = [
        {"action": "ls", "observation": "a b", "response": "hm\nls", "query": PROMPTS[0]},
        {"action": "submit", "observation": "", "thought": "submit"},
    ]
    trace = one({"trajectory": told})
    assert [str(part.kind) for part in trace.fragments] == [
        "system_prompt", "user", "reasoning", "call", "result", "call", "result",
    ]  # fmt: skip


def test_the_words_of_another_agent_are_counted():
    trace = one({"history": [*HISTORY[:2], {"role": "user", "content": "x", "agent": "helper"}, *HISTORY[2:]]})
    assert dict(trace.parse.skipped) == {"message of another agent": 1}


def test_how_it_ended_and_what_it_cost():
    stats = {"api_calls": 3, "tokens_sent": 4_000, "tokens_received": 50, "instance_cost": 0.1}
    trace = one({"history": HISTORY, "info": {"exit_status": "submitted", "model_stats": stats}})
    assert trace.outcome == Outcome(None, None, "info.exit_status: submitted")
    assert trace.billed == ()
    assert [(warning.code, "4,000 tokens sent" in warning.message) for warning in trace.warnings] == [
        ("usage-sums", True)
    ]
    stats["tokens_sent"] = stats["tokens_received"] = 0
    assert one({"history": HISTORY, "info": {"model_stats": stats}}).warnings == ()


@pytest.mark.parametrize(
    "settings, model",
    [
        ({"agent": {"model": {"name": "some-model"}}}, "some-model"),
        ('{"agent": {"model": {"name": "some-model"}}}', "some-model"),
        ({"agent": {"model": {"name": "replay"}}}, None),
        ("{", None),
        (None, None),
    ],
)
def test_the_model_is_in_the_settings(settings, model):
    assert one({"history": HISTORY, "replay_config": settings}).model == model


def test_attempts_and_documents_are_traces_of_their_own():
    run = {"history": HISTORY, "trajectory": []}
    assert [trace.source.label for trace in load({"attempts": [run, run], **run})] == ["1", "2"]
    lines = b"\n".join(json.dumps(part).encode() for part in (run, {"x": 1}, run))
    traces = load(None, lines)
    assert [dict(trace.parse.skipped) for trace in traces] == [{"(no trajectory)": 1}] * 2
    assert load({"history": "none"}) == []


JUNK = (
    None,
    True,
    -1,
    1.5,
    "",
    "x",
    [],
    [[]],
    {},
    {"type": []},
    [None, {"type": "image_url"}],
    {"text": 5},
    [{"role": []}],
)


@pytest.mark.parametrize("junk", JUNK, ids=repr)
def test_no_value_in_any_place_is_fatal(junk):
    run = {"trajectory": steps("query", PROMPTS), "history": HISTORY, "info": {"model_stats": {}}, "attempts": []}
    for key in run:
        load({**run, key: junk})
    for place, message in enumerate(HISTORY):
        for key in (*message, "action", "thought", "is_demo", "message_type"):
            bad = [*HISTORY[:place], {**message, key: junk}, *HISTORY[place + 1 :]]
            load({**run, "history": bad})
            load({"trajectory": steps("query", [bad[:2], bad[:4], bad]), "history": HISTORY})
    load({**run, "trajectory": [{"action": junk, "observation": junk, "query": junk, "messages": junk}]})
    load({**run, "info": {"exit_status": junk, "model_stats": junk}})


@pytest.mark.parametrize(
    "head, sure",
    [
        ('{\n "environment": "e",\n "trajectory": [\n {\n "action": "ls",\n "observation": "', True),
        ('{"trajectory": [], "history": [', True),
        ('{"trajectory_format": "mini-swe-agent-1", "messages": [{"action": 1', False),
        ('{"trajectory": [{"step": 1}], "observation": 2}', False),
        ('[{"trajectory": [{"action": "x"', False),
        ("", False),
    ],
)
def test_sniff(head, sure):
    assert (swe_agent.sniff(head.encode(), "a.traj") > 0.5) is sure


@pytest.mark.skipif(not REAL.is_dir(), reason="the real transcripts are not part of the repository")
@pytest.mark.parametrize(
    "name, calls, edits",
    [("ctf-web-i_got_id", 21, 0), ("marshmallow-1867-replay", 13, 8), ("smith-pandas-53652", 37, 0)],
)
def test_real_trajectories(name, calls, edits):
    raw = (REAL / f"{name}.traj").read_bytes()
    [trace] = load(None, raw)
    assert (len(trace.turns), trace.turns[-1].pending, len(trace.recorded)) == (calls + 1, True, edits)
    asked = {part.call for part in trace.fragments if part.asks}
    assert all(part.call in asked for part in trace.fragments if part.answers)
    assert trace.outcome is not None
    for number, step in enumerate(json.loads(raw)["trajectory"], 2):
        contents = [message["content"] for message in step.get("messages", [])]
        texts = ["".join(block["text"] for block in c) if isinstance(c, list) else c for c in contents]
        assert not texts or view(trace, number) == [text for text in texts if text]
