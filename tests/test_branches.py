"""Live branches of trees."""

import pytest

from ctxbudget.branches import Link, live


@pytest.mark.parametrize(
    "links, path",
    [
        ([], []),
        ([Link("a", None, True)], [0]),
        ([Link("a", None, True), Link("b", "a"), Link("c", "b")], [0, 1, 2]),
        # a rewind: c goes on from a
        ([Link("a", None, True), Link("b", "a"), Link("c", "a")], [0, 2]),
        # a parent that is not there, no name at all
        ([Link("a", None, True), Link("b", "lost"), Link(None, None), Link("d", None)], [0, 1, 2, 3]),
        # a second root, a name that comes again, a parent that comes later, itself as parent
        ([Link("a", None, True), Link("b", None, True), Link("b", "a"), Link("c", "b")], [0, 2, 3]),
        ([Link("a", "b"), Link("b", "b")], [0, 1]),
    ],
)
def test_live(links, path):
    assert live(links) == path
