"""How the digester of a text is chosen: the quick look never overlooks what the thorough one would find."""

from __future__ import annotations

import pytest
from hypothesis import given
from test_truth import TEXTS, observed, relaxed, texts

from ctxbudget.digests import DIGESTERS, _blobs, _surest, test_run, traceback
from ctxbudget.digests._frameworks import FRAMEWORKS, GO
from ctxbudget.digests._observed import observe

WORKING = DIGESTERS.working()[0]


@relaxed
@given(observed)
def test_the_best_score_wins_by_name_where_two_are_equal(fragment):
    scores = {name: digester.score(observe(fragment, 60)) for name, digester in WORKING.items()}
    for name, score in scores.items():
        assert score <= WORKING[name].SUREST
    assert _surest(observe(fragment, 60)) is WORKING[max(sorted(scores), key=scores.__getitem__)]


def overlooked(text):
    """What the signs of a text rule out although it is there."""
    lined = f"\n{text}"
    for framework in (*FRAMEWORKS, GO):
        if framework.summary.search(text) and not test_run._SIGN.search(lined):
            yield framework.name
    if any(shape.begins.search(text) for shape in traceback._SHAPES) and not traceback._begins(text):
        yield "stack"
    if _blobs._RUN.sub(_blobs._named, text) != text and not _blobs._may_hold(text) and _blobs._WORTH_IT.search(text):
        yield "blob"


@pytest.mark.parametrize("text", TEXTS)
def test_no_sign_rules_out_what_is_there(text):
    assert not list(overlooked(text))


@relaxed
@given(texts)
def test_no_sign_rules_out_what_is_there_in_any_text(text):
    assert not list(overlooked(text))
