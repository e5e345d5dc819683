"""Traces made on purpose: who said, asked and got what, turn by turn, with the answers known beforehand."""

from __future__ import annotations

from ctxbudget.builder import TraceBuilder
from ctxbudget.trace import Kind


class Story:
    """Tells a trace. Every reply is one turn; its calls are given as (tool, arguments, result[, error])."""

    def __init__(self, *first):
        self.build = TraceBuilder("story.jsonl", "native")
        self.pieces = []
        self.build.message("user", 1)
        for text in first or ("Go on.",):
            self.build.add(Kind.USER, text)

    def user(self, text):
        self.build.message("user", 1)
        return self.build.add(Kind.USER, text)

    def reply(self, *calls, text=None):
        """One reply with its calls, then their results. Returns the call of each, and its result."""
        self.build.turn()
        self.build.message("assistant", 1)
        if text is not None:
            self.build.add(None, text)
        made = [self.build.call(tool, args) for tool, args, *_ in calls]
        self.build.message("user", 1)
        answers = [
            None if got[0] is None else self.build.result(got[0], call=call.call, error=len(got) > 1 and got[1])
            for call, (_, _, *got) in zip(made, calls, strict=True)
        ]
        return list(zip(made, answers, strict=True))

    def do(self, tool, args, result="ok", error=False):
        """A reply with one call."""
        return self.reply((tool, args, result, error))[0]

    def note(self, text):
        """Something that entered and that nobody asked for."""
        return self.build.add(Kind.RESULT, text)

    def end(self):
        return self.build.finish()


def numbered(*lines, start=1):
    """A file as Claude Code's Read shows it."""
    return "\n".join(f"{number:6}→{line}" for number, line in enumerate(lines, start))


def edit(path, old, new):
    return "Edit", {"file_path": path, "old_string": old, "new_string": new}


def read(path, **more):
    return "Read", {"file_path": path, **more}
