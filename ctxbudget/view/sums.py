"""Running sums of numbered amounts."""

from __future__ import annotations


class Sums:
    """Sums of numbered amounts that change (a Fenwick tree)."""

    __slots__ = ("_amounts", "_tree", "total")

    def __init__(self) -> None:
        """All zero."""
        self._tree = [0]
        self._amounts: list[int] = []
        self.total = 0

    def add(self, number: int, amount: int) -> None:
        """Change the amount at ``number``."""
        self.total += amount
        while number > len(self._amounts):
            self._append(0)
        if number == len(self._amounts):
            self._append(amount)
            return
        self._amounts[number] += amount
        at, tree = number + 1, self._tree
        while at < len(tree):
            tree[at] += amount
            at += at & -at

    def _append(self, amount: int) -> None:
        """A new last amount, with the sum of as many before it as its place in the tree stands for."""
        self._amounts.append(amount)
        at, step = len(self._amounts), 1
        while not at & step:
            amount += self._tree[at - step]
            step *= 2
        self._tree.append(amount)

    def since(self, number: int) -> int:
        """The sum from ``number`` on."""
        at, before = min(number, len(self._amounts)), 0
        while at > 0:
            before += self._tree[at]
            at -= at & -at
        return self.total - before
