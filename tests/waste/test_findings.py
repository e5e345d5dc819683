"""Small stories, and what is found in them."""

import pytest
from story import Story, file, snippet

from ctxbudget.findings.waste import find
from ctxbudget.ledger import lives
from ctxbudget.trace import Kind

A, B = file("a"), file("b")
LOG = "\n".join(f"request {number} served in {number * 7} ms by worker {number % 3}" for number in range(20))


def found(story):
    """Rule, turn to look at, tokens, token-turns."""
    trace = story.trace()
    return [(one.id, one.turn, one.tokens, one.token_turns) for one in find(trace, lives(trace)).findings]


def spent(story):
    trace = story.trace()
    return {
        one.spent.fragment.id: (one.spent.why.value, one.spent.turn, one.until)
        for one in find(trace, lives(trace)).spent
    }


def test_a_stale_copy_is_waste_from_the_edit_on():
    story = Story()
    story.read("a.py", A)  # turn 1, enters at 2
    story.edit("a.py", A[3], "something else, of version 2")  # turn 2, enters at 3
    story.wait(2)
    assert found(story) == [("CB303", 1, 12 * 9, 108 * 3)]


def test_a_reread_of_the_same_lines_is_waste_from_the_second_on():
    story = Story()
    first = story.read("a.py", A)
    story.wait(1)
    story.read("a.py", A)
    story.wait(1)
    assert spent(story) == {first: ("reread", 4, 5)}
    assert found(story) == [("CB302", 1, 108, 216)]


def test_a_command_that_says_the_same_again():
    story = Story()
    story.run("tail log", LOG)
    story.run("tail -n 20 log", LOG)
    assert found(story) == [("CB301", 1, 180, 180)]


@pytest.mark.parametrize(
    "steps,stale",
    [
        # what is no change
        (lambda s: s.edit("a.py", A[3], "x y", error=True), False),
        (lambda s: s.edit("a.py", "nowhere in the file", "x", answer="String to replace not found in file."), False),
        (
            lambda s: s.edit(
                "a.py", A[3], "x y", answer="No replacement was performed, old_str did not appear verbatim"
            ),
            False,
        ),
        (lambda s: s.edit("a.py", A[3], "x y", answer='{"error": "file is locked"}'), False),
        (lambda s: s.edit("b.py", A[3], "x y"), False),
        (lambda s: s.edit("lib/a.py.orig", A[3], "x y"), False),
        (lambda s: s.run("make clean && ./generate", "done"), False),
        (lambda s: s.run("sed -n 1,3p a.py", "x", cls="read"), False),
        # what is one
        (lambda s: s.edit("a.py", A[3], "x y"), True),
        (lambda s: s.edit("a.py", A[3], "x y", answer='{"ok": true, "error": null}'), True),
        (lambda s: s.edit("/work/a.py", A[3], "x y", answer="The file /work/errors/a.py has been updated"), True),
        (lambda s: s.write("a.py", B), True),
        (lambda s: s.run("a.py", "", cls="edit"), True),
        (lambda s: s.run("a.py", "", cls="write"), True),
    ],
)
def test_what_makes_a_copy_stale(steps, stale):
    story = Story()
    copy = story.read("a.py", A)
    steps(story)
    assert (copy in spent(story)) == stale


def test_an_edit_that_was_never_answered_changes_nothing():
    story = Story()
    copy = story.read("a.py", A)
    story.edit("a.py", A[3], "x y")
    story.unanswered()
    story.wait(1)
    assert copy not in spent(story)


def test_a_part_that_does_not_show_the_edited_lines_is_still_true():
    story = Story()
    above = story.read("a.py", A[:6], (1, 6))
    below = story.read("a.py", A[6:], (7, 12))
    story.edit("a.py", A[8], "another text of version 2")
    assert set(spent(story)) == {below} != {above}


def test_what_an_edit_shows_is_a_copy_too():
    story = Story()
    new = [*A[:3], "another text of version 2", *A[4:]]
    shown = story.edit(
        "a.py",
        A[3],
        new[3],
        answer=snippet("a.py", new),
    )
    story.edit("a.py", new[3], "yet another text of version 3")
    assert spent(story) == {shown: ("stale", 3, 3)}


@pytest.mark.parametrize(
    "first,second,goes",
    [
        ((None, A), (None, A), "first"),
        (((3, 9), A[2:9]), (None, A), "first"),
        ((None, A), ((3, 9), A[2:9]), "second"),
        (((1, 9), A[:9]), ((3, 9), A[2:9]), "second"),
        (((3, 9), A[2:9]), ((1, 9), A[:9]), "first"),
        (((3, 20), A[2:]), (None, A), "first"),  # asked for more than there is
        (((1, 7), A[:7]), ((6, 12), A[5:]), None),  # they overlap, and neither holds the other
        ((None, A), ((3, 9), A[3:10]), None),  # the same lines, elsewhere
        ((None, A), (None, A[:9]), None),  # cut by the tool, or shortened
        (((3, 9), A[2:7]), (None, A), None),  # it said that the file ends there
        ((None, A), (None, B), None),  # nothing in common: perhaps no copy at all
        ((None, A), (None, [*A[:4], *file("a", 12, 2)[4:6], *A[6:]]), "first"),  # changed unseen
    ],
)
@pytest.mark.parametrize("plain", [(False, False), (True, True), (False, True), (True, False)])
def test_two_copies_of_one_file(first, second, goes, plain):
    story = Story()
    ids = {
        "first": story.read("a.py", first[1], first[0], plain=plain[0]),
        "second": story.read("a.py", second[1], second[0], plain=plain[1]),
    }
    assert set(spent(story)) == ({ids[goes]} if goes else set())


def test_a_note_in_place_of_the_file_proves_nothing():
    story = Story()
    story.read("a.py", A)
    note = "unchanged since the last read; " * 20
    story.step("Read", {"file_path": "a.py"}, note, story.fragments[-1].resource)
    assert spent(story) == {}


def test_two_files_that_look_the_same_are_two():
    story = Story()
    story.read("a.py", A)
    story.read("b.py", A)
    assert spent(story) == {}


@pytest.mark.parametrize(
    "read,edited,same",
    [
        ("a.py", "a.py", True),
        ("src/a.py", "/w/src/a.py", True),
        ("/w/src/a.py", "src/a.py", True),
        ("src/a.py", "/w/lib/a.py", False),
        ("/w/src/a.py", "/v/src/a.py", False),
        ("src/a.py", "a.py", False),
    ],
)
def test_spellings_of_a_path(read, edited, same):
    story = Story()
    copy = story.read(read, A)
    story.edit(edited, A[3], "x y z")
    assert (copy in spent(story)) == same


def test_a_short_path_that_may_be_two_files_is_neither():
    story = Story()
    copies = {story.read("/w/one/a.py", A), story.read("/w/two/a.py", B)}
    story.edit("a.py", A[3], "x y z")
    assert copies.isdisjoint(spent(story))


def test_each_fragment_is_counted_once():
    story = Story()
    first = story.read("a.py", A)
    second = story.read("a.py", A)
    story.edit("a.py", A[3], "x y z")
    assert spent(story) == {first: ("reread", 3, 4), second: ("stale", 4, 4)}


def test_what_the_agent_compacted_away_is_no_waste_and_makes_none():
    story = Story()
    first = story.read("a.py", A)
    story.wait(1)
    second = story.read("a.py", A)
    story.compact(first)
    story.wait(2)
    third = story.read("a.py", A)
    story.wait(1)
    assert spent(story) == {second: ("reread", 7, 8)}
    assert third not in spent(story)


def test_parallel_calls_in_the_order_of_their_answers():
    story = Story()
    story.edit("a.py", A[3], "x y z")
    true = story.read("a.py", A, with_last=True)
    old = story.read("b.py", B)
    story.edit("b.py", B[3], "x y z", with_last=True)
    assert true not in spent(story)
    assert spent(story)[old] == ("stale", 3, 3)


def test_small_observations_are_left_alone():
    story = Story()
    for _ in range(2):
        story.read("a.py", A[:4], (1, 4))
        story.run("date", "it is always the same time here " * 6)
    assert found(story) == []


# ── a matter of opinion ────────────────────────────────────────────────────────────────────────────────────────


def tool(name):
    return (
        Kind.TOOL_DEFINITIONS,
        f'{{"type":"function","function":{{"name":"{name}","description":"{"does a thing " * 9}"}}}}',
    )


def test_tool_definitions_that_are_never_called():
    story = Story(tool("Read"), tool("Paint"), tool("Sing"))
    story.read("a.py", A)
    trace = story.trace()
    (one,) = find(trace, lives(trace)).findings
    assert (one.id, one.turn, one.tokens, one.token_turns) == ("CB304", 1, 56, 56 * 2)
    assert one.message == "2 of 3 tool definitions are never called: Paint, Sing"


def test_definitions_in_one_fragment_are_divided():
    long = "every word of this is one more token " * 3
    both = f'[{{"name":"Read","description":"{long}"}},{{"name":"Paint","description":"{long}"}}]'
    story = Story((Kind.TOOL_DEFINITIONS, both))
    story.read("a.py", A)
    trace = story.trace()
    (one,) = find(trace, lives(trace)).findings
    assert one.message == "1 of 2 tool definitions are never called: Paint"
    assert one.tokens == trace.fragments[1].tokens // 2


def test_definitions_that_are_no_json_say_nothing():
    story = Story((Kind.TOOL_DEFINITIONS, "you may read files and paint"))
    story.read("a.py", A)
    assert found(story) == []


PAGE = "\n".join(f"- link part {number} [ref=e{number}]" for number in range(300))


def test_a_page_carried_on():
    story = Story()
    story.run("https://example.org/", PAGE, cls="browser", thought="opening part 7")
    story.wait(6)
    assert [row[0] for row in found(story)] == ["CB305"]


def test_a_page_that_was_just_looked_at_is_none():
    story = Story()
    story.run("https://example.org/", PAGE, cls="browser")
    story.wait(3)
    assert found(story) == []


def test_a_loop_needs_three_calls_with_one_answer_and_no_change():
    def looped(*steps):
        story = Story()
        for step in steps:
            step(story)
        return [row for row in found(story) if row[0] == "CB306"]

    same = lambda s: s.run("status", "still running")  # noqa: E731
    other = lambda s: s.run("status", "done")  # noqa: E731
    change = lambda s: s.edit("a.py", A[3], "x y z")  # noqa: E731
    user = lambda s: s.say("look again", Kind.USER)  # noqa: E731
    (loop,) = looped(same, same, same, same)
    assert loop[1:3] == (2, 3 * (2 + 3))
    assert looped(same, same) == []
    assert looped(same, same, other) == []
    assert looped(same, same, change, same) == []
    assert looped(same, same, user, same) == []


USED = "\n".join(f"row {number} order {90000 + number * 37} of customer number {number} waits" for number in range(80))


def test_an_observation_that_nothing_came_back_to():
    story = Story()
    story.run("list orders", USED, thought="first 90037")
    story.say("I see 90037 and 90074")  # the reply that it was made for
    story.wait(11)
    assert [row[:2] for row in found(story)] == [("CB307", 1)]


@pytest.mark.parametrize("text", ["now order 90074 again", "customer and waits"])
def test_one_telling_word_or_two_plain_ones_are_a_use(text):
    story = Story()
    story.run("list orders", USED)
    story.wait(2)
    story.say(text)
    story.wait(9)
    expected = [] if "90074" in text else ["CB307"]  # "waits" has five letters
    assert [row[0] for row in found(story)] == expected


def test_waste_is_ranked_within_its_rule():
    story = Story()
    story.read("a.py", A)
    story.read("b.py", file("b", 30))
    story.edit("a.py", A[3], "x y z")
    story.edit("b.py", file("b", 30)[3], "x y z")
    assert [row[2] for row in found(story)] == [270, 108]
