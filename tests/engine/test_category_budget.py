"""``category-budget`` against its rule, written down naively; and what its options and its pair rule do."""

import random
from importlib import import_module

import pytest
from checking import steps
from sketch import shown, sketch, words

from ctxbudget.digests import digest
from ctxbudget.errors import UnknownName
from ctxbudget.passes.budget_per_layer import BudgetPerLayer
from ctxbudget.passes.budget_per_layer.least import least, least_tokens
from ctxbudget.strategy import Stage, Strategy
from ctxbudget.strategy.naming import find
from ctxbudget.trace import Form, Fragment, Kind, Origin
from ctxbudget.view import View

LAYERS = {
    "task": (Kind.USER, Kind.MEMORY_FILE),
    "state": (Kind.PLAN, Kind.SUMMARY, Kind.ANSWER),
    "reasoning": (Kind.REASONING, Kind.THINKING),
    "observation": (Kind.CALL, Kind.RESULT, Kind.RETRIEVAL, Kind.MEDIA),
}


def naive(log, window, quotas, cost):
    """The rule: per layer from newest to oldest, whole if it fits the rest of the quota, else digest if its cost fits,
    else skipped; the walk ends when less than a digest is left. The task stays and borrows from observation.
    """
    system = sum(one.tokens for one in log if one.kind in (Kind.SYSTEM_PROMPT, Kind.TOOL_DEFINITIONS))
    useful = max(0, window - system)
    left = {layer: int(share * useful) for layer, share in quotas.items()}
    task = sum(one.tokens for one in log if one.kind in LAYERS["task"])
    left["observation"] -= max(0, task - left["task"])
    kept = {
        one.id: one.tokens
        for one in log
        if one.kind in LAYERS["task"] or one.kind in (Kind.SYSTEM_PROMPT, Kind.TOOL_DEFINITIONS)
    }
    for layer in ("state", "reasoning", "observation"):
        for one in reversed([each for each in log if each.kind in LAYERS[layer]]):
            if left[layer] < cost:
                break
            if one.tokens <= left[layer]:
                kept[one.id] = one.tokens
                left[layer] -= one.tokens
                continue
            short = words(digest(one, cost, words))
            if 0 < short < one.tokens and short <= left[layer]:
                kept[one.id] = -short
                left[layer] -= short
    return kept


def history(rng):
    """A random session without regard to pairs, sketched."""
    turns = [f"S{rng.randint(1, 60)} T{rng.randint(1, 90)} U{rng.randint(1, 60)}"]
    calls = 0
    for _ in range(rng.randint(0, 25)):
        parts = []
        for _ in range(rng.randint(1, 6)):
            letter = rng.choice("UHRAcprv")
            size = int(rng.lognormvariate(3, 1.4)) + 1
            if letter in "cprv":
                calls += letter in "cp"
                parts.append(f"{letter}{calls or 1}:{size}" if letter in "cp" or calls else f"U{size}")
            else:
                parts.append(f"{letter}{size if letter != 'U' else min(size, 30)}")
        turns.append(" ".join(parts))
    return " | ".join(turns)


def play(trace, budget, window):
    """The pass alone on a view, turn by turn, without the engine's rules."""
    view = View(window=window, count=words)
    for turn in trace.turns:
        view.begin(turn.index)
        view.enter(trace.entering(turn))
        for edit in [part for part in budget.plan(view) if hasattr(part, "removed")]:
            view.apply(edit)
        yield view


@pytest.mark.parametrize("part", range(4))
def test_without_the_pair_rule_it_keeps_exactly_what_the_naive_rule_keeps(part):
    for seed in range(part * 250, part * 250 + 250):
        rng = random.Random(seed)
        text = history(rng)
        trace = sketch(text)
        window = rng.choice((150, 400, 1_000, 3_000))
        cost = rng.choice((5, 12, 60, 60))
        quotas = rng.choice(
            (
                {"task": 0.05, "state": 0.15, "reasoning": 0.20, "observation": 0.45},
                {"task": 0.2, "state": 0.3, "reasoning": 0.1, "observation": 0.3},
            )
        )
        budget = BudgetPerLayer(quotas=quotas, digest_cost=cost, pairs=False)
        for view in play(trace, budget, window):
            expected = naive(view.log, window, quotas, cost)
            found = {}
            for one in view.fragments():
                found[one.stands_for[0] if one.form else one.id] = (
                    -one.tokens if one.form is Form.DIGEST else one.tokens
                )
            assert found == expected, (seed, view.turn, text, shown(view.fragments()))


def last(text, window, strategy="category-budget", **texts):
    trace = sketch(text, texts=texts or None)
    chosen = find(strategy) if isinstance(strategy, str) else strategy
    view, row = None, None
    for each in steps(trace, chosen, window):
        view, row = each
        assert not row.repairs
    return shown(view.fragments()), row


CASES = [
    # everything fits
    ("S10 U5 | R5 c1:5 r1:50", 400, "S10 U5 R5 c1:5 r1:50"),
    # 390 useful tokens: 175 for observation; the old result becomes a digest, its call stays
    ("S10 U5 | c1:5 r1:150 | c2:5 r2:100", 400, "S10 U5 c1:5 r1~digest c2:5 r2:100"),
    # two huge results: each is a digest only
    ("S10 U5 | c1:5 r1:300 | c2:5 r2:300", 400, "S10 U5 c1:5 r1~digest c2:5 r2~digest"),
    # after the newest result less than a digest is left: its call is let in, and that is all
    ("S10 U5 | c1:5 r1:300 | c2:5 r2:120", 400, "S10 U5 c2:5 r2:120"),
    # a unit of three is completed with what is left: one of its results fits, the others leave a marker
    (
        "S10 U5 | c1:5 c2:5 c3:5 r1:50 r2:50 r3:50 | c4:5 r4:80",
        400,
        "S10 U5 c1:5 c2:5 c3:5 r1~cleared r2~cleared r3:50 c4:5 r4:80",
    ),
    # no room for the call of the newest result: the result gives way to its digest
    ("S10 U5 | c1:5 r1:174", 400, "S10 U5 c1:5 r1~digest"),
    # reasoning has a quota of its own: a flood of observations does not push it out
    ("S10 U5 | R40 c1:5 r1:100 | R10 c2:5 r2:140", 400, "S10 U5 R40 R10 c2:5 r2:140"),
    # the task is literal whatever it costs
    ("S10 U90 | A30 U90", 400, "S10 U90 U90"),
]


@pytest.mark.parametrize(("text", "window", "expected"), CASES)
def test_table(text, window, expected):
    found, row = last(text, window)
    assert found == expected
    assert row.tokens <= window


def test_the_task_borrows_from_observation_and_says_so():
    _, row = last("S10 U90 | c1:5 r1:60", 400)
    assert [(note.code, note.layer, note.tokens) for note in row.notes if note.code == "borrowed"] == [
        ("borrowed", "task", 71)
    ]


def test_a_task_beyond_its_quota_and_the_loan_cannot_fit():
    _, row = last("S10 U390 | c1:5 r1:60", 400)
    assert "cannot-fit" in {note.code for note in row.notes}
    assert row.overflow is False or row.tokens > 400


def test_a_plan_stays_when_its_result_finds_no_room():
    turns = " | ".join(f"c{number}:5 r{number}:50" for number in range(2, 9))
    found, _ = last(f"S10 U5 | p1:20 r1:5 | {turns}", 600)
    assert "p1:20 r1" in found
    assert "c2" not in found


def test_an_old_plan_goes_when_newer_ones_fill_the_state():
    turns = " | ".join(f"p{number}:60 r{number}:5" for number in range(1, 9))
    found, _ = last(f"S10 U5 | {turns}", 700)
    assert "p8:60 r8:5" in found
    assert "p1:60" not in found


def test_thinking_of_the_unfinished_loop_stays_whole_with_its_units():
    found, _ = last("S10 U5 | H60 c1:5 r1:50 | H60 c2:5 r2:50", 400)
    assert found == "S10 U5 H60 c1:5 r1:50 H60 c2:5 r2:50"
    found, _ = last("S10 U5 | H60 c1:5 r1:50 | H60 c2:5 r2:50 | A5 U5", 400)
    assert "H60 c1" not in found


def test_injected_text_leaves_with_its_message():
    found, _ = last("S10 U5 | c1:5 r1:60&I9 | c2:5 r2:150", 400)
    assert found == "S10 U5 c2:5 r2:150"
    found, _ = last("S10 U5 | A5 U5&I90 | c2:5 r2:150", 400)
    assert "U5 I90" in found


def test_a_starved_layer_is_noted():
    _, row = last("S10 U5 | c1:5 r1:30 | c2:5 r2:120 | c3:5 r3:20", 400)
    assert ("starved", "observation") in {(note.code, note.layer) for note in row.notes}


def test_that_digests_are_written_ahead_changes_nothing(monkeypatch):
    digests = 0
    for seed in range(24):
        rng = random.Random(seed)
        trace, window = sketch(history(rng)), rng.randint(150, 900)
        runs = []
        for ahead in (1, 3, 48):
            monkeypatch.setattr(import_module("ctxbudget.passes.budget_per_layer.walk"), "_AHEAD", ahead)
            runs.append([row for _, row in steps(trace, find("category-budget"), window)])
        assert runs[0] == runs[1] == runs[2]
        digests += sum(change.form is Form.DIGEST for row in runs[0] for change in row.edits)
    assert digests > 20


@pytest.mark.parametrize(
    ("text", "smaller"),
    [("Read {}", False), ("Read " + "x" * 36, True), ("Read " + "x" * 35, False)],
    ids=["no longer than its marker", "a character longer", "just as long"],
)
def test_the_least_form_of_a_call_costs_what_is_said_of_it(text, smaller):
    """Counted by the character, as what it costs would be the same in words."""
    call = Fragment("t2.0", Kind.CALL, text, 90, 90, 2, "u", 1, "assistant", Origin("s", 1), call="c", tool="Read")
    view = View(window=1000, count=len)
    assert least_tokens(view, call) == least(view, call).tokens
    assert (least(view, call) is not call) is smaller


def test_an_unknown_layer_is_an_error():
    strategy = Strategy("own", (Stage(passes=(BudgetPerLayer(quotas={"observations": 0.5}),)),))
    with pytest.raises(UnknownName) as caught:
        last("S10 U5", 400, strategy)
    assert caught.value.hint == "did you mean 'observation'?"
