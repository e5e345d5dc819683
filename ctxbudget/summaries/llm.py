"""Summaries by a model behind an OpenAI-compatible endpoint.

A span of more than one block is summarised block by block, and the parts are merged by one more call. Answers come
out of the cache where the same was asked before; cost counts the call all the same, so that a repeated replay says
the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxbudget.summaries.blocks import clipped
from ctxbudget.summaries.cache import Answer, Cache
from ctxbudget.summaries.prompts import Messages, merging, summarising, transcript
from ctxbudget.summaries.sections import titled
from ctxbudget.summaries.summary import Summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxbudget.summaries.endpoint import Endpoint
    from ctxbudget.summaries.summary import Request

NAME = "llm"
_THOUGHTS = re.compile(r"\A\s*<(think|thinking|analysis)>.*?</\1>\s*", re.DOTALL)
"""What reasoning models served locally write before their answer."""


@dataclass(frozen=True, slots=True)
class Llm:
    """Asks a model."""

    endpoint: Endpoint
    cache: Cache

    def summarise(self, request: Request) -> Summary:
        """The model's summary, cut to whole lines where it is over the cap.

        Raises SummaryError where the endpoint refuses this span, EndpointError where it cannot be used at all.
        """
        notes, asked = list[str](), list[tuple[Messages, Answer]]()
        parts = transcript(request) or ("",)
        for number, block in enumerate(parts, 1):
            self._ask(summarising(request, block, number, len(parts)), asked, notes)
        if len(parts) > 1:
            self._ask(merging(request, [answer.text for _, answer in asked]), asked, notes)
        whole = asked[-1][1].text.strip()
        text = clipped(whole, request.cap, request.count)
        if len(text) < len(whole):
            notes.append(f"cut at its cap of {request.cap:,} tokens, of {request.count(whole):,}")
        return Summary(
            text,
            tokens_in=_read(request, asked),
            tokens_out=_written(request, asked),
            calls=len(asked),
            simulated=False,
            by=self.endpoint.config.model,
            sections=titled(text),
            notes=tuple(dict.fromkeys(notes)),
        )

    def _ask(self, messages: Messages, asked: list[tuple[Messages, Answer]], notes: list[str]) -> None:
        """One answer, from the cache or from the endpoint. An empty one is not kept: it may be a mishap."""
        config = self.endpoint.config
        answer = self.cache.get(config, messages)
        if answer is None:
            given = self.endpoint.ask(messages)
            answer = Answer(_THOUGHTS.sub("", given.text), given.tokens_in, given.tokens_out)
            if answer.text.strip():
                try:
                    self.cache.put(config, messages, answer)
                except OSError as error:
                    notes.append(f"answer not kept: {error.strerror or error}")
        asked.append((messages, answer))


def _read(request: Request, asked: Sequence[tuple[Messages, Answer]]) -> int:
    """Tokens read: the endpoint's own count, else ours."""
    counted = (
        sum(request.count(text) for _, text in messages) if answer.tokens_in is None else answer.tokens_in
        for messages, answer in asked
    )
    return sum(counted)


def _written(request: Request, asked: Sequence[tuple[Messages, Answer]]) -> int:
    """Tokens written: the endpoint's own count, thinking included, else ours."""
    return sum(request.count(answer.text) if answer.tokens_out is None else answer.tokens_out for _, answer in asked)
