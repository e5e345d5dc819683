"""A trace, a strategy, a window and the user's facts, checked and ready to be replayed or exported."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ctxbudget import constraints, loaders, models, sources
from ctxbudget.config import Settings
from ctxbudget.config.budget import Budget
from ctxbudget.config.driven import driven
from ctxbudget.errors import UnknownName, UsageError
from ctxbudget.passes.summarize import Summarising
from ctxbudget.replay import replay, view_at
from ctxbudget.store import Store
from ctxbudget.strategy.naming import changed, find
from ctxbudget.summaries import Extractive, Recorded
from ctxbudget.survival import Finder, follow, sought
from ctxbudget.tokens import counter
from ctxbudget.trace import Trace
from ctxbudget.trace import Warning as TraceWarning
from ctxbudget.view.pins import Pins

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ctxbudget.constraints import Fact
    from ctxbudget.layers import Scheme
    from ctxbudget.models import Window
    from ctxbudget.replay import Run
    from ctxbudget.strategy import Strategy
    from ctxbudget.summaries import Summariser
    from ctxbudget.survival import Fate
    from ctxbudget.trace import Fragment
    from ctxbudget.view import View


DRIVEN = "Here its thresholds, tail and pins are those of the project's budget."


@dataclass(frozen=True, slots=True)
class Prepared:
    """Everything a replay needs. Make it with ``prepare``."""

    trace: Trace
    strategy: Strategy
    window: Window
    reserve: int
    scheme: Scheme
    facts: tuple[Fact, ...]
    finder: Finder
    """Finds the facts, then the constraints of the trace."""
    summariser: str | Summariser = "extractive"
    """Who writes summaries: ``extractive``, ``recorded``, or one of ``summaries.model``."""
    fail_summary: int = 0
    """So many steps of the ladder fail at every firing."""
    store: Store | None = None
    """Where passes put what they take out of the context whole; without one the recorded log holds it."""
    settings: Settings = field(default_factory=Settings)

    def run(self) -> Run:
        """The run: every turn, edit and life."""
        return replay(
            self.trace, self.strategy, window=self.window.tokens, count=self._count, reserve=self.reserve,
            scheme=self.scheme, must_keep=self._pinning, aids=self._aids,
        )  # fmt: skip

    def view(self, turn: int) -> View:
        """What turn ``turn`` would be sent. Raises UsageError where the trace has no such turn."""
        return view_at(
            self.trace, self.strategy, turn, window=self.window.tokens, count=self._count, reserve=self.reserve,
            scheme=self.scheme, must_keep=self._pinning, aids=self._aids,
        )  # fmt: skip

    def fates(self, run: Run) -> list[Fate]:
        """What became of each sentence that ``finder`` knows."""
        return follow(self.trace, run, self.finder)

    def unsaid(self, fates: Iterable[Fate]) -> Iterator[TraceWarning]:
        """A warning for each fact that nothing in the trace holds: there is nothing to keep."""
        for fact, fate in zip(self.facts, fates, strict=False):
            if fate.said is None:
                yield TraceWarning("must-keep-unseen", f"no prompt of this trace holds the must-keep fact {fact.raw!r}")

    def keeps(self, fragment: Fragment) -> bool:
        """Whether a fragment holds one of the facts, which come first among what is sought."""
        found = self.finder(fragment)
        return bool(found) and found[0] < len(self.facts)

    def pinned(self, fragment: Fragment) -> bool:
        """Whether trace, strategy or user want it whole; the fixed overhead, which always is, aside."""
        return Pins(self.strategy.pin, self._pinning, self.scheme).holds(fragment)

    def under(self, strategy: Strategy, window: Window | None = None) -> Prepared:
        """The same trace under another strategy, in another window if one is given.

        Raises UsageError where the reserve leaves nothing of it.
        """
        limit = window or self.window
        scheme = _holding(strategy, self.scheme, self.settings)
        reserve = _kept(self.reserve, limit.tokens)
        return replace(self, strategy=strategy, window=limit, reserve=reserve, scheme=scheme)

    def child(self, trace: Trace) -> Prepared:
        """The same for a sub-agent, under its own window."""
        finder = Finder(sought(trace, self.facts))
        window = models.window_of(trace)
        reserve = self.reserve if self.reserve < window.tokens else 0
        return replace(self, trace=trace, window=window, reserve=reserve, finder=finder)

    @property
    def budget(self) -> Budget:
        """The project's budget for this trace's file."""
        return self.settings.budget_for(self.trace.source.path)

    @property
    def _pinning(self) -> Callable[[Fragment], bool] | None:
        return self.keeps if self.facts else None

    @property
    def _aids(self) -> tuple[object, ...]:
        told = Summarising(_writer(self.summariser, self.trace), self.fail_summary, self.facts)
        return (told,) if self.store is None else (told, self.store)

    def _count(self, text: str) -> int:
        return counter(self.trace.encoding).count(text)


def prepare(
    path_or_trace: str | Path | Trace,
    strategy: str | Strategy,
    *,
    window: int | None = None,
    reserve: int = 0,
    scheme: str | None = None,
    options: Iterable[str] = (),
    must_keep: Sequence[str] = (),
    must_keep_files: Iterable[str | Path] = (),
    model: str | None = None,
    format_name: str | None = None,
    select: str | None = None,
    calibrate: bool = True,
    settings: Settings | None = None,
    anywhere: bool = False,
    summariser: str | Summariser = "extractive",
    fail_summary: int = 0,
    store: Store | str | Path | None = None,
) -> Prepared:
    """A trace (its path, ``file#3``, ``-``, or itself) under a strategy: a name, ``a+b``, or a Strategy.

    ``window`` and ``reserve`` are tokens; ``options`` are texts like ``sliding-window.keep=10``; ``must_keep`` are
    facts that pin what holds them, as text or ``/pattern/``; ``settings`` are a project's own, below every argument:
    their budget drives ``priority``, and its facts are kept too. With ``anywhere`` a strategy may be a file or a dotted
    path; ``summariser`` writes summaries (``extractive``, ``recorded``, or one made by ``summaries.model``), and
    ``fail_summary`` makes so many of its steps fail; ``store`` takes what passes move out of the context whole, as a
    Store or a folder. Raises UsageError for what cannot be used, StoreError for a folder that cannot, TraceError for a
    file that cannot be read.
    """
    settings = settings or Settings()
    options = tuple(options)
    facts = constraints.must_keep(must_keep, must_keep_files)
    chosen = as_budgeted(strategy, Budget(), options, anywhere=anywhere)  # a mistake is told before the trace is read
    if isinstance(path_or_trace, Trace):
        trace = path_or_trace
    else:
        how = loaders.Options(format_name, settings.tool_classes, calibrate=calibrate, model=model)
        trace = sources.single(str(path_or_trace), how, select)
    budget = settings.budget_for(trace.source.path)
    chosen = as_budgeted(strategy, budget, options, anywhere=anywhere)
    facts = tuple({fact.raw: fact for fact in (*facts, *constraints.must_keep(budget.must_keep or ()))}.values())
    limit = models.window_of(trace, flag=window, config=settings.window)
    scheme_held = _holding(chosen, settings.laid_out(scheme), settings)
    kept = _kept(reserve or settings.reserve or 0, limit.tokens)
    finder = Finder(sought(trace, facts))
    _writer(summariser, trace)
    kept_in = Store(Path(store)) if isinstance(store, str | Path) else store
    return Prepared(
        trace, chosen, limit, kept, scheme_held, facts, finder, summariser, fail_summary, kept_in, settings
    )  # fmt: skip


def as_budgeted(
    strategy: str | Strategy, budget: Budget, options: Iterable[str] = (), *, anywhere: bool = False
) -> Strategy:
    """The strategy of a name as a budget drives it, what ``options`` set on top. A Strategy is taken as it is."""
    if not isinstance(strategy, str):
        return strategy
    plain = find(strategy, anywhere=anywhere)
    found = driven(plain, budget)
    if found != plain:
        found = replace(found, description=f"{found.description} {DRIVEN}")
    return changed(found, options)


def _holding(strategy: Strategy, scheme: Scheme, settings: Settings) -> Scheme:
    """The scheme, or the one that has the layers which the strategy waits for: under another it would never fire."""
    waited = dict.fromkeys(layer for stage in strategy.stages for layer in stage.when_layer)
    return scheme if set(waited) <= set(scheme.layers) else settings.scheme_holding(tuple(waited))


def _writer(summariser: str | Summariser, trace: Trace) -> Summariser:
    """The summariser of a name, or itself."""
    match summariser:
        case "extractive":
            return Extractive()
        case "recorded":
            return Recorded(trace.recorded)
        case str():
            raise UnknownName("summariser", summariser, ("extractive", "recorded"))
        case _:
            return summariser


def _kept(reserve: int, window: int) -> int:
    """The reserve, as far as it leaves something of the window."""
    if not 0 <= reserve < window:
        hint = "the reserve is what stays free for the reply; it must be smaller than the window"
        raise UsageError(f"a reserve of {reserve:,} tokens leaves nothing of the window of {window:,}", hint=hint)
    return reserve
