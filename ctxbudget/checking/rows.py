"""One trace, held against its limits: a row of the report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ctxbudget.checking import breaches, recorded
from ctxbudget.checking.baseline import numbered
from ctxbudget.checking.measured import recorded as as_recorded
from ctxbudget.checking.measured import replayed
from ctxbudget.checking.ways import Replays, ways_down
from ctxbudget.config.driven import driven
from ctxbudget.findings import LEVELS
from ctxbudget.prepared import prepare
from ctxbudget.report.check import CLEAN, UNMEASURED, UNREADABLE, VIOLATED, CheckedTrace, Failure, PeakRow
from ctxbudget.strategy.naming import find

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxbudget.checking.breaches import Breach
    from ctxbudget.checking.limits import Limit
    from ctxbudget.checking.measured import Measured
    from ctxbudget.checking.subject import Subject
    from ctxbudget.layers import Scheme
    from ctxbudget.prepared import Prepared
    from ctxbudget.replay import Run


@dataclass(frozen=True, slots=True)
class Done:
    """A row, and the must-keep facts that some prompt held."""

    row: CheckedTrace
    said: frozenset[str] = frozenset()


def checked(subject: Subject) -> Done:
    """One trace, held against its limits."""
    if subject.no_turns:
        return _nothing(subject, "no model call in it", "a session has at least one reply of a model")
    unknown = subject.unknown_window
    if unknown is not None:
        return Done(_row(subject, UNMEASURED, reason=unknown))
    measured, found, said = _looked_at(subject)
    peak = measured.peak
    if peak is None or peak.size < 1:
        return _nothing(subject, "nothing in its prompts", "they may have been taken out of the file")
    limits = subject.limits()
    broken = [*found, *breaches.find(measured, limits, subject.known_window)]
    failures = _failures(subject, measured, [one for one in broken if subject.rules.looks_at(one.rule.id)])
    status = VIOLATED if any(one.fails for one in failures) else CLEAN
    return Done(_row(subject, status, measured=measured, limits=limits, failures=failures), said)


def unread(path: str, reason: str, hint: str, *, empty: bool, excused: bool) -> Done:
    """A file that is no trace, or holds nothing, which may be ``excused``."""
    status = UNMEASURED if empty else UNREADABLE
    row = CheckedTrace(
        path=path, select=None, child=None, format=None, session=None, model=None, status=status, reason=reason,
        hint=_allowing(hint, excused) if empty else hint, excused=excused, turns=None, window=None,
        window_source=None, reserve=0, peak=None, failures=[], warnings=[],
    )  # fmt: skip
    return Done(row)


def _nothing(subject: Subject, why: str, hint: str) -> Done:
    excused = subject.plan.allow_empty
    reason = (f"{why}: nothing to measure", _allowing(hint, excused))
    return Done(_row(subject, UNMEASURED, reason=reason, excused=excused))


def _allowing(hint: str, excused: bool) -> str:
    """What to do about a trace that holds nothing; nothing where that is allowed."""
    return "" if excused else f"{hint}; --allow-empty lets it pass"


def _looked_at(subject: Subject) -> tuple[Measured, list[Breach], frozenset[str]]:
    """The contexts that count, what is wrong with them whatever the limits, and the must-keep facts seen."""
    facts = subject.facts
    if subject.plan.strategy is None:
        measured = as_recorded(subject.trace, subject.scheme)
        found = list(recorded.find(subject, measured))
        if not facts:
            return measured, found, frozenset()
        prepared = _prepared(subject, "as-recorded")
        lost, said = recorded.unkept(prepared, prepared.run())
        return measured, [*found, *lost], said
    prepared = _prepared(subject, subject.plan.strategy)
    run = prepared.run()

    def again(scheme: Scheme) -> Run:
        return replace(prepared, scheme=scheme).run()

    measured = replayed(subject.trace, run, again)
    lost, said = recorded.unkept(prepared, run) if facts else ([], frozenset())
    return measured, [*recorded.of_strategy(subject, prepared, run, measured), *lost], said


def _prepared(subject: Subject, strategy: str) -> Prepared:
    plan = subject.plan
    chosen = driven(find(strategy, anywhere=plan.anywhere), subject.budget)
    made = prepare(
        subject.trace, chosen, window=subject.window.tokens, reserve=subject.reserve,
        must_keep=[fact.raw for fact in subject.facts], scheme=plan.scheme,
        settings=replace(plan.settings, reserve=None),
    )  # fmt: skip
    return replace(made, window=subject.window, scheme=subject.scheme)


def _failures(subject: Subject, measured: Measured, found: Sequence[Breach]) -> list[Failure]:
    """The failures, most serious first, with their keys, what the baseline says, and ways down for those that fail."""
    leveled = [(one, _leveled(subject, one)) for one in found]
    leveled.sort(key=lambda pair: (-LEVELS.index(pair[1]), pair[0].rule.id, pair[0].turn or 0))
    keys = numbered([(_what(subject, one), one.measured or 0) for one, _ in leveled])
    replays: Replays | None = None
    failures = []
    for (one, level), key in zip(leveled, keys, strict=True):
        failure = _failure(subject, one, level, key)
        if subject.plan.baseline is not None:
            failure = subject.plan.baseline.seen(failure)
        if failure.fails and one.most is not None:
            replays = replays or Replays(_prepared(subject, "none"), subject.plan.flags)
            failure = replace(failure, ways=ways_down(one, measured, replays))
        failures.append(failure)
    return failures


def _leveled(subject: Subject, breach: Breach) -> str:
    """The level that the settings give the rule, else the breach's own. A warning before the limit stays one."""
    given = subject.rules.severity.get(breach.rule.id)
    soft = breach.limit is not None and breach.level == "warning" and breach.rule.level == "error"
    return breach.level if given is None or soft else given


def _what(subject: Subject, breach: Breach) -> tuple[str, ...]:
    fragment = breach.fragment
    tool = (fragment.tool or "") if fragment is not None else ""
    target = (fragment.resource.target or "") if fragment is not None and fragment.resource is not None else ""
    own = breach.rule.id not in {"CB101", "CB102", "CB103"}  # of a whole context, whatever happened to cross the limit
    soft = breach.level if breach.limit is not None else ""
    parts = (str(subject.number), subject.child or "", breach.rule.id, soft, *breach.layers)
    return (*parts, tool, target) if own else parts


def _failure(subject: Subject, breach: Breach, level: str, key: str) -> Failure:
    fragment, limit = breach.fragment, breach.limit
    layer = " and ".join(breach.layers) or (subject.scheme.layer(fragment) if fragment is not None else None)
    source = subject.trace.source
    return Failure(
        id=breach.rule.id,
        name=breach.rule.name,
        level=level,
        message=breach.message,
        path=source.path if fragment is None else fragment.origin.path,
        select=source.label,
        line=breach.line or None,
        turn=breach.turn,
        fragment=fragment.id if fragment is not None else None,
        kind=fragment.kind.value if fragment is not None else None,
        layer=layer,
        tool=fragment.tool if fragment is not None else None,
        resource=fragment.resource.target if fragment is not None and fragment.resource is not None else None,
        measured=breach.measured,
        limit=breach.most,
        limit_text=limit.text if limit is not None else None,
        limit_source=limit.wish.source if limit is not None else subject.window.rule if breach.most else None,
        reported=breach.reported,
        error=None if breach.reported else breach.error,
        near=breach.near,
        key=key,
        known=False,
        worse=False,
        ways=[],
    )


def _row(
    subject: Subject,
    status: str,
    *,
    reason: tuple[str, str] = ("", ""),
    excused: bool = False,
    measured: Measured | None = None,
    limits: Sequence[Limit] = (),
    failures: Sequence[Failure] = (),
) -> CheckedTrace:
    trace, window = subject.trace, subject.window
    return CheckedTrace(
        path=trace.source.path,
        select=trace.source.label,
        child=subject.child,
        format=trace.source.format,
        session=trace.source.session,
        model=trace.model,
        status=status,
        reason=reason[0],
        hint=reason[1],
        excused=excused,
        turns=len(measured.turns) if measured is not None else None,
        window=window.tokens if window.known else None,
        window_source=window.rule,
        reserve=subject.reserve,
        peak=_peak(measured, limits[0], subject.known_window) if measured is not None else None,
        failures=list(failures),
        warnings=[*subject.notes, *trace.warnings],
    )


def _peak(measured: Measured, limit: Limit, window: int | None) -> PeakRow | None:
    """The fullest turn, beside the hard limit of the whole, which is always the first."""
    peak = measured.peak
    if peak is None:
        return None
    return PeakRow(
        turn=peak.turn,
        line=peak.line,
        tokens=peak.size,
        estimated=peak.estimated,
        reported=peak.reported,
        error=None if peak.reported else measured.error,
        fraction=peak.size / window if window is not None else None,
        limit=limit.most,
        limit_text=limit.text,
        limit_source=limit.wish.source,
        near=breaches.near(peak.size, limit.most, reported=peak.reported, error=measured.error),
    )
