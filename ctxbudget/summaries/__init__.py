"""Summaries: a text in place of a span of the context, checked before it may stand there.

    asked = request(fragments, cap=4_000, count=view.tokens_of, pinned=facts, turn=view.turn)
    outcome = descend(Extractive(), asked, fail=0)
    outcome.summary.text, outcome.check.lost, outcome.sizes(asked, tail)

Three summarisers: ``Extractive`` (offline, the default), ``Recorded`` (what the recorded agent wrote), and ``model(…)``
(any OpenAI-compatible endpoint, an extra). ``descend`` takes the steps down from a full summary to a bare notice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.summaries.entities import Entity, entities_in, recall
from ctxbudget.summaries.extractive import Extractive
from ctxbudget.summaries.ladder import STEPS, Failure, Outcome, descend, notice
from ctxbudget.summaries.recorded import Recorded
from ctxbudget.summaries.spot_check import Check, accepted, check
from ctxbudget.summaries.summary import Refused, Request, Sizes, Summariser, Summary, SummaryError, request

if TYPE_CHECKING:
    from pathlib import Path

    from ctxbudget.summaries.config import Config

__all__ = [
    "STEPS", "Check", "Entity", "Extractive", "Failure", "Outcome", "Recorded", "Refused", "Request", "Sizes",
    "Summariser", "Summary", "SummaryError", "accepted", "check", "descend", "entities_in", "model", "notice", "recall",
    "request",
]  # fmt: skip


def model(config: Config, cache: Path | None = None) -> Summariser:
    """A summariser that asks the endpoint of ``config`` (see ``config.configured``).

    ``cache`` is the folder for answers, made where it is not there; None (``--no-cache``) keeps and reads none.
    Raises UsageError where the folder cannot be made.
    """
    from ctxbudget.summaries.cache import Cache  # noqa: PLC0415 - only where a model is asked
    from ctxbudget.summaries.config import cache_folder  # noqa: PLC0415
    from ctxbudget.summaries.endpoint import Endpoint  # noqa: PLC0415
    from ctxbudget.summaries.llm import Llm  # noqa: PLC0415

    return Llm(Endpoint(config), Cache(cache_folder(cache) if cache is not None else None))
