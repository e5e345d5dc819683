"""What a Copilot session was billed: the output of each call, the rest as sums of each run of the program."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ctxbudget.records.values import mapping, string, tokens
from ctxbudget.trace import Billed, Usage, Warning

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ctxbudget.loaders.copilot_cli.events import Log
    from ctxbudget.trace import Trace


def read_usage(raw: Any) -> Usage | None:
    """Input holds the cache, as in the chat API that Copilot speaks; older compactions say ``cachedInput``."""
    facts = mapping(raw)
    given, output = (tokens(facts.get(f"{name}Tokens")) or tokens(facts.get(name)) for name in ("input", "output"))
    read = tokens(facts.get("cacheReadTokens")) or tokens(facts.get("cachedInput"))
    write = tokens(facts.get("cacheWriteTokens"))
    if read + write <= given:
        given -= read + write
    total = given + read + write + output
    return Usage(given, read, write, output, tokens(facts.get("reasoningTokens")), total) if total else None


def with_sums(trace: Trace, log: Log) -> Trace:
    """The trace, with what only the sums of each run tell billed with the last call of each model in it."""
    sums = {}
    for event in log.events:
        if event.type == "session.shutdown":
            for model, metrics in mapping(event.data.get("modelMetrics")).items():
                if usage := read_usage(mapping(metrics).get("usage")):
                    sums[event.run, model] = usage
    own = [call for member in trace.family() for call in member.billed]
    known: dict[tuple[int, str], list[Usage]] = defaultdict(list)
    for call in own:
        if call.key in log.calls:
            known[log.calls[call.key]].append(call.usage)
    rests = {place: _rest(usage, known[place]) for place, usage in sums.items()}
    last = {log.calls[call.key]: call.key for call in own if call.purpose == "turn" and call.key in log.calls}
    extra = {last[place]: rests.pop(place) for place in [*rests] if place in last}
    begin = f"copilot:{trace.source.session}"
    left = [Billed(f"{begin}:run:{run}:{model}", model, rest) for (run, model), rest in rests.items() if rest.total]
    return replace(
        trace,
        billed=(*_with(trace.billed, extra), *left),
        children=tuple(replace(child, billed=_with(child.billed, extra)) for child in trace.children),
        warnings=(*trace.warnings, *_untold(own, log, {run for run, _ in sums})),
    )


def _with(calls: Iterable[Billed], extra: Mapping[str, Usage]) -> tuple[Billed, ...]:
    return tuple(
        replace(call, usage=_added(call.usage, extra[call.key])) if call.key in extra else call for call in calls
    )


def _rest(usage: Usage, known: list[Usage]) -> Usage:
    """A sum without what its calls have been billed already; never below nothing."""
    given, read, write, output = (
        max(0, getattr(usage, name) - sum(getattr(one, name) for one in known))
        for name in ("input", "cache_read", "cache_write", "output")
    )
    return Usage(given, read, write, output, usage.reasoning, given + read + write + output)


def _added(one: Usage, other: Usage) -> Usage:
    return Usage(
        one.input + other.input,
        one.cache_read + other.cache_read,
        one.cache_write + other.cache_write,
        one.output + other.output,
        other.reasoning,
        one.total + other.total,
    )


def _untold(calls: list[Billed], log: Log, told: set[int]) -> list[Warning]:
    lost = sum(call.key in log.calls and log.calls[call.key][0] not in told for call in calls)
    if not lost:
        return []
    text = f"{lost} call(s) without their input: the run they are of has no sums, it was killed or goes on"
    return [Warning("usage-missing", text)]


def key_of(data: dict[str, Any], session: str | None, line: int) -> str:
    """What names a call; small local servers number their replies from 1 again, so the session belongs to it."""
    told = [name for key in ("apiCallId", "messageId") if (name := string(data.get(key)))]
    return ":".join(["copilot", session or "", *(told or [str(line)])])
