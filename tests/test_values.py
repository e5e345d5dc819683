"""What a parsed value is, whatever it should have been."""

import pytest

from ctxbudget.records.values import MOST_TOKENS, count, items, mapping, string, tokens

ANY = (None, True, 0, -1, 1.5, float("nan"), float("inf"), "", "x", [], [1], {}, {"a": 1})


@pytest.mark.parametrize("value", ANY, ids=repr)
def test_anything_else_is_empty(value):
    assert mapping(value) == (value if isinstance(value, dict) else {})
    assert items(value) == (value if isinstance(value, list) else [])
    assert string(value) == (value if isinstance(value, str) and value else None)


@pytest.mark.parametrize(
    "value, expected",
    [
        (0, 0),
        (12, 12),
        (12.0, 12),
        (1.5, 0),
        (-1, 0),
        (True, 0),
        ("12", 0),
        (None, 0),
        (float("nan"), 0),
        (float("inf"), 0),
        (MOST_TOKENS, MOST_TOKENS),
        (MOST_TOKENS + 1, 0),
        (10**400, 0),
    ],
)
def test_a_count_of_tokens(value, expected):
    assert tokens(value) == expected
    assert count(value) == (expected if expected or (value == 0 and value is not False) else None)
