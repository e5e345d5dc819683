"""Spans written like a play, and the sample story of the refund."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ctxbudget.loaders import load
from ctxbudget.resources import resource
from ctxbudget.tokens import counter
from ctxbudget.trace import Fragment, Kind, Origin

SAMPLES = Path(__file__).parents[2] / "sample_traces"


@dataclass
class Play:
    """Builds fragments: ``user`` speaks at a turn, the agent's reply closes it."""

    turn: int = 1
    made: list = field(default_factory=list)

    def user(self, text):
        return self._add(Kind.USER, text, self.turn, "user")

    def system(self, text):
        return self._add(Kind.SYSTEM_PROMPT, text, self.turn, "system")

    def summary(self, text):
        return self._add(Kind.SUMMARY, text, self.turn, "user")

    def answers(self, text):
        self._add(Kind.ANSWER, text, self.turn + 1, "assistant")
        self.turn += 1
        return self

    def does(self, tool, args, result, *, say="", error=False, kind=None):
        work = resource(tool, args)
        kind = kind or (Kind.PLAN if work.cls == "plan" else Kind.CALL)
        call, turn = f"call{len(self.made)}", self.turn + 1
        if say:
            self._add(Kind.REASONING, say, turn, "assistant")
        self._add(kind, f"{tool} {json.dumps(args)}", turn, "assistant", call=call, tool=tool, resource=work)
        if result is not None:
            self._add(Kind.RESULT, result, turn, "tool", call=call, tool=tool, resource=work, error=error)
        self.turn += 1
        return self

    def _add(self, kind, text, turn, role, **more):
        number = len(self.made)
        tokens = counter().count(text)
        self.made.append(
            Fragment(
                f"f{number}", kind, text, tokens, tokens, turn, more.get("call", f"f{number}"), number, role,
                Origin("play", number + 1), **more,
            )
        )  # fmt: skip
        return self

    @property
    def span(self):
        return tuple(self.made)


@pytest.fixture
def play():
    """A new play, to be told line by line."""
    return Play()


@pytest.fixture(scope="session")
def count():
    """Tokens of a text in o200k."""
    return counter().count


@pytest.fixture(scope="session")
def refund():
    """The fragments of refund_support without its overhead."""
    (trace,) = load(str(SAMPLES / "refund_support.json"))
    overhead = {Kind.TOOL_DEFINITIONS, Kind.SYSTEM_PROMPT}
    return tuple(one for one in trace.fragments if one.kind not in overhead)
