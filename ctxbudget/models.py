"""What is known of a model (window, prices), and which window really applied to a trace."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.trace import Trace

ASSUMED = 200_000
"""What ``analyze`` measures against where nothing tells the window; it says so, and ``check`` refuses it."""

HARNESS_WINDOWS = {"claude-code": (200_000, 1_000_000), "codex": (258_400,)}
"""The limits a harness works with, whatever the model lists, smallest first: Claude Code offers 1M only as a ``[1m]``
variant of the model, which its sessions do not record, so a larger prompt proves it; Codex uses 95 % of 272,000 for
the gpt-5 family (seen as ``model_context_window`` in rollouts)."""

COMPACTS_BEFORE = {"claude-code": 33_000}
"""An automatic compaction fires this far below the window: Claude Code keeps 20,000 for the reply and 13,000 as
buffer (reference: strategies, Claude Code 2.x)."""

SIZES = (64_000, 128_000, 200_000, 258_400, 272_000, 400_000, 500_000, 1_000_000, 2_000_000)
"""Windows that are sold; used only where a trace proves that a smaller one cannot be right."""


@dataclass(frozen=True, slots=True)
class Window:
    """A limit in tokens and the rule that gave it. ``known`` is False for an assumption."""

    tokens: int
    rule: str
    known: bool = True


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens: uncached input, cache read, cache write, output; None where not listed."""

    input: float | None
    cache_read: float | None
    cache_write: float | None
    output: float | None

    @property
    def rates(self) -> tuple[float | None, ...]:
        """The four, in that order."""
        return self.input, self.cache_read, self.cache_write, self.output


@dataclass(frozen=True, slots=True)
class Listed:
    """A model of the price list."""

    provider: str
    name: str
    window: int | None
    price: Price


def window_of(trace: Trace, *, flag: int | None = None, config: int | None = None) -> Window:
    """The window that applied to a trace, by the first rule that gives one.

    The order: flag, configuration, what the trace records, what it proves (an automatic compaction, the largest
    prompt), the harness's own default, the model's list value, an assumption.
    """
    if flag is not None:
        return Window(flag, "--window")
    if config is not None:
        return Window(config, "configuration")
    proven = largest_prompt(trace)
    for window in _rules(trace):
        if window.tokens >= proven:
            return window
    larger = next((size for size in SIZES if size >= proven), None)
    if proven > ASSUMED and larger is not None:
        return Window(larger, f"assumed: a prompt of {proven:,} tokens went through", known=False)
    return Window(max(ASSUMED, proven), "assumed: nothing tells the window", known=False)


def _rules(trace: Trace) -> Iterator[Window]:
    agent = trace.source.agent or ""
    if trace.window:
        yield Window(trace.window, "recorded in the trace")
    yield from _proven_by_compaction(trace, agent)
    for number, size in enumerate(HARNESS_WINDOWS.get(agent, ())):
        yield Window(size, f"{agent} default" if number == 0 else f"{agent} variant: larger prompts went through")
    listed = list_window(trace.model)
    if listed:
        yield Window(listed, f"list value of {trace.model}")


def _proven_by_compaction(trace: Trace, agent: str) -> Iterator[Window]:
    margin = COMPACTS_BEFORE.get(agent)
    if margin is None:
        return
    for compaction in trace.recorded:
        pre = compaction.pre_tokens
        if compaction.trigger != "auto" or not pre:
            continue
        near = [size for size in SIZES if 0.85 * (size - margin) <= pre <= size]
        if near:
            size = min(near, key=lambda size: abs(size - margin - pre))
            yield Window(size, f"automatic compaction at {pre:,} tokens")


def largest_prompt(trace: Trace) -> int:
    """The largest prompt the provider accepted: a lower bound of the window; 0 where none was reported."""
    return max((turn.reported or 0 for turn in trace.turns), default=0)


def list_window(model: str | None) -> int | None:
    """The context window that the model's list entry names, or None."""
    info = _info(model)
    return info.context_window if info is not None else None


def price_of(model: str | None) -> Price | None:
    """List prices of a model, or None where it is not listed. Tiered prices give their base rate, and of prices
    that changed over time the newest counts."""
    info = _info(model)
    return None if info is None else _price(info)


def listed() -> Iterator[Listed]:
    """Every model of the price list, by provider."""
    from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415 - takes a tenth of a second

    for provider in get_snapshot().providers:
        for info in provider.models:
            yield Listed(provider.id, info.id, info.context_window, _price(info))


def _price(info: Any) -> Price:
    listed = info.prices[-1].prices if isinstance(info.prices, list) else info.prices
    names = ("input_mtok", "cache_read_mtok", "cache_write_mtok", "output_mtok")
    return Price(*(_base(getattr(listed, name, None)) for name in names))


def _base(rate: Any) -> float | None:
    if rate is None:
        return None
    return float(getattr(rate, "base", rate))


@cache
def _info(model: str | None) -> Any:
    """The list entry of a model; genai-prices takes a tenth of a second to import, so it waits until here."""
    if not model:
        return None
    from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415

    for name in dict.fromkeys((model, model.rsplit("/", 1)[-1], model.split("[", 1)[0])):
        try:
            return get_snapshot().find_provider_model(name, None, None, None)[1]
        except LookupError:
            continue
    return None
