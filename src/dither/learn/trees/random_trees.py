"""Random trees: each split is a column and a cut that were drawn without a look at the data, from a public seed.

A split of numbers cuts the box of its node in the middle half of one side; a split of categories sends a random half of
those that are left to the right. A category that is in no list goes to the left. Which leaf a row reaches depends on the row
alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from dither.learn.base.cells import Floats, Integers
from dither.learn.base.columns import CategoryColumn, Column
from dither.learn.base.rows import Rows

Cell = tuple[tuple[float, float] | tuple[int, ...], ...]  # of each column: an interval of u, or the categories that are left


@frozen(eq=False)
class RandomTrees:
    """Complete trees of one depth. The children of node k are 2 k + 1 and 2 k + 2."""

    depth: int
    column: Integers  # by tree and inner node: the place among numbers or among codes
    is_number: NDArray[np.bool_]
    cut: Floats  # numbers above it go to the right
    right: NDArray[np.bool_]  # by tree, node and 1 + code: whether a category goes to the right

    @property
    def count(self) -> int:
        """How many trees there are."""
        return len(self.column)

    @property
    def leaf_count(self) -> int:
        """The leaves of one tree."""
        return 2**self.depth

    def leaves(self, rows: Rows, tree: int) -> Integers:
        """The leaf of each row: comparisons of its own cells with public numbers."""
        everybody = np.arange(rows.count)
        node = np.zeros(rows.count, dtype=np.int64)
        for _ in range(self.depth):
            column, numeric = self.column[tree, node], self.is_number[tree, node]
            goes = np.zeros(rows.count, dtype=bool)
            if rows.numbers.shape[1]:
                value = rows.numbers[everybody, np.where(numeric, column, 0)]
                goes |= numeric & (value > self.cut[tree, node])
            if rows.codes.shape[1]:
                code = rows.codes[everybody, np.where(numeric, 0, column)]
                goes |= ~numeric & self.right[tree, node, 1 + np.where(numeric, -1, code)]
            node = 2 * node + 1 + goes
        return node - (self.leaf_count - 1)


def random_trees(columns: Sequence[Column], count: int, depth: int, seed: int) -> RandomTrees:
    """Trees from a public seed."""
    inner = 2**depth - 1
    widest = max([column.width for column in columns if isinstance(column, CategoryColumn)], default=0)
    trees = RandomTrees(
        depth,
        np.zeros((count, inner), dtype=np.int64),
        np.ones((count, inner), dtype=bool),
        np.full((count, inner), 1.0),
        np.zeros((count, inner, 1 + widest), dtype=bool),
    )
    whole: Cell = tuple(
        tuple(range(column.width)) if isinstance(column, CategoryColumn) else (-1.0, 1.0) for column in columns
    )
    for tree in range(count):
        _grow(trees, columns, tree, 0, whole, np.random.default_rng([seed, tree]))
    return trees


def _grow(trees: RandomTrees, columns: Sequence[Column], tree: int, node: int, cell: Cell, rng: Any) -> None:
    """Draw the split of a node and of those below it."""
    if node >= trees.column.shape[1]:
        return
    open_columns = [at for at, column in enumerate(columns) if not isinstance(column, CategoryColumn) or len(cell[at]) > 1]
    left = right = cell
    if open_columns:  # otherwise everybody goes to the left: the cut is 1
        at = open_columns[int(rng.integers(len(open_columns)))]
        kind = isinstance(columns[at], CategoryColumn)
        trees.is_number[tree, node] = not kind
        trees.column[tree, node] = sum(isinstance(other, CategoryColumn) == kind for other in columns[:at])
        if kind:
            order = rng.permutation(len(cell[at]))
            moved = sorted(int(cell[at][place]) for place in order[: len(order) // 2])
            trees.right[tree, node, [1 + code for code in moved]] = True
            sides: tuple[Any, Any] = tuple(code for code in cell[at] if code not in moved), tuple(moved)
        else:
            low, high = cell[at]
            cut = low + (high - low) * (0.25 + float(rng.random()) / 2)
            trees.cut[tree, node] = cut
            sides = (low, cut), (cut, high)
        left, right = ((*cell[:at], side, *cell[at + 1 :]) for side in sides)
    elif not any(not isinstance(column, CategoryColumn) for column in columns):
        trees.is_number[tree, node] = False
    _grow(trees, columns, tree, 2 * node + 1, left, rng)
    _grow(trees, columns, tree, 2 * node + 2, right, rng)
