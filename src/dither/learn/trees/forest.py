"""What forests share: parameters, the number of trees by a public rule, the noise that it is cheaper in, the release.

Theorem. Let every row add to each tree a vector of whole numbers at one leaf, of L1 norm at most a. The table of all trees
is a sum over rows of vectors of L1 norm at most a x trees and of L2 norm at most a x sqrt(trees), whatever a row holds.

Proof. The leaf of a row is found by comparisons of its own cells with public numbers (`random_trees.py`), so no other row's
leaf changes. Vectors in different trees stand in different coordinates: L1 norms add, and so do squares of L2 norms, each of
which is at most a^2.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from attrs import evolve

from dither.errors import NumberError, SizeError
from dither.learn.base.cells import Cells, Floats, Integers
from dither.learn.base.estimator import PrivateEstimator
from dither.learn.base.facts import Facts
from dither.learn.base.price import Kind, read_price
from dither.learn.base.release import Rehearsal, Release
from dither.learn.base.row_count import COUNT_SHARE as LISTED_SHARE
from dither.learn.base.row_count import RowCount, released_count, row_counts
from dither.learn.base.rows import Rows
from dither.learn.trees.random_trees import RandomTrees, random_trees
from dither.numeric.number import integer
from dither.privacy.guarantee.approx import Approx

MOST_TREES, MOST_DEPTH, MOST_NUMBERS = 1000, 12, 2**22  # the last: numbers of one release
COUNT_SHARE = Fraction(1, 20)  # of epsilon; n epsilon has noise of deviation 28, and the rule asks for 40 or 250
GAUSSIAN_TREES = 30  # from here on Gaussian noise is the smaller one


class PrivateForest(PrivateEstimator):
    """What forests share."""

    _kinds: ClassVar[tuple[Kind, ...]] = ("pure", "gaussian")

    trees: Any
    depth: Any
    structure_seed: Any

    def _facts(self, cells: Cells, labels: Any) -> Facts:
        facts = super()._facts(cells, labels)
        for name, most in (("trees", MOST_TREES), ("depth", MOST_DEPTH)):
            value = getattr(self, name)
            if not (name == "trees" and value is None) and integer(value, name=name, least=1) > most:
                raise NumberError(name, value, f"it is at most {most}", f"{name}={most}")
        integer(self.structure_seed, name="structure_seed", least=0)
        if most_trees(facts, self.depth) < (1 if self.trees is None else self.trees):
            why = f"trees x leaves x classes or categories is at most {MOST_NUMBERS}"
            raise SizeError("depth", self.depth, why, "a smaller depth, or fewer trees")
        if facts.price.kind == "gaussian" and self._pure_pays(facts):
            return evolve(facts, price=read_price(self.epsilon, self.delta, self.guarantee, self.unit, ("pure",)))
        return facts

    def _pure_pays(self, facts: Facts) -> bool:
        """Whether few trees are planned: then epsilon without the delta has the smaller noise, and promises more."""
        if self.guarantee is not None and not isinstance(self.guarantee.parts[0], Approx):
            return False
        if self.trees is not None:
            return bool(self.trees < GAUSSIAN_TREES)
        return facts.rows is not None and tree_count(facts, facts.rows) < GAUSSIAN_TREES

    def _release_leaves(
        self, facts: Facts, release: Release, values: Callable[[Rows], Integers], size: int, largest: int
    ) -> tuple[RandomTrees, Floats, float, tuple[RowCount, ...]]:
        """The trees, their leaves with noise, its deviation, and counts of rows.

        `values` gives a row `size` numbers that add up to `largest`.
        """
        n, spent, counts = self._known_rows(facts, release)
        count = self.trees or min(tree_count(facts, n), most_trees(facts, int(self.depth)))
        trees = random_trees(facts.columns, int(count), int(self.depth), int(self.structure_seed))
        shape, share = (trees.count, trees.leaf_count, size), 1 - spent

        def table(rows: Rows) -> Integers:
            return leaf_sums(trees, rows, values(rows))

        if release.price.kind == "pure":
            norm1 = largest * trees.count
            leaves = release.geometric(table, shape, norm1=norm1, share=share) / largest
            deviation = float(release.scale(norm1, share)) * 2**0.5 / largest
        else:
            norm2 = largest**2 * trees.count
            leaves = release.gaussian(table, shape, norm2=norm2, share=share) / largest
            deviation = float(release.variance(norm2, share)) ** 0.5 / largest
        # each tree counts all rows: their mean has less noise than a count of its own
        each = 1 / trees.count
        step = each / largest
        total = row_counts(facts, float(leaves.sum()) * each, deviation * each, step=step, numbers=leaves.size)
        return trees, leaves, deviation, total + counts[1:]

    def _known_rows(self, facts: Facts, release: Release) -> tuple[float, Fraction, tuple[RowCount, ...]]:
        """n, the share of the price that it took, and counts; nothing is released that leaves tell as well.

        A hundredth of epsilon is too little for the rule, see COUNT_SHARE.
        """
        known = facts.rows is not None or self.trees is not None
        if known and not facts.has_lists:
            return float(facts.rows or 1), Fraction(0), ()
        rule = facts.price.kind == "pure" and not known
        return released_count(facts, release, COUNT_SHARE if rule else LISTED_SHARE)

    def _expect(self, facts: Facts, n: int) -> list[str]:
        count, leaves = int(self.trees or tree_count(facts, n)), 2 ** int(self.depth)
        rehearsal = Rehearsal(facts.price, facts.rows_per_person)
        if facts.price.kind == "pure":
            noise = float(rehearsal.scale(count, Fraction(1))) * 2**0.5
        else:
            noise = float(rehearsal.variance(count, Fraction(1))) ** 0.5
        words = f"a leaf has noise of deviation {noise:.3g} rows; {n:,} rows in {leaves} leaves are {n / leaves:.3g} in each"
        return [f"{count} tree{'s' * (count > 1)} of depth {self.depth}", words]


def most_trees(facts: Facts, depth: int) -> int:
    """How many trees fit into one release."""
    width = max([2, len(facts.classes), *(column.width for column in facts.columns)])
    return MOST_NUMBERS // (2**depth * width)


def strength_of_a_row(facts: Facts) -> float:
    """What one row weighs beside the noise: epsilon or mu, less where a person has several rows or is replaced."""
    return facts.price.mu / (facts.rows_per_person * facts.price.replacement)


def tree_count(facts: Facts, n: float) -> int:
    """More trees where noise is small: from n and the price."""
    strength = n * strength_of_a_row(facts)
    if facts.price.kind == "gaussian":
        return 3 if strength < 30 else 10 if strength < 120 else 30 if strength < 500 else 100
    return 1 if strength < 40 else 3 if strength < 250 else 10 if strength < 4000 else 30


def leaf_sums(trees: RandomTrees, rows: Rows, values: Integers) -> Integers:
    """Sums of the values of rows, by tree, leaf and value: whole numbers."""
    size = values.shape[1]
    total = np.zeros((trees.count, trees.leaf_count, size), dtype=np.int64)
    for tree in range(trees.count):
        leaf = trees.leaves(rows, tree)
        for place in range(size):
            np.add.at(total[tree, :, place], leaf, values[:, place])
    return total
