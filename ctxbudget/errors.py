"""Every error ctxbudget raises on purpose.

    CtxbudgetError            exit code 2; a message that says what and where, and a hint that says what to do
    ├── UsageError            a flag or an argument that cannot be used
    │   ├── UnknownName       a name nobody has; the hint offers the nearest one
    │   └── OutputExists      the output is there already and --force was not given
    ├── ConfigError           a configuration, budget or strategy file with a mistake in it
    ├── TraceError            a file that cannot be read as a trace
    │   ├── UnknownFormat     no loader knows the file; the scores are in the hint
    │   ├── MalformedTrace    the loader that was asked for cannot read it
    │   └── EmptyTrace        nothing in it to measure
    ├── TokenizerError        the tokenizer asked for is not there
    ├── MissingExtra          an optional dependency is needed; the hint names the extra
    ├── StoreError            (ctxbudget.store) a store cannot be used, or does not hold what was asked for
    └── (ctxbudget.summaries)
        ├── SummaryError      one attempt at a summary failed; its ladder goes a step down
        └── EndpointError     the endpoint asked for summaries cannot be used

Only ``ctxbudget.cli.main`` catches them. Anything else that escapes is a bug of ours and keeps its traceback.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


class CtxbudgetError(Exception):
    """What went wrong (one line), what to do about it (``hint``, one line), and the exit code (2)."""

    exit_code = 2

    def __init__(self, message: str, *, hint: str = "") -> None:
        """Keep the message and the hint; both are shown to the user as they are."""
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[Any, ...]:
        """It crosses from one process to another whole, whatever its kind takes to be made."""
        return _unmade, (type(self), *self.args), self.__dict__


def _unmade(kind: type[CtxbudgetError], *arguments: Any) -> CtxbudgetError:
    return kind.__new__(kind, *arguments)


class UsageError(CtxbudgetError):
    """A flag or an argument that cannot be used."""


class UnknownName(UsageError):
    """A name that is not in a registry; the hint offers the nearest, or lists all when none is near."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        """``what`` is the singular of the thing named, as in ``unknown format 'codx'``."""
        names = sorted(known)
        begun = [one for one in names if name and one.lower().startswith(name.lower())]
        near = begun or get_close_matches(name, names, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names)}"
        super().__init__(f"unknown {what} {name!r}", hint=hint)


class OutputExists(UsageError):
    """The output path exists and would be overwritten."""

    def __init__(self, path: str) -> None:
        """``path`` as the user gave it."""
        super().__init__(f"{path} exists already", hint="give --force to overwrite it, or another -o FILE")


class ConfigError(CtxbudgetError):
    """A configuration, budget or strategy file with a mistake in it."""


class TraceError(CtxbudgetError):
    """A file that cannot be read as a trace."""


class UnknownFormat(TraceError):
    """No loader recognises the file; the hint shows how sure each was that came near."""

    def __init__(self, path: str, scores: dict[str, float]) -> None:
        """``scores`` maps a format to its sniffed confidence, 0 to 1."""
        near = sorted((name for name in scores if scores[name] > 0), key=lambda name: (-scores[name], name))
        shown = [f"{name} {scores[name]:.2f}" for name in near]
        shown += [f"0.00 for all {'others' if near else len(scores)}"] if len(near) < len(scores) else []
        super().__init__(
            f"{path}: not a format ctxbudget knows",
            hint=f"force one with --from FORMAT (scores: {', '.join(shown)}); see: ctxbudget list formats",
        )


class MalformedTrace(TraceError):
    """A file that the chosen loader cannot read."""


class EmptyTrace(TraceError):
    """A file with no usable record: nothing was measured, so nothing is reported."""


class TokenizerError(CtxbudgetError):
    """The tokenizer asked for is not available offline."""


class MissingExtra(CtxbudgetError):
    """An optional dependency is needed for what was asked."""

    def __init__(self, purpose: str, extra: str) -> None:
        """``extra`` is the name in ``pip install 'ctxbudget[extra]'``."""
        super().__init__(f"{purpose} needs an optional package", hint=f"pip install 'ctxbudget[{extra}]'")
