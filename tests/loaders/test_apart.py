"""What all formats share: how a file's first records are looked at, and that no format leans on another."""

import tomllib
from pathlib import Path

import pytest

from ctxbudget.loaders import LOADERS
from ctxbudget.message_lists import first_records

ROOT = Path(__file__).parents[2]


def test_every_format_is_in_the_contract_that_keeps_them_apart():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (apart,) = (one for one in settings["contracts"] if one["type"] == "independence")
    assert apart["modules"] == [f"ctxbudget.loaders.{name.replace('-', '_')}" for name in sorted(LOADERS.names())]


@pytest.mark.parametrize(
    "head, logged, found",
    [
        (b'{"a": 1}\n{"a": 2}\n', False, [{"a": 1}, {"a": 2}]),
        (b'[{"a": 1}, {"a": 2}, {"a"', False, [{"a": 1}, {"a": 2}, {}]),
        (b'starting\n{"a": 1}\n', True, [{"a": 1}]),
        (b'starting\n{"a": 1}\n', False, []),
        (b"", True, []),
    ],
)
def test_first_records(head, logged, found):
    assert first_records(head, logged=logged) == found
