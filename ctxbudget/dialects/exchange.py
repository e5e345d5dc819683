"""A request and its response in anybody's words → one model call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxbudget.dialects.messages import chat
from ctxbudget.exchanges import Exchange, compact
from ctxbudget.trace import Kind

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable

    from ctxbudget.trace import Usage

SYSTEM = ("system", "developer")


def exchange(
    given: Any, answer: Any, tools: Iterable[Any], usage: Usage | None, skipped: Counter[str]
) -> Exchange | None:
    """The call; None, counted in ``skipped``, if there are neither messages nor counts.

    The Responses API echoes its instructions with the answer: they are the system text where the request has none.
    """
    asked, said = chat(given), chat(answer, "assistant")
    replies = [one for one in said if one.get("role") == "assistant"]
    if asked and asked[0].get("role") not in SYSTEM:
        asked = [*(one for one in said if one.get("role") in SYSTEM), *asked]
    if not asked and not replies and usage is None:
        skipped["model call without messages or counts, skipped"] += 1
        return None
    skipped["alternative answer, skipped"] += max(0, len(replies) - 1)
    return Exchange(
        asked,
        [(Kind.TOOL_DEFINITIONS, tool if isinstance(tool, str) else compact(tool)) for tool in tools],
        called=bool(replies) or usage is not None,
        reply=replies[0] if replies else None,
        usage=usage,
    )
