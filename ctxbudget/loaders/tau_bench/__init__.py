"""tau-bench results, first and second version: one trace for each task and trial.

Where: tau-bench ``results/<strategy>-<model>-….json`` (also ``historical_trajectories``); tau2-bench ``data/simulations/<name>/results.json``, newer ones with a file for each simulation beside it.
Seen: the agent's conversation with its calls and results, the policy (its system prompt), the reward as the outcome; in tau2 the simulated user as a child.
Unseen: tool schemas (tau2 may hold them), and tau2's fixed instruction around the policy.
Counts: tau-bench has none; tau2 has prompt and output of every call, of agent and simulated user apart.

Rules: sierra-research/tau-bench and tau2-bench 0.1 to 0.2. The user's last words, which end the conversation
(``###STOP###`` and its like), were never sent to the agent. In tau2 the agent's greeting is a fixed text, and calls of
the user's own tools are not shown to the agent. A task is solved if its reward is 1.
"""  # noqa: E501 - a labelled line is one line

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ctxbudget.loaders.tau_bench import simulation
from ctxbudget.loaders.tau_bench.ending import ends
from ctxbudget.message_lists import opening
from ctxbudget.providers.openai.messages import Messages
from ctxbudget.records.values import items, mapping
from ctxbudget.trace import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Start, TraceBuilder
    from ctxbudget.records import Reading
    from ctxbudget.trace import Trace

SOLVED = 1 - 1e-6
"""A reward from here on is 1, as tau2's ``is_successful`` has it."""


def sniff(head: bytes, path: str) -> float:  # noqa: ARG001 - the bytes decide
    """A list of tasks with ``traj`` and ``reward``, or the results of simulations."""
    for value in opening(head)[:1]:
        first = value[0] if isinstance(value, list) and value else value
        match first:
            case {"traj": list(), "task_id": _} | {"traj": list(), "reward": _}:
                return 0.95
            case {"simulations": list()} | {"info": {"agent_info": dict(), "user_info": dict()}}:
                return 0.95
            case {"task_id": _, "termination_reason": _, "messages": list()}:
                return 0.95
            case {"task_id": _, "reward": _, "info": dict()}:  # the head ends before the conversation
                return 0.85
    return 0.0


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """The conversations, labelled by task, and by trial where there are several."""
    runs: list[tuple[int, dict[str, Any], dict[str, Any]]] = []
    for record in reading.unwrap():
        data = mapping(record.data)
        if isinstance(simulations := data.get("simulations"), list):
            named = [(line, mapping(one)) for line, one in enumerate(simulations, 1)]
            runs += [(line, one, data) for line, one in named if isinstance(one.get("messages"), list)]
        elif isinstance(data.get("traj"), list) or isinstance(data.get("messages"), list):
            runs.append((record.line, data, {}))
    trials = len({str(run.get("trial")) for _, run, _ in runs}) > 1
    seen: Counter[str] = Counter()
    for line, run, results in runs:
        name = _name(run, line, trials=trials)
        seen[name] += 1
        build = start(label=(name if seen[name] == 1 else f"{name}~{seen[name]}") if len(runs) > 1 else None)
        build.outcome = _outcome(run)
        skipped: Counter[str] = Counter()
        if "traj" in run:
            _say(build, items(run["traj"]), skipped)
        else:
            simulation.say(build, run, results, start, skipped)
        for what, count in sorted(skipped.items()):
            if what != simulation.FAREWELL:
                build.warn("unknown-record", f"{what} ({count})")
        yield build.finish(reading.parse, skipped)


def _say(build: TraceBuilder, messages: list[Any], skipped: Counter[str]) -> None:
    """A conversation of the first version: chat messages, the system prompt first."""
    build.agent = "tau-bench"
    speaker = Messages(build)
    for line, message in enumerate(messages, 1):
        if line == len(messages) and ends(message):
            skipped[simulation.FAREWELL] += 1
            break
        if mapping(message).get("role") == "assistant":
            build.turn(line=line)
        speaker.message(message, line)
    skipped.update(speaker.skipped)


def _name(run: dict[str, Any], line: int, *, trials: bool) -> str:
    task, trial = run.get("task_id"), run.get("trial")
    name = str(task) if isinstance(task, str | int) else str(line)
    return f"{name}.{trial}" if trials and isinstance(trial, int) else name


def _outcome(run: dict[str, Any]) -> Outcome | None:
    told = mapping(run.get("reward_info"))
    source = "reward_info.reward" if "reward" in told else "reward"
    reward = told.get("reward", run.get("reward"))
    if isinstance(reward, bool) or not isinstance(reward, int | float) or not -1e9 < reward < 1e9:
        return None
    return Outcome(reward >= SOLVED, float(reward), source)
