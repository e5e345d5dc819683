"""What the ``result`` lines say was billed, against what the messages say.

``modelUsage`` has every model, sub-agents and helper calls included, and grows over the results of one process;
``usage`` is of the main loop and of one query (Claude Code 1.0 has it alone). Checked on two runs behind a gateway:
``modelUsage`` = ``usage`` + the usage of the messages that were not streamed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ctxbudget.providers.anthropic.usage import read_usage
from ctxbudget.trace import Billed, Usage, Warning

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ctxbudget.trace import Trace, Turn

Fields = dict[str, Any]


class Counts(NamedTuple):
    """Tokens of several calls: uncached, read from the cache, written to it, output."""

    input: int = 0
    read: int = 0
    write: int = 0
    output: int = 0

    def plus(self, other: Counts, sign: int = 1) -> Counts:
        """The sum, or with ``sign`` -1 the difference."""
        return Counts(*(own + sign * more for own, more in zip(self, other, strict=True)))


def windows(results: Iterable[Fields]) -> dict[str, int]:
    """The windows that the results name, in tokens, by model."""
    found: dict[str, int] = {}
    for result in results:
        for name, entry in _by_model(result).items():
            window = entry.get("contextWindow")
            if type(window) is int and window > 0:
                found[plain(name)] = window
    return found


def checked(trace: Trace, results: Sequence[Fields]) -> Trace:
    """The trace against the sums. What was billed and no message says is billed apart, with a warning: outputs behind
    placeholders, calls of helpers. Where the sums agree, the outputs of the messages are final."""
    billed: list[Billed] = []
    warnings: list[Warning] = []
    agreed: set[str] = set()
    totals, members = _model_totals(results), tuple(trace.family())
    if not totals:
        totals, members = _loop_totals(results, plain(trace.model or "")), (trace,)
    known = _known(call for member in members for call in member.billed)
    for name, total in totals.items():
        if not any(total):
            continue
        rest = total.plus(known.get(name, Counts()), -1)
        whom, model = name[:80] or "the model", name or None
        if min(rest) < 0:
            text = f"the messages of {whom} hold more tokens than the result's sum"
            warnings.append(Warning("usage-mismatch", text))
        elif any(rest):
            usage = Usage(rest.input, rest.read, rest.write, rest.output, None, sum(rest))
            billed.append(Billed(f"{trace.source.session or trace.source.path}:rest:{name}", model, usage))
            text = f"the result counts {sum(rest):,} tokens of {whom} that no message does; billed apart"
            warnings.append(Warning("usage-rest", text))
        else:
            agreed.add(name)
    turns = tuple(_final(turn) if turn.model and plain(turn.model) in agreed else turn for turn in trace.turns)
    return replace(trace, turns=turns, billed=(*trace.billed, *billed), warnings=(*trace.warnings, *warnings))


def _final(turn: Turn) -> Turn:
    return turn if turn.usage is None else replace(turn, usage=replace(turn.usage, final=True))


def _model_totals(results: Iterable[Fields]) -> dict[str, Counts]:
    """Totals by model. A counter that falls began again: another process went on with the session."""
    done: dict[str, Counts] = {}
    latest: dict[str, Counts] = {}
    for result in results:
        given: dict[str, Counts] = {}
        for own, entry in _by_model(result).items():
            given[plain(own)] = given.get(plain(own), Counts()).plus(_counts(entry))
        for name, now in given.items():
            before = latest.get(name, Counts())
            if min(now.plus(before, -1)) < 0:
                done[name] = done.get(name, Counts()).plus(before)
            latest[name] = now
    return {name: now.plus(done.get(name, Counts())) for name, now in latest.items()}


def _loop_totals(results: Iterable[Fields], model: str) -> dict[str, Counts]:
    total = Counts()
    for result in results:
        if usage := read_usage(result.get("usage")):
            total = total.plus(_of(usage))
    return {model: total} if any(total) else {}


def _by_model(result: Fields) -> dict[str, Fields]:
    given = result.get("modelUsage")
    return {name: entry for name, entry in given.items() if isinstance(entry, dict)} if isinstance(given, dict) else {}


def _counts(entry: Fields) -> Counts:
    usage = read_usage(
        {
            "input_tokens": entry.get("inputTokens"),
            "cache_read_input_tokens": entry.get("cacheReadInputTokens"),
            "cache_creation_input_tokens": entry.get("cacheCreationInputTokens"),
            "output_tokens": entry.get("outputTokens"),
        }
    )
    return _of(usage) if usage else Counts()


def _of(usage: Usage) -> Counts:
    return Counts(usage.input, usage.cache_read, usage.cache_write, usage.output)


def _known(calls: Iterable[Billed]) -> dict[str, Counts]:
    total: dict[str, Counts] = {}
    for call in {call.key: call for call in calls}.values():
        name = plain(call.model or "")
        total[name] = total.get(name, Counts()).plus(_of(call.usage))
    return total


def plain(model: str) -> str:
    """A model's name without the mark of its window: ``claude-sonnet-4-5[1m]``."""
    return model.partition("[")[0]
