"""Tool calls → class, target, span: one table for all vocabularies, and what holds for any call."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxbudget.errors import ConfigError
from ctxbudget.resources import (
    CLASSES,
    Resource,
    changes,
    covers,
    is_plan,
    is_retrieval,
    may_change,
    reads,
    resource,
    same_path,
    targets,
    with_rules,
)

PATCH = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** Add File: src/b.py\n+z\n*** End Patch"
DIFF = "--- a/lib/x.c\t2026\n+++ b/lib/x.c\n@@ -1 +1 @@\n-a\n+b\n"

TOOLS: list[tuple[str, Any, str, str | None, tuple[int, int] | None]] = [
    # Claude Code
    ("Read", {"file_path": "/w/a.py"}, "read", "/w/a.py", None),
    ("Read", {"file_path": "/w/a.py", "offset": 100, "limit": 50}, "read", "/w/a.py", (100, 149)),
    ("Read", {"file_path": "/w/a.py", "limit": 50}, "read", "/w/a.py", (1, 50)),
    ("Read", {"file_path": "/w/a.py", "offset": 100}, "read", "/w/a.py", (100, -1)),
    ("Read", {"file_path": "/w//x/../a.py"}, "read", "/w/a.py", None),
    ("Edit", {"file_path": "/w/a.py", "old_string": "a", "new_string": "b"}, "edit", "/w/a.py", None),
    ("MultiEdit", {"file_path": "/w/a.py", "edits": [{"old_string": "a"}]}, "edit", "/w/a.py", None),
    ("NotebookEdit", {"notebook_path": "/w/n.ipynb", "new_source": ""}, "edit", "/w/n.ipynb", None),
    ("Write", {"file_path": "./a.py", "content": "x"}, "write", "a.py", None),
    ("Grep", {"pattern": "def f"}, "search", "def f", None),
    ("Grep", {"pattern": "def f", "path": "src/"}, "search", "def f in src", None),
    ("Grep", {"pattern": "def f", "glob": "*.py", "-A": 3}, "search", "def f (-A 3) in *.py", None),
    ("Grep", {"pattern": "f", "output_mode": "content", "head_limit": 20}, "search", "f (content)", (1, 20)),
    ("Glob", {"pattern": "**/*.md", "path": "~/.claude"}, "search", "**/*.md in ~/.claude", None),
    ("LS", {"path": "/w/"}, "list", "/w", None),
    ("Bash", {"command": "ls"}, "list", ".", None),
    ("BashOutput", {"bash_id": "bash_1"}, "shell", "session bash_1", None),
    ("KillShell", {"shell_id": "3"}, "shell", "session 3", None),
    ("WebFetch", {"url": "https://x.org/p", "prompt": "version?"}, "fetch", "https://x.org/p", None),
    ("WebSearch", {"query": "latest ruff"}, "retrieval", "latest ruff", None),
    ("TodoWrite", {"todos": [{"content": "a"}]}, "plan", None, None),
    ("TaskUpdate", {"taskId": "1", "status": "completed"}, "plan", None, None),
    ("ExitPlanMode", {"plan": "# Plan"}, "plan", None, None),
    ("Task", {"description": "Look for x", "prompt": "Long", "subagent_type": "e"}, "delegate", "Look for x", None),
    ("Agent", {"prompt": "Count files"}, "delegate", "Count files", None),
    ("Skill", {"skill": "pdf"}, "other", "pdf", None),
    ("AskUserQuestion", {"questions": [{"question": "Which?"}]}, "ask", "Which?", None),
    # Codex
    ("shell", {"command": ["bash", "-lc", "sed -n '1,200p' src/a.py"]}, "read", "src/a.py", (1, 200)),
    ("shell", {"command": ["rg", "-n", "foo bar", "src"], "workdir": "/w"}, "search", "foo bar in /w/src", None),
    ("shell", {"command": ["ls"]}, "list", ".", None),
    ("shell", {"command": ["apply_patch", PATCH]}, "edit", "src/a.py", None),
    ("shell", {"command": ["bash", "-lc", f"cd /w && apply_patch <<'EOF'\n{PATCH}\nEOF"]}, "edit", "/w/src/a.py", None),
    ("container.exec", {"cmd": ["bash", "-lc", "cat a.py"]}, "read", "a.py", None),
    ("local_shell", {"action": {"type": "exec", "command": ["cat", "a.py"]}}, "read", "a.py", None),
    ("exec_command", '{"cmd":"nl -ba a.py | sed -n \'5,9p\'","workdir":"/w"}', "read", "/w/a.py", (5, 9)),
    ("functions.exec_command", {"cmd": "pytest -q tests"}, "test", "pytest -q tests", None),
    ("write_stdin", {"session_id": 12, "chars": "q"}, "shell", "session 12", None),
    ("apply_patch", PATCH, "edit", "src/a.py", None),
    ("apply_patch", {"input": PATCH}, "edit", "src/a.py", None),
    ("apply_patch", DIFF, "edit", "lib/x.c", None),
    ("update_plan", {"plan": [{"step": "a", "status": "pending"}]}, "plan", None, None),
    ("view_image", {"path": "/w/shot.png"}, "image", "/w/shot.png", None),
    ("web_search", {"query": "rust"}, "retrieval", "rust", None),
    ("read_file", {"file_path": "/w/a.rs", "offset": 1, "limit": 10}, "read", "/w/a.rs", (1, 10)),
    ("list_dir", {"dir_path": "/w"}, "list", "/w", None),
    ("grep_files", {"pattern": "x", "include": "*.rs"}, "search", "x in *.rs", None),
    # SWE-agent, OpenHands
    ("open", {"path": "setup.py"}, "read", "setup.py", (1, 100)),
    ("open", {"path": "f.py", "line_number": 1474}, "read", "f.py", (1424, 1523)),
    ("open", "f.py 1474", "read", "f.py", (1424, 1523)),
    ("goto", {"line_number": 10}, "other", None, None),
    ("edit", {"search": "a", "replace": "b"}, "edit", None, None),
    ("create", {"filename": "reproduce.py"}, "create", "reproduce.py", None),
    ("find_file", {"file_name": "fields.py", "dir": "src"}, "search", "fields.py in src", None),
    ("search_dir", {"search_term": "x", "dir": "src"}, "search", "x in src", None),
    ("search_file", {"search_term": "x", "file": "a.py"}, "search", "x in a.py", None),
    ("str_replace_editor", {"command": "view", "path": "/w/a.py"}, "read", "/w/a.py", None),
    ("str_replace_editor", {"command": "view", "path": "/w/a.py", "view_range": [5, -1]}, "read", "/w/a.py", (5, -1)),
    ("str_replace_editor", {"command": "create", "path": "/w/a.py", "file_text": ""}, "create", "/w/a.py", None),
    ("str_replace_editor", {"command": "str_replace", "path": "/w/a.py", "old_str": "a"}, "edit", "/w/a.py", None),
    ("str_replace_editor", {"command": "insert", "path": "/w/a.py", "insert_line": 3}, "edit", "/w/a.py", None),
    ("str_replace_editor", '{"command":"undo_edit","path":"/w/a.py"}', "edit", "/w/a.py", None),
    ("submit", {}, "other", None, None),
    ("execute_bash", {"command": "cd /w && cat a.py", "security_risk": "LOW"}, "read", "/w/a.py", None),
    ("execute_ipython_cell", {"code": "print(1)"}, "shell", "print(1)", None),
    ("browser", {"code": "goto('https://x.org')"}, "browser", "goto('https://x.org')", None),
    ("fetch", {"url": "https://x.org"}, "fetch", "https://x.org", None),
    ("think", {"thought": "hm"}, "other", None, None),
    ("task_tracker", {"command": "plan", "task_list": []}, "plan", None, None),
    # Gemini CLI, Qwen, pi, OpenCode, Copilot, VS Code
    ("read_file", {"absolute_path": "/w/a.ts"}, "read", "/w/a.ts", None),
    ("read_many_files", {"paths": ["a.ts", "b.ts"]}, "read", "a.ts b.ts", None),
    ("write_file", {"file_path": "/w/a.ts", "content": ""}, "write", "/w/a.ts", None),
    ("replace", {"file_path": "/w/a.ts", "old_string": "a", "new_string": "b"}, "edit", "/w/a.ts", None),
    ("list_directory", {"path": "."}, "list", ".", None),
    ("search_file_content", {"pattern": "x", "include": "*.ts"}, "search", "x in *.ts", None),
    ("run_shell_command", {"command": "ls -F", "description": "List"}, "list", ".", None),
    ("google_web_search", {"query": "q"}, "retrieval", "q", None),
    ("web_fetch", {"prompt": "Read https://x.org and https://x.de"}, "fetch", "https://x.org https://x.de", None),
    ("save_memory", {"fact": "likes tabs"}, "memory", "likes tabs", None),
    ("write_todos", {"todos": []}, "plan", None, None),
    ("read", {"path": "a.ts", "offset": 128, "limit": 20}, "read", "a.ts", (128, 147)),
    ("edit", {"path": "a.ts", "oldText": "a", "newText": "b"}, "edit", "a.ts", None),
    ("find", {"pattern": "*.ts", "path": "src"}, "search", "*.ts in src", None),
    ("ls", {"path": "src"}, "list", "src", None),
    ("read", {"filePath": "/w/a.ts"}, "read", "/w/a.ts", None),
    ("webfetch", {"url": "https://x.org", "format": "markdown"}, "fetch", "https://x.org", None),
    ("task", {"description": "d", "prompt": "p"}, "delegate", "d", None),
    ("patch", {"patchText": PATCH}, "edit", "src/a.py", None),
    ("view", {"path": "/w/a.ts", "view_range": [1, 40]}, "read", "/w/a.ts", (1, 40)),
    ("view", {"path": "/w/a.ts", "view_range": "[1, 40]"}, "read", "/w/a.ts", (1, 40)),
    ("view", {"path": "/w/a.ts", "view_range": "7--1"}, "read", "/w/a.ts", (7, -1)),
    ("view", {"path": "/w/a.ts", "view_range": "all"}, "read", "/w/a.ts", None),
    ("str_replace", {"path": "/w/a.ts", "old_str": "a", "new_str": "b"}, "edit", "/w/a.ts", None),
    ("read_bash", {"sessionId": "s1", "delay": 5}, "shell", "session s1", None),
    ("read_file", {"filePath": "c:\\src\\a.ts", "startLine": 1, "endLine": 9}, "read", "c:/src/a.ts", (1, 9)),
    ("replace_string_in_file", {"filePath": "C:\\src\\a.ts", "oldString": "a"}, "edit", "c:/src/a.ts", None),
    ("run_in_terminal", {"command": "npm test", "explanation": "e"}, "test", "npm test", None),
    ("grep_search", {"query": "Bonjour", "isRegexp": False}, "search", "Bonjour", None),
    ("file_search", {"query": "**/*.ts"}, "search", "**/*.ts", None),
    ("file_search", {"queries": ["refund policy"]}, "retrieval", "refund policy", None),
    ("semantic_search", {"query": "where is auth"}, "search", "where is auth", None),
    ("fetch_webpage", {"urls": ["https://x.org"], "query": "q"}, "fetch", "https://x.org", None),
    # Cline, Roo, Goose, Kimi, Inspect
    ("write_to_file", {"path": "a.ts", "content": ""}, "write", "a.ts", None),
    ("replace_in_file", {"path": "a.ts", "diff": "<<<<<<< SEARCH"}, "edit", "a.ts", None),
    ("apply_diff", {"path": "a.ts", "diff": "<<<<<<< SEARCH"}, "edit", "a.ts", None),
    ("execute_command", {"command": "cat a.ts", "requires_approval": False}, "read", "a.ts", None),
    ("search_files", {"path": "src", "regex": "foo", "file_pattern": "*.ts"}, "search", "foo in src *.ts", None),
    ("list_files", {"path": "src", "recursive": True}, "list", "src", None),
    ("browser_action", {"action": "launch", "url": "http://localhost:3000"}, "browser", "http://localhost:3000", None),
    ("read_files", {"files": [{"path": "a.ts", "start_line": 5, "end_line": 9}]}, "read", "a.ts", (5, 9)),
    ("run_commands", {"commands": ["grep -rn x src"]}, "search", "x in src", None),
    ("developer__text_editor", {"command": "write", "path": "/w/a", "file_text": ""}, "write", "/w/a", None),
    ("developer__shell", {"command": "cat /w/a"}, "read", "/w/a", None),
    ("ReadFile", {"path": "a.swift", "line_offset": 10, "n_lines": 5}, "read", "a.swift", (10, 14)),
    ("StrReplaceFile", {"path": "a.swift", "edit": {"old": "a"}}, "edit", "a.swift", None),
    ("Shell", {"command": "head -n 5 a"}, "read", "a", (1, 5)),
    ("FetchURL", {"url": "https://x.org"}, "fetch", "https://x.org", None),
    ("SearchWeb", {"query": "q"}, "retrieval", "q", None),
    ("SetTodoList", {"todos": []}, "plan", None, None),
    ("bash", {"cmd": "python x.py"}, "shell", "python x.py", None),
    ("python", {"code": "1 + 1"}, "shell", "1 + 1", None),
    ("web_browser_go", {"url": "https://x.org"}, "browser", "https://x.org", None),
    ("web_browser_click", {"element_id": 151}, "browser", "151", None),
    ("computer", {"action": "screenshot"}, "screenshot", "screenshot", None),
    ("computer", {"action": "left_click", "coordinate": [1, 2]}, "browser", "left_click", None),
    ("browser.open", {"id": "https://x.org"}, "browser", "https://x.org", None),
    # prefixes, MCP, tools nobody knows
    ("mcp__filesystem__read_text_file", {"path": "/w/a"}, "read", "/w/a", None),
    ("mcp__playwright__browser_take_screenshot", {}, "screenshot", None, None),
    ("mcp__github__get_issue", {"owner": "o", "number": 7}, "retrieval", "get_issue(number=7, owner=o)", None),
    ("mcp__github__create_issue", {"title": "t"}, "act", "create_issue(title=t)", None),
    ("get_user_details", {"user_id": "u1"}, "retrieval", "get_user_details(user_id=u1)", None),
    ("lookup_order", {"id": 5}, "retrieval", "lookup_order(id=5)", None),
    ("search_direct_flight", {"to": "SEA", "from": "JFK"}, "retrieval", "search_direct_flight(from=JFK, to=SEA)", None),
    ("cancel_reservation", {"id": "GV"}, "act", "cancel_reservation(id=GV)", None),
    ("calculate", {"expression": "1+1"}, "other", "calculate(expression=1+1)", None),
    ("my_reader", {"filename": "a.txt"}, "read", "a.txt", None),
    ("saver", {"path": "a.txt", "content": "x"}, "write", "a.txt", None),
    ("changer", {"path": "a", "old_string": "x", "new_string": "y"}, "edit", "a", None),
    ("differ", {"patch": DIFF}, "edit", "lib/x.c", None),
    ("runner", {"command": "cat a"}, "read", "a", None),
    ("page", {"url": "https://x.org"}, "fetch", "https://x.org", None),
    ("kb", {"query": "refunds"}, "retrieval", "kb(query=refunds)", None),
    ("matcher", {"pattern": "x", "path": "src"}, "search", "x in src", None),
    ("", None, "other", "()", None),
    ("Read", None, "read", None, None),
    ("Read", '{"file_path": "/w/a', "read", None, None),
    ("Read", '{"file_path": "/w/a", "lim', "read", "/w/a", None),
    ("Bash", '{"command": "SM', "shell", None, None),
]  # fmt: skip

COMMANDS: list[tuple[str, str, str | None, tuple[int, int] | None]] = [
    ("cat a.py", "read", "a.py", None),
    ("cat -n a.py", "read", "a.py", None),
    ("cat a.py b.py", "read", "a.py b.py", None),
    ("cat a.py; cat b.py", "read", "a.py b.py", None),
    ("sed -n 1,5p a; sed -n 7,9p b", "read", "a:1-5; b:7-9", None),
    ("sed -n '10,20p' a.py", "read", "a.py", (10, 20)),
    ("sed -n '10,$p' a.py", "read", "a.py", (10, -1)),
    ("sed -n 7p a.py", "read", "a.py", (7, 7)),
    ("head a.py", "read", "a.py", (1, 10)),
    ("head -50 a.py", "read", "a.py", (1, 50)),
    ("tail -n 20 a.py", "read", "a.py", (-20, -1)),
    ("tail -n +20 a.py", "read", "a.py", (20, -1)),
    ("head -100 a.py | tail -20", "read", "a.py", (81, 100)),
    ("nl -ba a.py | sed -n '10,20p' | head -5", "read", "a.py", (10, 14)),
    ("awk 'NR>=10 && NR<=20' a.py", "read", "a.py", (10, 20)),
    ("bat --style plain a.py", "read", "a.py", None),
    ("type C:\\repo\\a.py", "read", "c:/repo/a.py", None),
    ("Get-Content -Path .\\src\\a.cs -TotalCount 30", "read", "src/a.cs", (1, 30)),
    ('powershell -Command "Get-Content a.cs"', "read", "a.cs", None),
    ("cat a.py | grep foo", "search", "foo in a.py", None),
    ("cat a.json | jq .x", "shell", "cat a.json | jq .x", None),
    ("cat a.py && ls", "shell", "cat a.py && ls", None),
    ("python x.py; cat out.txt", "shell", "python x.py; cat out.txt", None),
    ("grep -rn 'foo bar' src | head -20", "search", "foo bar in src", (1, 20)),
    ("grep -A 10 -n x a.py", "search", "x (-A 10) in a.py", None),
    ("grep -rn x src | grep -v test", "search", "x | grep -v test in src", None),
    ("rg -n --glob '*.py' x", "search", "x in *.py", None),
    ("rg --files src", "list", "--files in src", None),
    ("grep -rn -- x src", "search", "x in src", None),
    ("git grep -n x -- src", "search", "x in src", None),
    ("find . -name '*.py'", "search", "*.py in .", None),
    ("find src -name '*.py' | xargs grep foo", "search", "*.py | xargs grep foo in src", None),
    ("find . -name '*.pyc' -delete", "shell", "find . -name '*.pyc' -delete", None),
    ("fd -e py x src", "search", "x in src", None),
    ("cd /w && ls -la src", "list", "/w/src", None),
    ("ls -R src", "list", "-R in src", None),
    ("tree -L 2", "list", "tree -L 2 in .", None),
    ("curl -s https://x.org/a | jq .", "fetch", "https://x.org/a", None),
    ("wget -q https://x.org/a -O f", "fetch", "https://x.org/a", None),
    ("curl localhost:8000/health", "fetch", "localhost:8000/health", None),
    ("curl -X GET https://x.org/a", "fetch", "https://x.org/a", None),
    ("curl -X POST https://x.org/a", "shell", "curl -X POST https://x.org/a", None),
    ("curl -XDELETE https://x.org/a", "shell", "curl -XDELETE https://x.org/a", None),
    ("curl --data-binary @a.json https://x.org/a", "shell", "curl --data-binary @a.json https://x.org/a", None),
    ("http POST x.org/a name=b", "shell", "http POST x.org/a name=b", None),
    ("wget -T 10 https://x.org/a", "fetch", "https://x.org/a", None),
    ("pytest -q 2>&1 | tail -5", "test", "pytest -q", None),
    ("cd x && python -m pytest tests", "test", "python -m pytest tests", None),
    ("FOO=1 timeout 60 uv run pytest", "test", "pytest", None),
    ("python manage.py test app", "test", "python manage.py test app", None),
    ("go test ./...", "test", "go test ./...", None),
    ("npm run test:unit", "test", "npm run test:unit", None),
    ("npx jest", "test", "jest", None),
    ("make -j4 test > log.txt", "test", "make -j4 test", None),
    ("cat > f.py <<'EOF'\nimport os\ncat other\nEOF\npython f.py", "write", "f.py", None),
    ("echo x > f", "write", "f", None),
    ("echo x >> d/f", "write", "d/f", None),
    ("cd d; echo x | tee f", "write", "d/f", None),
    ("python x.py > out.txt 2>&1", "write", "out.txt", None),
    ("python x.py > /dev/null 2>&1", "shell", "python x.py > /dev/null 2>&1", None),
    ("python x.py 2> err.txt", "shell", "python x.py 2> err.txt", None),
    ("sed -i 's/a/b/' f.py", "edit", "f.py", None),
    ("sed -i '' -e 's/a/b/' f.py", "edit", "f.py", None),
    ("sed -i.bak 's/a/b/' f.py && cat f.py", "edit", "f.py", None),
    ("perl -pi -e 's/a/b/' f.py", "edit", "f.py", None),
    ("patch -p1 < fix.patch", "edit", "patch -p1", None),
    (f"patch -p1 <<'EOF'\n{DIFF}EOF", "edit", "lib/x.c", None),
    (f"git apply <<'EOF'\n{DIFF}EOF", "edit", "lib/x.c", None),
    ("git apply fix.patch", "edit", "git apply fix.patch", None),
    ("git checkout -- f.py", "write", "f.py", None),
    ("cp a b", "write", "b", None),
    ("mv a d/b", "write", "d/b", None),
    ("rm -rf build", "write", "build", None),
    ("mkdir -p d && cp a d/b", "write", "d/b", None),
    ("touch f", "write", "f", None),
    ("rm -rf build && make", "shell", "rm -rf build && make", None),
    ("Set-Content -Path f.txt -Value x", "write", "f.txt", None),
    ("bash -lc 'cd /w && cat a.py'", "read", "/w/a.py", None),
    ("sudo bash -c \"sh -c 'cat a.py'\"", "read", "a.py", None),
    ("if [ -f a ]; then cat a; fi", "read", "a", None),
    ("for f in a b; do cat $f; done", "shell", "for f in a b; do cat $f; done", None),
    ("(cd /w; cat a)", "read", "/w/a", None),
    ("# look\ncat a.py # now", "read", "a.py", None),
    ("echo hi", "shell", "echo hi", None),
    ("git status", "shell", "git status", None),
    ("echo \"it's\" && cat 'a b.txt'", "read", "a b.txt", None),
    ("cat \\\n  a.py", "read", "a.py", None),
    ("cat $(git ls-files | head -1)", "shell", "cat $(git ls-files | head -1)", None),
    ("echo 'open", "shell", "echo 'open", None),
    ("open src/a.py 10", "read", "src/a.py", None),
    ("", "shell", None, None),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "args", "cls", "target", "span"), TOOLS)
def test_tools(tool, args, cls, target, span):
    assert resource(tool, args) == Resource(cls, target, span)


@pytest.mark.parametrize(("command", "cls", "target", "span"), COMMANDS)
def test_commands(command, cls, target, span):
    assert resource("Bash", {"command": command}) == Resource(cls, target, span)


def test_all_targets():
    assert targets("apply_patch", PATCH) == ("src/a.py", "src/b.py")
    assert targets("Bash", {"command": "cd /w && sed -i s/a/b/ x y"}) == ("/w/x", "/w/y")
    assert targets("multi_replace_string_in_file", {"replacements": [{"filePath": "a"}, {"filePath": "b"}]}) == (
        "a",
        "b",
    )
    assert targets("TodoWrite", {"todos": []}) == ()


def test_paths_below_the_sessions_directory_become_relative():
    for tool, args in (("Read", {"file_path": "/w/src/a.py"}), ("Bash", {"command": "cd /w/src && cat a.py"})):
        assert resource(tool, args, cwd="/w/").target == "src/a.py"
    assert resource("Read", {"file_path": "/other/a.py"}, cwd="/w").target == "/other/a.py"
    assert resource("LS", {"path": "/w"}, cwd="/w").target == "."


def test_rules_win_and_are_checked():
    ruled = with_rules({"grep": "retrieval", "mcp__crm__*": "act", "runsql": "shell"})
    assert ruled("Grep", {"pattern": "x"}).cls == "retrieval"
    assert ruled("mcp__crm__get_x", {"id": 1}).cls == "act"
    assert ruled("RunSQL", {"command": "cat a"}).cls == "read"
    assert ruled("Read", {"file_path": "a"}).cls == "read"
    with pytest.raises(ConfigError) as error:
        with_rules({"x": "retreival"})
    assert error.value.hint == "did you mean 'retrieval'?"


def test_what_classes_do():
    assert changes(resource("Edit", {"file_path": "a"}))
    assert not changes(resource("Bash", {"command": "python x.py"}))
    assert may_change(resource("Bash", {"command": "python x.py"}))
    assert not may_change(resource("Bash", {"command": "cd x && git diff | head && wc -l a"}))
    assert not may_change(resource("Read", {"file_path": "a"}))
    assert may_change(None)
    assert reads(resource("Grep", {"pattern": "a"}))
    assert not reads(None)


def test_only_search_knowledge_and_fetch_tools_give_retrieval():
    for tool, args, right in (
        ("WebSearch", {"query": "x"}, True),
        ("WebFetch", {"url": "https://x"}, True),
        ("get_order", {"id": 1}, True),
        ("Grep", {"pattern": "x"}, False),
        ("Read", {"file_path": "x"}, False),
        ("Bash", {"command": "curl https://x.org"}, False),
        ("browser_click", {"ref": 1}, False),
    ):
        assert is_retrieval(tool, resource(tool, args)) is right, tool
    assert not is_retrieval("x", None)
    assert is_plan("TodoWrite", resource("TodoWrite", {}))
    assert not is_plan("x", None)


def test_covers():
    def lines(low, high):
        return Resource("read", "a", (low, high))

    whole = Resource("read", "a")
    assert covers(whole, whole)
    assert covers(whole, lines(5, 9))
    assert not covers(lines(5, 9), whole)
    assert covers(lines(1, 100), lines(5, 9))
    assert covers(lines(5, -1), lines(9, -1))
    assert not covers(lines(5, 9), lines(9, -1))
    assert not covers(lines(-50, -1), lines(5, 9))
    assert not covers(Resource("read", "b"), whole)
    assert not covers(Resource("read", None), Resource("read", None))


def test_same_path():
    assert same_path("/w/src/a.py", "src/a.py")
    assert not same_path("/w/src/a.py", "rc/a.py")
    assert not same_path("a.py", "src/a.py")


def test_long_targets_are_cut_and_stay_distinct():
    one, other = (resource("Bash", {"command": f"python -c '{'x' * 5000}{end}'"}).target or "" for end in "ab")
    assert len(one) <= 300
    assert one != other


@pytest.mark.timed
def test_a_megabyte_is_quick():
    big = "x" * 1_000_000
    hostile = [
        f"echo '{big}",
        "'\"" * 500_000,
        "$(" * 500_000,
        "a <<EOF\n" * 100_000,
        "\\" * 1_000_000,
        "cat " + "a " * 500_000,
    ]
    started = time.process_time()
    for command in hostile:
        resource("Bash", {"command": command})
        resource("Bash", command)
        resource("Read", {"file_path": command})
        resource("apply_patch", f"*** Begin Patch\n*** Update File: a\n{command}")
        resource(command, {command: command})
    assert time.process_time() - started < 3


@pytest.mark.timed
def test_a_hundred_thousand_calls_are_quick():
    calls = [(tool, args) for tool, args, *_ in TOOLS] + [("Bash", {"command": command}) for command, *_ in COMMANDS]
    started = time.process_time()
    for _ in range(10):
        for tool, args in calls:
            resource(tool, args)
    assert time.process_time() - started < 100e-6 * 10 * len(calls)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
keys = st.sampled_from(
    ["path", "file_path", "command", "cmd", "url", "query", "pattern", "view_range", "offset", "limit", "patch"]
)
names = st.text() | st.sampled_from([tool for tool, *_ in TOOLS])


@settings(deadline=None)
@given(names, st.dictionaries(keys | st.text(), json_values, max_size=5) | st.text() | st.none())
def test_any_call_has_a_resource(tool, args):
    found = resource(tool, args, cwd="/w")
    assert found.cls in CLASSES
    assert found.target is None or len(found.target) <= 300
    may_change(found)
    covers(found, found)
    assert isinstance(targets(tool, args), tuple)


@settings(deadline=None)
@given(st.text(alphabet="abc '\"\\$`;&|<>()\n-/.{}#=123 catsedheil", max_size=80))
def test_any_command_has_a_resource(command):
    assert resource("Bash", {"command": command}).cls in CLASSES
    assert resource("shell", {"command": ["bash", "-lc", command]}).cls in CLASSES
    assert resource("shell", {"command": command.split()}).cls in CLASSES
