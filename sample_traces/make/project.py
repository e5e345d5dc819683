"""The small projects that the stories work on.

A project is one Markdown file under ``projects/``: a heading with a path, then the file in a bare fence of four
backticks. Unpacked into a temporary folder it is a real project that runs; every path shown in a trace is
the one it pretends to live at (``/work/shop``), so the bytes do not depend on the machine.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
BUNDLED = re.compile(r"^## `([^`\n]+)`\n+````\w*\n(.*?)^````$", re.MULTILINE | re.DOTALL)
FRAME = re.compile(r'File "[^"\n]*"')
CARETS = re.compile(r"^[ \t]*[~^]+[ \t]*\n", re.MULTILINE)
SECONDS = re.compile(r"(Ran \d+ tests?) in [\d.]+s")


def bundle(name: str) -> dict[str, str]:
    """Return the files of a bundle by path, in the order in which it holds them."""
    text = (HERE / "projects" / f"{name}.md").read_text(encoding="utf-8")
    return dict(BUNDLED.findall(text))


@dataclass(frozen=True, slots=True)
class Workspace:
    """A project on disk at ``root`` that claims to be at ``home``; ``before`` is how its files began."""

    root: Path
    home: str
    before: dict[str, str] = field(default_factory=dict)

    def relative(self, path: str) -> str:
        """Turn a path of the story into one below the root."""
        inside = path.removeprefix(self.home).removeprefix("./").strip("/")
        return inside or "."

    def read(self, path: str) -> str:
        """Return the text of a file; FileNotFoundError where there is none."""
        return (self.root / self.relative(path)).read_bytes().decode("utf-8")

    def write(self, path: str, text: str) -> None:
        """Write a file with the line ends it was given."""
        target = self.root / self.relative(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode("utf-8"))

    def names(self, below: str = ".") -> list[str]:
        """Return the relative paths of all files under a folder, sorted."""
        start = self.root / self.relative(below)
        found = [start] if start.is_file() else start.rglob("*")
        return sorted(path.relative_to(self.root).as_posix() for path in found if path.is_file())

    def python(self, *arguments: str) -> tuple[str, int]:
        """Run Python in the project and return its output and exit code; nothing of this machine shows in it."""
        keep = {name: os.environ[name] for name in ("SYSTEMROOT", "TMP", "TEMP") if name in os.environ}
        fixed = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8", "LC_ALL": "C"}
        done = subprocess.run(
            [sys.executable, "-S", *arguments],
            cwd=self.root,
            env=keep | fixed | {"PYTHONPATH": str(self.root)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        return self.scrub(done.stdout.decode("utf-8").replace("\r\n", "\n")), done.returncode

    def scrub(self, text: str) -> str:
        """Take out what differs between machines and Python versions: paths, durations, marks under source lines."""
        text = FRAME.sub(lambda found: found[0].replace(str(self.root), self.home).replace("\\", "/"), text)
        text = CARETS.sub("", text.replace(str(self.root), self.home))
        return SECONDS.sub(r"\1 in 0.004s", text)

    def changed(self) -> list[str]:
        """Return the paths whose text is not what it was at the beginning."""
        now = set(self.names())
        return [path for path in sorted(now | set(self.before)) if self._now(path) != self.before.get(path, "")]

    def diff(self) -> str:
        """Return the change since the beginning as git prints it."""
        return "".join(self.diff_of(path) for path in self.changed())

    def diff_of(self, path: str) -> str:
        """Return the change of one file."""
        old, new = self.before.get(path, ""), self._now(path)
        head = f"diff --git a/{path} b/{path}\n"
        if not old:
            head += "new file mode 100644\n"
        head += f"index {blob(old)}..{blob(new)}" + (" 100644\n" if old else "\n")
        source = f"a/{path}" if old else "/dev/null"
        lines = difflib.unified_diff(old.splitlines(), new.splitlines(), source, f"b/{path}", lineterm="")
        return head + "".join(line + "\n" for line in lines)

    def _now(self, path: str) -> str:
        return self.read(path) if (self.root / path).is_file() else ""


def blob(text: str) -> str:
    """Return the short object name git gives to a file with this text; zeros for a file that is not there."""
    if not text:
        return "0" * 7
    data = text.encode("utf-8")
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()[:7]


@contextmanager
def workspace(name: str, home: str) -> Iterator[Workspace]:
    """Unpack a bundle for as long as a story works on it."""
    with tempfile.TemporaryDirectory() as folder:
        place = Workspace(Path(folder).resolve(), home)
        for path, text in bundle(name).items():
            place.write(path, text)
            place.before[path] = text
        yield place
