"""A request of OpenAI's Chat Completions API that holds the whole conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.exports import whole
from ctxbudget.targets import Converted, unheld

if TYPE_CHECKING:
    from ctxbudget.trace import Trace


def write(trace: Trace) -> Converted:
    """Everything said, in order, as messages of one request."""
    made = whole(trace, api="openai")
    return Converted(made.to_json(), (*unheld(trace), *made.notes))
