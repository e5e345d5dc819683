"""The pass: what it leaves, and that nothing true is lost."""

from dataclasses import dataclass, field

import pytest
from arbitrary import SHRINKING
from checking import faults, steps
from hypothesis import given, note, settings
from hypothesis import strategies as st
from story import Story, file, snippet, words

from ctxbudget.passes.collect_garbage import CollectGarbage
from ctxbudget.passes.sliding_window import SlidingWindow
from ctxbudget.replay import replay
from ctxbudget.strategy import Stage, Strategy
from ctxbudget.strategy.naming import find
from ctxbudget.trace import Form, Trace
from ctxbudget.waste import Until, carried

A, B = file("a"), file("b")
GC = find("collect-garbage")


def run(story, strategy=GC):
    return replay(story.trace(), strategy, window=100_000, count=words)


def left(story, strategy=GC):
    """Edits by turn: form and the line that is left."""
    return [
        (row.turn, edit.form.value, edit.inserted[0].text) for row in run(story, strategy).turns for edit in row.edits
    ]


def test_the_alias():
    assert find("gc") == GC


def test_the_newest_true_copy_stays_and_is_named():
    story = Story()
    story.read("src/config.py", A)
    story.wait(36)
    story.read("src/config.py", A)
    assert left(story) == [(39, "duplicate", "[duplicate of src/config.py, read at turn 38]")]


def test_a_part_of_what_stands_goes_as_it_comes():
    story = Story()
    story.read("a.py", A)
    story.read("a.py", A[2:9], (3, 9))
    assert left(story) == [(3, "duplicate", "[duplicate of a.py, read at turn 1]")]


def test_a_stale_copy_leaves_its_digest():
    story = Story()
    story.read("a.py", A)
    story.edit("a.py", A[3], "x y z")
    ((turn, form, text),) = left(story)
    assert (turn, form) == (3, "cleared")
    assert text.startswith("[stale since turn 2] a.py, read at turn 1: 12 lines")


def test_when_the_copy_goes_stale_its_duplicates_say_so():
    story = Story()
    story.read("a.py", A)
    story.read("a.py", A)
    story.edit("a.py", A[3], "x y z")
    assert [(turn, form) for turn, form, _ in left(story)] == [(3, "duplicate"), (4, "cleared"), (4, "cleared")]
    assert left(story)[1][2] == "[stale since turn 3]"
    assert run(story).turns[-1].survival == {"whole": 5, "cleared": 2}


def test_a_repeated_output():
    story = Story()
    log = "\n".join(f"request {number} was served" for number in range(20))
    story.run("tail log", log)
    story.run("tail log", log)
    assert left(story) == [(3, "duplicate", "[duplicate of Bash tail log, turn 2]")]


def test_several_at_once_name_the_one_that_stays():
    story = Story()
    for _ in range(3):
        story.read("a.py", A)
    late = Strategy("late", (Stage(at="call", passes=(CollectGarbage(),), when=300),))
    assert left(story, late) == [
        (4, "duplicate", "[duplicate of a.py, read at turn 3]"),
        (4, "duplicate", "[duplicate of a.py, read at turn 3]"),
    ]


@pytest.mark.parametrize("pin", ["pinned", "kept"])
def test_what_is_pinned_stays(pin):
    story = Story()
    first = story.read("a.py", A, pinned=pin == "pinned")
    story.edit("a.py", A[3], "x y z")
    keep = {first} if pin == "kept" else None
    rows = replay(story.trace(), GC, window=100_000, count=words, must_keep=keep).turns
    assert not any(row.edits for row in rows)


def test_what_another_pass_removed_makes_nothing_redundant():
    story = Story()
    story.read("a.py", A)
    story.wait(6)
    story.read("a.py", A[2:9], (3, 9))
    window = Strategy("both", (Stage(at="entry", passes=(CollectGarbage(),)), Stage(passes=(SlidingWindow(keep=3),))))
    assert [edit.form for row in run(story, window).turns for edit in row.edits if edit.by == "collect-garbage"] == []


def test_options():
    story = Story()
    story.read("a.py", A)
    story.edit("a.py", A[3], "x y z")
    for options, size in (({"least": 200}, None), ({"line": 6}, 10), ({"line": 0}, 4)):
        strategy = Strategy("own", (Stage(at="entry", passes=(CollectGarbage(**options),)),))
        edits = [edit for row in run(story, strategy).turns for edit in row.edits]
        assert (edits[0].after if edits else None) in ((size,) if size is None else range(size + 1))


# ── nothing true is lost ───────────────────────────────────────────────────────────────────────────────────────


@dataclass
class World:
    """Files as they really are, and what each read showed: numbered lines."""

    story: Story = field(default_factory=Story)
    files: dict = field(default_factory=lambda: {"a.py": file("a"), "b.py": file("b", 9)})
    fresh: int = 1
    shown: dict = field(default_factory=dict)
    states: list = field(default_factory=list)
    """The files after each turn."""

    def line(self, name):
        self.fresh += 1
        return f"{name} has a line of its own that is number {self.fresh}"

    def done(self):
        self.states.append({name: list(lines) for name, lines in self.files.items()})


def _read(draw, world, more):
    name = draw(st.sampled_from(sorted(world.files)))
    lines = world.files[name]
    span = draw(
        st.one_of(
            st.none(),
            st.none(),
            st.tuples(st.integers(1, 9), st.integers(4, 14)).map(lambda pair: (pair[0], pair[0] + pair[1])),
        )
    )
    piece = lines if span is None else lines[span[0] - 1 : span[1]]
    if draw(st.integers(0, 9)) == 0:
        piece = piece[: max(1, len(piece) - 3)]  # the tool cut it, and does not say so
    id = world.story.read(name, piece, span, plain=draw(st.booleans()), pinned=draw(st.integers(0, 9)) == 0, **more)
    first = span[0] if span else 1
    world.shown[id] = name, set(enumerate(piece, first))


def _edit(draw, world, more):
    name = draw(st.sampled_from(sorted(world.files)))
    lines = world.files[name]
    at = draw(st.integers(0, len(lines) - 1))
    new = [world.line(name) for _ in range(draw(st.sampled_from((1, 1, 1, 2, 0))) or (len(lines) <= 5))]
    fate = draw(st.sampled_from(("done", "done", "done", "failed", "refused")))
    after, first = [*lines[:at], *new, *lines[at + 1 :]], max(0, at - 3)
    shows = fate == "done" and draw(st.booleans())
    answer = f"No match: the text to replace was not found in {name}" if fate == "refused" else None
    if shows:
        answer = snippet(name, after[first : at + 9], first + 1)
    id = world.story.edit(name, lines[at], "\n".join(new), answer, error=fate == "failed", **more)
    if shows:
        world.shown[id] = name, set(enumerate(after[first : at + 9], first + 1))
    if fate == "done":
        world.files[name] = after


def _write(draw, world, more):
    name = draw(st.sampled_from(sorted(world.files)))
    world.files[name] = [world.line(name) for _ in range(draw(st.integers(6, 14)))]
    world.story.write(name, world.files[name], **more)


def _unseen(draw, world, more):
    name = draw(st.sampled_from(sorted(world.files)))
    at = draw(st.integers(0, len(world.files[name]) - 1))
    world.files[name][at : at + draw(st.integers(0, 2))] = [world.line(name)]
    world.story.run("./format", "ok", **more)


def _command(draw, world, more):
    output = draw(st.sampled_from(("all is well and has been for a while " * 8, "something new came up just now " * 9)))
    world.story.run("check", output, **more)


@st.composite
def worlds(draw, most=14):
    """A session in which files are read, edited, rewritten and changed unseen, and outputs come again."""
    world = World()
    world.done()
    for _ in range(draw(st.integers(2, most))):
        step = draw(st.sampled_from((_read, _read, _read, _edit, _edit, _write, _unseen, _command)))
        together = len(world.states) > 1 and draw(st.integers(0, 4)) == 0
        step(draw, world, {"with_last": together})
        if together:
            world.states.pop()
        world.done()
    note([(one.id, one.tool, one.turn, one.text) for one in world.story.fragments if one.call])
    return world


def still_true(world, id, state):
    """Whether every line that a copy showed is where it was."""
    name, lines = world.shown[id]
    now = dict(enumerate(state[name], 1))
    return all(now.get(number) == line for number, line in lines)


@settings(max_examples=150, deadline=None)
@given(worlds())
def test_nothing_true_is_lost(world):
    for view, row in steps(world.story.trace(), GC, 100_000):
        alive = {one.id: one for one in view.fragments()}
        for edit in row.edits:
            (old,) = edit.removed
            if edit.form is Form.CLEARED and old in world.shown:
                since = world.states[view.known[old].turn - 1 : row.turn]
                assert not all(still_true(world, old, state) for state in since), (row.turn, old)
        for id, (name, lines) in world.shown.items():
            standing = view.stand_for(id) if id in view.known else None
            assert standing is not None or id not in view.known
            if standing is not None and standing.form is Form.DUPLICATE:
                others = [world.shown[one] for one in alive if one in world.shown]
                assert any(other == name and lines <= more for other, more in others), (row.turn, id)
        for one in view.log:
            if one.tool == "Bash" and one.answers and one.id not in alive:
                assert any(other.text == one.text for other in alive.values()), (row.turn, one.id)
            assert one.id in alive or not one.pinned
        assert not list(faults(view, view.log))


@settings(max_examples=60, deadline=None)
@given(worlds(), st.data())
def test_it_finds_what_the_recording_shows_and_nothing_ahead(world, data):
    trace = world.story.trace()
    whole = replay(trace, GC, window=100_000, count=words)
    turn = data.draw(st.integers(1, len(trace.turns)))
    part = Trace(trace.source, trace.fragments[: trace.turns[turn - 1].stop], trace.turns[:turn])
    assert replay(part, GC, window=100_000, count=words).turns == whole.turns[:turn]
    gone = {life.id for life in whole.lives if life.form != "whole"}
    pinned = {one.id for one in trace.fragments if one.pinned}
    assert gone == {one.spent.fragment.id for one in carried(trace, Until(trace))} - pinned


def _shrinking(one):
    return Stage(at="call", passes=(one,))


@settings(max_examples=60, deadline=None)
@given(worlds(), st.builds(_shrinking, st.one_of(*SHRINKING.values())), st.integers(60, 2_000))
def test_before_any_other_pass(world, stage, window):
    """The engine's rules hold, the plan of a view does not depend on how often it is made, and nothing grows."""
    trace = world.story.trace()
    strategy = Strategy("both", (*GC.stages, stage))
    for view, row in steps(trace, strategy, window):
        assert not list(faults(view, view.log))
        for edit in row.edits:
            if edit.by == "collect-garbage":
                assert edit.after < edit.before
                assert view.pins.ids.isdisjoint(edit.removed)
        planned = list(CollectGarbage().plan(view))
        assert planned == list(CollectGarbage().plan(view))
        removed = [old for edit in planned for old in edit.removed]
        assert len(removed) == len(set(removed))
        assert all(old in view for old in removed)
    assert replay(trace, strategy, window=window, count=words) == replay(trace, strategy, window=window, count=words)
