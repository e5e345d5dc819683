"""Replay: a trace and a strategy give a run.

At every turn the reply of the turn before enters first (``subgoal`` and ``reply`` stages see the view then), after it
the results and user texts; ``entry`` stages run on each of the two parts, ``call`` stages on the whole, ``overflow``
stages if it does not fit. Then the rules are asked, and the view is what the model would have been sent.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ctxbudget.errors import UnknownName, UsageError
from ctxbudget.layers import AGENT
from ctxbudget.replay.drift import Generation, generations
from ctxbudget.replay.run import Run, RunTurn, Totals, totals_of
from ctxbudget.replay.stages import Runner
from ctxbudget.strategy.naming import find
from ctxbudget.trace import Kind, named_turn
from ctxbudget.trace import Warning as TraceWarning
from ctxbudget.view import ENGINE, RECORDED, Note, View, mend
from ctxbudget.view.parts import nonzero

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from ctxbudget.layers import Scheme
    from ctxbudget.strategy import Strategy
    from ctxbudget.trace import Edit, Fragment, Trace, Turn
    from ctxbudget.view import Change

__all__ = ["Generation", "Run", "RunTurn", "Totals", "generations", "replay", "view_at"]


def replay(
    trace: Trace,
    strategy: Strategy | str,
    *,
    window: int,
    count: Callable[[str], int],
    reserve: int = 0,
    scheme: Scheme = AGENT,
    must_keep: Callable[[Fragment], bool] | Collection[str] | None = None,
    aids: Collection[object] = (),
) -> Run:
    """The run of a trace under a strategy, or under the name of one.

    ``window`` and ``reserve`` are tokens, ``count`` counts the text of stand-ins, ``must_keep`` picks fragments that
    stay whole (or names their ids). ``aids`` are what passes may need and no strategy file may bring: a summariser
    (``passes.summarize.Summarising``). Raises UsageError for a window without room, UnknownName for names nobody has.
    """
    chosen = find(strategy) if isinstance(strategy, str) else strategy
    view = _view(trace, chosen, window, count, reserve, scheme, must_keep, aids)
    runner = Runner(view, chosen)
    with _no_collector():
        turns = tuple(_turns(trace, chosen, view, runner))
        lives = tuple(view.survival.lives(view.turn))
    guarded = frozenset(number for number, stage in enumerate(chosen.stages, 1) if stage.guarded)
    return Run(
        strategy=chosen.name,
        options=chosen.options,
        stages=tuple(stage.table() for stage in chosen.stages),
        pin=chosen.pin,
        window=window,
        reserve=reserve,
        scheme=scheme.name,
        layers=scheme.layers,
        turns=turns,
        lives=lives,
        totals=totals_of(turns, guarded),
        excepted=tuple(_excepted(view)),
        warnings=tuple(_warnings(trace, chosen, view, runner)),
    )


def view_at(
    trace: Trace,
    strategy: Strategy | str,
    turn: int,
    *,
    window: int,
    count: Callable[[str], int],
    reserve: int = 0,
    scheme: Scheme = AGENT,
    must_keep: Callable[[Fragment], bool] | Collection[str] | None = None,
    aids: Collection[object] = (),
) -> View:
    """The view that turn ``turn`` would have been sent. Arguments as for ``replay``.

    Raises UsageError where the trace has no such turn.
    """
    chosen = find(strategy) if isinstance(strategy, str) else strategy
    view = _view(trace, chosen, window, count, reserve, scheme, must_keep, aids)
    if not 1 <= turn <= len(trace.turns):
        raise UsageError(f"there is no turn {turn}", hint=f"the trace has turns 1 to {len(trace.turns)}")
    for done in _turns(trace, chosen, view, Runner(view, chosen)):
        if done.turn == turn:
            break
    return view


@contextmanager
def _no_collector() -> Iterator[None]:
    """A run makes very many small objects and hardly a cycle; the cyclic collector would only walk the whole trace
    again and again, more often the longer the trace is. What was made goes to the old generation unwalked
    (``gc.freeze`` and ``unfreeze`` do nothing else), unless the caller keeps objects frozen.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            if not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def _view(
    trace: Trace,
    strategy: Strategy,
    window: int,
    count: Callable[[str], int],
    reserve: int,
    scheme: Scheme,
    must_keep: Callable[[Fragment], bool] | Collection[str] | None,
    aids: Collection[object] = (),
) -> View:
    if not 0 <= reserve < window:
        raise UsageError(f"a window of {window:,} tokens with {reserve:,} in reserve leaves no room")
    known = {*scheme.layers, *(kind.value for kind in Kind)}
    ids = {fragment.id for fragment in trace.fragments} if not known.issuperset(strategy.pin) else set()
    for name in strategy.pin:
        if name not in known and name not in ids:
            raise UnknownName("layer or kind to pin", name, known)
    keep = must_keep if must_keep is None or callable(must_keep) else _one_of(frozenset(must_keep))
    factor = trace.calibration.factor if trace.calibration is not None else 1.0
    return View(
        window=window, count=count, reserve=reserve, factor=factor, scheme=scheme, pin=strategy.pin,
        must_keep=keep, atomic_loops=strategy.atomic_loops, aids=aids,
    )  # fmt: skip


def _one_of(ids: frozenset[str]) -> Callable[[Fragment], bool]:
    return lambda fragment: fragment.id in ids


def _turns(trace: Trace, strategy: Strategy, view: View, runner: Runner) -> Iterator[RunTurn]:
    recorded: dict[int, list[Edit]] = {}
    for compaction in trace.recorded:
        recorded.setdefault(compaction.turn, []).append(compaction.edit)
    released = "as-recorded" in strategy.passes
    for turn in trace.turns:
        edits = recorded.get(turn.index, ())
        before = view.tokens
        runner.begin()
        view.begin(turn.index, edits)
        arrived = trace.entering(turn)
        if released:
            for edit in edits:
                view.unpin(edit.removed)
        before += sum([fragment.tokens for fragment in arrived])
        _arrive(view, runner, turn, arrived)
        runner.run("call")
        runner.run("overflow")
        mended = mend(view)
        yield _row(view, runner, before, mended)
        runner.sent()


def _arrive(view: View, runner: Runner, turn: Turn, arrived: tuple[Fragment, ...]) -> None:
    """Let the reply of the turn before enter, then what it brought."""
    reply = 0
    for fragment in arrived if turn.index > 1 else ():
        if fragment.role != "assistant":
            break
        reply += 1
    if reply:
        view.enter(arrived[:reply])
        runner.run("entry")
        if view.task.reached:
            runner.run("subgoal")
        runner.run("reply")
    if reply < len(arrived):
        view.enter(arrived[reply:])
        runner.run("entry")


def _row(view: View, runner: Runner, before: int, mended: list[Change]) -> RunTurn:
    view.survival.commit(view.turn)
    tokens = view.tokens
    overflow = tokens > view.limit
    if overflow and runner.tries and not any(note.code == "cannot-fit" for note in runner.notes):
        runner.notes.append(_cannot_fit(view))
    return RunTurn(
        turn=view.turn,
        before=before,
        tokens=tokens,
        layers=dict(view.layers),
        kinds=nonzero(view.totals.kinds),
        prefix=view.prefix(),
        edits=(*runner.changes, *mended),
        repairs=sum([change.by == ENGINE and change.form is None for change in mended]),
        overflow=overflow,
        survival=view.survival.tally(),
        fired=tuple(runner.fired),
        notes=tuple(runner.notes),
    )


def _cannot_fit(view: View) -> Note:
    """What is left over the limit: the fixed part where that alone is too large, else the largest newcomer."""
    if view.pins.tokens > view.limit:
        return Note(
            "cannot-fit", f"cannot fit: fixed part {view.pins.tokens:,} > {view.limit:,}", None, view.pins.tokens
        )
    largest = max(view.arrivals, key=lambda one: one.tokens, default=None)
    over = f"{view.tokens:,} tokens > {view.limit:,} after every stage"
    if largest is None or largest.tokens <= view.limit - view.pins.tokens:
        return Note("cannot-fit", f"cannot fit: {over}", None, view.tokens)
    return Note("cannot-fit", f"cannot fit: {over}; {largest.id} alone has {largest.tokens:,}", None, largest.tokens)


def _excepted(view: View) -> Iterator[str]:
    """What the recording itself left broken."""
    for orphan in view.units.orphans.values():
        yield f"result {orphan.id} (turn {named_turn(orphan)}) answers a call that was not recorded"
    for calls in view.units.waiting.values():
        for call in calls.values():
            yield f"call {call.id} ({call.tool or 'unknown tool'}, turn {named_turn(call)}) was not answered"
    first = view.log[view.overhead] if len(view.log) > view.overhead else None
    if first is not None and (first.role != "user" or first.answers):
        yield f"the first message is not the user's: {first.id} ({first.role})"


def _warnings(trace: Trace, strategy: Strategy, view: View, runner: Runner) -> Iterator[TraceWarning]:
    if RECORDED not in strategy.passes:
        turns = [str(one.turn) for one in trace.recorded if one.trigger != "elision"]
        if turns:
            text = f"the recorded agent compacted at turns {', '.join(turns)}; later re-reads are its own"
            yield TraceWarning("recorded-compactions", text)
        if len(turns) < len(trace.recorded):
            text = "the recorded agent shortened older observations as it went; later re-reads are its own"
            yield TraceWarning("recorded-elisions", text)
    for number, stage in runner.stages:
        amounts = [one for one in (stage.when, stage.when_incoming, *stage.when_layer.values()) if one is not None]
        most = max((view.share(one) for one in amounts), default=0)
        if most > view.limit:
            text = (
                f"stage {number} ({stage.at}) cannot fire: it waits for {most:,} tokens, the window has {view.limit:,}"
            )
            yield TraceWarning("cannot-fire", text)
        elif stage.guarded and number not in runner.met:
            yield TraceWarning("never-fires", f"stage {number} ({stage.at}) never fires on this trace")
