"""What the sample traces must show, at each sample's own window (sample_traces/README.md)."""

import re

import pytest

from ctxbudget.prepared import prepare
from ctxbudget.store import SHOWN, Store, key_of
from ctxbudget.trace import Form
from ctxbudget.view import is_state

CSV = "t16.2"
"""The table of 4,200 rows in forensic_review."""
PRESETS = ("external-memory", "boundary", "budget+memory", "strip-artifacts", "sliding-window+keep-state")
WINDOWS = {
    "migrate_module.jsonl": 120_000, "forensic_review.jsonl": 96_000, "refund_support.json": 8_000,
    "order_supplies.json": 8_000, "fix_failing_test.traj": 6_000,
}  # fmt: skip


def block(trace, strategy, window, turn):
    (found,) = [one for one in prepare(trace, strategy, window=window).view(turn).fragments() if is_state(one)]
    return found


def sections(text):
    """The lines of a block by the title above them."""
    found, title = {}, ""
    for line in text.split("\n")[1:]:
        if line.startswith("- "):
            found[title].append(line[2:])
        else:
            title = line.rstrip(":")
            found[title] = []
    return found


def test_the_index_line_of_the_table_reads_its_rows_and_columns(sample, loaded):
    view = prepare(sample("forensic_review.jsonl"), "memory", window=96_000).view(51)
    line = view.stand_for(CSV)
    (whole,) = [one for one in loaded("forensic_review.jsonl").fragments if one.id == CSV]
    assert line.form is Form.OFFLOADED
    assert line.text.startswith("data/payments.csv, read at turn 15: 4,200 rows; columns id, day, vendor, amount, by\n")
    assert line.text.endswith(f"\n[in the store as {key_of(whole.text)[:SHOWN]}]")
    assert line.tokens <= 60
    assert whole.tokens > 2_000


def test_what_is_stored_is_what_was_taken_out(sample, loaded, tmp_path):
    from dataclasses import replace

    store = Store(tmp_path / "kept")
    run = replace(prepare(sample("forensic_review.jsonl"), "memory", window=96_000), store=store).run()
    known = {one.id: one for one in loaded("forensic_review.jsonl").fragments}
    moved = [(new, old) for row in run.turns for edit in row.edits for new in edit.inserted for old in edit.removed]
    assert len(moved) == len(store) == 7
    for line, old in moved:
        assert store.get(re.search(r"store as (\w+)", line.text)[1]) == known[old].text


def test_the_edit_of_turn_22_is_seen_as_done_when_it_is_repeated_at_turn_52(sample, loaded):
    trace = loaded("migrate_module.jsonl")
    again = next(one for one in trace.fragments if one.id == "t53.2")
    first = next(one for one in trace.fragments if one.asks and one.text == again.text and one.id != again.id)
    assert (first.turn - 1, again.turn - 1) == (22, 52)
    found = block(sample("migrate_module.jsonl"), "sliding-window+keep-state", 120_000, 52)
    done = sections(found.text)["Done, not to be done again"]
    assert 'Edit billing/config.py, turn 22: AMOUNTS = "minor"' in done
    gone = prepare(sample("migrate_module.jsonl"), "sliding-window+keep-state", window=120_000).view(52)
    assert first.id not in gone


def test_the_block_of_turn_52_in_whole_sections(sample):
    found = block(sample("migrate_module.jsonl"), "sliding-window+keep-state", 120_000, 52)
    parts = sections(found.text)
    assert parts["Constraints, word by word"][0] == (
        "turn 3: One more thing: do not touch legacy/, the finance team still deploys from it."
    )
    assert parts["Open to-dos"] == ["[~] Changelog; legacy/ untouched (turn 44)"]
    assert parts["Failed"][0].startswith("Bash python tools/check.py --smoke, turn 25: AttributeError: 'float' object")
    assert "billing/config.py: edited at turn 39, read at turn 38" in parts["Files, with their last action"]
    earlier = parts["Earlier steps, no longer shown"]
    assert "turn 10: Read billing/lines.py; Read billing/discounts.py" in earlier
    assert any(line.startswith("billing/config.py, read at turn 8: 39 lines") for line in earlier)
    assert found.tokens < 0.05 * 120_000


def test_the_prefix_before_the_block_stands(sample):
    plain = prepare(sample("migrate_module.jsonl"), "none", window=200_000).run()
    kept = prepare(sample("migrate_module.jsonl"), "none+keep-state", window=200_000).run()
    assert [row.prefix for row in kept.turns] == [row.prefix for row in plain.turns]


def test_no_action_is_repeated_that_the_block_does_not_show(sample):
    """The refund that went through is in the block when the agent, a dozen turns later, must not send it again."""
    found = block(sample("refund_support.json"), "sliding-window:keep=4+keep-state", 8_000, 24)
    assert any("refund" in line.lower() for line in found.text.split("\n"))


def test_a_completed_plan_item_leaves_five_lines(sample):
    run = prepare(sample("migrate_module.jsonl"), "collapse-subgoal", window=120_000).run()
    made = [(row.turn, edit.inserted[0]) for row in run.turns for edit in row.edits]
    assert [turn for turn, _ in made] == [33, 45]
    lines = made[0][1].text.split("\n")
    assert len(lines) == 5
    assert lines[0].startswith("[Finished, turns 3 to 31, 47 calls: Read billing/")
    assert "Edit billing/config.py, turn 22" in lines[1]
    assert "AttributeError: 'float' object has no attribute 'share'" in lines[2]
    view = prepare(sample("migrate_module.jsonl"), "collapse-subgoal", window=120_000).view(33)
    assert {"t1.0", "t3.2", "t33.3"} <= {one.id for one in view.fragments()}


def test_boundary_shows_the_part_of_a_file_that_the_search_before_hit(sample):
    view = prepare(sample("migrate_module.jsonl"), "boundary", window=120_000).view(14)
    shown = view.stand_for("t13.5").text
    assert shown.startswith("billing/shipping.py, read at turn 12: 32 lines; defines ZONES, FEES, zone, fee\nfrom line")
    assert "config.MAX_PARCEL" in shown


def test_boundary_of_the_table_has_count_columns_and_three_rows(sample):
    view = prepare(sample("forensic_review.jsonl"), "boundary", window=96_000).view(16)
    lines = view.stand_for(CSV).text.split("\n")
    assert lines[0] == "data/payments.csv, read at turn 15: 4,200 rows; columns id, day, vendor, amount, by"
    assert [line.split(",")[0] for line in lines[1:]] == ["20001", "20002", "24200"]


def test_artifacts_of_the_portal_are_stripped(sample):
    view = prepare(sample("forensic_review.jsonl"), "strip-artifacts", window=96_000).view(44)
    pictures = [one for one in view.fragments() if one.kind == "media"]
    assert sum(one.form is None for one in pictures) == 2
    assert all(one.tokens < 20 for one in pictures if one.form is Form.CLEARED)
    pages = [one for one in view.fragments() if one.answers and one.resource.cls == "browser"]
    assert sum("[ref=" in one.text for one in pages) == 1
    assert all(one.tokens <= 60 for one in pages if one.form is Form.DIGEST)


@pytest.mark.parametrize("strategy", PRESETS)
@pytest.mark.parametrize("name", WINDOWS)
def test_every_preset_on_every_sample(sample, name, strategy):
    run = prepare(sample(name), strategy, window=WINDOWS[name]).run()
    plain = prepare(sample(name), "none", window=WINDOWS[name]).run()
    if "budget" not in strategy:
        assert run.totals.repairs == 0
        assert not [note for row in run.turns for note in row.notes if note.code == "not-smaller"]
    if "keep-state" not in strategy:
        assert run.totals.sent <= plain.totals.sent


def test_budget_and_memory_keep_the_index_lines_whole(sample):
    run = prepare(sample("forensic_review.jsonl"), "budget+memory", window=96_000).run()
    assert run.strategy == "category-budget+external-memory"
    assert [stage["at"] for stage in run.stages] == ["entry", "call"]
    forms = {life.form for life in run.lives if life.id == CSV}
    assert forms == {"offloaded"}
    assert run.totals.over == 0
