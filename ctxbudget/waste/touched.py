"""Whether a copy shows lines that an edit changed.

Where the edit says what it replaced and none of that stands in a copy, the copy shows other lines of the file and is
still true, though its line numbers may be off by now. An edit that does not say (a line range, a pattern, a new file)
is taken to have changed every line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.evidence.edits import needles, parts
from ctxbudget.resources import same_path

if TYPE_CHECKING:
    from ctxbudget.evidence.actions import Action
    from ctxbudget.waste.contents import Copy


class Touched:
    """What one successful edit replaced, asked about one copy after the other; read once there is a copy at all."""

    def __init__(self, done: Action) -> None:
        """``done`` is the call with its answer."""
        self._done = done
        self._replaced: dict[str, tuple[str, ...] | None] = {}

    def __call__(self, copy: Copy, file: str) -> bool:
        """Whether a copy of ``file`` shows any of it."""
        if file not in self._replaced:
            self._replaced[file] = self._lines(file)
        lines = self._replaced[file]
        return lines is None or any(line in copy.fragment.text for line in lines)

    def _lines(self, file: str) -> tuple[str, ...] | None:
        """The lines replaced in a file; None where they are not known."""
        here = [part for part in parts(self._done) if part.file is None or same_path(part.file, file)]
        told = [needles(part.old) for part in here]
        return tuple(line for lines in told for line in lines) if told and all(told) else None
