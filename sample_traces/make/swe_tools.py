"""The window of SWE-agent on a repository: open, search, edit with a syntax check, everything else to the shell."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from script import Outcome
from shell import run

if TYPE_CHECKING:
    from project import Workspace

SHOWN = 100
"""Lines of a file that the window shows at once."""


@dataclass(slots=True)
class Window:
    """What the agent has open, and the repository behind it."""

    place: Workspace
    open: str = ""

    def do(self, action: str) -> Outcome:
        """Carry out one action."""
        name, _, rest = action.strip().partition(" ")
        known = {"open": self.show, "search_dir": self.search, "create": self.create, "edit": self.edit}
        more = {"rm": self.remove, "submit": self.submit}
        tool = (known | more).get(name)
        text = tool(rest) if tool else run(self.place, action.strip()).out.rstrip("\n")
        state = {"open_file": f"{self.place.home}/{self.open}" if self.open else "n/a"}
        return Outcome(text, state | {"working_dir": self.place.home})

    def show(self, path: str) -> str:
        """Open a file and show its first lines."""
        self.open = path
        lines = self.place.read(path).splitlines()
        numbered = [f"{number}:{line}" for number, line in enumerate(lines[:SHOWN], 1)]
        more = [f"({len(lines) - SHOWN} more lines below)"] if len(lines) > SHOWN else []
        return "\n".join([f"[File: {self.place.home}/{path} ({len(lines)} lines total)]", *numbered, *more])

    def search(self, rest: str) -> str:
        """Count the lines that hold a text, by file."""
        wanted = rest.strip('"')
        counts = {name: self.place.read(name).count(wanted) for name in self.place.names()}
        found = [f"{self.place.home}/{name} ({times} matches)" for name, times in counts.items() if times]
        head = f'Found {sum(counts.values())} matches for "{wanted}" in {self.place.home}:'
        return "\n".join([head, *found, f'End of matches for "{wanted}"'])

    def create(self, path: str) -> str:
        """Make an empty file and open it."""
        self.place.write(path, "\n")
        return self.show(path)

    def edit(self, rest: str) -> str:
        """Replace a span of lines, unless the file would no longer be Python."""
        first, last, text = re.fullmatch(r"(\d+):(\d+)\n(.*)\nend_of_edit", rest, re.DOTALL).groups()
        lines = self.place.read(self.open).splitlines()
        lines[int(first) - 1 : int(last)] = text.split("\n")
        made = "\n".join(lines) + "\n"
        try:
            compile(made, self.open, "exec")
        except SyntaxError as problem:
            return f"The edit was not applied, the file would have a syntax error in line {problem.lineno}.\nTry again."
        self.place.write(self.open, made)
        return f"{self.show(self.open)}\nFile updated. Check the lines around the change."

    def remove(self, path: str) -> str:
        """Delete a file."""
        (self.place.root / path).unlink()
        self.open = "" if self.open == path else self.open
        return ""

    def submit(self, _rest: str) -> str:
        """Give the change as a diff; the run ends with it."""
        return self.place.diff()
