"""ATIF trajectories (Harbor's Agent Trajectory Interchange Format), versions 1.0 to 1.8.

Where: ``<job>/<trial>/agent/trajectory.json``; what followed a summary in ``trajectory.cont-<n>.json`` beside it, summarising helpers and sub-agents in files of their own or inside; ``ctxbudget convert --to atif`` writes it, too.
Seen: messages, reasoning, calls with their results, tool definitions where the agent gave them, compactions, sub-agents as children; the verifier's reward from ``result.json`` above the folder.
Unseen: the system prompt and tools of most agents; images, which are paths; the agent's own transcript beside the file is more exact.
Counts: usage of every step where the agent reported it, prompts with their cached part; a step of several model calls has their sum, which is billed and is no size of a context.

Rules: harbor 0.26.0 (``models/trajectories``, ``agents/terminus_2``). A step marked ``is_copied_context`` was sent again
and is neither a call nor billed again; ``llm_call_count`` 0 is no call. A step with ``extra.context_management`` of type
``compaction`` empties the context; with the boundary ``replace`` the next user step holds what replaced it.
"""  # noqa: E501 - a labelled line is one line

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxbudget import records
from ctxbudget.errors import TraceError
from ctxbudget.exchanges import compact
from ctxbudget.loaders.atif.steps import Steps, references
from ctxbudget.message_lists import opening
from ctxbudget.records.values import items, mapping, string, tokens
from ctxbudget.trace import Kind, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Start, TraceBuilder
    from ctxbudget.records import Reading
    from ctxbudget.trace import Trace

VERSION = "ATIF-v"
WRAPPERS = ("atif", "trajectory")
MOST_PARTS = 200
"""Continuations of one run that are followed."""
MOST_DEPTH = 5
"""Sub-agents of sub-agents."""


def sniff(head: bytes, path: str) -> float:  # noqa: ARG001 - the bytes decide
    """A document, or lines of them, whose ``schema_version`` says so."""
    for value in opening(head)[:1]:
        first = value[0] if isinstance(value, list) and value else value
        if _is_trajectory(_unwrapped(first)):
            return 0.97
    return 0.0


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """The trajectory with its continuations; of several in one file each, called by its session or number."""
    found = [(record.line, _unwrapped(record.data)) for record in reading.unwrap()]
    runs = [(line, run) for line, run in found if _is_trajectory(run)]
    names: Counter[str] = Counter()
    for line, run in runs:
        name = string(run.get("trajectory_id")) or string(run.get("session_id")) or str(line)
        names[name] += 1
        build = start(label=(name if names[name] == 1 else f"{name}.{names[name]}") if len(runs) > 1 else None)
        beside = None if reading.held else Path(reading.path)
        _tell(build, run, start, beside, 0)
        if beside is not None and build.outcome is None:
            build.outcome = _verdict(beside)
        yield build.finish(reading.parse)


def companions(reading: Reading) -> list[Path]:
    """What continues the trajectories, and the files of their sub-agents."""
    beside = None if reading.held else Path(reading.path)
    found: list[Path | None] = []
    for record in reading.unwrap():
        for run in _parts(_unwrapped(record.data), beside):
            names = [string(run.get("continued_trajectory_ref"))]
            names += [name for step in items(run.get("steps")) for name, _ in references(mapping(step))]
            found += [_file(name, beside) for name in names]
    return [file for file in found if file is not None]


def _is_trajectory(data: dict[str, Any]) -> bool:
    version = data.get("schema_version")
    return isinstance(version, str) and version.startswith(VERSION)


def _unwrapped(data: Any) -> dict[str, Any]:
    found = mapping(data)
    inner = next((found[name] for name in WRAPPERS if isinstance(found.get(name), dict)), None)
    return inner if inner is not None and "schema_version" not in found else found


def _tell(build: TraceBuilder, run: dict[str, Any], start: Start, beside: Path | None, depth: int) -> None:
    """Say one trajectory, and what continues it, to a builder."""
    agent, extra = mapping(run.get("agent")), mapping(run.get("extra"))
    build.agent, build.session = string(agent.get("name")), string(run.get("session_id"))
    build.model = string(agent.get("model_name"))
    build.window = tokens(extra.get("context_window")) or None
    build.outcome = _told(mapping(extra.get("outcome")))
    if definitions := [tool for tool in items(agent.get("tool_definitions")) if isinstance(tool, dict)]:
        build.message("system", 1)
        for block, tool in enumerate(definitions):
            build.add(Kind.TOOL_DEFINITIONS, compact(tool), block=block)
    steps = Steps(build, keeps_task=(build.agent or "").startswith("terminus"))
    for number, part in enumerate(_parts(run, beside)):
        steps.say(part, again=number > 0)
    if not build.turns or not any(steps.counted):
        _warn_of_sums(build, mapping(run.get("final_metrics")))
    for name, count in sorted(steps.skipped.items()):
        build.warn("unknown-record", f"{name} ({count})")
    if depth < MOST_DEPTH:
        _add_helpers(build, run, steps, start, beside, depth)


def _parts(run: dict[str, Any], beside: Path | None) -> Iterator[dict[str, Any]]:
    """The trajectory, then the files that continue it, each once."""
    yield run
    seen = {beside.name if beside else ""}
    for _ in range(MOST_PARTS):
        name = string(run.get("continued_trajectory_ref"))
        following = _file(name, beside)
        if following is None or following.name in seen:
            return
        seen.add(following.name)
        run = _read(following)
        if not _is_trajectory(run):
            return
        yield run


def _add_helpers(
    build: TraceBuilder, run: dict[str, Any], steps: Steps, start: Start, beside: Path | None, depth: int
) -> None:
    """Sub-agents as children; those that wrote a summary are only billed, their prompts repeat the session."""
    inside = {str(one.get("trajectory_id")): one for one in items(run.get("subagent_trajectories")) if mapping(one)}
    summarising = set(steps.summarising)
    told: set[str] = set()
    for reference, label in [*steps.references, *((name, name) for name in inside)]:
        if reference in told:
            continue
        told.add(reference)
        file = None if reference in inside else _file(reference, beside)
        helper = inside.get(reference) or (_read(file) if file else {})
        if not _is_trajectory({"schema_version": VERSION, **helper}) or not items(helper.get("steps")):
            continue
        child = start(label=label, path=str(file) if file else build.path)
        _tell(child, helper, start, file or beside, depth + 1)
        trace = child.finish()
        if reference in summarising:
            for call in trace.billed:
                build.bill(call.key, call.model, call.usage, purpose="compaction")
        else:
            build.child(trace)


def _file(name: str | None, beside: Path | None) -> Path | None:
    """A file that a trajectory names, only if it lies in the same folder."""
    if name is None or beside is None or "\0" in name:
        return None
    plain = Path(name).name
    file = beside.parent / plain
    return file if plain and file != beside and file.is_file() else None


def _read(file: Path) -> dict[str, Any]:
    try:
        return next((_unwrapped(record.data) for record in records.read(str(file))), {})
    except (TraceError, OSError):
        return {}


def _told(outcome: dict[str, Any]) -> Outcome | None:
    """The outcome that ``ctxbudget convert`` keeps."""
    success, score, source = outcome.get("success"), outcome.get("score"), string(outcome.get("source"))
    number = float(score) if isinstance(score, int | float) and not isinstance(score, bool) else None
    return Outcome(success if isinstance(success, bool) else None, number, source) if source else None


def _verdict(trajectory: Path) -> Outcome | None:
    """The reward in the trial's result, two folders up from the trajectory."""
    file = trajectory.absolute().parent.parent / "result.json"
    if trajectory.absolute().parent.name != "agent" or not file.is_file():
        return None
    try:
        result = next((mapping(record.data) for record in records.read(str(file))), {})
    except TraceError:
        return None
    rewards = mapping(mapping(result.get("verifier_result")).get("rewards"))
    for name, value in sorted(rewards.items(), key=lambda pair: (pair[0] != "reward", pair[0])):
        if isinstance(value, int | float) and not isinstance(value, bool):
            success = True if value == 1 else False if value == 0 else None
            return Outcome(success, float(value), f"verifier_result.rewards.{name}")
    return None


def _warn_of_sums(build: TraceBuilder, sums: dict[str, Any]) -> None:
    prompt, output = (tokens(sums.get(f"total_{name}_tokens")) for name in ("prompt", "completion"))
    if prompt or output:
        text = f"the file holds no usage of single calls, only the sums: {prompt:,} tokens sent, {output:,} received"
        build.warn("usage-sums", text)
