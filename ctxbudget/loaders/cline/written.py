"""What Cline writes as text: calls in tags, results behind a heading, the tags around the user's words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ctxbudget import injected
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

TOOLS = (
    "access_mcp_resource", "apply_diff", "ask_followup_question", "attempt_completion", "browser_action",
    "codebase_search", "condense", "execute_command", "fetch_instructions", "insert_content",
    "list_code_definition_names", "list_files", "load_mcp_documentation", "new_task", "plan_mode_respond",
    "read_file", "replace_in_file", "search_and_replace", "search_files", "switch_mode", "update_todo_list",
    "use_mcp_tool", "web_fetch", "write_to_file",
)  # fmt: skip
"""Tools whose calls are tags (Cline and Roo 3); what is in them is not looked at for further calls."""

HEADING = re.compile(r"\[(?P<tool>\w{1,60})(?: for [^\n]{0,2000}?)?\] Result:")
"""How the result of a call begins."""

_CALL = re.compile(rf"<({'|'.join(TOOLS)})>")
_ARGUMENT = re.compile(r"<(\w{1,60})>")
_TAG = re.compile(
    r"<(task|feedback|user_message|answer|environment_details|file_content|folder_content|explicit_instructions)"
    r"(?:\s[^<>\n]{0,500})?>"
)
_KINDS = {
    "task": Kind.USER,
    "feedback": Kind.USER,
    "user_message": Kind.USER,
    "answer": Kind.USER,
    "file_content": Kind.RESULT,
    "folder_content": Kind.RESULT,
}
_NOTES = (
    "[ERROR] ",
    "[TASK RESUMPTION]",
    "[NOTE] ",
    "# task_progress",
    "# TODO LIST",
    "# Todo list",
    "The user denied",
)
"""First words of texts that the client writes itself."""
_ENDS = ("<environment_details>", "<feedback>", "<user_message>")
"""What stands behind a result in the same text."""


def calls(text: str) -> Iterator[tuple[str, str | None, dict[str, str]]]:
    """A reply, cut where calls begin and end: the text, and the tool and its arguments where it is a call."""
    start = 0
    unclosed: set[str] = set()
    for found in _CALL.finditer(text):
        tool, closing = found[1], f"</{found[1]}>"
        if found.start() < start or tool in unclosed:
            continue
        end = text.find(closing, found.end())
        if end < 0:
            unclosed.add(tool)
            continue
        if text[start : found.start()].strip():
            yield text[start : found.start()], None, {}
        start = end + len(closing)
        yield text[found.start() : start], tool, _arguments(text[found.end() : end])
    if text[start:].strip():
        yield text[start:], None, {}


def _arguments(body: str) -> dict[str, str]:
    found: dict[str, str] = {}
    unclosed: set[str] = set()
    at = 0
    while opening := _ARGUMENT.search(body, at):
        name, at = opening[1], opening.end()
        closing = -1 if name in unclosed else body.find(f"</{name}>", at)
        if closing < 0:
            unclosed.add(name)
            continue
        found[name] = body[at:closing].strip("\n")
        at = closing
    return found


def results(text: str) -> Iterator[tuple[bool, str]]:
    """A user text, cut where results begin: whether it is one, and the text; the client's notes end a result."""
    at = [found.start() for found in HEADING.finditer(text) if found.start() == 0 or text[found.start() - 1] == "\n"]
    first = at[0] if at else len(text)
    if text[:first]:
        yield False, text[:first]
    for start, end in zip(at, [*at[1:], len(text)], strict=False):
        stop = min(found if (found := text.find(tag, start, end)) >= 0 else end for tag in _ENDS)
        yield True, text[start:stop]
        if stop < end:
            yield False, text[stop:end]


def split(text: str) -> Iterator[tuple[Kind, str]]:
    """A user text by whose words they are; every character lands in one piece."""
    at = 0
    unclosed: set[str] = set()
    for found in _TAG.finditer(text):
        tag, closing = found[1], f"</{found[1]}>"
        if found.start() < at or tag in unclosed:
            continue
        end = text.find(closing, found.end())
        if end < 0:
            unclosed.add(tag)
            continue
        yield from _plain(text[at : found.start()])
        at = end + len(closing)
        yield _KINDS.get(tag, Kind.INJECTED), text[found.start() : at]
    yield from _plain(text[at:])


def _plain(text: str) -> Iterator[tuple[Kind, str]]:
    if not text:
        return
    if not text.strip() or text.lstrip().startswith(_NOTES):
        yield Kind.INJECTED, text
    else:
        yield from injected.split(text)
