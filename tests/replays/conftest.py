"""Lets the tests of this folder import ``sketch``, ``arbitrary`` and ``checking`` of the engine's, and their own."""

import sys
from pathlib import Path

import pytest

from ctxbudget.loaders import load

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "engine")]

ROOT = HERE.parents[1]


@pytest.fixture(scope="session")
def sample():
    """A sample trace by its name."""

    def of(name):
        (trace,) = load(str(ROOT / "sample_traces" / name))
        return trace

    return of


@pytest.fixture(scope="session")
def case():
    """The trace of a case by its path under tests/cases."""

    def of(path):
        return load(str(ROOT / "tests" / "cases" / path))[0]

    return of
