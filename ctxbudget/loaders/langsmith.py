"""LangSmith runs: JSON Lines or lists of runs (SDK ``list_runs``, REST ``/runs/query``), with children nested or not.

Where: wherever they were exported to.
Seen: the messages of every model call in LangChain's or the wrapped client's words, tools of the invocation; what tools answered; runs of a thread as one conversation; model calls inside a tool as a sub-agent.
Unseen: inputs and outputs of tracers that hide them (``LANGSMITH_HIDE_INPUTS``): then only counts stand.
Counts: per call; ``usage_metadata`` is inclusive (cached in the input, reasoning in the output); older runs have ``prompt_tokens`` and ``completion_tokens`` alone.

Rules: langsmith-sdk 0.4 ``schemas.py`` (run), langchain-core ``tracers``. ``feedback_stats`` called correctness,
success, reward or alike are the outcome.
"""  # noqa: E501 - a labelled line is one line

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ctxbudget import dialects, spans
from ctxbudget.dialects import langchain
from ctxbudget.message_lists import opening
from ctxbudget.providers.openai import requests
from ctxbudget.providers.openai.usage import read_usage
from ctxbudget.spans import AGENT, MODEL, OTHER, TOOL, Span, loaded
from ctxbudget.trace import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Start
    from ctxbudget.exchanges import Exchange
    from ctxbudget.records import Reading
    from ctxbudget.trace import Trace, Usage

TYPES = {"llm": MODEL, "tool": TOOL, "chain": OTHER, "retriever": OTHER, "prompt": OTHER, "parser": OTHER}
TYPES |= {"embedding": OTHER}
THREADS = ("thread_id", "session_id", "conversation_id")
"""Metadata that joins the runs of a thread (docs.langchain.com, "threads")."""

MARKS = frozenset({"inputs", "trace_id", "dotted_order", "child_runs", "session_id", "parent_run_id", "start_time"})
"""Keys of a run; two of them beside ``run_type`` make one."""


def sniff(head: bytes, path: str) -> float:  # noqa: ARG001 - the bytes decide
    """Objects with a ``run_type`` that LangSmith knows."""
    return 0.95 if any(_is_run(row) for value in opening(head) for row in _listed(value)[:50]) else 0.0


def _is_run(row: Any) -> bool:
    match row:
        case {"run_type": str(kind)}:
            return kind in TYPES and len(MARKS & row.keys()) >= 2
    return False


def _listed(value: Any) -> list[Any]:
    match value:
        case {"runs": list(rows)}:
            return rows
        case list():
            return value
    return [value]


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """Every thread of the file, or trace where there is none."""
    skipped: Counter[str] = Counter()
    rows: list[tuple[dict[str, Any], int]] = []
    for record in reading.unwrap():
        found = [run for row in _listed(record.data) for run in _family(row)]
        rows += [(run, record.line) for run in found]
        skipped["record that is no run, skipped"] += not found
    threads = _threads(rows)
    found_spans = [_span(row, line, number, threads) for number, (row, line) in enumerate(rows)]
    outcomes = {threads[_trace(row)]: outcome for row, _ in rows if (outcome := _outcome(row)) is not None}
    yield from spans.traces(reading, found_spans, start, Calls(), requests, skipped, outcomes)


def _family(row: Any) -> Iterator[dict[str, Any]]:
    """A run and those below it."""
    waiting = [row]
    while waiting:
        run = waiting.pop()
        if _is_run(run):
            yield run
            children = run.get("child_runs")
            known = {"parent_run_id": run.get("id"), "trace_id": _trace(run)}
            below = [child for child in children if isinstance(child, dict)] if isinstance(children, list) else []
            waiting += [{**known, **child} for child in below]


def _trace(row: dict[str, Any]) -> str:
    return next((value for name in ("trace_id", "id") if isinstance(value := row.get(name), str)), "?")


def _threads(rows: list[tuple[dict[str, Any], int]]) -> dict[str, str]:
    """The thread of every trace: the first that a run of it names, else the trace itself."""
    named: dict[str, str] = {}
    for row, _ in rows:
        metadata = _at(row, "extra", "metadata")
        thread = next((value for name in THREADS if isinstance(value := metadata.get(name), str) and value), None)
        if thread is not None:
            named.setdefault(_trace(row), thread)
    return {_trace(row): named.get(_trace(row), _trace(row)) for row, _ in rows}


def _span(row: dict[str, Any], line: int, number: int, threads: dict[str, str]) -> Span:
    above = row.get("parent_run_id")
    kind = TYPES.get(row["run_type"], OTHER)
    if kind == OTHER and not isinstance(above, str):
        kind = AGENT  # the root of a trace, or the agent itself
    order = next((value for name in ("dotted_order", "start_time") if isinstance(value := row.get(name), str)), "")
    begun = row["start_time"] if isinstance(row.get("start_time"), str) else order
    name = row["id"] if isinstance(row.get("id"), str) else f"{line}.{number}"
    title = row["name"] if isinstance(row.get("name"), str) and row["name"] else None
    above = above if isinstance(above, str) else None
    return Span(name, above, threads[_trace(row)], (begun, number), kind, line, row, title)


class Calls:
    """Reads runs."""

    def exchange(self, span: Span, skipped: Counter[str]) -> Exchange | None:
        """The model call: its history, its reply, its tools and its counts."""
        row = span.data
        given, answer = loaded(row.get("inputs"), skipped), loaded(row.get("outputs"), skipped)
        call = dialects.exchange(given, answer, _tools(row, given), _usage(row, answer), skipped)
        if call is not None:
            call.model, call.key = _model(row, answer), f"{_trace(row)}:{span.id}"
        return call

    def opening(self, span: Span) -> list[dict[str, Any]]:
        """What a chain was given, if it is messages."""
        return dialects.chat(loaded(span.data.get("inputs"), None))

    def answer(self, span: Span) -> dict[str, Any] | None:
        """What a tool answered: LangChain wraps it in ``output``, which may be the message itself."""
        row = span.data
        output, asked = loaded(row.get("outputs"), None), loaded(row.get("inputs"), None)
        match output:
            case {"output": inner, **rest} if not rest:
                output = inner
        match asked:
            case {"input": inner, **rest} if not rest:
                asked = loaded(inner, None)
        said = langchain.plain(output) if isinstance(output, dict) else {}
        failed = isinstance(row.get("error"), str) or said.get("is_error") is True
        if output is None and not failed:
            return None
        name = said.get("tool_call_id")
        return {
            "id": name if isinstance(name, str) else None,
            "name": row.get("name"),
            "arguments": asked,
            "content": dialects.answered(said.get("content", output) if output is not None else row.get("error")),
            "is_error": failed,
        }


def _at(value: Any, *names: str) -> dict[str, Any]:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _generation(answer: Any) -> dict[str, Any]:
    """The message of LangChain's first generation, or the answer itself."""
    match answer:
        case {"generations": [[{"message": dict(message)}, *_], *_]} | {
            "generations": [{"message": dict(message)}, *_]
        }:
            return message
    return answer if isinstance(answer, dict) else {}


def _usage(row: dict[str, Any], answer: Any) -> Usage | None:
    """The counts of the message, of the answer, of the run: the first that are there."""
    message = _generation(answer)
    places = [message, _at(answer, "llm_output"), answer if isinstance(answer, dict) else {}]
    for place in places:
        for told in (langchain.usage(place), *(place.get(name) for name in ("usage_metadata", "usage", "token_usage"))):
            if (found := read_usage(dialects.counts(told))) is not None:
                return found
    details = _at(row, "prompt_token_details")
    counts = {name: row.get(name) for name in ("prompt_tokens", "completion_tokens", "total_tokens")}
    return read_usage({**counts, "prompt_tokens_details": {"cached_tokens": details.get("cache_read")}})


def _model(row: dict[str, Any], answer: Any) -> str | None:
    """The model that answered, else the one that was asked for."""
    asked = _at(row, "extra", "invocation_params")
    names = (
        langchain.model(_generation(answer)),
        _at(answer, "llm_output").get("model_name"),
        *(place.get("model") for place in (answer, row.get("inputs")) if isinstance(place, dict)),
        _at(row, "extra", "metadata").get("ls_model_name"),
        asked.get("model"),
        asked.get("model_name"),
    )
    return next((name for name in names if isinstance(name, str) and name), None)


def _tools(row: dict[str, Any], given: Any) -> list[Any]:
    places = (_at(row, "extra", "invocation_params"), _at(row, "extra", "options"), given)
    found = (dialects.tools(place.get("tools")) for place in places if isinstance(place, dict))
    return next((tools for tools in found if tools), [])


def _outcome(row: dict[str, Any]) -> Outcome | None:
    """Feedback on the whole trace that says whether the task was done."""
    if isinstance(row.get("parent_run_id"), str):
        return None
    for name, stats in sorted(_at(row, "feedback_stats").items()):
        score = stats.get("avg") if isinstance(stats, dict) else None
        if spans.tells_outcome(name) and isinstance(score, int | float):
            return Outcome(None, float(score), f"feedback_stats: {name}")
    return None
