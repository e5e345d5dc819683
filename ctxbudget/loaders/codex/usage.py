"""What ``token_count`` and ``token_usage_record`` say: counters that only grow, brought back to one usage per call.

Every call moves ``total_token_usage`` on. A count that repeats the total is the client refreshing its display: no
call, whatever its ``last_token_usage``. A total that falls is a counter that began again. Cached tokens are part of
the input, reasoning is part of the output (checked: total = input + output, total after = total before + last).

Keys. A fork copies its parent's counts into its own file with new timestamps, and counts on from there. The counter's
values stay, so a call is known by the root of its line of forks and the total behind it; both files give the same key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ctxbudget.providers.openai.counters import Counts, read_counts
from ctxbudget.records.values import tokens


def window(info: dict[str, Any]) -> int | None:
    """The model's limit, where a record names it."""
    return tokens(info.get("model_context_window")) or None


@dataclass(frozen=True, slots=True)
class Charge:
    """One billed call. ``response`` is its name, or else ``mark`` tells where the counters stood behind it.

    ``rest`` is what they moved beyond it; ``since`` what they held before the first count of a file.
    """

    counts: Counts
    mark: str = ""
    response: str | None = None
    rest: Counts | None = None
    since: Counts | None = None

    def key(self, root: str) -> str:
        """The name of the call in every file that holds it; ``root`` is the thread that the fork goes back to."""
        return self.response or f"codex:{root}:{self.mark}"


@dataclass(frozen=True, slots=True)
class Estimate:
    """The client's own estimate of a context it has just rebuilt: no call was made."""

    tokens: int


class Meter:
    """Reads the counts of one file in order; each gives a call, an estimate or nothing."""

    def __init__(self) -> None:
        self._total: Counts | None = None
        self._restarts = 0
        self._alone: Counts | None = None
        self._recorded: dict[Counts, int] = {}
        self._counted: Counts | None = None
        self._responses: set[str] = set()

    def count(self, info: Any) -> Charge | Estimate | None:
        """The ``info`` of a ``token_count`` event."""
        if not isinstance(info, dict):
            return None
        total = read_counts(info.get("total_token_usage"))
        last = read_counts(info.get("last_token_usage", info if "prompt" in info else None))
        if total is None:
            return self.count_alone(last)
        if total == self._total or total.empty:
            return Estimate(last.total) if last and last.total and not last.split else None
        before, self._total = self._total, total
        if not total.split and total.total == window(info):
            # the client gave up on a prompt over the window and shows it as full
            self._restarts += 1
            return None
        return self._charge(before, total, last)

    def count_alone(self, last: Counts | None) -> Charge | None:
        """A usage without a running total (0.50, and events that lost it)."""
        if last is None or last.empty or last == self._alone:
            return None
        self._alone = last
        self._restarts += 1
        return self._keep(Charge(last, self._name(last)))

    def record(self, payload: dict[str, Any]) -> Charge | None:
        """A ``token_usage_record``: one response, named. A ``token_count`` of the same call comes before or after."""
        counts, response = read_counts(payload.get("usage")), payload.get("response_id")
        if counts is None or counts.empty or not isinstance(response, str) or response in self._responses:
            return None
        self._responses.add(response)
        if counts == self._counted:
            self._counted = None
            return None
        self._recorded[counts] = self._recorded.get(counts, 0) + 1
        return Charge(counts, response=response)

    def _charge(self, before: Counts | None, total: Counts, last: Counts | None) -> Charge | None:
        name = self._name
        grown = total.minus(before) if before else None
        if grown is None:
            self._restarts += before is not None
            counts = last if last and total.minus(last) and not last.empty else total
            since = total.minus(counts)
            return self._keep(Charge(counts, name(total), since=since if since and not since.empty else None))
        rest = grown.minus(last) if last and not last.empty else None
        if last is None or rest is None or rest.empty:
            return self._keep(Charge(grown, name(total)))
        return self._keep(Charge(last, name(total), rest=rest))

    def _keep(self, charge: Charge) -> Charge | None:
        """The charge, unless a record has named the same call already."""
        if known := self._recorded.get(charge.counts, 0):
            self._recorded[charge.counts] = known - 1
            return None
        self._counted = charge.counts
        return charge

    def _name(self, total: Counts) -> str:
        parts = (self._restarts, total.input, total.cached, total.output, total.reasoning, total.total)
        return ":".join(map(str, parts))
