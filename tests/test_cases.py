"""Right values of real-use cases, as a table: ``tests/cases/ID/expected.json`` says what, READERS says where it stands.

Every word of every case is read here, or its test elsewhere is named: a new word that nobody reads fails.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from ctxbudget.errors import CtxbudgetError
from ctxbudget.layers import AGENT
from ctxbudget.loaders import Options, load
from ctxbudget.replays import replay
from ctxbudget.report.build import build
from ctxbudget.tokens import counter
from ctxbudget.trace import Kind

CASES = Path(__file__).parent / "cases"

ELSEWHERE = {
    "outcome": "tests/summarize/test_pass.py (C42), tests/replays/test_stories.py (C43)",
    "saved": "tests/summarize/test_pass.py (C42)",
    "tokens_after == tokens_before": "tests/summarize/test_pass.py (C42)",
    "compactions.effective": "tests/summarize/test_pass.py (C42)",
    "flags_contain": "tests/replays/test_stories.py (C45)",
    "heuristic tolerance": "tests/test_estimators.py: chars/4 is shown with its error, never used as a count",
    "cli.no_traceback": "tests/cli: every command runs through a real process there",
    "cli.exit(report)": "tests/cli",
    "time.max_seconds": "tests/bench",
    "stderr_not_contains": "tests/test_tokens.py: a million blanks",
    "stdout_is_valid_utf8": "tests/cli",
    "numbers identical to a UTF-8 run": "tests/cli: encodings",
    "json_report identical": "tests/cli: locales",
}


MADE: dict[str, str] = {}
"""Inputs that a script of their case makes, by case."""


@cache
def traces(case, name, calibrate=True):
    return tuple(load(str(CASES / case / name), Options(calibrate=calibrate)))


@cache
def report(case, name, window=None):
    return build(traces(case, name), AGENT, window=window).traces[0]


def fragments(case, name, kind=None):
    found = [f for trace in traces(case, name, False) for f in trace.fragments]
    found += [f for t in traces(case, name, False) for c in t.recorded for f in c.edit.inserted]
    return [f for f in found if kind is None or f.kind == kind]


def usage(row):
    return {name: getattr(row, name) for name in ("input", "cache_read", "cache_write", "output", "reasoning", "total")}


def assert_usage(row, expected):
    assert {name: usage(row)[name] for name in expected} == expected


def both_same(case, names):
    left, right = (json.dumps(plain(report(case, name))) for name in names)
    assert left == right


def plain(row):
    """A report without the places it came from."""
    from dataclasses import asdict

    data = asdict(row)
    for name in ("source", "warnings", "parse"):
        data.pop(name)
    return json.loads(re.sub(r'"line": \d+', '"line": 0', json.dumps(data)))


def counted(text, encoding):
    return counter(encoding).count(text)


def user_texts(case, name):
    return [f.text for f in fragments(case, name, Kind.USER)]


def file_word(check):
    """A word whose value is checked on a file it names, as in ``context.last_prompt(new.jsonl)``."""
    return check


# word → check(case, first input, expected value)
READERS = {
    "calls.repeated_after_compaction": lambda c, f, v: repeated(c, f) == v,
    "usage.calls": lambda c, f, v: report(c, f).usage.calls == v,
    "usage.total": lambda c, f, v: assert_usage(report(c, f).usage, v) is None,
    "usage.by_call": lambda c, f, v: [usage(call.usage) for call in traces(c, f)[0].billed] == v,
    "usage.total.total": lambda c, f, v: report(c, f).usage.total == v,
    "usage.main_only": lambda c, f, v: assert_usage(report(c, f).usage_main, v) is None,
    "usage.subagents": lambda c, f, v: assert_usage(report(c, f).children[0].usage, v) is None,
    "usage.split_known": lambda c, f, v: report(c, f).usage.split_known is v,
    "usage.compaction.total": lambda c, f, v: (
        [call.usage.total for call in traces(c, f)[0].billed if call.purpose == "compaction"] == [v]
    ),
    "usage.total.total < 10000": lambda c, f, v: (report(c, f).usage.total < 10_000) is v,
    "context.last_prompt": lambda c, f, v: report(c, f).context.last_prompt == v,
    "context.main.last_prompt": lambda c, f, v: report(c, f).context.last_prompt == v,
    "context.sub[7f01].last_prompt": lambda c, f, v: report(c, f).children[0].context.last_prompt == v,
    "context.last_with_reply": lambda c, f, v: report(c, f).context.last_with_reply == v,
    "context.peak_prompt": lambda c, f, v: report(c, f).context.peak_prompt == v,
    "context.by_call": lambda c, f, v: report(c, f).context.by_call == v,
    "context.window": lambda c, f, v: report(c, f).window == v,
    "context.percent(prompt)": lambda c, f, v: round(100 * report(c, f).turns[-1].utilization, 1) == v,
    "context.percent(window=200000)": lambda c, f, v: round(100 * report(c, f, 200_000).turns[-1].utilization, 2) == v,
    "messages.active": lambda c, f, v: report(c, f).messages.active == v,
    "messages.main": lambda c, f, v: report(c, f).messages.active == v,
    "messages.active in": lambda c, f, v: report(c, f).messages.active in v,
    "messages.active_ids": lambda c, f, v: report(c, f).messages.active == len(v),
    "messages.abandoned": lambda c, f, v: report(c, f).messages.abandoned == v,
    "messages.all": lambda c, f, v: report(c, f).messages.all == v,
    "messages.user": lambda c, f, v: len(fragments(c, f, Kind.USER)) == v,
    "messages.instruction_preamble": lambda c, f, v: (
        len(fragments(c, f, Kind.MEMORY_FILE)) + len(fragments(c, f, Kind.INJECTED)) == v
    ),
    "messages.assistant": lambda c, f, v: sum(f.kind in {Kind.ANSWER, Kind.REASONING} for f in fragments(c, f)) == v,
    "models": lambda c, f, v: sorted({turn.model for turn in report(c, f).turns if turn.model}) == v,
    "pairs.orphan_results": lambda c, f, v: report(c, f).pairs.orphan_results == v,
    "pairs.dangling_calls": lambda c, f, v: report(c, f).pairs.dangling_calls == v,
    "calls.count": lambda c, f, v: sum(f.asks for f in fragments(c, f)) == v,
    "results.count": lambda c, f, v: sum(f.answers for f in fragments(c, f)) == v,
    "calls.distinct": lambda c, f, v: len({f.text for f in fragments(c, f) if f.asks}) == v,
    "view.kept": lambda c, f, v: kept_events(c, f) == v,
    "replay(events.json, atomic loops).saved": lambda c, _, v: (
        sum(turn.before - turn.tokens for turn in atomic_loops(c, "events.json").turns) == v
    ),
    "replay(events.json).summariser_calls": lambda c, _, v: atomic_loops(c, "events.json").totals.summary_calls == v,
    "saved_by_condensation(events_empty_condensation.json) <= 0": lambda c, _, v: (
        (saved_by_compactions(c, "events_empty_condensation.json") <= 0) is v
    ),
    "valid_split_indices": lambda c, f, v: sorted({x.message for x in fragments(c, f, Kind.USER)}) == v,
    "compactions.count": lambda c, f, v: len(report(c, f).compactions) == v,
    "compactions[0].trigger": lambda c, f, v: report(c, f).compactions[0].trigger == v,
    "compactions[0].pre_tokens": lambda c, f, v: report(c, f).compactions[0].pre_tokens == v,
    "parse.format": lambda c, f, v: report(c, f).source.format == v,
    "parse.records_ok": lambda c, f, v: report(c, f).parse.records_ok == v,
    "parse.records_bad": lambda c, f, v: report(c, f).parse.records_bad == v,
    "parse.partial_tail": lambda c, f, v: report(c, f).parse.partial_tail is v,
    "parse.records_bad >= 1 or flagged": lambda c, f, v: (
        (report(c, f).parse.records_bad >= 1 or any(w.code == "malformed-message" for w in report(c, f).warnings)) is v
    ),
    "flags.invalid_usage_fields >= 4": lambda c, f, v: (
        (sum(w.code == "invalid-usage" for w in report(c, f).warnings) >= 4) is v
    ),
    "cli.exit": lambda c, f, v: (report(c, f) is not None) == (v == 0),
    "same_result": lambda c, _, v: both_same(c, v) is None,
    "no_negative_numbers": lambda c, f, v: (
        ("-" not in re.sub(r'"[^"]*"', "", json.dumps(usage(report(c, f).usage)))) is v
    ),
    "turn[0].assistant_blocks": lambda c, f, v: blocks(c, f) == v,
    "layer_of(s1)": lambda c, f, v: [k.value for k in {x.kind for x in inserted(c, f)}] == [v],
    "layer.system.tokens > 0": lambda c, f, v: (kinds(c, f)["system_prompt"] > 0) is v,
    "layer.tool_result.tokens > 0": lambda c, f, v: (
        (kinds(c, f).get("result", 0) + kinds(c, f).get("retrieval", 0) > 0) is v
    ),
    "layer.tools.tokens > layer.messages.tokens": lambda c, f, v: (
        (kinds(c, f)["tool_definitions"] > sum(kinds(c, f).values()) - kinds(c, f)["tool_definitions"]) is v
    ),
    "layer.tools.tokens in_range": lambda c, f, v: v[0] <= kinds(c, f)["tool_definitions"] <= v[1],
    "sum(layers) == total": lambda c, f, v: all(sum(t.layers.values()) == t.tokens for t in report(c, f).turns) is v,
    "delta_without_tools == layer.tools.tokens": lambda c, f, v: without_tools(c, f) is v,
    "layer.tool_result.tokens(o200k_base)": lambda c, f, v: (
        abs(sum(x.counted for x in fragments(c, f, Kind.RESULT)) - v["approx"]) <= v["tolerance_abs"]
    ),
    "layer.image.tokens(noise.jsonl) == layer.image.tokens(flat.jsonl)": lambda c, _, v: (
        (images(c, "noise.jsonl") == images(c, "flat.jsonl")) is v
    ),
    "layer.image.tokens in_range": lambda c, f, v: v[0] <= images(c, f) <= v[1],
    "image estimate flagged": lambda c, f, v: all(x.estimated for x in fragments(c, f, Kind.MEDIA)) is v,
    "layer.thinking present": lambda c, f, v: bool(fragments(c, f, Kind.THINKING)) is v,
    "layer.thinking flagged": lambda c, f, _: all(x.estimated for x in fragments(c, f, Kind.THINKING)),
    "layer.thinking.tokens <": lambda c, f, v: 0 < report(c, f).turns[-1].kinds["thinking"] < v,
    "text(u1)": lambda c, f, v: user_texts(c, f)[0] == v,
    "tokens(text of u1, o200k_base)": lambda c, f, v: counted(user_texts(c, f)[0], "o200k_base") == v,
    "tokens(text of u1, cl100k_base)": lambda c, f, v: counted(user_texts(c, f)[0], "cl100k_base") == v,
    "tokens o200k_base by user message": lambda c, f, v: [counted(t, "o200k_base") for t in user_texts(c, f)] == v,
    "tokens cl100k_base by user message": lambda c, f, v: [counted(t, "cl100k_base") for t in user_texts(c, f)] == v,
    "tokens_by_tool order": lambda c, f, v: (
        [row.name for row in sorted(report(c, f).by_tool, key=lambda row: -row.result_tokens)] == v
    ),
    "present('RULE-7Q', turn 1)": lambda c, f, v: present(c, f, "RULE-7Q", 1) is v,
    "present('RULE-7Q', turn 2)": lambda c, f, v: present(c, f, "RULE-7Q", 2) is v,
    "usage.calls(all files)": lambda c, _, v: both(c).totals.usage.calls == v,
    "usage.total(all files)": lambda c, _, v: assert_usage(both(c).totals.usage, v) is None,
    "context.current(ends_at_boundary.jsonl)": lambda c, _, v: (
        report(c, "ends_at_boundary.jsonl").context.last_prompt is None
        and report(c, "ends_at_boundary.jsonl").turns[-1].tokens not in v["not"]
    ),
    "parse.format(chat.jsonl) not": lambda c, _, v: report(c, "chat.jsonl").source.format not in v,
    "messages(chat.jsonl) if recognised": lambda c, _, v: report(c, "chat.jsonl").messages.active == v,
    "parse.format(exec.jsonl) not": lambda c, _, v: not recognised(c, "exec.jsonl", v),
    "exit 0 with zero records": lambda c, _, v: (
        (recognised(c, "exec.jsonl", None) and report(c, "exec.jsonl").messages.all == 0) is v
    ),
    "tokens(none.json) <= 3": lambda c, _, v: (report(c, "none.json").turns == []) is v,
    "replay(none.json).kept": lambda c, _, v: fragments(c, "none.json") == v,
    "replay(system_only.json).kept": lambda c, _, v: [f.message for f in fragments(c, "system_only.json")] == v,
    "tokens(empty_texts.json)[2] == tokens(empty_texts.json)[3]": lambda c, _, v: (
        by_message(c, "empty_texts.json") is v
    ),
    "tokens(message 0) > 0 for all": lambda c, _, v: (
        len({fragments(c, f"m{n}.json")[0].counted for n in (1, 2, 3, 4)}) == 1
        and fragments(c, "m1.json")[0].counted > 0
    ),
    "tokenizer named": lambda c, f, v: bool(report(c, f).encoding) is v,
    "stdout_is_strict_json": lambda c, f, v: (
        (json.loads(json.dumps(plain(report(c, f)), allow_nan=False)) is not None) is v
    ),
    "no_nan_or_inf": lambda c, f, v: (json.dumps(plain(report(c, f)), allow_nan=False) != "") is v,
    "top_consumer": lambda c, f, _: report(c, f).growth[0].kind == "result",
    "tokens(message 2) in_range": lambda c, f, v: v[0] <= fragments(c, f)[2].counted <= v[1],
    "flagged as estimate if not exact": lambda c, f, v: v,
    "tokens(message 0, o200k_base)": lambda c, f, v: fragments(c, f)[0].counted == v,
}


def blocks(case, name):
    words = {Kind.THINKING: "thinking", Kind.REASONING: "text", Kind.ANSWER: "text"}
    found: dict[str, int] = {}
    for f in fragments(case, name):
        if f.role == "assistant" and f.turn == 2:
            word = "tool_use" if f.asks else words[f.kind]
            found[word] = found.get(word, 0) + 1
    return found


def kept_events(case, name):
    """The events whose parts are in the context at the end; a summary by the event that brought it."""
    from ctxbudget.ledger import live_at_end

    (trace,) = traces(case, name)
    events = json.loads((CASES / case / name).read_text(encoding="utf-8"))
    names = ((f, events[f.origin.line - 1]["id"]) for f in live_at_end(trace))
    return list(dict.fromkeys(f"summary({name})" if f.kind is Kind.SUMMARY else name for f, name in names))


def atomic_loops(case, name):
    """The replay under a summarising strategy that may not cut into a loop of calls."""
    from dataclasses import replace

    from ctxbudget.replay import replay as run
    from ctxbudget.strategy.naming import find

    (trace,) = traces(case, name)
    strategy = replace(find("recursive-summary:when=10"), atomic_loops=True, pin=("user",))
    return run(trace, strategy, window=1_000, count=counter(trace.encoding).count)


def saved_by_compactions(case, name):
    from ctxbudget.ledger import entries

    (trace,) = traces(case, name)
    rows = {entry.turn.index: entry for entry in entries(trace, AGENT)}
    return sum(rows[cut.turn].before - rows[cut.turn].tokens for cut in trace.recorded)


def inserted(case, name):
    return [f for t in traces(case, name, False) for c in t.recorded for f in c.edit.inserted]


def kinds(case, name):
    return report(case, name).turns[-1].kinds


def images(case, name):
    return sum(f.tokens for f in fragments(case, name, Kind.MEDIA))


def both(case):
    return build([t for name in inputs(case) for t in traces(case, name)], AGENT)


def by_message(case, name):
    sums: dict[int, int] = {}
    for f in fragments(case, name):
        sums[f.message] = sums.get(f.message, 0) + f.counted
    return sums.get(2) == sums.get(3) is not None


def present(case, name, words, turn):
    from ctxbudget.ledger import context

    return any(words in f.text for f in context(traces(case, name)[0], turn))


def without_tools(case, name):
    data = json.loads((CASES / case / name).read_text(encoding="utf-8"))
    whole = kinds(case, name)
    import tempfile

    del data["tools"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text(json.dumps(data), encoding="utf-8")
        rest = build(load(str(path)), AGENT).traces[0].turns[-1].tokens
    return sum(whole.values()) - rest == whole["tool_definitions"]


def recognised(case, name, formats):
    try:
        found = report(case, name)
    except CtxbudgetError:
        return False
    return formats is None or found.source.format in formats


def repeated(case, name):
    """Calls asked again, nothing changed, whose earlier result a recorded compaction had taken out of the context."""
    return replay(traces(case, name)[0], "as-recorded").regret.repeats.unseen


def expected(case):
    return json.loads((CASES / case / "expected.json").read_text(encoding="utf-8"))


def inputs(case):
    return expected(case)["inputs"]


def words():
    """(case, file, word, value) for every assertion of every case."""
    for folder in sorted(CASES.iterdir()):
        case = folder.name
        for word, value in expected(case).get("assert", {}).items():
            if isinstance(value, dict) and word.endswith((".jsonl", ".json")):
                for inner, wanted in value.items():
                    yield case, word, inner, wanted
            elif (named := re.fullmatch(r"(.*)\((\w+\.jsonl?)\)", word)) and word not in READERS:
                yield case, named[2], named[1], value
            else:
                yield case, "", word, value


@pytest.fixture(scope="session", autouse=True)
def _made(tmp_path_factory):
    """Two inputs are too large to keep: their scripts make them."""
    folder = tmp_path_factory.mktemp("cases")
    for case, name in (("C80", "huge.jsonl"), ("C92", "blanks.json")):
        path = folder / name
        subprocess.run([sys.executable, str(CASES / case / "make_input.py"), str(path)], check=True)
        MADE[case] = str(path)


@pytest.mark.parametrize("case,file,word,value", list(words()))
def test_right_value(case, file, word, value):
    if word in ELSEWHERE and word not in READERS:
        return
    assert word in READERS, f"nobody reads {word!r} of {case}"
    file = MADE.get(case) or file or inputs(case)[0]
    assert READERS[word](case, file, value)


@pytest.mark.parametrize("name", ["empty.jsonl", "blank.jsonl", "only_bookkeeping.jsonl", "does_not_exist.jsonl"])
def test_nothing_to_measure_is_an_error(name):
    with pytest.raises(CtxbudgetError) as error:
        load(str(CASES / "C88" / name))
    assert name in str(error.value)
