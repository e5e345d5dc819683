"""A chat session → its rounds."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ctxbudget.exchanges import parsed, plain
from ctxbudget.loaders.vscode_copilot_chat.changes import COUNTED, OVER_TIME
from ctxbudget.loaders.vscode_copilot_chat.parts import add, rendered, result, split
from ctxbudget.records.values import items, mapping, string, tokens
from ctxbudget.trace import Kind, Usage

if TYPE_CHECKING:
    from ctxbudget.builder import Start, TraceBuilder
    from ctxbudget.trace import Parse, Trace


def trace(data: dict[str, Any], start: Start, parse: Parse, *, numbered: bool) -> Trace:
    """One session; ``numbered``: there are more in the file."""
    name = string(data.get("sessionId"))
    build = start(label=name if numbered else None)
    build.agent, build.session = "vscode-copilot-chat", name
    build.window = _window(data)
    teller = Teller(build)
    for line, request in enumerate(items(data.get("requests")), 1):
        if isinstance(request, dict):
            teller.request(request, line)
        else:
            teller.skipped["request that is no object, skipped"] += 1
    build.model = teller.model
    for what, count in sorted(teller.skipped.items()):
        build.warn("unknown-record", f"{what} ({count})")
    return build.finish(parse, teller.skipped)


class Teller:
    """Says the requests of a session to a builder."""

    def __init__(self, build: TraceBuilder) -> None:
        """``build`` takes the parts."""
        self.skipped: Counter[str] = Counter()
        self._build = build
        self._calls: Counter[str] = Counter()
        self._shown_context = False

    @property
    def model(self) -> str | None:
        """The model of most calls."""
        return max(self._calls, key=lambda name: (self._calls[name], name), default=None)

    def request(self, request: dict[str, Any], line: int) -> None:
        """What the user asked, and the rounds that answered it."""
        outcome = mapping(request.get("result"))
        metadata = mapping(outcome.get("metadata"))
        self._asked(request, metadata, line)
        model = string(metadata.get("resolvedModel")) or string(request.get("modelId"))
        rounds = [found for found in items(metadata.get("toolCallRounds")) if isinstance(found, dict)]
        summaries = _summaries(metadata)
        results = mapping(metadata.get("toolCallResults"))
        usages = _usages(request, outcome, metadata, max(1, len(rounds)))
        for found, usage in zip(rounds, usages, strict=False):
            self._round(found, results, string(found.get("modelId")) or model, usage, line)
            text = string(found.get("summary")) or summaries.get(str(found.get("id")))
            if text:
                with self._build.compaction(line, trigger="auto"):
                    self._build.message("user", line)
                    self._build.add(Kind.SUMMARY, text)
        if not rounds and (shown := _shown(request)):
            self._turn(model, usages[0], line, string(request.get("responseId")))
            self._build.add(None, shown)

    def _asked(self, request: dict[str, Any], metadata: dict[str, Any], line: int) -> None:
        context = metadata.get("renderedGlobalContext")
        if context and not self._shown_context:
            self._shown_context = True
            self._build.message("user", line)
            for number, kind, value in rendered(context):
                if kind == "text":
                    self._build.add(Kind.INJECTED, value, block=number)
        self._build.message("user", line)
        parts = [*rendered(metadata.get("renderedUserMessage"))]
        if not parts:
            parts = [(0, "text", string(mapping(request.get("message")).get("text")) or "")]
        for number, kind, value in parts:
            if kind == "text":
                for own, text in split(value):
                    self._build.add(own, text, block=number)
            else:
                add(self._build, kind, value, number)

    def _turn(self, model: str | None, usage: Usage | None, line: int, key: str | None) -> None:
        """A call of the model, whose name has the vendor before it (``copilot/…``, ``customendpoint/<name>/…``)."""
        model = model.rpartition("/")[2] if model else None
        if model:
            self._calls[model] += 1
        self._build.turn(model=model, usage=usage, line=line, key=key)
        self._build.message("assistant", line)

    def _round(
        self, found: dict[str, Any], results: dict[str, Any], model: str | None, usage: Usage | None, line: int
    ) -> None:
        build = self._build
        self._turn(model, usage, line, string(found.get("id")))
        thinking = mapping(found.get("thinking"))
        shown = thinking.get("text")
        shown = "".join(map(plain, shown)) if isinstance(shown, list) else string(shown) or ""
        sealed = len(string(thinking.get("encrypted")) or "")
        spent = tokens(thinking.get("tokens"))
        if shown or sealed or spent:
            build.add(Kind.THINKING, shown, opaque=sealed).cost = spent or None
        if text := string(found.get("response")):
            build.add(None, text, block=1)
        names = [*self._called(items(found.get("toolCalls")))]
        if any(name in results for name in names):
            build.message("tool", line)
        for name in names:
            if name in results:
                self._result(results[name], name)

    def _called(self, calls: list[Any]) -> list[str]:
        names: list[str] = []
        for block, call in enumerate(calls, 2):
            match call:
                case {"name": str(tool), "id": str(name)}:
                    self._build.call(tool, call.get("arguments"), id=name, block=block)
                    names.append(name)
                case _:
                    self.skipped["call without a name, skipped"] += 1
        return names

    def _result(self, content: Any, call: str) -> None:
        text, images = result(content)
        failed = text.startswith(("ERROR:", "Error:"))
        if text or not images:
            self._build.result(text, call=call, error=failed)
        for number, image in enumerate(images, 1):
            add(self._build, "image", image, number, call)


def _summaries(metadata: dict[str, Any]) -> dict[str, str]:
    """The text of a summary by the round up to which it reaches."""
    found: dict[str, str] = {}
    for summary in [*items(metadata.get("summaries")), metadata.get("summary")]:
        match summary:
            case {"toolCallRoundId": str(name), "text": str(text)} if text:
                found[name] = text
    return found


def _shown(request: dict[str, Any]) -> str:
    """What the user saw of a reply without rounds: an answer of an older version, or of another participant."""
    parts = [part for part in items(request.get("response")) if isinstance(part, dict) and "kind" not in part]
    return "".join(part["value"] for part in parts if isinstance(part.get("value"), str))


def _usages(
    request: dict[str, Any], outcome: dict[str, Any], metadata: dict[str, Any], rounds: int
) -> list[Usage | None]:
    """What the rounds cost, where the session tells: all of them from a log of changes in which the counts were set
    after each, else the last one. Input holds the cache; a request adds up the output of its rounds."""
    prompts, outputs = ([*map(tokens, items(request.get(f"{name}{OVER_TIME}")))] for name in COUNTED)
    if len(prompts) == len(outputs) == rounds and all(prompts) and outputs == sorted(outputs):
        own = [output - before for output, before in zip(outputs, [0, *outputs], strict=False)]
        return [
            Usage(input=prompt, output=output, total=prompt + output)
            for prompt, output in zip(prompts, own, strict=True)
        ]
    places = (
        (request, "promptTokens", "completionTokens"),
        (mapping(outcome.get("usage")), "promptTokens", "completionTokens"),
        (metadata, "promptTokens", "outputTokens"),
    )
    found = ((tokens(facts.get(given)), tokens(facts.get(output))) for facts, given, output in places)
    prompt, output = next((pair for pair in found if pair[0]), (0, 0))
    last = Usage(input=prompt, output=output, total=prompt + output, final=rounds == 1) if prompt else None
    return [*[None] * (rounds - 1), last]


def _window(data: dict[str, Any]) -> int | None:
    """What the chosen model takes, where the session keeps the choice."""
    chosen = data.get("inputState")
    chosen = parsed(chosen) if isinstance(chosen, str) else chosen
    for step in ("selectedModel", "metadata"):
        chosen = mapping(chosen).get(step)
    return tokens(mapping(chosen).get("maxInputTokens")) or None
