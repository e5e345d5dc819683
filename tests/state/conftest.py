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
    """The path of a sample trace by its name."""
    return lambda name: str(ROOT / "sample_traces" / name)


@pytest.fixture(scope="session")
def loaded(sample):
    """A sample trace by its name."""
    return lambda name: load(sample(name))[0]
