"""mini-swe-agent trajectories (``*.traj.json``), versions 0 to 2.

Where: where ``-o`` says, else ``last_mini_run.traj.json`` in its settings folder; benchmarks keep ``<instance>/<instance>.traj.json``.
Seen: system prompt, task, every reply that held an action, with its result; the model's raw response with usage (version 1 and later).
Unseen: the schema of the one tool; replies that held no action are dropped, only the complaint about them stays.
Counts: usage of every kept reply, from the provider, prompts with their cached part; version 0 has none. Where more calls were made than replies are kept, a warning says so.

Rules: SWE-agent/mini-swe-agent 0.x to 2.x (``agents/default.py``, ``models``). A reply in text form is its reasoning and
exactly one fenced block, which is the call; the user message behind it is the result. The pseudo-role ``exit`` holds
what was submitted, the output of the last command; it was never sent. ``exit_status`` says how the run ended, not whether
its answer is right: the outcome's success stays open.
"""  # noqa: E501 - a labelled line is one line

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from ctxbudget import dialects
from ctxbudget.message_lists import opening
from ctxbudget.providers.openai.messages import Messages
from ctxbudget.providers.openai.usage import read_items_usage, read_usage
from ctxbudget.records.values import items, mapping, string, tokens
from ctxbudget.trace import Kind, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxbudget.builder import Start, TraceBuilder
    from ctxbudget.records import Reading
    from ctxbudget.trace import Trace

FORMAT = "mini-swe-agent"

_ACTION = re.compile(
    r"```(?:mswea_bash_command|bash)[ \t]*\n(?P<fenced>.*?)\n?```"
    r"|<mswea_bash_command>(?P<tagged>.*?)</mswea_bash_command>",
    re.DOTALL,
)
_CODE = re.compile(r"\s*<returncode>(-?\d{1,9})</returncode>")


def sniff(head: bytes, path: str) -> float:  # noqa: ARG001 - the bytes decide
    """A document that names the format or the version; before, a bare list of messages with fenced actions and
    return codes."""
    for value in opening(head)[:1]:
        match value:
            case {"trajectory_format": str(name)} if name.startswith(FORMAT):
                return 0.97
            case {"info": {"mini_version": _}} | {"info": {"model_stats": _, "config": _}}:
                return 0.95
            case [{"role": "system"}, {"role": "user"}, {"role": "assistant"} as reply, *rest]:
                acts = bool(_ACTION.search(_text(reply))) and (rest == [] or bool(_CODE.match(_text(rest[0]))))
                return 0.95 if acts else 0.0
    return 0.0


def load(reading: Reading, start: Start) -> Iterator[Trace]:
    """The run in a file."""
    records = list(reading)
    for number, record in enumerate(records, 1):
        document = record.data if isinstance(record.data, dict) else {"messages": record.data}
        build = start(label=str(number) if len(records) > 1 else None)
        build.agent = FORMAT
        info = mapping(document.get("info"))
        settings = mapping(mapping(info.get("config")).get("model"))
        build.model = string(settings.get("model_name"))
        run = Run(build)
        for line, message in enumerate(items(document.get("messages")), 1):
            run.say(message, line)
        _add_info(build, info)
        for name, count in sorted(run.skipped.items()):
            build.warn("unknown-record", f"{name} ({count})")
        yield build.finish(reading.parse, run.skipped)


class Run:
    """Says the messages of a run to a builder."""

    def __init__(self, build: TraceBuilder) -> None:
        """``build`` takes the parts."""
        self._build = build
        self._speaker = Messages(build)
        self._open: str | None = None
        self._begun = False
        self._odd: Counter[str] = Counter()

    @property
    def skipped(self) -> Counter[str]:
        """What was left out, by kind."""
        return self._speaker.skipped + self._odd

    def say(self, message: Any, line: int) -> None:
        """The next message."""
        given = mapping(message)
        role = given.get("role")
        if not given:
            self._odd["message that is no object, skipped"] += 1
        elif role == "assistant" or given.get("object") == "response":
            self._reply(given, line)
        elif role == "exit":
            self._exit(given, line)
        elif role == "user":
            self._told(given, line)
        else:
            for one in [given] if isinstance(role, str) else dialects.message(given):
                answers = one.get("role") == "tool"
                self._open = None if answers else self._open
                self._speaker.message({**one, "is_error": answers and _failed(_text(one))}, line)

    def _reply(self, given: dict[str, Any], line: int) -> None:
        response = mapping(mapping(given.get("extra")).get("response"))
        raw = response or given
        usage = read_usage(raw.get("usage")) or read_items_usage(raw.get("usage"))
        model = string(raw.get("model")) or self._build.model
        self._build.model = self._build.model or model
        self._build.turn(model=model, usage=usage, line=line, key=string(raw.get("id")) if usage else None)
        self._open, self._begun = None, True
        found = list(_ACTION.finditer(_text(given)))
        if given.get("role") == "assistant" and not given.get("tool_calls") and len(found) == 1:
            self._act(_text(given), found[0], line)
            return
        for one in [given] if given.get("role") == "assistant" else dialects.chat(given.get("output"), "assistant"):
            self._speaker.message(one, line)
        self._open = next((str(call.get("id")) for call in items(given.get("tool_calls")) if mapping(call)), None)

    def _act(self, text: str, action: re.Match[str], line: int) -> None:
        """A reply in text form: its reasoning, its action, and rarely something behind it."""
        self._build.message("assistant", line)
        before, behind = text[: action.start()], text[action.end() :]
        if before.strip():
            self._build.add(None, before)
        command = action["fenced"] if action["fenced"] is not None else action["tagged"]
        piece = self._build.call("bash", {"command": command})
        piece.text = action.group()  # exactly what the model wrote
        if behind.strip():
            self._build.add(None, behind)
        self._open = piece.call

    def _told(self, given: dict[str, Any], line: int) -> None:
        """What the user, or the harness in the user's name, says: the task, a result, a complaint."""
        text, extra = _text(given), mapping(given.get("extra"))
        if self._open is not None and not extra.get("interrupt_type"):
            self._build.message("user", line)
            self._build.result(text, call=self._open, error=_failed(text))
            self._open = None
        elif self._begun:
            self._build.message("user", line)
            self._build.add(Kind.INJECTED, text)
        else:
            self._speaker.message({"role": "user", "content": given.get("content")}, line)

    def _exit(self, given: dict[str, Any], line: int) -> None:
        if self._open is not None and (text := _text(given)):
            self._build.message("user", line)
            self._build.result(text, call=self._open)
        self._open = None


def _text(message: Any) -> str:
    """The text of a message: a string, or its text parts."""
    content = mapping(message).get("content")
    if isinstance(content, str):
        return content
    texts = (mapping(part).get("text") for part in items(content))
    return "".join(text for text in texts if isinstance(text, str))


def _failed(result: str) -> bool:
    """Whether a command says that it did not end with 0."""
    code = _CODE.match(result)
    return code is not None and code[1] != "0"


def _add_info(build: TraceBuilder, info: dict[str, Any]) -> None:
    """How the run ended, and calls that the messages do not show."""
    if status := string(info.get("exit_status")):
        build.outcome = Outcome(None, None, f"info.exit_status: {status}")
    calls = tokens(mapping(info.get("model_stats")).get("api_calls"))
    if calls > build.turns:
        text = (
            f"{calls:,} calls were made, {build.turns:,} replies are in the file: those without an action were dropped"
        )
        build.warn("calls-missing", text)
