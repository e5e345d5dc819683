"""Answers kept by content, so that a replay can be repeated without asking again.

One file per answer, named by the SHA-256 of URL, model and messages; only its owner may read it. A file appears whole
or not at all, so two processes may share a folder; one that is damaged counts as not there.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import mkstemp
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxbudget.summaries.config import Config
    from ctxbudget.summaries.prompts import Messages

_LARGEST = 8 * 2**20
"""Bytes of a file that is read."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model answered, and its tokens as the endpoint counts them, None where it does not say."""

    text: str
    tokens_in: int | None = None
    tokens_out: int | None = None


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder of answers; None keeps nothing."""

    folder: Path | None

    def get(self, config: Config, messages: Messages) -> Answer | None:
        """The answer to the same messages from the same model at the same URL, or None."""
        file = self._file(config, messages)
        if file is None:
            return None
        try:
            with file.open("rb") as stream:
                data = json.loads(stream.read(_LARGEST))
            return _answer(data)
        except (OSError, ValueError, RecursionError):
            return None

    def put(self, config: Config, messages: Messages, answer: Answer) -> None:
        """Keep an answer. Raises OSError where it cannot be written; nothing is left behind then."""
        file = self._file(config, messages)
        if file is None:
            return
        handle, name = mkstemp(prefix=".", suffix=".part", dir=file.parent)  # mkstemp's files are 0600
        draft = Path(name)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(json.dumps(asdict(answer)).encode())
            draft.replace(file)
        except BaseException:
            with suppress(OSError):
                draft.unlink()
            raise

    def _file(self, config: Config, messages: Messages) -> Path | None:
        if self.folder is None:
            return None
        content = json.dumps([config.url, config.model, messages]).encode()
        return self.folder / f"{hashlib.sha256(content).hexdigest()}.json"


def _answer(data: object) -> Answer | None:
    """An answer that was kept, or None where the file holds something else."""
    if not isinstance(data, dict) or not isinstance(data.get("text"), str):
        return None
    counts = [data.get(name) for name in ("tokens_in", "tokens_out")]
    if any(one is not None and type(one) is not int for one in counts):
        return None
    return Answer(data["text"], *counts)
