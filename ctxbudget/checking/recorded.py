"""What is wrong with a trace whatever the budget: the window (CB101), validity (CB201 to CB205), and, where it is asked
for, waste (CB301 to CB307); under a strategy what that broke."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxbudget import findings, ledger
from ctxbudget.checking.breaches import Breach, told
from ctxbudget.findings import OVER_WINDOW, PIN_TOUCHED, PREFIX_CHANGED, RULES, WASTE, waste
from ctxbudget.findings import run as of_run
from ctxbudget.trace import Kind, named_turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ctxbudget.checking.measured import Measured
    from ctxbudget.checking.subject import Subject
    from ctxbudget.findings import Finding
    from ctxbudget.prepared import Prepared
    from ctxbudget.replay import Run
    from ctxbudget.trace import Fragment

_RULES = {rule.id: rule for rule in RULES}


def find(subject: Subject, measured: Measured) -> Iterator[Breach]:
    """What is wrong with the recorded contexts. The window counts where it is known."""
    trace = subject.trace
    found = list(findings.find(trace, list(ledger.entries(trace, subject.scheme)), subject.window))
    if any(subject.rules.looks_at(rule.id) for rule in WASTE):
        found += waste.find(trace, ledger.lives(trace)).findings
    yield from _breaches(found, subject, measured, subject.window.tokens)


def of_strategy(subject: Subject, prepared: Prepared, run: Run, measured: Measured) -> Iterator[Breach]:
    """What a strategy broke: besides its own pins, those of the budget count."""
    layers = {name for name, cap in subject.budget.layers.items() if cap.pinned}

    def pinned(one: Fragment) -> bool:
        ours = one.kind is not Kind.INJECTED and subject.own_scheme.layer(one) in layers
        return ours or prepared.pinned(one)

    found = of_run.find(prepared.trace, run, pinned)
    yield from _breaches(found, subject, measured, run.window - run.reserve)


def unkept(prepared: Prepared, run: Run) -> tuple[list[Breach], frozenset[str]]:
    """Must-keep facts that went out of view, under a strategy or by a compaction of the recorded agent; and those that
    some prompt held."""
    breaches, said = [], set()
    for fact, fate in zip(prepared.facts, prepared.fates(run), strict=False):
        if fate.said is not None:
            said.add(fact.raw)
        for gap in fate.gaps[:1]:
            message = f"the must-keep fact {fact.raw!r} is out of view from turn {gap.since} on, removed by {gap.by}"
            line = prepared.trace.turns[gap.since - 1].line
            breaches.append(Breach(PIN_TOUCHED, PIN_TOUCHED.level, message, gap.since, line))
    return breaches, frozenset(said)


def _breaches(found: Iterable[Finding], subject: Subject, measured: Measured, most: int) -> Iterator[Breach]:
    places: dict[tuple[int | None, int | None, int | None], Fragment] = {}
    for one in subject.trace.fragments:
        places.setdefault((one.origin.line, named_turn(one), one.tokens), one)
        places.setdefault((one.origin.line, None, one.tokens), one)
    fronts = iter(findings.front_changes(subject.trace))
    for finding in found:
        if finding.id == OVER_WINDOW.id:
            if subject.window.known:
                yield _over_window(finding, measured, most)
            continue
        since = None if finding.id == PIN_TOUCHED.id else finding.turn  # edited later than it came
        fragment = places.get((finding.line, since, finding.tokens))
        layer = finding.layer or (subject.scheme.layer(fragment) if fragment is not None else None)
        level = finding.level
        if finding.id == PREFIX_CHANGED.id:
            kind = next(fronts)[1]
            layer = subject.scheme.kinds[kind]
            level = "error" if subject.own_scheme.kinds[kind] in subject.stable else level
        yield Breach(
            rule=_RULES[finding.id],
            level=level,
            message=finding.message,
            turn=finding.turn,
            line=finding.line,
            fragment=fragment,
            layers=(layer,) if layer is not None else (),
        )


def _over_window(finding: Finding, measured: Measured, most: int) -> Breach:
    """The window is a limit like another: the fullest turn is held against it, and there are ways down."""
    peak = measured.peak
    worst = max(measured.arrivals(finding.turn or 0), key=lambda one: one.tokens, default=None)
    size, reported = (peak.size, peak.reported) if peak is not None else (None, False)
    return Breach(
        rule=OVER_WINDOW,
        level=OVER_WINDOW.level,
        message=told(finding.message, size, most, reported=reported, error=measured.error),
        turn=finding.turn,
        line=worst.fragment.origin.line if worst is not None else finding.line,
        fragment=worst.fragment if worst is not None else None,
        most=most,
        measured=size,
        reported=reported,
        error=measured.error,
    )
