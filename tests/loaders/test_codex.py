"""Codex rollouts: what was sent, what was billed, what was compacted, forked and rolled back."""

import json
from pathlib import Path

import pytest

from ctxbudget.builder import TraceBuilder
from ctxbudget.loaders import codex
from ctxbudget.loaders.codex.kinds import failed, kind_of
from ctxbudget.records import read
from ctxbudget.trace import Kind

REAL = Path(__file__).parents[3] / "shared" / "real_traces" / "codex_rollout"
NAMES = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens", "total_tokens")
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="  # 1 x 1


def line(kind, **payload):
    return {"timestamp": "2026-05-05T05:05:05Z", "type": kind, "payload": payload}


def meta(name="thread-a", **more):
    return line("session_meta", id=name, cli_version="0.150.0", **more)


def item(kind, **more):
    return line("response_item", type=kind, **more)


def said(text, role="user"):
    part = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": part, "text": text}])


def called(name="shell", call="c1", **more):
    return item("function_call", name=name, call_id=call, arguments='{"command":["ls"]}', **more)


def answered(output="done", call="c1"):
    return item("function_call_output", call_id=call, output=output)


def counts(given, cached=0, output=0, reasoning=0):
    return dict(zip(NAMES, (given, cached, output, reasoning, given + output), strict=True))


def event(kind, **more):
    return line("event_msg", type=kind, **more)


def counted(total, last=None, window=100_000):
    info = {"total_token_usage": total, "last_token_usage": last, "model_context_window": window}
    return event("token_count", info={name: value for name, value in info.items() if value is not None})


def load(*records, raw=None):
    data = raw if raw is not None else "\n".join(json.dumps(record) for record in records).encode()
    traces = list(codex.load(read("rollout.jsonl", data), lambda: TraceBuilder("rollout.jsonl", "codex")))
    assert len(traces) == 1
    return traces[0]


def kinds(trace, turn=None):
    return [str(part.kind) for part in trace.fragments if turn is None or part.turn == turn]


def billed(trace):
    return [(call.usage.total, call.purpose) for call in trace.billed]


def by_call(trace):
    return [turn.reported for turn in trace.turns]


ONE, TWO, SUM = counts(700, 0, 30), counts(900, 650, 50, 20), counts(1600, 650, 80, 20)
FIRST, THEN = counted(ONE, ONE), counted(SUM, TWO)
BARE = {"total_tokens": 3210}


@pytest.mark.parametrize(
    "events, expected",
    [
        pytest.param([FIRST, THEN], [730, 950], id="two calls"),
        pytest.param([FIRST, FIRST, counted(ONE, TWO), THEN], [730, 950], id="again"),
        pytest.param([counted(ONE), counted(SUM)], [730, 950], id="totals alone"),
        pytest.param([counted(SUM, SUM), FIRST], [1680, 730], id="counter began again"),
        pytest.param([counted(SUM), counted(ONE)], [1680, 730], id="began again, totals alone"),
        pytest.param([THEN], [950], id="file begins in the middle"),
        pytest.param([FIRST, counted(counts(9000, 650, 800, 20), TWO)], [730, 950, 8120], id="a call is missing"),
        pytest.param([FIRST, counted(SUM, counts(5000))], [730, 950], id="last is wrong"),
        pytest.param([event("token_count", info=None), event("token_count"), FIRST], [730], id="no info"),
        pytest.param([counted(None, BARE)], [3210], id="only a total"),
        pytest.param([counted(counts(0), counts(0))], [], id="zero"),
        pytest.param([FIRST, counted(BARE, BARE, window=3210), counted(TWO, TWO)], [730, 950], id="refused"),
        pytest.param([event("token_count", info={"prompt": 40, "completion": 2})], [42], id="0.50"),
        pytest.param([event("turn.completed", usage=counts(40, 30, 2))], [42], id="0.51"),
        pytest.param([counted({"input_tokens": -4, "output_tokens": "9", "total_tokens": 1e9})], [], id="damaged"),
    ],
)
def test_each_call_is_billed_once(events, expected):
    assert [total for total, _ in billed(load(meta(), *events))] == expected


def test_usage_is_disjoint():
    usage = load(meta(), counted(TWO, TWO)).turns[0].usage
    assert (usage.input, usage.cache_read, usage.output, usage.reasoning, usage.total) == (250, 650, 50, 20, 950)
    total_only = load(meta(), counted(None, BARE)).turns[0].usage
    assert not total_only.split
    written = {**TWO, "cache_write_input_tokens": 9_999}
    usage = load(meta(), counted(written, written)).turns[0].usage
    assert (usage.input, usage.cache_read, usage.cache_write, usage.prompt) == (0, 650, 250, 900)


def test_doubtful_counters_are_told():
    assert [w.code for w in load(meta(), THEN).warnings] == ["usage-before"]
    gap = load(meta(), FIRST, counted(counts(9000, 650, 800, 20), TWO))
    assert [w.code for w in gap.warnings] == ["usage-gap"]
    assert len({call.key for call in gap.billed}) == 3


@pytest.mark.parametrize(
    "records",
    [
        pytest.param([said("go"), called(), FIRST, answered(), said("ok", "assistant"), THEN], id="after"),
        pytest.param([said("go"), FIRST, called(), answered(), THEN, said("ok", "assistant")], id="before"),
        pytest.param([said("go"), called(), answered(), FIRST, said("ok", "assistant"), THEN], id="late"),
        pytest.param(
            [said("go"), item("reasoning", summary=[]), called(), FIRST, answered(),
             item("reasoning", encrypted_content="x" * 99), said("ok", "assistant"), THEN], id="reasoning"
        ),
    ],
)  # fmt: skip
def test_a_call_was_made_before_its_reply(records):
    trace = load(meta(), *records)
    assert by_call(trace) == [700, 900]
    assert kinds(trace, 1) == ["user"]
    assert kinds(trace, 2) == ["call", "result"]
    assert [str(part.kind) for part in trace.reply] == ["answer"]
    assert not trace.carries_reasoning


def test_counts_without_text_are_turns():
    trace = load(meta(), FIRST, THEN)
    assert by_call(trace) == [700, 900]
    assert trace.fragments == ()


def test_an_unfinished_loop_ends_in_a_pending_turn():
    trace = load(meta(), said("go"), called(), FIRST, answered())
    assert [turn.pending for turn in trace.turns] == [False, True]


def test_parallel_results_find_their_calls():
    trace = load(meta(), said("go"), called(call="a"), called("read", "b"), answered("B", "b"), answered("A", "a"))
    results = [part for part in trace.fragments if part.answers]
    assert [(part.text, part.call, part.tool) for part in results] == [("B", "b", "read"), ("A", "a", "shell")]
    assert len({part.unit for part in trace.fragments if part.call}) == 1


def recorded(name, usage):
    return line("token_usage_record", response_id=name, usage=usage, turn_token_usage=usage)


@pytest.mark.parametrize("first", ["record", "count"])
def test_record_and_count_of_one_call_are_one(first):
    pair = [recorded("r1", ONE), FIRST]
    trace = load(
        meta(), said("go"), *(pair if first == "record" else pair[::-1]), recorded("r1", ONE), said("ok", "assistant")
    )
    assert billed(trace) == [(730, "turn")]


@pytest.mark.parametrize(
    "call",
    [
        pytest.param([recorded("r9", TWO)], id="record"),
        pytest.param([THEN], id="count"),
        pytest.param([item("compaction", encrypted_content="x" * 80), recorded("r9", TWO)], id="with its item"),
    ],
)
def test_the_summarising_call_is_no_turn(call):
    history = [said("Summary: all is well")["payload"]]
    cut = line("compacted", message="", compaction_response_id="r9", replacement_history=history)
    trace = load(meta(), said("go"), FIRST, said("yes", "assistant"), *call, cut, said("on"))
    assert billed(trace) == [(730, "turn"), (950, "compaction")]
    assert len(trace.turns) == 2
    assert kinds(trace) == ["user", "answer", "user"]


def test_a_compaction_replaces_the_history():
    history = [
        said("<permissions instructions>none", "developer")["payload"],
        said("go")["payload"],
        {"type": "compaction", "encrypted_content": "x" * 160},
    ]
    estimate = {**counts(0), "total_tokens": 222}
    trace = load(
        meta(base_instructions={"text": "be brief"}), said("go"), called(), FIRST, answered(),
        line("compacted", message="", replacement_history=history), event("context_compacted"),
        counted(ONE, estimate), said("on"), THEN, said("done", "assistant"),
    )  # fmt: skip
    [cut] = trace.recorded
    assert (cut.turn, cut.pre_tokens, cut.post_tokens) == (2, 700, 222)
    assert [str(part.kind) for part in cut.edit.inserted] == ["injected", "user", "summary"]
    assert (cut.edit.inserted[2].tokens, cut.edit.inserted[2].estimated) == (30, True)
    gone = [part for part in trace.fragments if part.id in cut.edit.removed]
    assert [str(part.kind) for part in gone] == ["user", "call", "result"]
    assert by_call(trace) == [700, 900]


def test_a_second_compaction_removes_what_the_first_brought():
    cut = line("compacted", message="", replacement_history=[said("Summary one")["payload"]])
    trace = load(meta(), said("go"), FIRST, said("a", "assistant"), cut, said("b"), THEN, cut)
    assert [part.id for part in trace.recorded[0].edit.inserted] == ["c1.0"]
    assert "c1.0" in trace.recorded[1].edit.removed


def test_a_summary_without_replacement_leaves_what_was_said():
    trace = load(
        meta(), said("# AGENTS.md instructions\nrun make"), said("go"), called(), answered(),
        line("compacted", message="so far: listed"), said("on"), said("hm", "assistant"),
        line("compacted", message="more"),
    )  # fmt: skip
    first, second = trace.recorded
    gone = [part for part in trace.fragments if part.id in first.edit.removed]
    assert [str(part.kind) for part in gone] == ["call", "result"]
    assert [(str(part.kind), part.text) for part in first.edit.inserted] == [("summary", "so far: listed")]
    assert first.edit.inserted[0].id in second.edit.removed
    assert load(meta(), said("go"), line("compacted", message=None)).recorded[0].edit.inserted == ()


def test_an_estimate_alone_tells_of_a_compaction_cut_out_of_the_file():
    estimate = {**counts(0), "total_tokens": 222}
    trace = load(meta(), said("go"), FIRST, said("a", "assistant"), counted(ONE, estimate), THEN)
    assert [(cut.turn, cut.pre_tokens, cut.post_tokens) for cut in trace.recorded] == [(2, 700, 222)]
    assert [warning.code for warning in trace.warnings] == ["compaction-unseen"]


def test_a_roll_back_leaves_the_context_but_not_the_bill():
    trace = load(
        meta(), said("<environment_context>here"), said("one"), FIRST, said("a", "assistant"),
        said("two"), called(), THEN, answered(),
        event("thread_rolled_back", num_turns=1), counted(SUM, {**counts(0), "total_tokens": 9}), said("three"),
    )  # fmt: skip
    assert [part.text for part in trace.fragments] == ["<environment_context>here", "one", "a", "three"]
    assert sorted(billed(trace)) == [(730, "turn"), (950, "abandoned")]
    assert (trace.abandoned, trace.recorded) == (3, ())


@pytest.mark.parametrize("turns, left", [(0, 3), (1, 2), (2, 1), (9, 1), ("x", 2), (-1, 3)])
def test_a_roll_back_never_reaches_what_was_before_the_first_question(turns, left):
    trace = load(
        meta(), said("<user_instructions>x"), said("one"), said("two"), event("thread_rolled_back", num_turns=turns)
    )
    assert len(trace.fragments) == left


def fork(name, *parents):
    above = [*parents, None]
    return [meta(own, forked_from_id=parent) for own, parent in zip((name, *parents), above, strict=True)]


def test_a_fork_names_the_copied_calls_as_its_parent_does():
    first = [said("go"), FIRST, said("a", "assistant")]
    parent = load(*fork("p"), *first)
    child = load(*fork("c", "p"), *first, said("b"), THEN)
    grandchild = load(*fork("g", "c", "p"), *first, said("b"), THEN)
    stranger = load(*fork("s"), *first)
    assert [call.key for call in parent.billed] == [call.key for call in child.billed][:1]
    assert [call.key for call in child.billed] == [call.key for call in grandchild.billed]
    assert parent.billed[0].key != stranger.billed[0].key
    assert (child.source.session, child.source.agent) == ("c", "codex")
    assert kinds(child) == ["user", "answer", "user"]


def test_forks_in_a_circle_end():
    assert load(meta("a", forked_from_id="b"), meta("b", forked_from_id="a"), FIRST).billed


@pytest.mark.parametrize(
    "text, role, kind",
    [
        ("plain", "user", Kind.USER),
        ("plain", "developer", Kind.INJECTED),
        ("plain", "system", Kind.SYSTEM_PROMPT),
        ("<user_instructions>\nx", "user", Kind.MEMORY_FILE),
        ("# AGENTS.md instructions for /srv", "user", Kind.MEMORY_FILE),
        ("<environment_context>", "user", Kind.INJECTED),
        ("\n<permissions instructions>", "developer", Kind.INJECTED),
        ("<skills_instructions>", "user", Kind.INJECTED),
        ("<turn_aborted>\n", "user", Kind.INJECTED),
        ("<user_shell_command>", "user", Kind.INJECTED),
        ("<div> is a tag", "user", Kind.USER),
        ("Another language model started to solve this problem and", "user", Kind.SUMMARY),
    ],
)
def test_the_leading_tag_tells_what_a_text_is(text, role, kind):
    assert kind_of(text, role) is kind


@pytest.mark.parametrize(
    "output, bad",
    [
        ("Exit code: 0\nWall time: 1 seconds\nOutput:\nExit code: 1", False),
        ("Exit code: 101\nOutput:", True),
        ("Chunk ID: 5\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:", True),
        ("Wall time: 0.1 seconds\nProcess exited with code 0\n", False),
        ("Wall time: 0.1 seconds\nProcess running with session ID 4\n", False),
        ('{"output":"no","metadata":{"exit_code":1,"duration_seconds":0.1}}', True),
        ('{"metadata":{"exit_code":-9},"output":"' + "y" * 999 + '"}', True),
        ('{"output":"yes","metadata":{"exit_code":0,"duration_seconds":0.1}}', False),
        ("see Process exited with code 1", False),
    ],
)
def test_a_result_says_that_it_failed(output, bad):
    assert failed(output) is bad
    assert [part.error for part in load(said("go"), called(), answered(output)).fragments if part.answers] == [bad]


@pytest.mark.parametrize(
    "output, expected",
    [
        ("text", [("result", "text")]),
        ("", [("result", "")]),
        ([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}], [("result", "a\nb")]),
        ({"content": "refused", "success": False}, [("result", "refused")]),
        ({"type": "input_text", "text": "alone"}, [("result", "alone")]),
        (
            [
                {"type": "input_text", "text": "see"},
                {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"},
            ],
            [("result", "see"), ("media", "")],
        ),
        ([{"type": "input_image", "image_url": "https://example.org/a.png"}], [("media", "")]),
        ([{"type": "hologram"}], [("result", "")]),
        (7, [("result", "")]),
        (None, [("result", "")]),
    ],
)
def test_results_are_what_the_model_saw(output, expected):
    parts = [part for part in load(said("go"), called(), answered(output)).fragments if part.answers]
    assert [(str(part.kind), part.text) for part in parts] == expected


@pytest.mark.parametrize(
    "call, tool, text",
    [
        (called("shell"), "shell", 'shell {"command":["ls"]}'),
        (called("find", namespace="mcp__web"), "mcp__web__find", 'mcp__web__find {"command":["ls"]}'),
        (item("custom_tool_call", name="apply_patch", call_id="c1", input="+1"), "apply_patch", "apply_patch +1"),
        (item("local_shell_call", call_id="c1", action={"type": "exec"}), "local_shell", 'local_shell {"type":"exec"}'),
        (item("tool_search_call", call_id="c1", arguments={"query": "q"}), "tool_search", 'tool_search {"query":"q"}'),
        (item("function_call", name=None, call_id="c1", arguments=[1]), "?", "? [1]"),
    ],
)  # fmt: skip
def test_calls_of_every_type_have_their_results(call, tool, text):
    trace = load(said("go"), call, answered())
    [made] = [part for part in trace.fragments if part.asks]
    assert (made.tool, made.text) == (tool, text)
    assert [part.tool for part in trace.fragments if part.answers] == [tool]


def test_found_tools_are_a_result():
    found = item("tool_search_output", call_id="c1", tools=[{"name": "late"}])
    trace = load(said("go"), item("tool_search_call", call_id="c1", arguments={}), found)
    assert [part.text for part in trace.fragments if part.answers] == ['[{"name":"late"}]']


def test_what_the_server_does_within_a_reply_awaits_no_result():
    search = item("web_search_call", action={"type": "search", "query": "q"})
    made = item("image_generation_call", revised_prompt="a hat", result=PIXEL)
    trace = load(said("go"), search, made, said("here", "assistant"))
    assert [(str(part.kind), part.call) for part in trace.reply] == [
        ("call", None), ("call", None), ("media", None), ("answer", None),
    ]  # fmt: skip


def test_display_copies_are_not_content():
    items = [
        said("# AGENTS.md instructions\nx"),
        said("go"),
        said("a", "assistant"),
        called(),
        answered(),
        said("a", "assistant"),
    ]
    copies = [
        event("user_message", message="go"), event("agent_message", message="a"), event("agent_reasoning", text="hm"),
        event("exec_command_end", stdout="done"), event("turn_aborted"), line("world_state", state={}),
        item("ghost_snapshot", ghost_commit={}),
    ]  # fmt: skip
    mixed = load(meta(), *(record for pair in zip(items, copies, strict=False) for record in pair), *copies)
    plain = load(meta(), *items)
    assert [(p.kind, p.text, p.turn) for p in mixed.fragments] == [(p.kind, p.text, p.turn) for p in plain.fragments]
    assert kinds(plain) == ["memory_file", "user", "reasoning", "call", "result", "answer"]


def test_the_overhead_is_what_the_session_says():
    eager, late = {"name": "a"}, {"name": "b", "deferLoading": True}
    tools = [eager, late, {"type": "namespace", "tools": [late]}, {"type": "namespace", "tools": [eager, late]}]
    trace = load(meta(base_instructions={"text": "be brief"}, dynamic_tools=tools), said("x", "system"), said("go"))
    assert [(str(part.kind), part.text) for part in trace.fragments[:3]] == [
        ("system_prompt", "be brief"),
        ("tool_definitions", '[{"name":"a"},{"type":"namespace","tools":[{"name":"a"}]}]'),
        ("system_prompt", "x"),
    ]
    assert kinds(load(line("turn_context", model="m", base_instructions="old"), said("go")))[0] == "system_prompt"


def test_model_and_window_are_the_ones_that_were_used():
    trace = load(
        meta(), line("turn_context", model="small"), said("go"), counted(TWO, TWO, window=5_000),
        line("turn_context", model="large"), counted(counts(99_000, 650, 50), None, window=7_000),
        line("turn_context", model="small"), event("task_started", model_context_window=8_000),
    )  # fmt: skip
    assert [turn.model for turn in trace.turns] == ["small", "large"]
    assert (trace.model, trace.window) == ("large", 8_000)


def test_words_of_another_agent():
    word = item(
        "agent_message", author="a", content=[{"type": "input_text", "text": "t"}, {"encrypted_content": "x" * 32}]
    )
    assert kinds(load(meta(), word)) == ["injected", "injected"]
    assert kinds(load(meta(source={"subagent": {"thread_spawn": {}}}), word)) == ["user", "injected"]


def test_bare_items_of_the_first_rollouts():
    head = {"id": "old", "timestamp": "2025-06-01", "instructions": "x", "git": {}}
    state = {"record_type": "state"}
    records = [record["payload"] for record in (said("go"), called(), answered())]
    trace = load(head, state, *records)
    assert (trace.source.session, kinds(trace), trace.parse.skipped) == ("old", ["user", "call", "result"], ())
    assert load(raw=json.dumps([head, *records]).encode()).fragments[0].text == "go"


def test_what_is_not_read_is_counted_and_told():
    image = item("message", role="user", content=[{"type": "hologram"}, 7, {}])
    trace = load(meta(), line("novelty"), line("novelty"), item("dream"), line("response_item"), {"x": 1}, image)
    assert dict(trace.parse.skipped) == {
        "novelty": 2, "response_item/dream": 1, "response_item/?": 1, "(no record of Codex)": 1,
        "content/hologram": 1, "content/int": 1, "content/dict": 1,
    }  # fmt: skip
    assert {warning.code for warning in trace.warnings} == {"unknown-record"}


JUNK = (None, True, -1, 1.5, "", "x", [], [[]], {}, {"type": []}, [None, {"type": "input_image"}], {"text": 5}, 10**18)


@pytest.mark.parametrize("junk", JUNK, ids=repr)
def test_no_value_in_any_place_is_fatal(junk):
    good = [
        meta(base_instructions={"text": "x"}, forked_from_id="p", source={}, dynamic_tools=[]),
        line("turn_context", model="m"), line("compacted", message="m", replacement_history=[]),
        said("go"), called(), answered(), FIRST, item("compaction", encrypted_content="x"),
        item("image_generation_call", result="x"), recorded("r", TWO),
        event("thread_rolled_back", num_turns=1), event("turn.completed", usage=ONE), item("agent_message", content=[]),
    ]  # fmt: skip
    for record in good:
        for key in record["payload"]:
            bad = {**record, "payload": {**record["payload"], key: junk}}
            load(meta(), said("a"), bad, called(), said("b", "assistant"), THEN)
        load(meta(), {**record, "payload": junk}, {**record, "type": junk})


@pytest.mark.parametrize(
    "head, sure",
    [
        (json.dumps(meta()), True),
        ('{ "payload": {}, "type": "event_msg" }', True),
        ('{"id":"a","timestamp":"t","instructions":null}\n{"type":"message","role":"user","content":[]}', True),
        ('{"type":"thread.started","thread_id":"t"}\n{"type":"turn.completed","usage":{}}', False),
        ('{"role":"user","content":"\\"type\\":\\"session_meta\\" \\"payload\\":{"}', False),
        ('{"type":"message","id":"a","timestamp":"t","message":{"role":"user"}}', False),
        ("", False),
    ],
)
def test_sniff(head, sure):
    assert (codex.sniff(head.encode(), "a.jsonl") > 0.5) is sure


def test_a_file_without_any_record_of_codex_gives_no_trace():
    assert list(codex.load(read("x", b'{"role":"user"}\n{"type":"thread.started"}'), lambda: None)) == []


@pytest.mark.skipif(not REAL.is_dir(), reason="the real transcripts are not part of the repository")
@pytest.mark.parametrize(
    "name, calls, total, cuts",
    [
        ("codexbar-fork/parent.jsonl", 178, 24_992_392, 1),
        ("codexbar-fork/child.jsonl", 194, 26_801_911, 1),
        ("agent-sessions-all-record-types.jsonl", 1, 16_422, 6),
    ],
)
def test_real_rollouts(name, calls, total, cuts):
    trace = load(raw=(REAL / name).read_bytes())
    assert (len(trace.billed), sum(call.usage.total for call in trace.billed)) == (calls, total)
    assert (len(trace.recorded), trace.parse.skipped) == (cuts, ())
    asked = {part.call for part in trace.fragments if part.asks}
    assert all(part.call in asked for part in trace.fragments if part.answers)


@pytest.mark.skipif(not REAL.is_dir(), reason="the real transcripts are not part of the repository")
def test_real_forks_are_billed_once():
    parent, child = (load(raw=(REAL / f"codexbar-fork/{name}.jsonl").read_bytes()) for name in ("parent", "child"))
    assert len({call.key for trace in (parent, child) for call in trace.billed}) == len(child.billed)
