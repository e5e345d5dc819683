"""The tools of Claude Code, as far as the stories use them: really carried out, answered in its words."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any

from script import Outcome
from shell import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from project import Workspace


@dataclass(frozen=True, slots=True)
class ClaudeTools:
    """The tools over one workspace, by name under ``table``."""

    place: Workspace
    todos: list[dict[str, str]] = field(default_factory=list)

    def table(self) -> dict[str, Callable[..., Outcome]]:
        """Return the tools by the name that a call gives."""
        tools = (self.read, self.write, self.edit, self.grep, self.glob, self.bash)
        return {tool.__name__.title(): tool for tool in tools} | {"TodoWrite": self.todo}

    def read(self, file_path: str, offset: int = 1, limit: int = 2000) -> Outcome:
        """Give the lines of a file with their numbers."""
        lines = self.place.read(file_path).splitlines()
        shown = lines[offset - 1 : offset - 1 + limit]
        text = "\n".join(f"{number:>6}→{line}" for number, line in enumerate(shown, offset))
        file = {"filePath": file_path, "content": "\n".join(shown), "numLines": len(shown)}
        return Outcome(text, {"type": "text", "file": file | {"startLine": offset, "totalLines": len(lines)}})

    def write(self, file_path: str, content: str) -> Outcome:
        """Write a whole file."""
        self.place.write(file_path, content)
        display = {"type": "create", "filePath": file_path, "content": content, "structuredPatch": []}
        return Outcome(f"File created successfully at: {file_path}", display | {"originalFile": None})

    def edit(self, file_path: str, old_string: str, new_string: str, *, replace_all: bool = False) -> Outcome:
        """Replace a text that stands in the file, once or everywhere."""
        before = self.place.read(file_path)
        if old_string not in before:
            problem = f"String to replace not found in file.\nString: {old_string}"
            return Outcome(f"<tool_use_error>{problem}</tool_use_error>", f"Error: {problem}", error=True)
        after = before.replace(old_string, new_string, -1 if replace_all else 1)
        self.place.write(file_path, after)
        display = {
            "filePath": file_path,
            "oldString": old_string,
            "newString": new_string,
            "originalFile": before,
            "structuredPatch": hunks(before, after),
            "userModified": False,
            "replaceAll": replace_all,
        }
        return Outcome(f"The file {file_path} has been updated successfully.", display)

    def grep(self, pattern: str, path: str = ".", glob: str = "*", **_flags: object) -> Outcome:
        """Search the files below a path; lines with file and number."""
        found = []
        for name in self.place.names(path):
            lines = self.place.read(name).splitlines() if fnmatch(name.rpartition("/")[2], glob) else []
            found += [f"{name}:{n}:{line}" for n, line in enumerate(lines, 1) if re.search(pattern, line)]
        text = "\n".join(found) or "No matches found"
        display = {"mode": "content", "numFiles": 0, "filenames": [], "content": text, "numLines": len(found)}
        return Outcome(text, display)

    def glob(self, pattern: str) -> Outcome:
        """List the files whose name matches, as absolute paths."""
        wanted = pattern.rpartition("/")[2]
        names = [name for name in self.place.names() if fnmatch(name.rpartition("/")[2], wanted)]
        paths = [f"{self.place.home}/{name}" for name in names]
        display = {"filenames": paths, "durationMs": 14, "numFiles": len(paths), "truncated": False}
        return Outcome("\n".join(paths) or "No files found", display)

    def bash(self, command: str, description: str = "", **_options: object) -> Outcome:
        """Run a command line; a failure is told by its exit code."""
        del description  # for the reader of the session only
        ran = run(self.place, command)
        text = ran.out.rstrip("\n")
        if ran.code:
            return Outcome(f"Exit code {ran.code}\n{text}", f"Error: Exit code {ran.code}\n{text}", error=True)
        display = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False}
        return Outcome(text or "(Bash completed with no output)", display)

    def todo(self, todos: list[dict[str, str]]) -> Outcome:
        """Take a new list of to-dos."""
        before = list(self.todos)
        self.todos[:] = todos
        return Outcome("Todos have been modified successfully.", {"oldTodos": before, "newTodos": todos})


def hunks(before: str, after: str) -> list[dict[str, Any]]:
    """Return a change the way the terminal draws it: hunks with three lines around them."""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm=""))[2:]
    made: list[dict[str, Any]] = []
    for line in lines:
        head = re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", line)
        if head:
            names = ("oldStart", "oldLines", "newStart", "newLines")
            made.append({name: int(n or 1) for name, n in zip(names, head.groups(), strict=True)} | {"lines": []})
        else:
            made[-1]["lines"].append(line)
    return made
