"""What a plan says is done: an item that a later plan has completed is a sub-goal reached."""

from __future__ import annotations

import re

_STATUS = re.compile(r'"status"\s*:\s*"(\w+)"')
_TITLE = re.compile(r'"(?:content|step|title|text|task|description|subject)"\s*:\s*"((?:[^"\\]|\\.)*)"')
_BOX = re.compile(r"^\s*(?:[-*]|\d+[.)])?\s*\[[xX✓✔]\]\s*(.+)$", re.MULTILINE)
_DONE = frozenset({"completed", "complete", "done", "finished"})


def completed(text: str) -> frozenset[str]:
    """The items a plan marks as done, by title.

    Reads lists of objects with a title and a ``status`` (Claude Code TodoWrite: content; Codex update_plan: step;
    Gemini CLI write_todos: description) and ticked boxes of Markdown lists.
    """
    found = {title.strip() for title in _BOX.findall(text)}
    for piece in re.split(r"[{}]", text):
        status = _STATUS.search(piece)
        title = _TITLE.search(piece)
        if status is not None and title is not None and status[1].lower() in _DONE:
            found.add(title[1])
    return frozenset(found)
