"""Small traces about files: each step is one turn, a call with its answer. A token is a word."""

import json
from dataclasses import replace

from ctxbudget.trace import Compaction, Edit, Form, Fragment, Kind, Origin, Resource, Source, Trace, Turn


def words(text):
    return len(text.split())


def file(name, lines=12, version=1):
    """The lines of a file, each with its own words."""
    return [f"{name} line {number} says something of version {version}" for number in range(1, lines + 1)]


def numbered(lines, first=1):
    """As ``cat -n`` shows them."""
    return "".join(f"{number:6}\t{line}\n" for number, line in enumerate(lines, first))


def snippet(path, lines, first=1):
    """What an edit may answer: the lines round the change."""
    head = f"The file {path} has been edited. Here's the result of running `cat -n` on a snippet of {path}:\n"
    return head + numbered(lines, first)


class Story:
    """Writes a trace turn by turn. A call made in the reply of turn n enters, with its answer, at n + 1."""

    def __init__(self, *start):
        self.fragments = []
        self.turns = []
        self.recorded = []
        self.message = 0
        self.numbers = 0
        self._add(Kind.USER, "please look after these files", "user")
        for kind, text in start:
            self._add(kind, text, "system")
        self._close()

    # ── steps ──────────────────────────────────────────────────────────────────────────────────────────────────

    def read(self, path, lines, span=None, *, plain=False, **more):
        """A read; ``lines`` are what the file's lines are, from ``span`` on."""
        text = "\n".join(lines) + "\n" if plain else numbered(lines, span[0] if span else 1)
        given = {"file_path": path} | ({"offset": span[0], "limit": span[1] - span[0] + 1} if span else {})
        return self.step("Read", given, text, Resource("read", path, span), **more)

    def edit(self, path, old, new, answer=None, **more):
        """An edit of some text."""
        given = {"file_path": path, "old_string": old, "new_string": new}
        return self.step("Edit", given, answer or f"The file {path} has been updated.", Resource("edit", path), **more)

    def write(self, path, lines, **more):
        """A whole new file."""
        given = {"file_path": path, "content": "\n".join(lines)}
        return self.step("Write", given, f"File written to {path}.", Resource("write", path), **more)

    def run(self, command, output, *, cls="shell", **more):
        """A command."""
        return self.step("Bash", {"command": command}, output, Resource(cls, command), **more)

    def say(self, text, kind=Kind.ANSWER):
        """A reply without a call, and what the user says to it."""
        self._add(kind, text, "assistant" if kind is not Kind.USER else "user")
        self._close()

    def step(
        self, tool, given, answer, resource, *, error=False, pinned=False, with_last=False, thought="", kind=Kind.RESULT
    ):
        """A call and its answer. ``with_last`` makes it a part of the reply before: a parallel call."""
        if with_last:
            self.turns.pop()
        call = f"c{self.numbers}"
        self.numbers += 1
        unit = f"u{len(self.turns)}"
        if thought:
            self._add(Kind.REASONING, thought, "assistant")
        shared = {"call": call, "tool": tool, "resource": resource, "unit": unit}
        self._add(Kind.CALL, f"{tool} {json.dumps(given)}", "assistant", **shared)
        if with_last:
            self._beside_the_others()
        result = self._add(kind, answer, "tool", error=error, pinned=pinned, **shared)
        self._close()
        return result.id

    def _beside_the_others(self):
        """The call stands behind the other calls of its reply, before all results."""
        one = self.fragments.pop()
        at = max(place for place, other in enumerate(self.fragments) if other.asks and other.turn == one.turn)
        self.fragments.insert(at + 1, replace(one, message=self.fragments[at].message))

    def unanswered(self):
        """The last call got no answer."""
        del self.fragments[-1]
        last = self.turns.pop()
        self.turns.append(last.moved(last.start, len(self.fragments)))

    def compact(self, *ids):
        """The recorded agent drops these before the turn that was written last."""
        summary = Fragment(
            f"s{len(self.recorded)}",
            Kind.SUMMARY,
            "what was",
            2,
            2,
            len(self.turns),
            "s",
            -1,
            "user",
            Origin("story", 0),
            form=Form.SUMMARY,
        )
        self.recorded.append(Compaction(len(self.turns), Edit("recorded", ids, (summary,), Form.SUMMARY), "auto"))

    def wait(self, turns):
        """Turns in which nothing is looked up."""
        for number in range(turns):
            self.say(f"thinking aloud about nothing much, {number}")

    # ── the trace ──────────────────────────────────────────────────────────────────────────────────────────────

    def trace(self):
        return Trace(Source("story", "story"), tuple(self.fragments), tuple(self.turns), recorded=tuple(self.recorded))

    def _add(self, kind, text, role, *, unit=None, **more):
        turn, self.message = len(self.turns) + 1, self.message + 1
        name = f"t{turn}.{len(self.fragments)}"
        size = words(text)
        line = len(self.fragments) + 1
        one = Fragment(
            name, kind, text, size, size, turn, unit or name, self.message, role, Origin("story", line), **more
        )
        self.fragments.append(one)
        return one

    def _close(self):
        start = self.turns[-1].stop if self.turns else 0
        self.turns.append(Turn(len(self.turns) + 1, start, len(self.fragments)))
