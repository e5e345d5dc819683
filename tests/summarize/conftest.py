"""Lets the tests of this folder import ``sketch``, ``arbitrary`` and ``checking`` of the engine's."""

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from ctxbudget.loaders import load
from ctxbudget.summaries import Summary, SummaryError

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "engine"))


@dataclass
class Says:
    """Says the same whatever it is asked, or fails."""

    text: str | None
    seen: tuple = ()

    def summarise(self, request):
        self.seen = (*self.seen, request)
        if self.text is None:
            raise SummaryError("the endpoint refused the request, HTTP 400")
        return Summary(
            self.text, tokens_in=request.size, tokens_out=request.count(self.text), calls=1, simulated=False, by="m-1"
        )


@pytest.fixture
def says():
    """A summariser with one answer."""
    return Says


@pytest.fixture(scope="session")
def sample():
    """A sample trace by its name."""
    return lambda name: load(str(ROOT / "sample_traces" / name))[0]


@pytest.fixture(scope="session")
def case():
    """The trace of a case by its path under tests/cases."""
    return lambda path: load(str(ROOT / "tests" / "cases" / path))[0]
