"""Where results go: standard output, or a file that is written whole or not at all."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ctxbudget.errors import OutputExists, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True, slots=True)
class Output:
    """A place to write to; None or ``-`` is standard output. Make it with ``open_output``, which checks it."""

    path: str | None

    @property
    def is_stdout(self) -> bool:
        """Whether it is standard output."""
        return self.path in {None, "-"}

    @contextmanager
    def writing(self) -> Iterator[BinaryIO]:
        """A stream of bytes. A file appears under its name when the block ends well, and not before."""
        try:
            if self.path is None or self.path == "-":
                with _standard_output() as stream:
                    yield stream
                return
            with _replacing(Path(self.path)) as stream:
                yield stream
        except OSError as error:
            place = self.path or "standard output"
            raise UsageError(f"cannot write {place}: {error.strerror or error}") from None


def open_output(path: str | None, *, force: bool = False, inputs: Iterable[str] = ()) -> Output:
    """The output, checked before any work is done.

    Raises OutputExists for a file that is there already and not to be replaced, UsageError where nothing can be
    written or the file is one of the ``inputs``.
    """
    if path is None or path == "-":
        return Output(None)
    file = Path(path)
    try:
        if "\0" in path:
            raise UsageError(f"cannot write {path}: no file can be called so")
        if file.is_dir():
            raise UsageError(f"cannot write {path}: it is a folder", hint="give a file name, as -o report.json")
        if file.is_file() and any(each != "-" and Path(each).exists() and file.samefile(each) for each in inputs):
            raise UsageError(f"cannot write {path}: it is the trace itself", hint="give another -o FILE")
        if file.is_file() and not force:
            raise OutputExists(path)
        if not file.parent.is_dir():
            raise UsageError(f"cannot write {path}: there is no folder {file.parent}", hint="make it first")
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot write {path}: {getattr(error, 'strerror', None) or error}") from None
    return Output(path)


@contextmanager
def _standard_output() -> Iterator[BinaryIO]:
    """Where the reader has gone (``| head``) the rest is dropped in silence. The stream is then turned to nowhere,
    so that the interpreter does not try again when it ends."""
    stream = sys.stdout.buffer
    try:
        yield stream
        stream.flush()
    except OSError as error:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise


@contextmanager
def _replacing(file: Path) -> Iterator[BinaryIO]:
    """Write beside the file, then take its place in one step. A device or a pipe is written straight."""
    target = file.resolve()
    if target.exists() and not target.is_file():
        with target.open("wb") as stream:
            yield stream
        return
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with draft.open("xb") as stream:
            yield stream
        draft.replace(target)
    except BaseException:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise
