"""Our own format: every line of docs/native.md, strict reading, and dump and load as each other's reverse."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxbudget.builder import TraceBuilder
from ctxbudget.calibrate import calibrate
from ctxbudget.errors import EmptyTrace, MalformedTrace
from ctxbudget.ledger import unpaired
from ctxbudget.loaders import native
from ctxbudget.records import read
from ctxbudget.trace import Form, Kind, Origin, Outcome, Resource, Usage

DOCS = Path(__file__).parents[2] / "docs" / "native.md"
HEADER = {"ctxbudget": 1, "agent": "mine", "model": "gpt-4o", "window": 128_000, "session": "s1"}


def reading(*lines):
    return read("trace.jsonl", "\n".join(json.dumps(line) for line in lines).encode())


def start(label=None, path=None):
    return TraceBuilder(path or "trace.jsonl", "native", label=label)


def load_all(*lines):
    return list(native.load(reading(*lines), start))


def load(*lines):
    traces = load_all(*lines)
    assert len(traces) == 1
    return traces[0]


def codes(trace):
    return [warning.code for warning in trace.warnings]


STORY = [
    HEADER,
    {"kind": "system_prompt", "text": "You fix clocks."},
    {"kind": "user", "text": "It stopped.", "_pin": True},
    {"turn": True, "model": "gpt-4o", "usage": {"input": 20, "output": 9, "reasoning": 4}, "key": "r1"},
    {"kind": "thinking", "tokens": 4},
    {"kind": "assistant", "text": "I open it."},
    {"kind": "call", "id": "c1", "tool": "open", "args": {"lid": "back"}},
    {"kind": "result", "id": "c1", "text": "a loose spring", "error": True},
    {"kind": "media", "id": "c1", "width": 300, "height": 250},
    {"turn": 2},
    {"kind": "assistant", "text": "The spring came off."},
]


def test_a_story():
    trace = load(*STORY)
    assert (trace.source.agent, trace.model, trace.window, trace.source.session) == ("mine", "gpt-4o", 128_000, "s1")
    assert [fragment.kind.value for fragment in trace.fragments] == [
        "system_prompt",
        "user",
        "thinking",
        "reasoning",
        "call",
        "result",
        "media",
        "answer",
    ]
    assert [fragment.role for fragment in trace.fragments] == [
        "system",
        "user",
        *["assistant"] * 3,
        "tool",
        "tool",
        "assistant",
    ]
    assert [fragment.message for fragment in trace.fragments] == [0, 1, 2, 2, 2, 3, 4, 5]
    assert trace.turns[0].usage == Usage(20, 0, 0, 9, 4, 29)
    assert (trace.billed[0].key, trace.fragments[1].pinned, trace.fragments[5].error) == ("r1", True, True)
    assert (trace.fragments[2].tokens, trace.fragments[2].estimated) == (4, True)
    assert unpaired(trace) == ([], [])
    assert trace.warnings == ()


@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_can_be_written(kind):
    trace = load(HEADER, {"kind": kind.value, "text": "x", "tool": "t"})
    assert trace.fragments[0].kind is kind
    assert trace.warnings == ()


def test_calls_and_results_without_ids_pair_in_order():
    trace = load(
        HEADER,
        {"turn": True},
        {"kind": "call", "tool": "a"},
        {"kind": "call", "tool": "b"},
        {"kind": "result", "text": "1"},
        {"kind": "retrieval", "text": "2"},
        {"kind": "result", "id": None, "text": "3"},
    )
    assert [fragment.tool for fragment in trace.fragments] == ["a", "b", "a", "b", None]
    assert trace.fragments[3].kind is Kind.RETRIEVAL


def test_a_call_may_say_what_it_works_on_and_how_it_was_written():
    trace = load(
        HEADER,
        {
            "kind": "call",
            "tool": "grab",
            "text": "GRAB notes",
            "resource": {"class": "read", "target": "notes", "span": [1, 9]},
        },
    )
    assert (trace.fragments[0].text, trace.fragments[0].resource) == ("GRAB notes", Resource("read", "notes", (1, 9)))


def test_compactions():
    trace = load(
        *STORY,
        {"compaction": {"trigger": "auto", "pre_tokens": 90, "summary": "A spring was loose."}},
        {"kind": "user", "text": "And now?", "ref": "q"},
        {"turn": True},
        {
            "compaction": {
                "trigger": "elision",
                "form": "cleared",
                "removed": ["q"],
                "inserted": [{"kind": "user", "text": "…", "in_place_of": "q"}],
            }
        },
    )
    first, second = trace.recorded
    assert len(first.edit.removed) == 7
    assert (first.turn, first.pre_tokens, first.edit.inserted[0].kind) == (3, 90, Kind.SUMMARY)
    assert (second.edit.form, second.edit.removed, second.edit.inserted[0].message) == (Form.CLEARED, ("t3.1",), 7)


def test_children_nest():
    trace = load(
        *STORY,
        {"child": "helper", "model": "gpt-4o-mini"},
        {"kind": "user", "text": "Find a spring."},
        {"child": "deeper"},
        {"kind": "user", "text": "Look in the drawer."},
        {"end": "deeper"},
        {"end": "helper"},
        {"kind": "user", "text": "Thanks."},
    )
    assert [one.source.label for one in trace.family()] == [None, "helper", "deeper"]
    assert trace.children[0].model == "gpt-4o-mini"
    assert trace.fragments[-1].text == "Thanks."


def test_children_nest_only_so_deep():
    trace = load(*STORY, *[{"child": "c"}] * 3_000, {"kind": "user", "text": "x"}, *[{"end": "c"}] * 3_000)
    assert len(list(trace.family())) == 21
    assert codes(list(trace.family())[-1]) == ["too-deep"]
    other = load(*STORY, {"child": "a"}, {"kind": "user", "text": "x"}, {"end": "b"})
    assert codes(other.children[0]) == ["other-end"]


def test_several_headers_are_several_traces():
    assert [trace.source.label for trace in load_all(*STORY, *STORY)] == ["1", "12"]


def test_billed_calls_outcome_and_facts():
    header = {
        **HEADER,
        "outcome": {"success": True, "score": 1, "source": "tests"},
        "abandoned": 3,
        "carries_reasoning": False,
    }
    trace = load(
        header,
        {"turn": True},
        {"billed": {"input": 7}, "key": "k", "purpose": "abandoned"},
        {"billed": {"output": 2}, "turn": 1},
    )
    assert trace.outcome == Outcome(True, 1.0, "tests")
    assert (trace.abandoned, trace.carries_reasoning) == (3, False)
    assert [(call.key, call.purpose, call.turn) for call in trace.billed] == [
        ("k", "abandoned", None),
        ("trace.jsonl:4", "compaction", 1),
    ]


@pytest.mark.parametrize(
    "line, code, hint",
    [
        ({"kind": "user", "txt": "x"}, "unknown-key", "did you mean 'text'?"),
        ({"kind": "usr", "text": "x"}, "unknown-kind", "did you mean 'user'?"),
        ({"kind": "user"}, "no-text", ""),
        ({"kind": "call"}, "no-tool", ""),
        ({"kind": "user", "text": 7}, "bad-value", "'text'"),
        ({"kind": "user", "text": "x", "tokens": 5}, "bad-value", "'tokens'"),
        ({"kind": "media", "width": -1, "height": 2}, "bad-value", "'width'"),
        ({"kind": "user", "text": "x", "_pin": "yes"}, "bad-value", "'_pin'"),
        ({"turn": "seven"}, "bad-value", "'turn'"),
        ({"turn": True, "usage": {"inpt": 3}}, "unknown-key", "did you mean 'input'?"),
        ({"turn": True, "usage": 9}, "bad-value", "'usage'"),
        ({"compaction": {"removed": ["nobody"]}}, "unknown-ref", "nobody"),
        ({"compaction": {"form": "sumary"}}, "bad-value", "did you mean 'summary'?"),
        ({"compaction": {"inserted": [3]}}, "bad-value", "'inserted'"),
        ({"billed": {}, "purpose": "fun"}, "bad-value", "purpose"),
        ({"billed": {}, "turn": 9}, "bad-value", "'turn'"),
        ({"end": "x"}, "no-child", ""),
        ({"child": "x"}, "no-end", "'x'"),
        ({"kund": "user"}, "unknown-record", "did you mean 'kind'?"),
        ([1], "unknown-record", ""),
    ],
)
def test_mistakes_are_told_with_their_line(line, code, hint):
    trace = load(HEADER, {"kind": "user", "text": "x"}, line)
    warning = trace.warnings[0]
    assert (warning.code, warning.line) == (code, 3)
    assert hint in warning.message


def test_a_repeated_mistake_is_told_once_and_many_are_cut_short():
    trace = load(HEADER, *[{"kind": "user", "txt": "x"}] * 5)
    assert "5 times" in trace.warnings[0].message
    many = load(HEADER, *[{"kind": "user", "text": "", f"key{number}": 1} for number in range(99)])
    assert len(many.warnings) == 21


@pytest.mark.parametrize("version", [2, "1", True, None, {}])
def test_another_version_is_refused(version):
    with pytest.raises(MalformedTrace):
        load_all({"ctxbudget": version})


def test_a_header_alone_is_empty():
    with pytest.raises(EmptyTrace):
        load_all(HEADER)


def test_sniff():
    assert native.sniff(reading(*STORY).head, "x") == 1
    assert native.sniff(reading({"agent": "x", "ctxbudget": 1}).head, "x") == 0.8
    assert native.sniff(reading({"role": "user", "content": '"ctxbudget":'}).head, "x") == 0
    assert native.sniff(b"", "x") == 0


def test_the_examples_of_the_documentation_load_without_warnings():
    blocks = re.findall(r"```json\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 3
    for block in blocks:
        lines = block if "ctxbudget" in block else json.dumps(HEADER) + "\n" + block
        for trace in native.load(read("docs", lines.encode()), start):
            assert trace.warnings == (), block


# ── dump is the reverse ────────────────────────────────────────────────────────────────────────────────────────────


def essence(trace):
    """What must be the same: everything but places in the file, and how messages are numbered."""
    inserted = [fragment for compaction in trace.recorded for fragment in compaction.edit.inserted]
    numbers = {}
    for fragment in (*trace.fragments, *inserted):
        numbers.setdefault(fragment.message, len(numbers))

    def plain(fragment):
        return replace(fragment, origin=Origin("", 0), message=numbers[fragment.message])

    return (
        (trace.source.agent, trace.source.session, trace.model, trace.window, trace.outcome, trace.carries_reasoning),
        [plain(fragment) for fragment in trace.fragments],
        [replace(turn, line=None) for turn in trace.turns],
        [
            replace(cut, line=None, edit=replace(cut.edit, reason="", inserted=tuple(map(plain, cut.edit.inserted))))
            for cut in trace.recorded
        ],
        sorted((repr(call.usage), str(call.model), call.turn or 0, call.purpose) for call in trace.billed),
        [essence(child) for child in trace.children],
    )


def again(trace):
    lines = [json.dumps(line) for line in native.dump(trace)]
    (loaded,) = native.load(read("copy.jsonl", "\n".join(lines).encode()), start)
    assert loaded.warnings == ()
    return loaded


def test_the_story_survives():
    trace = load(
        *STORY, {"compaction": {"summary": "A spring."}}, {"child": "h"}, {"kind": "user", "text": "x"}, {"end": "h"}
    )
    assert essence(again(trace)) == essence(trace)


def test_calibration_is_left_out():
    lines = [HEADER]
    for number in range(8):
        usage = {"input": 900 + 3000 * number, "output": 5}
        lines += [
            {"kind": "user", "text": "tick tock " * 1300},
            {"turn": True, "model": "gpt-4o", "usage": usage},
            {"kind": "answer", "text": "Yes."},
        ]
    trace = load(*lines)
    assert len(calibrate(trace).fragments) > len(trace.fragments)
    assert list(native.dump(calibrate(trace))) == list(native.dump(trace))


COUNTS = st.integers(0, 9)
TEXTS = st.sampled_from(["", "a", "two words", "<|endoftext|>", 'say "x"', "\n"])
USAGES = (
    st.none()
    | st.builds(
        lambda given, read_, output, thought, final: Usage(
            given, read_, 0, output, thought, given + read_ + output, final
        ),
        COUNTS,
        COUNTS,
        COUNTS,
        st.none() | COUNTS,
        st.booleans(),
    )
    | st.just(Usage(total=9, split=False))
)
ARGS = st.sampled_from(
    [{}, {"path": "a.py"}, {"command": "cat a.py"}, "raw", '{"path":"b.py"}', None, {"a": [1, {"b": None}]}]
)
STEPS = st.one_of(
    st.tuples(st.just("message"), st.sampled_from(["user", "assistant", "tool", "system"])),
    st.tuples(st.just("add"), st.sampled_from([*set(Kind) - {Kind.CALL, Kind.PLAN}, None]), TEXTS, st.booleans()),
    st.tuples(
        st.just("part"), st.sampled_from([Kind.MEDIA, Kind.INJECTED, Kind.RESULT]), TEXTS, st.sampled_from("abz")
    ),
    st.tuples(st.just("media"), st.none() | st.tuples(COUNTS, COUNTS)),
    st.tuples(st.just("hidden"), COUNTS),
    st.tuples(
        st.just("call"),
        st.sampled_from(["Read", "shell", "TodoWrite", "web_search", "odd"]),
        ARGS,
        st.sampled_from(["a", "b", None]),
    ),
    st.tuples(st.just("result"), TEXTS, st.sampled_from(["a", "b", "z", None]), st.booleans()),
    st.tuples(st.just("turn"), USAGES, st.sampled_from([None, "gpt-4o"]), st.sampled_from([None, "k1"])),
    st.tuples(st.just("compact"), st.none() | st.lists(COUNTS, max_size=4), TEXTS, st.sampled_from([None, *Form])),
    st.tuples(st.just("elide"), COUNTS, TEXTS),
    st.tuples(st.just("bill"), USAGES.filter(bool), st.sampled_from(["abandoned", "compaction"])),
)


def build(steps, children=()):
    builder = TraceBuilder("made.jsonl", "made")
    builder.agent, builder.model = "made", "gpt-4o"
    pieces = []
    builder.message("user", 1)
    for number, step in enumerate(steps, 2):
        match step:
            case ("message", role):
                builder.message(role, number)
            case ("add", kind, text, pinned):
                pieces.append(builder.add(kind, text, pinned=pinned))
            case ("part", kind, text, call):
                pieces.append(builder.add(kind, text, call=call))
            case ("media", size):
                pieces.append(builder.add(Kind.MEDIA, "", size=size))
            case ("hidden", length):
                pieces.append(builder.add(Kind.THINKING, "", opaque=length))
            case ("call", tool, args, name):
                pieces.append(builder.call(tool, args, id=name))
            case ("result", text, call, error):
                pieces.append(builder.result(text, call=call, error=error))
            case ("turn", usage, model, key):
                builder.turn(usage=usage, model=model, line=number, key=key)
                builder.message("assistant", number)
            case ("compact", chosen, text, form):
                removed = None if chosen is None else [pieces[at] for at in chosen if at < len(pieces)]
                with builder.compaction(number, removed=removed, form=form, trigger="auto", pre_tokens=5):
                    builder.message("user", number)
                    pieces.append(builder.add(Kind.SUMMARY, text))
                builder.message("user", number)
            case ("elide", at, text) if at < len(pieces) and pieces[at] in builder._live:
                with builder.compaction(number, removed=[pieces[at]], form=Form.CLEARED, trigger="elision"):
                    pieces.append(builder.stand_in(pieces[at], text))
            case ("bill", usage, purpose):
                builder.bill(f"k{number}", None, usage, purpose=purpose)
    for child in children:
        builder.child(child)
    return builder.finish()


@settings(max_examples=400, deadline=None)
@given(st.lists(STEPS, max_size=14), st.lists(st.lists(STEPS, max_size=4), max_size=2))
def test_dump_and_load_give_the_same_trace(steps, children):
    trace = build(
        [("add", Kind.USER, "x", False), *steps], [build([("add", None, "y", True), *own]) for own in children]
    )
    assert essence(again(trace)) == essence(trace)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 3)
    | st.floats(allow_nan=False)
    | st.sampled_from(["user", "call", "c1", "x", "elision"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["kind", "text", "removed", "inserted", "input", "class", "span", "in_place_of"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)
NAMES = st.sampled_from(
    [
        "kind",
        "turn",
        "compaction",
        "billed",
        "child",
        "end",
        "text",
        "id",
        "tool",
        "args",
        "usage",
        "ref",
        "joined",
        "in_place_of",
        "resource",
        "tokens",
        "width",
        "height",
        "role",
        "error",
        "outcome",
        "key",
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(st.dictionaries(NAMES, VALUES, max_size=5) | VALUES, max_size=6))
def test_any_json_is_a_trace_or_a_clean_error(lines):
    try:
        traces = load_all(HEADER, *lines)
    except EmptyTrace:
        return
    for trace in traces:
        assert essence(again(trace)) == essence(trace)
