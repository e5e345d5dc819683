"""What was found out about one call, before it becomes a ``Resource``."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

from ctxbudget.resources import classes

LONGEST = 300
"""Characters of a target. A longer one (a script, a prompt) is cut and keeps a hash, so that it stays an identity."""


@dataclass(frozen=True, slots=True)
class Found:
    """A class, the files or URLs named, the lines read, and a label: a query, a command, a description."""

    cls: str
    names: tuple[str, ...] = ()
    span: tuple[int, int] | None = None
    label: str | None = None
    title: str | None = None
    """The whole target, where label and names do not make it."""
    weak: bool = False
    """Housekeeping in a script (``mkdir``, ``rm``): it names the script only where nothing else does."""

    @property
    def target(self) -> str | None:
        """The identity of what the call works on. A call that changes several files is known by the first."""
        if self.title:
            return bounded(self.title)
        if self.cls in classes.CHANGING and self.names:
            return bounded(self.names[0])
        parts = [self.label] if self.label else []
        if self.names:
            parts.append(" ".join(self.names))
        return bounded(" in ".join(parts)) if parts else None


def bounded(text: str) -> str:
    """``text`` with its blanks collapsed, at most ``LONGEST`` characters, cut ones with a hash of the whole."""
    if len(text) > LONGEST:
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
        text = f"{text[: LONGEST - 10]} #{digest}"
    return " ".join(text.split())
