"""The spans of a file in time → groups of calls: runs, and the sub-agents in them."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any

from ctxbudget.spans.group import Group, asked, calls_in
from ctxbudget.spans.span import MODEL, TOOL

if TYPE_CHECKING:
    from ctxbudget.builder import Start
    from ctxbudget.exchanges import Exchange, Provider
    from ctxbudget.spans.span import Reader, Span, Tree


MOST_ABOVE = 20
"""Spans above the first call of a run that are asked what the run was given."""


class Recording:
    """The runs of one file in the making."""

    def __init__(self, tree: Tree, reader: Reader, start: Start, provider: Provider) -> None:
        """``provider`` says chat messages to a builder."""
        self.skipped: Counter[str] = Counter()
        self.groups: dict[str, Group] = {}
        self._tree = tree
        self._reader = reader
        self._start = start
        self._provider = provider
        self._ends: dict[bytes, str] = {}
        self._joined: dict[str, str] = {}
        self._failed: set[str] = set()
        self._titles: Counter[str] = Counter()

    def add(self, span: Span) -> None:
        """The next span in time."""
        if span.kind == TOOL:
            if (answer := self._reader.answer(span)) is not None:
                self._group(span).answers.append(answer)
        elif span.kind == MODEL:
            if self._tree.is_repeated(span):
                self.skipped["second recording of a model call, skipped"] += 1
            elif (exchange := self._reader.exchange(span, self.skipped)) is not None:
                self._call(span, exchange)

    def _call(self, span: Span, exchange: Exchange) -> None:
        group = self._group(span)
        self._mark_errors(exchange, group.answers)
        if not group.has_begun:
            self._begin(span, exchange)
            group = self._joins(span, exchange) or group
        if (agent := self._tree.agent(span)) is not None:
            exchange.agent = exchange.agent or self._tree.find(agent).title
        group.add(exchange, span.line)
        if group.above is None and exchange.reply is not None:
            self._ends[group.end] = group.name

    def _mark_errors(self, exchange: Exchange, answers: list[dict[str, Any]]) -> None:
        """What failed is told by the tool's span alone."""
        failed = [answer for answer in answers if answer.get("is_error")]
        calls = calls_in(exchange.messages) if failed else []
        for answer in failed:
            call = asked(calls, answer)
            if call is not None and isinstance(call.get("id"), str):
                self._failed.add(call["id"])
        for message in exchange.messages:
            match message:
                case {"role": "tool", "tool_call_id": str(name)} if name in self._failed:
                    message["is_error"] = True

    def _begin(self, span: Span, exchange: Exchange) -> None:
        """The first call of a run: what the run was given, if the call itself does not hold it."""
        is_silent = not exchange.messages and exchange.reply is None
        if is_silent or any(message.get("role") == "system" for message in exchange.messages):
            return
        for above in islice(self._tree.ancestors(span), MOST_ABOVE):
            if opening := self._reader.opening(above):
                said = [message for message in opening if message.get("role") != "system"]
                if not exchange.messages or said == exchange.messages:
                    exchange.messages = opening
                return

    def _joins(self, span: Span, exchange: Exchange) -> Group | None:
        """The earlier run that this one goes on from."""
        group = self._group(span)
        if group.above is not None:
            return None
        known = next((self._ends[end] for end in group.beginnings(exchange) if end in self._ends), None)
        if known is None or known == group.name:
            return None
        self._joined[group.name] = known
        del self.groups[group.name]
        return self.groups[known]

    def _group(self, span: Span) -> Group:
        name, above = self._place(self._tree.agent(span), span.run)
        name = self._joined.get(name, name)
        if name not in self.groups:
            self.groups[name] = Group(name, above, span.run, self._start, self._provider)
            self.groups[name].label = self._label(name, above)
        return self.groups[name]

    def _label(self, name: str, above: str | None) -> str:
        """A run is called by its name, a sub-agent by its title, numbered from the second of that title on."""
        if above is None:
            return name
        title = self._tree.find(name).title or name
        self._titles[title] += 1
        return title if self._titles[title] == 1 else f"{title}-{self._titles[title]}"

    def _place(self, agent: str | None, run: str) -> tuple[str, str | None]:
        """The name of the group that an agent's calls are in, and of the one above it; a main agent's are the run's."""
        name = self._name(agent, run)
        if agent is None or name != agent:
            return name, None
        caller = self._tree.caller(agent)
        return name, run if caller is None else self._name(caller, self._tree.find(caller).run)

    def _name(self, agent: str | None, run: str) -> str:
        if agent is None or (self._tree.caller(agent) is None and self._tree.find(agent).kind != TOOL):
            return run
        return agent

    def above(self, group: Group) -> Group | None:
        """The group that a sub-agent's belongs to; None for a run, and where nothing is known of it."""
        if group.above is None:
            return None
        found = self.groups.get(self._joined.get(group.above, group.above))
        return found if found is not None and found.has_begun and found is not group else None
