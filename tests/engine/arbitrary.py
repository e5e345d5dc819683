"""Generated traces, passes, strategies and settings for the property tests."""

import json

from hypothesis import note
from hypothesis import strategies as st
from sketch import compaction, sketch

from ctxbudget.passes import PASSES
from ctxbudget.passes.budget_per_layer import BudgetPerLayer
from ctxbudget.passes.clear_tool_results import ClearToolResults
from ctxbudget.passes.collapse_subgoal import CollapseSubgoal
from ctxbudget.passes.collect_garbage import CollectGarbage
from ctxbudget.passes.compress_at_entry import CompressAtEntry
from ctxbudget.passes.drop_thinking import DropThinking
from ctxbudget.passes.evict_by_priority import EvictByPriority
from ctxbudget.passes.hard_limit import HardLimit
from ctxbudget.passes.keep_state import KeepState
from ctxbudget.passes.offload_results import OffloadResults
from ctxbudget.passes.prune_middle import PruneMiddle
from ctxbudget.passes.repair_pairs import RepairPairs
from ctxbudget.passes.sliding_window import SlidingWindow
from ctxbudget.passes.strip_artifacts import StripArtifacts
from ctxbudget.passes.summarize import Summarize
from ctxbudget.passes.truncate_results import TruncateResults
from ctxbudget.strategy import Stage, Strategy
from ctxbudget.strategy.naming import STRATEGIES

SIZES = st.one_of(st.integers(1, 12), st.integers(1, 120), st.integers(100, 700))


@st.composite
def traces(draw, *, most_turns=12, compactions=True):
    """Sessions with parallel calls, results out of order, late or missing, mixed user messages, plans and thinking."""
    turns = [_opening(draw)]
    late: list[str] = []
    calls = 0
    texts = {}
    done = 0
    for _ in range(draw(st.integers(0, most_turns - 1))):
        parts = [f"H{draw(SIZES)}"] if draw(st.booleans()) else []
        parts += [f"R{draw(SIZES)}"] if draw(st.booleans()) else []
        results = []
        for _ in range(draw(st.sampled_from((0, 1, 1, 1, 2, 3)))):
            calls += 1
            letter = draw(st.sampled_from("cccccp"))
            if letter == "p":
                done += draw(st.integers(0, 1))
                texts[f"p{calls}"] = _plan(done)
            tool = draw(st.sampled_from(("", "=Bash", "=Edit", "=Grep", "=Write"))) if letter == "c" else ""
            parts.append(f"{letter}{calls}{tool}:{draw(SIZES)}")
            results.append(
                f"{draw(st.sampled_from('rrrv'))}{calls}{draw(st.sampled_from(('', '', '', '!')))}:{draw(SIZES)}"
            )
        if not results:
            parts.append(f"A{draw(SIZES)}")
        results = draw(st.permutations(results))
        fate = draw(st.sampled_from(("all", "all", "all", "all", "late", "missing")))
        if fate != "all" and results:
            lost = results.pop()
            late += [lost] if fate == "late" else []
        if late and draw(st.booleans()):
            results.append(late.pop(0))
        if results and draw(st.sampled_from((True, False, False))):
            results[-1] += draw(st.sampled_from(("&I3", "&U5", "&I30&U2", "&m{0}:20"))).replace(
                "{0}", results[-1][1:].split(":")[0].rstrip("!")
            )
        parts += results
        if draw(st.sampled_from((True, False, False))) or not results:
            parts.append(
                draw(
                    st.sampled_from(
                        (f"U{draw(SIZES)}", f"I5&U{draw(SIZES)}", f"U{draw(SIZES)}*", "I9", f"U4&I{draw(SIZES)}")
                    )
                )
            )
        turns.append(" ".join(parts))
    note(" | ".join(turns))
    trace = sketch(" | ".join(turns), texts=texts)
    if compactions and len(trace.turns) > 3 and draw(st.booleans()):
        return _compacted(draw, trace, " | ".join(turns), texts)
    return trace


def _opening(draw):
    system = draw(st.sampled_from(("S10", "S10 T30", "X40 S5", "", "S3 M9")))
    first = draw(st.sampled_from((f"U{draw(SIZES)}", "I5&U10", f"M8&U{draw(SIZES)}", "A5", "U1")))
    return f"{system} {first}".strip()


def _plan(done):
    return json.dumps(
        {
            "todos": [
                {"content": f"item {at}", "status": "completed" if at < done else "pending"} for at in range(done + 1)
            ]
        }
    )


def _compacted(draw, trace, text, texts):
    turn = draw(st.integers(3, len(trace.turns)))
    before = [one for one in trace.fragments[: trace.turns[turn - 2].stop] if one.role != "system"]
    removed = before if draw(st.booleans()) else [one for one in before if draw(st.booleans())]
    ids = " ".join(one.id for one in removed)
    note(f"compacted before turn {turn}: {ids}")
    return sketch(text, texts=texts, recorded=(compaction(turn, ids, "a summary of it all"),))


AMOUNTS = st.one_of(st.sampled_from((0.1, 0.3, 0.5, 0.7, 0.9, 1.0)), st.integers(20, 2_000).map(float))
SHRINKING = {
    "sliding-window": st.builds(SlidingWindow, keep=st.integers(0, 6), unit=st.sampled_from(("turns", "messages"))),
    "drop-thinking": st.builds(DropThinking, keep_turns=st.integers(0, 3)),
    "truncate-results": st.builds(
        TruncateResults,
        over=st.sampled_from((0.05, 0.2, 30.0)),
        to=st.sampled_from((0.0, 20.0)),
        keep=st.sampled_from(("head", "tail", "both")),
    ),
    "clear-tool-results": st.builds(
        ClearToolResults,
        keep=st.integers(0, 3),
        keep_tokens=st.sampled_from((0.0, 0.1, 50.0)),
        keep_turns=st.integers(0, 2),
        keep_batches=st.integers(0, 2),
        exclude_tools=st.sampled_from(((), ("Read",))),
        only_tools=st.sampled_from(((), ("Bash", "Read"))),
        classes=st.sampled_from(((), ("read", "shell"))),
        arriving=st.booleans(),
        clear_at_least=st.sampled_from((0.0, 0.0, 0.1, 60.0)),
        stop_early=st.booleans(),
        clear_inputs=st.booleans(),
        skip_errors=st.booleans(),
    ),
    "prune-middle": st.builds(
        PruneMiddle, limit=st.sampled_from((0.5, 1.0)), keep_first=st.booleans(), keep_last=st.integers(0, 6)
    ),
    "evict-by-priority": st.builds(
        EvictByPriority,
        ledger=st.booleans(),
        below=st.sampled_from((60, 100)),
        tail_turns=st.integers(0, 4),
        line=st.sampled_from((5, 60)),
    ),
    "hard-limit": st.builds(
        HardLimit, limit=st.sampled_from((0.5, 1.0)), notice=st.sampled_from(("", "[{messages} gone]"))
    ),
    "repair-pairs": st.just(RepairPairs()),
    "collapse-subgoal": st.builds(CollapseSubgoal, least=st.sampled_from((10.0, 100.0))),
    "collect-garbage": st.builds(CollectGarbage, least=st.sampled_from((5, 50)), line=st.sampled_from((10, 60))),
    "compress-at-entry": st.builds(CompressAtEntry, cap=st.sampled_from((0.1, 20.0, 60.0))),
    "keep-state": st.just(KeepState()),
    "offload-results": st.builds(OffloadResults, over=st.sampled_from((20.0, 100.0)), line=st.sampled_from((12, 60))),
    "strip-artifacts": st.just(StripArtifacts()),
    "summarize": st.builds(
        Summarize,
        to=st.sampled_from((0.2, 60.0)),
        keep_tail=st.sampled_from((0.0, 0.1, 50.0)),
        keep_turns=st.integers(0, 2),
        keep_first=st.booleans(),
        least=st.sampled_from((0.0, 0.05)),
        down_to=st.sampled_from((0.0, 0.6)),
        fold_earlier=st.booleans(),
        must_fit=st.booleans(),
    ),
}
BUDGETS = st.builds(
    BudgetPerLayer,
    quotas=st.sampled_from(
        (
            {"task": 0.05, "state": 0.15, "reasoning": 0.20, "observation": 0.45},
            {"task": 0.3, "state": 0.1, "reasoning": 0.1, "observation": 0.3},
            {"task": 0.0, "state": 0.0, "reasoning": 0.3, "observation": 0.6},
        )
    ),
    digest_cost=st.sampled_from((5, 20, 60)),
)


@st.composite
def stages(draw):
    """A stage of one to three passes."""
    passes = draw(st.lists(st.one_of(*SHRINKING.values(), BUDGETS), min_size=1, max_size=3))
    return Stage(
        at=draw(st.sampled_from(("entry", "subgoal", "reply", "call", "call", "overflow"))),
        passes=tuple(passes),
        when=draw(st.one_of(st.none(), AMOUNTS)),
        when_layer=draw(st.sampled_from(({}, {}, {"observation": 0.2}))),
        when_incoming=draw(st.sampled_from((None, None, 0.1))),
        every=draw(st.sampled_from((None, None, 2))),
        until=draw(st.sampled_from((None, None, 0.1, 0.5))),
        estimator=draw(st.sampled_from((None, None, "bpe", "chars4", "ema", "anchored"))),
    )


@st.composite
def own_strategies(draw):
    """A strategy nobody ships."""
    return Strategy(
        "own",
        tuple(draw(st.lists(stages(), min_size=1, max_size=3))),
        pin=draw(st.sampled_from(((), ("task",), ("user", "plan"), ("t1.0",)))),
        atomic_loops=draw(st.sampled_from((False, False, True))),
    )


PRESETS = st.sampled_from(STRATEGIES.names()).map(STRATEGIES.get)
STRATEGY = st.one_of(PRESETS, own_strategies())
WINDOWS = st.integers(60, 3_000)

assert set(SHRINKING) | {"budget-per-layer", "as-recorded"} == set(PASSES.names())
