"""Which sentences stay visible word by word, against a naive second look at every view."""

from dataclasses import replace

import pytest
from arbitrary import STRATEGY, WINDOWS, traces
from checking import steps
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sketch import compaction, sketch, words

from ctxbudget.constraints import must_keep, parse_fact
from ctxbudget.prepared import prepare
from ctxbudget.replay import replay
from ctxbudget.strategy import Strategy
from ctxbudget.strategy.naming import find
from ctxbudget.survival import Finder, Gap, Sought, follow, sought

SENTENCES = ("do not touch legacy/ at all", "keep it under $5,000", "never force", "RULE-7", "/code \\d+/")
SPOKEN = (
    "do not touch legacy/ at all",
    "do not\n  touch legacy/ at all",
    "keep it under $5,000",
    "never force",
    "RULE-7 x",
    "code 12",
    "do not touch legacy/",
)
"""What is planted: the sentences, one of them wrapped, and one that is only almost one of them."""
many = settings(
    max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def sought_for(*texts):
    facts = map(parse_fact, texts)
    return [Sought(fact.raw, "must-keep", None, fact.visible, fact.pattern is None) for fact in facts]


@st.composite
def planted(draw):
    """A generated trace, with sentences put into some of its texts."""
    trace = draw(traces())
    chosen = draw(st.dictionaries(st.integers(0, len(trace.fragments) - 1), st.sampled_from(SPOKEN), max_size=6))
    fragments = tuple(
        replace(one, text=f"{chosen[at]}\n{one.text}" if at % 2 else f"{one.text}\n{chosen[at]}")
        if at in chosen
        else one
        for at, one in enumerate(trace.fragments)
    )
    return replace(trace, fragments=fragments)


def naive(trace, strategy, window, sentences):
    """By sentence: the turns at which no live fragment shows it, counted from the first whose log does."""
    gone = [[] for _ in sentences]
    said = [None for _ in sentences]
    for view, row in steps(trace, strategy, window):
        log = trace.fragments[: trace.turns[row.turn - 1].stop]
        put = [new for change in row.edits for new in change.inserted]
        for at, sentence in enumerate(sentences):
            if said[at] is None and any(sentence.visible(one.text) for one in (*log, *put)):
                said[at] = row.turn
            if said[at] is not None and not any(sentence.visible(one.text) for one in view.fragments()):
                gone[at].append(row.turn)
    return said, gone


@many
@given(planted(), STRATEGY, WINDOWS)
def test_it_tells_what_a_naive_look_at_every_view_tells(trace, strategy, window):
    sentences = sought_for(*SENTENCES)
    run = replay(trace, strategy, window=window, count=words)
    said, gone = naive(trace, strategy, window, sentences)
    for at, fate in enumerate(follow(trace, run, Finder(sentences))):
        assert fate.said == said[at]
        assert [turn for gap in fate.gaps for turn in range(gap.since, gap.until + 1)] == gone[at]
        assert fate.lost_at == (gone[at][0] if gone[at] else None)
        assert fate.kept == (said[at] is not None and not gone[at])
        assert all(one.until + 1 < two.since for one, two in zip(fate.gaps, fate.gaps[1:], strict=False))
        assert all(gap.by for gap in fate.gaps)


@many
@given(planted(), STRATEGY, WINDOWS)
def test_must_keep_facts_stay_under_every_strategy(trace, strategy, window):
    if "as-recorded" in strategy.passes:
        return
    ready = prepare(trace, strategy, window=window, must_keep=["do not touch legacy/ at all", "/code \\d+/"])
    for fate in ready.fates(ready.run())[:2]:
        assert not fate.gaps


@given(
    st.lists(
        st.sampled_from(("do", "not", "touch", "legacy/", "at", "all", "never", "force", "\n", "RULE-7")), max_size=40
    )
)
@settings(max_examples=300, deadline=None)
def test_the_finder_finds_what_is_visible(parts):
    sentences = sought_for(*SENTENCES)
    fragment = replace(sketch("U5").fragments[0], text=" ".join(parts))
    found = Finder(sentences)(fragment)
    assert found == tuple(at for at, one in enumerate(sentences) if one.visible(fragment.text))


def test_each_text_is_searched_once_however_long_the_run():
    trace = sketch("S5 U9 | " + " | ".join(f"R3 c{n}:5 r{n}:40" for n in range(1, 60)))
    searched = []
    finder = Finder(sought_for(*SENTENCES))
    inner = finder._search
    finder._search = lambda text: searched.append(text) or inner(text)
    for name in ("none", "sliding-window:keep=3", "category-budget"):
        follow(trace, replay(trace, name, window=400, count=words), finder)
    assert len(searched) <= len(trace.fragments) + 120
    assert len(searched) >= len(trace.fragments)


def test_a_sentence_that_stands_elsewhere_is_still_visible():
    trace = sketch("U9 | A9 U9 | A9 U9 | A9 U9", texts={"U1": "never force push", "U3": "I said: never  force push!"})
    run = replay(trace, "sliding-window:keep=2", window=1_000, count=words)
    (fate,) = follow(trace, run, Finder(sought_for("never force push")))
    assert run.lives[0].form == "whole"
    assert run.turns[2].edits
    assert fate.kept


def test_it_comes_back_with_a_fragment_that_holds_it():
    trace = sketch("U9 | A9 U9 | A9 U9 | A9 U9", texts={"U1": "never force push", "U4": "again: never force push"})
    run = replay(trace, "sliding-window:keep=1", window=1_000, count=words)
    (fate,) = follow(trace, run, Finder(sought_for("never force push")))
    assert fate.gaps == (Gap(2, 3, "sliding-window"),)
    assert (fate.said, fate.lost_at, fate.kept) == (1, 2, False)


def test_a_summary_that_repeats_it_keeps_it():
    text = "U9 | A9 U9 | A9 U9"
    trace = sketch(text, texts={"U1": "never force push"})
    keeping, losing = (compaction(2, "t1.0", words_) for words_ in ("so far: never force push", "so far so good"))
    for recorded, kept in ((keeping, True), (losing, False)):
        made = replace(trace, recorded=(recorded,))
        run = replay(made, "as-recorded", window=1_000, count=words)
        (fate,) = follow(made, run, Finder(sought_for("never force push")))
        assert fate.kept is kept
        assert [gap.by for gap in fate.gaps] == ([] if kept else ["as-recorded"])


def test_a_fact_that_is_a_constraint_is_followed_once():
    trace = sketch("U9 | A9 U9", texts={"U1": "Do not touch legacy/."})
    assert [one.source for one in sought(trace, must_keep(["Do not  touch legacy/."]))] == ["must-keep"]
    assert [one.source for one in sought(trace)] == ["user"]


def test_a_trace_without_turns_has_fates_too():
    trace = replace(sketch("U9"), turns=(), fragments=())
    run = replay(trace, find("none"), window=10, count=words)
    assert [fate.said for fate in follow(trace, run, Finder(sought_for("x y z")))] == [None]


@pytest.mark.parametrize("pin, kept", [((), False), (("memory_file",), True)])
def test_c45_with_a_strategy_that_drops_all_but_what_is_pinned(case, pin, kept):
    """The rules come before the first user text, so that they are overhead; here they come later."""
    trace = case("C45/session.jsonl")
    late = replace(
        trace, fragments=tuple(replace(one, message=1) if one.message == 0 else one for one in trace.fragments)
    )
    strategy = replace(find("sliding-window:keep=1"), pin=pin)
    assert isinstance(strategy, Strategy)
    ready = prepare(late, strategy, window=1_000)
    assert ready.fates(ready.run())[0].kept is kept
