"""Planted answers: the index finds all of them and nothing else, whatever the story."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from planted import STORIES, Teller

from ctxbudget.evidence import Signal, index

MANY = settings(max_examples=150, deadline=None)


def found(evidence, kind, *more):
    return [(use.fragment, list(use.sources), *(getattr(use, field) for field in more)) for use in evidence.of(kind)]


def wanted(planted, *last):
    """Pieces by their names; ``last`` turns what stands behind call and sources into what the index says."""
    return [
        (call.id, [piece.id for piece in held], *(say(value) for say, value in zip(last, more, strict=True)))
        for call, held, *more in planted
    ]


def called(piece):
    return None if piece is None else piece.id


@MANY
@given(STORIES)
def test_everything_planted_is_found_and_nothing_else(ops):
    teller = Teller()
    trace = teller.tell(ops)
    evidence = index(trace)
    assert found(evidence, Signal.EDIT) == wanted(teller.d1)
    assert found(evidence, Signal.ARGUMENT, "text") == wanted(teller.d2, lambda text: (text,))
    assert found(evidence, Signal.STALE, "changed") == wanted(teller.d4, called)
    assert found(evidence, Signal.AGAIN, "changed") == wanted(teller.d5, called)
    assert found(evidence, Signal.LOOP) == wanted(teller.d6)


@MANY
@given(STORIES)
def test_a_source_was_in_reach_and_the_newest_is_the_last(ops):
    trace = Teller().tell(ops)
    turns = {fragment.id: fragment.turn for fragment in trace.fragments}
    for use in (*index(trace).uses, *index(trace).partly, *index(trace).rare):
        assert use.turn == turns[use.fragment] - 1
        assert all(turns[id] <= use.turn for id in use.sources)
        assert use.newest == (use.sources[-1] if use.sources else None)
        assert [turns[id] for id in use.sources] == sorted(turns[id] for id in use.sources)


@settings(max_examples=60, deadline=None)
@given(STORIES)
def test_without_a_source_exactly_the_uses_that_had_it_change(ops):
    trace = Teller().tell(ops)
    before = index(trace)
    for at, gone in enumerate(trace.fragments):
        if not gone.answers:
            continue
        log = (*trace.fragments[:at], replace(gone, text="[gone]"), *trace.fragments[at + 1 :])
        after = index(trace, log)
        for kind in (Signal.EDIT, Signal.ARGUMENT):
            had = [
                (use.fragment, use.text, tuple(id for id in use.sources if id != gone.id)) for use in before.of(kind)
            ]
            has = [(use.fragment, use.text, use.sources) for use in after.of(kind)]
            assert has == [use for use in had if use[2]]


@settings(max_examples=60, deadline=None)
@given(STORIES)
def test_an_irrelevant_observation_changes_nothing(ops):
    plain = Teller().tell(ops)
    noisy = Teller()
    for op, *rest in ops:
        getattr(noisy, op)(*rest)
        noisy.story.note("def step_9(order):\n    return order.total\nrq-9c5492, 77123, /w/shop/part9.py")
    evidence, other = index(plain), index(noisy.story.end())
    names = dict(
        zip(
            (f.id for f in plain.fragments),
            (f.id for f in noisy.story.end().fragments if "rq-9c5492, " not in f.text),
            strict=True,
        )
    )
    for one, two in zip(
        (*evidence.uses, *evidence.partly, *evidence.rare), (*other.uses, *other.partly, *other.rare), strict=True
    ):
        assert (one.kind, one.turn, names[one.fragment], one.text) == (two.kind, two.turn, two.fragment, two.text)
        assert tuple(names[id] for id in one.sources) == two.sources
        assert (one.changed and names[one.changed]) == two.changed


@MANY
@given(STORIES)
def test_the_evidence_of_a_beginning_is_the_beginning_of_the_evidence(ops):
    half, whole = index(Teller().tell(ops[: len(ops) // 2])), index(Teller().tell(ops))
    assert whole.uses[: len(half.uses)] == half.uses
