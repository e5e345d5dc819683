"""Whether a view is valid, written a second time and naively: the engine's own rules are not asked."""

from sketch import words

from ctxbudget.replay import _turns, _view
from ctxbudget.replay.stages import Runner
from ctxbudget.trace import Kind

RELEASED = "as-recorded"


def steps(trace, strategy, window, *, reserve=0, must_keep=None, count=words):
    """Each turn's row with the view as sent, while it stands."""
    from ctxbudget.layers import AGENT

    view = _view(trace, strategy, window, count, reserve, AGENT, must_keep)
    for row in _turns(trace, strategy, view, Runner(view, strategy)):
        yield view, row


def faults(view, log, *, facts=frozenset()):
    """Everything that is wrong with the live fragments, given the log so far. ``facts`` are ids that a recorded edit
    removed: nothing is held against their absence, pairs aside.
    """
    live = list(view.fragments())
    yield from _pairs(live, log)
    yield from _adjacency(live, log)
    yield from _first(live, log)
    yield from _thinking(live, log, facts)
    yield from _order(live, log)
    for one in log:
        if one.id in view.pins.ids and one.id not in {alive.id for alive in live} and one.id not in facts:
            yield f"pinned {one.id} is not whole"


def _pairs(live, log):
    asked = {(one.unit, one.call) for one in log if one.asks}
    answered = {(one.unit, one.call) for one in log if one.answers}
    before = set()
    results = {(one.unit, one.call) for one in live if one.answers}
    for one in live:
        pair = one.unit, one.call
        if one.asks:
            before.add(pair)
            if pair in answered and pair not in results:
                yield f"call {one.id} has no result"
        elif one.answers and pair in asked and pair not in before:
            yield f"result {one.id} has no call before it"


def _adjacency(live, log):
    """Nothing of ours stands between a call and its result, where they stood together in the recording."""
    recorded = {one.id: at for at, one in enumerate(log)}
    parted = set(_parted(log))
    for at, one in enumerate(live):
        if not one.answers:
            continue
        start = next(
            (place for place in range(at - 1, -1, -1) if live[place].asks and live[place].unit == one.unit), None
        )
        if start is None or (one.unit, one.call) in parted:
            continue
        for between in live[start + 1 : at]:
            if between.id not in recorded and between.message < 0:
                yield f"{between.id} stands between a call and result {one.id}"


def _parted(log):
    """Pairs between which the recording has a later reply."""
    reply, replies = None, {}
    for one in log:
        if one.role == "assistant":
            reply = one.message
        if one.asks:
            replies[one.unit] = reply
        elif one.answers and replies.get(one.unit, reply) != reply:
            yield one.unit, one.call


def _first(live, log):
    overhead = _overhead(log)
    fixed = {one.id for one in log[:overhead]}
    rest = [one for one in live if one.id not in fixed and one.role != "system"]
    if len(log) > overhead and not rest:
        yield "no message is left"
    recorded = log[overhead].id if len(log) > overhead else ""
    if recorded and rest and (rest[0].role != "user" or rest[0].answers) and rest[0].id != recorded:
        yield f"the first message is {rest[0].id}, not the user's"


def _overhead(log):
    first = next((one.message for one in log if one.turn == 1 and one.kind is Kind.USER), None)
    fixed = (Kind.SYSTEM_PROMPT, Kind.TOOL_DEFINITIONS, Kind.UNSEEN, Kind.MEMORY_FILE, Kind.INJECTED)
    for at, one in enumerate(log):
        if one.turn > 1 or one.kind not in fixed or one.message == first:
            return at
    return len(log)


def _thinking(live, log, facts):
    """In the loop since the last user text or answer: what a live call rests on is whole."""
    start = (
        max((at for at, one in enumerate(log) if one.kind in (Kind.USER, Kind.ANSWER, Kind.SUMMARY)), default=-1) + 1
    )
    alive = {one.id for one in live}
    units = {one.unit for one in live if one.call is not None}
    thinking, message = [], None
    for one in log[start:]:
        if one.kind is Kind.THINKING:
            thinking = [*thinking, one] if one.message == message else [one]
            message = one.message
        elif one.asks and one.unit in units:
            missing = [each.id for each in thinking if each.id not in alive and each.id not in facts]
            if missing:
                yield f"thinking {missing} is missing under unit {one.unit}"
    missing = [each.id for each in thinking if each.id not in alive and each.id not in facts]
    if missing:
        yield f"the newest thinking {missing} is missing"


def _order(live, log):
    at = {one.id: place for place, one in enumerate(log)}
    places = [at[one.id] for one in live if one.id in at]
    if places != sorted(places):
        yield "survivors changed their order"
