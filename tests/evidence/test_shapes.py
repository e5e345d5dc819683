"""Arguments of calls → the strings they needed: one table for D1, one for D2."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stories import Story

from ctxbudget.evidence.actions import actions
from ctxbudget.evidence.arguments import arguments
from ctxbudget.evidence.edits import needles, parts
from ctxbudget.evidence.hunks import hunks
from ctxbudget.evidence.sed import literal
from ctxbudget.evidence.strings import inner, strings

OLD, NEW = "def area(side):\n    return side * side\n", "def area(side):\n    return side ** 2\n"
LINES = ("def area(side):", "return side * side")
PATCH = (
    "*** Begin Patch\n*** Update File: geo/square.py\n@@ class Square:\n def area(side):\n-    return side * side\n"
    "+    return side ** 2\n@@\n-CORNERS_OF_IT = 5\n+CORNERS_OF_IT = 4\n*** Add File: geo/new.py\n"
    "+NOTHING_THERE = None\n*** End Patch\n"
)
DIFF = (
    "--- a/geo/square.py\t2026\n+++ b/geo/square.py\n@@ -1,2 +1,2 @@ class Square:\n def area(side):\n"
    "-    return side * side\n+    return side ** 2\n\\ No newline at end of file\n"
)
BLOCK = f"<<<<<<< SEARCH\n{OLD}=======\n{NEW}>>>>>>> REPLACE\n"
CLINE = f"------- SEARCH\n{OLD}=======\n{NEW}+++++++ REPLACE\n"
ROO = f"<<<<<<< SEARCH\n:start_line:1\n-------\n{OLD}=======\n{NEW}>>>>>>> REPLACE\n"

D1 = [
    ("Edit", {"file_path": "/w/a.py", "old_string": OLD, "new_string": NEW}, [("/w/a.py", LINES)]),
    ("Edit", {"file_path": "/w/a.py", "old_string": "", "new_string": NEW}, [("/w/a.py", ())]),
    ("Edit", {"file_path": "/w/a.py", "old_string": "x = 1\ny = 2", "new_string": ""}, [("/w/a.py", ())]),
    ("Edit", {"file_path": "/w/a.py", "old_string": "# ----------------", "new_string": ""}, [("/w/a.py", ())]),
    ("replace", {"file_path": "/w/a.py", "old_string": OLD, "new_string": NEW}, [("/w/a.py", LINES)]),
    ("str_replace", {"path": "/w/a.py", "old_str": OLD, "new_str": NEW}, [("/w/a.py", LINES)]),
    (
        "str_replace_editor",
        {"command": "str_replace", "path": "/w/a.py", "old_str": OLD, "new_str": NEW},
        [("/w/a.py", LINES)],
    ),
    ("str_replace_editor", {"command": "create", "path": "/w/a.py", "file_text": OLD}, []),
    ("str_replace_editor", {"command": "view", "path": "/w/a.py"}, []),
    ("edit", {"path": "a.py", "oldText": OLD, "newText": NEW}, [("a.py", LINES)]),
    ("edit", {"search": "return side * side", "replace": "return 1"}, [(None, LINES[1:])]),
    (
        "MultiEdit",
        {"file_path": "/w/a.py", "edits": [{"old_string": line, "new_string": "x"} for line in LINES]},
        [("/w/a.py", LINES[:1]), ("/w/a.py", LINES[1:])],
    ),
    (
        "multi_replace_string_in_file",
        {"replacements": [{"filePath": "/w/a.py", "oldString": OLD, "newString": NEW}]},
        [("/w/a.py", LINES)],
    ),
    (
        "replace_file_content",
        {"TargetFile": "/w/a.py", "ReplacementChunks": [{"TargetContent": OLD, "ReplacementContent": NEW}]},
        [("/w/a.py", LINES)],
    ),
    ("StrReplaceFile", {"path": "/w/a.py", "edit": {"old": OLD, "new": NEW}}, [("/w/a.py", LINES)]),
    ("edit_file_by_replace", {"file_name": "a.py", "to_replace": OLD, "new_content": NEW}, [("a.py", LINES)]),
    ("search_and_replace", {"path": "a.py", "search": LINES[1], "replace": "x"}, [("a.py", LINES[1:])]),
    ("search_and_replace", {"path": "a.py", "search": LINES[1], "replace": "x", "use_regex": True}, []),
    ("replace_in_file", {"path": "a.py", "diff": CLINE}, [("a.py", LINES)]),
    ("replace_in_file", {"path": "a.py", "diff": BLOCK}, [("a.py", LINES)]),
    ("apply_diff", {"path": "a.py", "diff": ROO}, [("a.py", LINES)]),
    ("apply_diff", {"path": "a.py", "diff": DIFF}, [("geo/square.py", LINES)]),
    (
        "apply_patch",
        {"input": PATCH},
        [("geo/square.py", LINES), ("geo/square.py", ("CORNERS_OF_IT = 5",)), ("geo/new.py", ())],
    ),
    (
        "apply_patch",
        PATCH,
        [("geo/square.py", LINES), ("geo/square.py", ("CORNERS_OF_IT = 5",)), ("geo/new.py", ())],
    ),
    (
        "shell",
        {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}EOF\n"]},
        [("geo/square.py", LINES), ("geo/square.py", ("CORNERS_OF_IT = 5",)), ("geo/new.py", ())],
    ),
    ("Bash", {"command": f"git apply <<'EOF'\n{DIFF}EOF"}, [("geo/square.py", LINES)]),
    ("Bash", {"command": f"patch -p1 <<'EOF'\n{DIFF}EOF\necho done"}, [("geo/square.py", LINES)]),
    ("Bash", {"command": "sed -i 's/return side \\* side/return 1/' a.py"}, [("a.py", LINES[1:])]),
    (
        "Bash",
        {"command": "cd /w && sed -i -e 's|/api/v1/orders|/api/v2/orders|g' a.py"},
        [("/w/a.py", ("/api/v1/orders",))],
    ),
    ("Bash", {"command": "sed -i '/^import legacy_prices$/d' a.py"}, [("a.py", ("import legacy_prices",))]),
    (
        "shell",
        {"command": ["sed", "-i", "s/import legacy_prices/import prices/", "a.py"]},
        [("a.py", ("import legacy_prices",))],
    ),
    (
        "shell",
        {"command": ["bash", "-lc", "sed -i '/^import legacy_prices$/d' a.py"]},
        [("a.py", ("import legacy_prices",))],
    ),
    ("shell", {"command": ["sed", "-i", 7]}, []),
    ("Bash", {"command": "sed -i 's/retu.*side/x/' a.py"}, []),
    ("Bash", {"command": "sed -n 's/return side/x/p' a.py"}, []),
    ("Bash", {"command": "perl -pi -e 's/LIMIT_OF_ALL = 3/LIMIT_OF_ALL = 4/' a.py"}, [("a.py", ("LIMIT_OF_ALL = 3",))]),
    ("Write", {"file_path": "/w/fix.patch", "content": PATCH}, []),
    ("Bash", {"command": f"cat > fix.patch <<'EOF'\n{DIFF}EOF"}, []),
    ("Bash", {"command": "git diff HEAD"}, []),
    ("Grep", {"pattern": "return side * side"}, []),
    ("NotebookEdit", {"notebook_path": "/w/n.ipynb", "new_source": OLD}, []),
]


def action(tool, args):
    story = Story()
    story.do(tool, args)
    return actions(story.end())[0]


@pytest.mark.parametrize("tool, args, wanted", D1)
def test_old_text(tool, args, wanted):
    assert [(part.file, needles(part.old)) for part in parts(action(tool, args))] == wanted


D2 = [
    ("get_order", {"id": "rq-37a5c5492c"}, ("rq-37a5c5492c",)),
    ("get_order", {"id": 20824}, ("20824",)),
    ("get_order", {"id": 12}, ()),
    ("pay", {"amount": 240.5, "whole": True}, ("240.5",)),
    ("get_vendor", {"id": "V31"}, ("V31",)),
    ("click", {"ref": "e12", "element": "the blue one"}, ("e12",)),
    ("get_order", {"note": "take V31"}, ()),
    ("get_order", {"note": "see #8842, RT-1184."}, ("8842", "RT-1184")),
    ("show", {"commit": "abcdef1"}, ("abcdef1",)),
    ("show", {"commit": "defaced"}, ()),
    ("get", {"id": "3f2b8c1e-9d4a-4e6f-8a7b-0c1d2e3f4a5b"}, ("3f2b8c1e-9d4a-4e6f-8a7b-0c1d2e3f4a5b",)),
    ("Read", {"file_path": "/w/shop/a.py"}, ("/w/shop/a.py",)),
    ("Read", {"file_path": "C:\\w\\shop\\a.py"}, ("C:\\w\\shop\\a.py",)),
    ("Read", {"file_path": "~/notes/a.md"}, ("~/notes/a.md",)),
    ("Read", {"file_path": "shop/a.py"}, ()),
    ("Read", {"file_path": "/w/shop/a.py", "offset": 1200, "limit": 100}, ("/w/shop/a.py",)),
    ("view", {"path": "/w/shop/a.py", "view_range": "[120, 160]"}, ("/w/shop/a.py",)),
    ("WebFetch", {"url": "https://x.org/o/KW-20417?a=1.", "prompt": "price?"}, ("https://x.org/o/KW-20417?a=1",)),
    ("Bash", {"command": "ls /w/shop > /dev/null", "timeout": 60000}, ("/w/shop",)),
    ("Bash", {"command": "head -n 200 log | tail -100; sed -n '120,160p' a.py"}, ()),
    ("Bash", {"command": "rg 'id=(20824|20855)' logs/*.log"}, ("20824", "20855")),
    ("Bash", {"command": "cat > /w/out/a.txt <<'EOF'\nid 20824\nEOF\nrun 777"}, ("/w/out/a.txt", "777")),
    ("Bash", {"command": "python - <<'EOF'\nprint(20824)\nEOF"}, ("20824",)),
    ("Edit", {"file_path": "/w/shop/a.py", "old_string": "a = 20824", "new_string": "a = 555"}, ("/w/shop/a.py",)),
    ("Write", {"file_path": "/w/shop/a.py", "content": "a = 20824"}, ("/w/shop/a.py",)),
    ("apply_patch", PATCH.replace("CORNERS", "20824"), ()),
    ("send_mail", {"text": "Your order KW-20417 of 2026-02-02"}, ("KW-20417", "2026-02-02")),
]


@pytest.mark.parametrize("tool, args, wanted", D2)
def test_strings_that_nobody_guesses(tool, args, wanted):
    assert strings(action(tool, args)) == wanted


@pytest.mark.parametrize(
    "token, wanted",
    [
        ("https://x.org/orders/KW-20417", ("KW-20417",)),
        ("/w/2026-02-02/a1b2c3d", ("2026-02-02", "a1b2c3d")),
        ("240.0", ()),
        ("rq-37a5c5492c", ()),
        ("20260212_add_rows.json", ("20260212_add_rows",)),
        ("20824", ()),
    ],
)
def test_strings_inside_longer_ones(token, wanted):
    assert inner(token) == wanted


@pytest.mark.parametrize(
    "pattern, extended, wanted",
    [
        ("a.b", False, "a.b"),
        ("^a$", False, "a"),
        ("a\\.b\\/c", False, "a.b/c"),
        ("a(b)", False, "a(b)"),
        ("a(b)", True, None),
        ("a\\(b\\)", True, "a(b)"),
        ("a\\(b\\)", False, None),
        ("a+", False, "a+"),
        ("a+", True, None),
        ("[ab]", False, None),
        ("a*", False, None),
        ("a\\*b", False, "a*b"),
        ("\\bword\\b", False, None),
        ("cost\\$", False, "cost$"),
    ],
)
def test_which_patterns_are_plain_text(pattern, extended, wanted):
    assert literal(pattern, extended=extended) == wanted


def test_a_patch_says_what_it_puts_in_place():
    (first, second, third) = hunks(PATCH)
    assert (first.old, first.new) == (
        "def area(side):\n    return side * side",
        "def area(side):\n    return side ** 2",
    )
    assert (second.new, third.file, third.new) == ("CORNERS_OF_IT = 4", "geo/new.py", "NOTHING_THERE = None")


def test_two_files_in_one_diff_stay_apart():
    two = DIFF + DIFF.replace("square", "circle").replace("side * side", "3 * side * side")
    assert [(hunk.file, hunk.old.split("\n")[1]) for hunk in hunks(two)] == [
        ("geo/square.py", "    return side * side"),
        ("geo/circle.py", "    return 3 * side * side"),
    ]


@pytest.mark.parametrize(
    "text", ["", "*** Begin Patch", "+++ \n@@", "--- a\n+++ b\n@@", "<<<<<<< SEARCH\n REPLACE", "@@\n" * 5]
)
def test_broken_patches_give_nothing(text):
    assert list(hunks(text)) == []


KEYS = st.sampled_from(["old_string", "new_string", "path", "edits", "command", "diff", "x"])
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**60), 2**60),
    st.floats(),
    st.text(max_size=40),
    st.sampled_from([PATCH, DIFF]),
)
ARGUMENTS = st.dictionaries(
    KEYS, st.recursive(LEAVES, lambda inside: st.lists(inside, max_size=3) | st.dictionaries(KEYS, inside, max_size=4))
)


@given(st.sampled_from(["Edit", "apply_patch", "shell", "get_order", "replace_in_file", "MultiEdit", ""]), ARGUMENTS)
def test_any_call_can_be_read(tool, args):
    one = action(tool, args)
    assert all(isinstance(part.old, str) for part in parts(one))
    assert all(isinstance(token, str) for token in strings(one))


@pytest.mark.parametrize(
    "text, wanted",
    [
        ('Edit {"a": "b"}', {"a": "b"}),
        ("Edit a b", "a b"),
        ('Edit {"a": ', '{"a": '),
        ('Edit ["a"]', '["a"]'),
        ('Edit {"a": "\ud800"}', {"a": "\ud800"}),
        ("<function=Edit>\n<parameter=a>\n b\nc \n</parameter>\n<parameter=d>e", {"a": " b\nc ", "d": "e"}),
        ('<invoke name="Edit"><parameter name="a">b</parameter></invoke>', {"a": "b"}),
        ('<tool_call>\n{"name": "Edit", "arguments": {"a": "b"}}\n</tool_call>', {"a": "b"}),
        ("<Edit>\n<a>b</a>\n<diff>\n<p>x</p>\n</diff>\n</Edit>", {"a": "b", "diff": "<p>x</p>"}),
        ("<tool_call>x", "<tool_call>x"),
    ],
)
def test_arguments_are_read_from_the_text_of_the_call(text, wanted):
    story = Story()
    story.do("Edit", {})
    call = next(fragment for fragment in story.end().fragments if fragment.asks)
    assert arguments(replace(call, text=text)) == wanted


HOSTILE = [
    "<<<<<<< SEARCH\n" * 20_000 + " REPLACE",
    "=======\n" * 20_000 + " SEARCH REPLACE",
    "a+" * 200_000,
    "/a" * 200_000,
    "<<EOF\n" * 20_000,
    "\n" * 3_000 + "<<EOF" + "\n" * 3_000,
    "s/" * 20_000,
    "\\" * 100_000,
    "--- a\n+++ b\n@@" * 20_000,
    "a" * 1_000_000,
    "7 " * 100_000,
]


@pytest.mark.timed
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize(
    "tool, key", [("apply_diff", "diff"), ("Bash", "command"), ("Edit", "path"), ("get_order", "id")]
)
def test_hostile_arguments_take_no_time(tool, key, text):
    one = action(tool, {key: text, "path": "a.py"} if key != "path" else {key: text, "old_string": text})
    begun = time.perf_counter()
    parts(one), strings(one)
    assert time.perf_counter() - begun < 2
