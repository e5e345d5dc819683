"""Cases at the edge, one by one, with their turn numbers."""

from __future__ import annotations

from dataclasses import replace

from stories import Story, edit, numbered, read

from ctxbudget.evidence import Signal, holds, index
from ctxbudget.trace import Kind

PRICE, TOTAL = "    return order.price_in_cents", "    return sum(map(price, orders))"
FILE = numbered("def price(order):", PRICE, "", "def total(orders):", TOTAL)
CALLED = {"file_path": "/w/pay.py"}


def uses(trace, kind):
    return [(use.turn, use.fragment, use.sources) for use in index(trace).of(kind)]


def begun():
    story = Story("Look at pay.py.")
    _, shown = story.do(*read("/w/pay.py"), FILE)
    return story, shown


# ── D1 ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_old_text_needs_one_fragment_that_holds_all_of_it():
    story = Story()
    story.do("Grep", {"pattern": "price"}, f"pay.py:2:{PRICE}")
    story.do("Grep", {"pattern": "total"}, f"pay.py:5:{TOTAL}")
    call, _ = story.do(*edit("/w/pay.py", f"{PRICE}\n\ndef total(orders):\n{TOTAL}", "x"))
    evidence = index(story.end())
    assert evidence.of(Signal.EDIT) == ()
    (partly,) = evidence.partly
    assert (partly.turn, partly.fragment, partly.sources) == (3, call.id, ("t2.1", "t3.1"))


def test_old_text_that_was_never_seen_has_no_source():
    story = Story()
    story.do(*edit("/w/pay.py", PRICE, "x"))
    (unseen,) = index(story.end()).partly
    assert (unseen.sources, unseen.newest) == ((), None)


def test_what_a_write_put_there_is_a_source_and_so_is_what_the_user_pasted():
    story = Story(f"This is in pay.py:\n{PRICE}\nDouble it.")
    story.do("Write", {"file_path": "/w/pay.py", "content": f"def price(order):\n{PRICE}\n"})
    story.do(*edit("/w/pay.py", PRICE.strip(), "x"))
    assert uses(story.end(), Signal.EDIT) == [(2, "t3.0", ("t1.0", "t2.0"))]


def test_an_old_text_may_begin_and_end_inside_a_line():
    story, _ = begun()
    story.do(*edit("/w/pay.py", "order.price_in_cents\n\ndef total(", "x"))
    assert uses(story.end(), Signal.EDIT) == [(2, "t3.0", ("t2.1",))]


def test_parallel_calls_do_not_see_each_other():
    story = Story()
    story.reply((*read("/w/pay.py"), FILE), (*edit("/w/pay.py", PRICE, "x"), "ok"))
    story.reply((*edit("/w/pay.py", PRICE, "x"), "ok"), (*edit("/w/pay.py", TOTAL, "y"), "ok"))
    evidence = index(story.end())
    assert [use.fragment for use in evidence.partly] == ["t2.1"]
    assert [(use.fragment, use.sources) for use in evidence.of(Signal.EDIT)] == [
        ("t3.0", ("t2.1", "t2.2")),
        ("t3.1", ("t2.2",)),
    ]


def test_what_the_same_reply_has_just_written_is_not_needed_from_the_context():
    story, _ = begun()
    second = {"old_string": "    return order.gross_in_cents", "new_string": "    return order.net_in_cents"}
    first = {"old_string": PRICE, "new_string": second["old_string"]}
    story.do("MultiEdit", {**CALLED, "edits": [first, second]})
    evidence = index(story.end())
    assert [use.text for use in evidence.of(Signal.EDIT)] == [(PRICE.strip(),)]
    assert evidence.partly == ()


def test_a_failed_edit_counts_and_is_marked():
    story, _ = begun()
    story.do(*edit("/w/pay.py", PRICE, "x"), "String to replace not found in file.", error=True)
    (use,) = index(story.end()).of(Signal.EDIT)
    assert use.failed


def test_a_hunk_of_a_patch_in_a_shell_command_is_an_edit():
    story, _ = begun()
    patch = f"*** Begin Patch\n*** Update File: pay.py\n@@\n def price(order):\n-{PRICE}\n+    return 0\n*** End Patch"
    story.do("shell", {"command": ["bash", "-lc", f"cd /w && apply_patch <<'EOF'\n{patch}\nEOF"]})
    story.do("shell", {"command": f"cd /w && apply_patch <<'EOF'\n{patch.replace('+    return 0', '')}\nEOF"})
    evidence = index(story.end())
    assert [(use.turn, use.target, use.sources) for use in evidence.of(Signal.EDIT)] == [
        (2, "/w/pay.py", ("t2.1",)),
        (3, "/w/pay.py", ("t2.1", "t3.0")),
    ]


def test_calls_of_the_first_prompt_are_sources_only():
    story = Story()
    story.build.message("assistant", 1)
    story.build.call(*edit("/w/pay.py", PRICE, "x"))
    story.user("Go on.")
    story.do(*edit("/w/pay.py", PRICE, "y"))
    evidence = index(story.end())
    assert [(use.turn, use.sources) for use in evidence.of(Signal.EDIT)] == [(1, ("t1.1",))]


def test_a_stand_in_is_tested_by_the_rule_of_the_index():
    story, shown = begun()
    story.do(*edit("/w/pay.py", f"{PRICE}\n\ndef total(orders):", "x"))
    trace = story.end()
    (use,) = index(trace).of(Signal.EDIT)
    assert holds(next(f.text for f in trace.fragments if f.id == shown.id), use)
    assert holds(f"[cut]\n{PRICE}\n[cut]\ndef total(orders):", use)
    assert not holds(f"[cut]\n{PRICE}\n[cut]", use)


# ── D2 ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_id_is_evidence_where_it_is_used_first():
    story = Story()
    story.do("find_orders", {"of": "Ann"}, '{"order": "KW-20417", "total": 4944.00}')
    story.do("get_order", {"id": "KW-20417"}, "open")
    story.do("pay_order", {"id": "KW-20417", "total": "4944.00"})
    found = index(story.end()).of(Signal.ARGUMENT)
    assert [(use.turn, use.text, use.sources) for use in found] == [
        (2, ("KW-20417",), ("t2.1",)),
        (3, ("4944.00",), ("t2.1",)),
    ]


def test_what_anybody_said_is_no_evidence_but_the_same_reply_does_not_count():
    story = Story()
    story.do("find_orders", {"of": "Ann"}, "KW-20417, KW-30999, KW-55001")
    story.user("It is KW-20417.")
    story.reply(("get_order", {"id": "KW-20417"}, "open"), text="There is KW-30999, too.")
    story.reply(("get_order", {"id": "KW-30999"}, "open"))
    story.reply(("get_order", {"id": "KW-55001"}, "open"), text="I look at KW-55001.")
    assert [use.text for use in index(story.end()).of(Signal.ARGUMENT)] == [("KW-55001",)]


def test_an_id_inside_a_new_url_is_evidence_the_url_is_not():
    story = Story()
    story.do("find_orders", {"of": "Ann"}, "order KW-20417")
    story.do("WebFetch", {"url": "https://shop.example/orders/KW-20417"}, "a page")
    story.do("WebFetch", {"url": "https://shop.example/orders/KW-20417"}, "a page")
    found = index(story.end()).of(Signal.ARGUMENT)
    assert [(use.turn, use.text) for use in found] == [(2, ("KW-20417",))]


def test_a_thought_that_later_prompts_do_not_carry_says_nothing():
    story = Story()
    story.do("find_orders", {"of": "Ann"}, "order KW-20417")
    story.build.turn()
    story.build.message("assistant", 1)
    story.build.add(Kind.THINKING, "So it is KW-20417.")
    story.do("get_order", {"id": "KW-20417"}, "open")
    trace = story.end()
    assert index(trace).of(Signal.ARGUMENT) == ()
    assert len(index(replace(trace, carries_reasoning=False)).of(Signal.ARGUMENT)) == 1


def test_rare_names_are_shown_apart():
    story = Story()
    story.do("Grep", {"pattern": "def"}, "pay.py:2: def round_half_up(x)")
    story.do("Grep", {"pattern": "round_half_up"}, "pay.py:2: def round_half_up(x)")
    evidence = index(story.end())
    assert [(use.turn, use.text) for use in evidence.of(Signal.RARE)] == [(2, ("round_half_up",))]
    assert not [use for use in evidence.uses if use.kind is Signal.RARE]


# ── D4 ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def stale(trace):
    return [(use.turn, use.newest, use.changed, use.failed) for use in index(trace).of(Signal.STALE)]


def test_a_second_edit_from_one_read_is_stale_and_a_new_read_heals_it():
    story, _ = begun()
    story.do(*edit("/w/pay.py", PRICE, "    return 0"))
    story.do(*edit("/w/pay.py", TOTAL, "    return 1"))
    story.do(*read("/w/pay.py"), FILE)
    story.do(*edit("/w/pay.py", TOTAL, "    return 2"))
    assert stale(story.end()) == [(3, "t2.1", "t3.0", False)]


def test_an_edit_of_what_the_last_edit_wrote_is_fresh():
    story, _ = begun()
    story.do(*edit("/w/pay.py", PRICE, "    return order.gross_in_cents"))
    story.do(*edit("/w/pay.py", "    return order.gross_in_cents", "    return 0"))
    assert stale(story.end()) == []


def test_the_same_edit_again_is_stale_although_its_call_shows_the_text():
    story, _ = begun()
    story.do(*edit("/w/pay.py", PRICE, "    return 0"))
    story.do(*edit("/w/pay.py", PRICE, "    return 0"), "not found", error=True)
    assert stale(story.end()) == [(3, "t2.1", "t3.0", True)]


def test_an_edit_whose_result_shows_the_lines_is_a_copy():
    story, _ = begun()
    story.do(*edit("/w/pay.py", PRICE, "    return 0"), f"The file /w/pay.py has been updated:\n{FILE}")
    story.do(*edit("/w/pay.py", TOTAL, "    return 1"))
    assert stale(story.end()) == []


def test_changes_of_other_files_failed_edits_and_parallel_ones_make_nothing_stale():
    story, _ = begun()
    story.do(*edit("/w/other/pay.py", "some other line of text", "x"))
    story.do(*edit("/w/pay.py", PRICE, "    return 0"), "no", error=True)
    story.reply((*edit("/w/pay.py", PRICE, "x"), "ok"), (*edit("/w/pay.py", TOTAL, "y"), "ok"))
    assert stale(story.end()) == []


def test_one_file_by_two_spellings_and_a_change_by_sed():
    story, _ = begun()
    story.do("Bash", {"command": "cd /w && sed -i 's/price/cost/' pay.py"}, "")
    story.do(*edit("pay.py", TOTAL, "x"))
    assert stale(story.end()) == [(3, "t2.1", "t3.0", False)]


def test_lines_that_no_fragment_holds_together_rely_on_the_newest_read():
    story, _ = begun()
    story.do(*edit("/w/pay.py", PRICE, "    return order.gross_in_cents"))
    story.do(*edit("/w/pay.py", f"    return order.gross_in_cents\n\ndef total(orders):\n{TOTAL}", "x"))
    assert stale(story.end()) == [(3, "t2.1", "t3.0", False)]


# ── D5 ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def again(trace):
    return [(use.turn, use.newest, use.changed) for use in index(trace).of(Signal.AGAIN)]


def test_a_file_read_again_changed_or_not():
    story, _ = begun()
    story.do(*read("/w/pay.py"), FILE)
    story.do("Bash", {"command": "cat /w/pay.py"}, FILE)
    story.do(*edit("/w/pay.py", PRICE, "x"))
    story.do(*read("/w/pay.py", offset=2, limit=1), FILE)
    assert again(story.end()) == [(2, "t2.1", None), (3, "t3.1", None), (5, "t4.1", "t5.0")]


def test_other_lines_another_file_and_what_failed_are_not_the_same_resource():
    story = Story()
    story.do(*read("/w/pay.py"), "no such file", error=True)
    story.do(*read("/w/pay.py", offset=1, limit=10), FILE)
    story.do(*read("/w/pay.py", offset=11, limit=10), FILE)
    story.do(*read("/w/other/pay.py"), FILE)
    story.do("Grep", {"pattern": "a", "path": "x"}, "none")
    story.do("Grep", {"pattern": "a", "path": "y"}, "none")
    assert again(story.end()) == []


def test_a_search_again_after_anything_may_have_changed():
    story = Story()
    story.do("Grep", {"pattern": "price"}, "pay.py:2")
    story.do("Bash", {"command": "make all"}, "done")
    story.do("Grep", {"pattern": "price"}, "pay.py:2")
    assert again(story.end()) == [(3, "t2.1", "t3.0")]


# ── D6 ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def loops(trace):
    return [(use.turn, use.fragment, use.sources) for use in index(trace).of(Signal.LOOP)]


def test_the_same_tests_again_without_a_change_are_a_loop():
    story = Story()
    run = "Bash", {"command": "pytest -q"}
    story.do(*run, "1 failed in 0.01s")
    story.do(*run, "1 failed in 0.02s")
    story.do(*read("/w/pay.py"), FILE)
    story.do(*run, "1 failed in 0.01s")
    story.do(*edit("/w/pay.py", PRICE, "x"), "no", error=True)
    story.do(*run, "1 failed in 0.01s")
    story.do(*edit("/w/pay.py", PRICE, "x"))
    story.do(*run, "1 failed in 0.01s")
    assert loops(story.end()) == [
        (2, "t3.0", ("t2.1",)),
        (4, "t5.0", ("t2.1", "t3.1")),
        (6, "t7.0", ("t2.1", "t3.1", "t5.1")),
    ]


def test_what_may_change_something_loops_only_with_the_same_answer():
    story = Story()
    run = "Bash", {"command": "python fix.py"}
    story.do(*run, "nothing to do")
    story.do(*run, "nothing to do")
    story.do(*run, "1 fixed")
    story.do(*run, "nothing to do")
    assert loops(story.end()) == [(2, "t3.0", ("t2.1",))]


def test_a_new_word_of_the_user_a_twin_in_the_reply_and_other_arguments_are_no_loop():
    story = Story()
    run = "Bash", {"command": "pytest -q"}
    story.reply((*run, "1 failed"), (*run, "1 failed"))
    story.user("Run it once more.")
    story.do(*run, "1 failed")
    story.do("Bash", {"command": "pytest -q -x"}, "1 failed")
    assert loops(story.end()) == []


# ── the whole ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_nothing_gives_nothing():
    evidence = index(Story().end())
    assert evidence.uses == evidence.partly == evidence.rare == ()


def test_a_long_history_keeps_the_oldest_and_the_newest_sources():
    story = Story()
    ids = [story.do(*read("/w/pay.py"), f"{FILE}\n{number}")[1] for number in range(100)]
    story.do(*edit("/w/pay.py", PRICE, "x"))
    trace = story.end()
    names = [piece.id for piece in ids]
    (use,) = index(trace).of(Signal.EDIT)
    assert use.sources == (*names[:16], *names[-64:])
    assert index(trace).of(Signal.AGAIN)[-1].newest == names[98]


def test_the_one_holder_among_many_fragments_with_the_same_words_is_found():
    story = Story()
    for number in range(300):
        line = "return tax(price(order))" if number == 150 else "return order(price(tax))"
        story.do("Bash", {"command": f"cat f{number}.py"}, f"def f{number}():\n    {line}")
    story.do(*edit("/w/f150.py", "    return tax(price(order))", "x"))
    (use,) = index(story.end()).of(Signal.EDIT)
    assert use.sources == ("t152.1",)
