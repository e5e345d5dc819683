"""From the flags about summaries to who writes them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ctxbudget.errors import UnknownName, UsageError

if TYPE_CHECKING:
    from ctxbudget.summaries import Summariser

NAMES = ("extractive", "llm", "recorded")


def summariser(name: str, url: str | None, model: str | None, *, cached: bool) -> str | Summariser:
    """The summariser that the flags mean; the key of an endpoint comes from the environment alone.

    Raises UnknownName for a name that is none, UsageError for an endpoint that cannot be used or is not asked.
    """
    if name not in NAMES:
        raise UnknownName("summariser", name, NAMES)
    if name != "llm":
        if url or model:
            raise UsageError(f"--llm-url and --llm-model are not for {name} summaries", hint="add --summariser llm")
        return name
    from ctxbudget import summaries  # noqa: PLC0415 - only where a model is asked
    from ctxbudget.summaries.config import configured  # noqa: PLC0415

    return summaries.model(configured(url, model), answers() if cached else None)


def answers() -> Path:
    """The folder in which answers of models are kept, so that a replay can be repeated."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".cache") / "ctxbudget" / "summaries"
