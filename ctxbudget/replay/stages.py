"""Running the stages of a strategy on a view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget.estimators import estimator
from ctxbudget.replay.harness import Harness
from ctxbudget.view import RECORDED, Change, Note, View, is_state

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ctxbudget.estimators import Estimator
    from ctxbudget.passes import Pass
    from ctxbudget.strategy import Stage, Strategy
    from ctxbudget.trace import Edit


class Runner:
    """Runs stages, and collects what they did at a turn."""

    def __init__(self, view: View, strategy: Strategy) -> None:
        """``view`` is the one they change."""
        self.view = view
        self.stages = list(enumerate(strategy.stages, 1))
        self._moments: dict[str, list[tuple[int, Stage]]] = {}
        for number, stage in self.stages:
            self._moments.setdefault(stage.at, []).append((number, stage))
        self.tries = any(name != RECORDED for name in strategy.passes)
        """Whether anything in it tries to make a view fit."""
        self.met: set[int] = set()
        """Stages whose conditions ever held."""
        self.changes: list[Change] = []
        self.notes: list[Note] = []
        self.fired: list[int] = []
        names = dict.fromkeys(stage.estimator for stage in strategy.stages if stage.estimator is not None)
        self._estimators: dict[str, Estimator] = {name: estimator(name) for name in names}
        if names:
            self._harness = view.follower("harness", Harness)

    def begin(self) -> None:
        """A turn begins."""
        self.changes, self.notes, self.fired = [], [], []

    def sent(self) -> None:
        """The view was sent: the estimators learn the provider's count, which here is the calibrated one."""
        for one in self._estimators.values():
            one.estimate(self._harness.counted, self._harness.chars)
            one.report(self.view.tokens)

    def run(self, at: str) -> None:
        """Run the stages of one moment whose conditions hold."""
        for number, stage in self._moments.get(at, ()):
            if self._holds(stage):
                self.met.add(number)
                before = len(self.changes)
                self._run(stage)
                if len(self.changes) > before:
                    self.fired.append(number)
                elif stage.guarded:
                    self.notes.append(Note("nothing-removable", f"stage {number} ({at}) found nothing removable"))

    def _holds(self, stage: Stage) -> bool:
        view = self.view
        if stage.at == "overflow" and view.tokens <= view.limit:
            return False
        if stage.every is not None and view.turn % max(1, stage.every):
            return False
        if stage.when is not None and self._size(stage) < view.share(stage.when):
            return False
        if any(view.layers.get(layer, 0) < view.share(least) for layer, least in stage.when_layer.items()):
            return False
        if stage.when_incoming is None:
            return True
        return sum(one.tokens for one in view.arrivals) >= view.share(stage.when_incoming)

    def _size(self, stage: Stage) -> int:
        """The size that a stage's triggers see."""
        if stage.estimator is None:
            return self.view.tokens
        return self._estimators[stage.estimator].estimate(self._harness.counted, self._harness.chars)

    def _run(self, stage: Stage) -> None:
        for one in stage.passes:
            if stage.until is None:
                edits = list(self._planned(one))
            elif self._size(stage) > self.view.share(stage.until):
                edits = self._enough(stage, self._planned(one))
            else:
                return
            self.changes += [self._applied(edit) for edit in edits]

    def _applied(self, edit: Edit) -> Change:
        """Carry out an edit. What it puts in pinned (a block of state) only its own pass takes out again."""
        pins = self.view.pins.ids
        for one in edit.inserted:
            if is_state(one):
                pins.add(one.id)
        change = self.view.apply(edit)
        if not pins.isdisjoint(edit.removed):
            standing = {one.id for one in edit.inserted}
            known = self.view.known
            pins.difference_update([one for one in edit.removed if is_state(known[one]) and one not in standing])
        return change

    def _planned(self, one: Pass) -> Iterable[Edit]:
        """The edits of a pass that are worth making; its notes are kept."""
        for part in one.plan(self.view):
            if isinstance(part, Note):
                self.notes.append(part)
            elif self._refused(part):
                self.notes.append(Note("not-smaller", f"{part.by}: an edit that frees nothing was refused"))
            else:
                yield part

    def _refused(self, edit: Edit) -> bool:
        """Whether an edit puts in as much as it takes out. Originals may come back, recorded edits are facts, and a
        block of state is rewritten as the state is.
        """
        if not edit.inserted or edit.by == RECORDED or all(map(is_state, edit.inserted)):
            return False
        known, after = self.view.known, 0
        replaced = dict.fromkeys(edit.removed)
        for new in edit.inserted:
            if new.id in known:
                return False
            if new.stands_for != edit.removed:
                replaced.update(dict.fromkeys(new.stands_for))
            after += new.tokens
        return after >= sum([known[old].tokens for old in replaced if old in known])

    def _enough(self, stage: Stage, edits: Iterable[Edit]) -> list[Edit]:
        """The first of the edits, until the view will be as small as it should."""
        most = self.view.share(stage.until or 0)
        size = self._size(stage)
        found = []
        for edit in edits:
            found.append(edit)
            size += sum([new.tokens for new in edit.inserted])
            size -= sum([self.view.known[old].tokens for old in edit.removed])
            if size <= most:
                break
        return found
