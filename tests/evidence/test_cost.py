"""The cost of the index grows with the text, not with turns times text."""

from __future__ import annotations

import time

import pytest
from stories import Story, edit, numbered, read

from ctxbudget.evidence import Signal, index

LINES = 120


def long_story(turns):
    """Eight files, read and edited in turn."""
    story = Story()
    files = [[f"value_{file}_{line} = compute({line}, {file})  # {line}" for line in range(LINES)] for file in range(8)]
    for turn in range(turns):
        path, lines = f"/w/f{turn % 8}.py", files[turn % 8]
        story.do(*read(path), numbered(*lines))
        at = turn * 7 % (LINES - 4)
        old = lines[at : at + 4]
        lines[at : at + 4] = [f"{line}." for line in old]
        story.do(*edit(path, "\n".join(old), "\n".join(lines[at : at + 4])))
    return story.end()


def seconds(trace):
    begun = time.perf_counter()
    evidence = index(trace)
    return time.perf_counter() - begun, evidence


@pytest.mark.timed
@pytest.mark.slow
def test_four_times_the_turns_take_four_times_as_long_and_not_sixteen():
    short, long = long_story(100), long_story(400)
    seconds(short)
    quick = min(seconds(short)[0] for _ in range(3))
    slow, evidence = min((seconds(long) for _ in range(3)), key=lambda timed: timed[0])
    assert len(evidence.of(Signal.EDIT)) == 400
    assert slow < 9 * quick
