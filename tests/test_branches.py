"""Live branches of trees."""

import pytest

from ctxbudget.branches import Link, families, live, members


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


@pytest.mark.parametrize(
    "parents, roots, below",
    [
        ({}, [], {}),
        ({"a": None, "b": "a", "c": "b", "d": "a"}, ["a"], {"a": ["b", "d"], "b": ["c"]}),
        ({"a": "lost", "b": 7}, ["a", "b"], {}),
        ({"a": "a", "b": "c", "c": "b"}, ["a", "b", "c"], {}),
    ],
)
def test_families(parents, roots, below):
    assert families(parents) == (roots, below)


def test_the_members_of_one_family():
    parents = {"a": None, "b": "a", "c": "b", "d": None}
    assert members(parents, "a") == {"a", "b", "c"}
    assert members(parents, "d") == {"d"}
    assert members(parents, "b") is members(parents, "2") is members(parents, None) is None
