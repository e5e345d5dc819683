"""SWE-agent trajectories (.traj): one document of ``history``, ``trajectory`` and ``info``.

Where: ``trajectories/<user>/<run>/<instance>/<instance>.traj``.
Seen: system text, demonstrations, the task, replies, actions, observations, and the exact prompt of every step.
Unseen: the tool schemas of function-calling models.
Counts: sums of the whole run only (``info.model_stats``), at times zero: every prompt is our count.

The history is the log. What was sent is in each step: ``query`` is its exact prompt; ``messages`` (1.0) is the prompt
as it stood behind the step, so that of the next one. Where a prompt shows an earlier message otherwise ("Old
environment output: (7 lines omitted)"), a recorded edit says so at that turn, and the context as recorded equals the
prompt. Messages that only a prompt holds (a refused reply and the complaint about it) enter the log at their turn and
leave at the next.

Demonstrations are sent with every prompt and are ``injected``. A text reply is cut into its reasoning and its action,
a call whose tool is the first word; the message behind it is its result. ``line`` is the number of the message in the
history. Usage: the file holds sums only, so no call has any, and a warning quotes the sums. ``exit_status`` says how
the run ended, not whether its answer is right: the outcome's success stays open.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import orjson

from ctxbudget.loaders.swe_agent.log import Log, is_shown, plain
from ctxbudget.trace import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Start, TraceBuilder
    from ctxbudget.loaders.swe_agent.log import Message
    from ctxbudget.records import Reading
    from ctxbudget.trace import Trace

STANDING_IN = frozenset({"replay", "human", "human_thought", "instant_empty_submit"})
"""Model names of runs without a model."""

_STEPS = re.compile(rb'"trajectory"\s*:\s*\[\s*(?:\{\s*"(?:action|observation|response|query|messages)"|\])')


def sniff(head: bytes, path: str) -> float:  # noqa: ARG001 - the bytes decide
    """A document with a list of steps under ``trajectory``; the history is often beyond the head."""
    if not head.lstrip().startswith(b"{") or not _STEPS.search(head):
        return 0.0
    return 0.95 if b'"observation"' in head or b'"history"' in head else 0.5


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """The run in a file; with several (attempts of one run, many documents) one trace for each."""
    skipped: Counter[str] = Counter()
    runs = list(_runs(reading, skipped))
    for number, (run, document) in enumerate(runs, 1):
        build = start(label=str(number) if len(runs) > 1 else None)
        build.agent = "swe-agent"
        build.model = _model(run) or _model(document)
        unread = skipped.copy()
        _fill(build, run, unread)
        _add_info(build, run.get("info"))
        for name, count in sorted(unread.items()):
            build.warn("unknown-record", f"{count} record(s) of type {name!r} not read")
        yield build.finish(reading.parse, unread)


def _runs(reading: Reading, skipped: Counter[str]) -> Iterator[tuple[Message, Message]]:
    """Each run, with the document it is in."""
    for record in reading.unwrap():
        document = record.data if isinstance(record.data, dict) else {}
        runs = [run for run in _dicts(document.get("attempts")) or [document] if _history(run)]
        if not runs:
            skipped["(no trajectory)"] += 1
        yield from ((run, document) for run in runs)


def _history(run: Message) -> list[Message]:
    """The messages of a run; where the file holds the steps alone, the first prompt and what the steps say."""
    steps = _dicts(run.get("trajectory"))
    if (history := _dicts(run.get("history"))) or not steps:
        return history
    told = list(_dicts(steps[0].get("query")))
    for step in steps:
        told.append({"role": "assistant", "content": step.get("response") or step.get("thought") or ""})
        if isinstance(seen := step.get("observation"), str):
            told.append({"role": "user", "content": seen})
    return told


def _prompts(steps: list[Message]) -> dict[int, list[Message]]:
    """The prompt of each model call, from 0, as far as the steps hold it."""
    prompts: dict[int, list[Message]] = {}
    for number, step in enumerate(steps):
        if query := _dicts(step.get("query")):
            prompts[number] = query
        elif behind := _dicts(step.get("messages")):
            prompts[number + 1] = behind
    return prompts


def _fill(build: TraceBuilder, run: Message, unread: Counter[str]) -> None:
    """Say to the builder what a run holds, one model call for each of the agent's messages."""
    steps, history = _dicts(run.get("trajectory")), _history(run)
    prompts, main = _prompts(steps), history[0].get("agent")
    log = Log(build, unread)
    waiting: list[tuple[int, Message]] = []
    calls = 0
    for line, message in enumerate(history, 1):
        if isinstance(main, str) and message.get("agent", main) != main:
            unread["message of another agent"] += 1
        elif message.get("role") == "assistant" and not is_shown(message):
            log.enter(waiting, prompts.get(calls), line)
            build.turn(model=build.model, line=line)
            log.reply(message, steps[calls] if calls < len(steps) else {}, line)
            waiting = []
            calls += 1
        else:
            waiting.append((line, message))
    log.enter(waiting, prompts.get(calls), len(history))


def _add_info(build: TraceBuilder, info: Any) -> None:
    """How the run ended, and the sums of its usage."""
    if not isinstance(info, dict):
        return
    if isinstance(status := info.get("exit_status"), str) and status:
        build.outcome = Outcome(None, None, f"info.exit_status: {plain(status)}")
    stats = info.get("model_stats")
    names = ("api_calls", "tokens_sent", "tokens_received")
    sums = [value if type(value := stats.get(name)) is int else 0 for name in names] if isinstance(stats, dict) else []
    if any(sums[1:]):
        calls, sent, received = sums
        text = f"{calls:,} calls, {sent:,} tokens sent, {received:,} received"
        build.warn("usage-sums", f"the file holds no usage of single calls, only the sums: {text}")


def _model(run: Message) -> str | None:
    """The model's name in the settings that newer versions keep with the run."""
    settings = run.get("replay_config")
    if isinstance(settings, str):
        try:
            settings = orjson.loads(settings)
        except orjson.JSONDecodeError:
            return None
    match settings:
        case {"agent": {"model": {"name": str(name)}}} if name and name not in STANDING_IN:
            return name
    return None


def _dicts(value: Any) -> list[Message]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
