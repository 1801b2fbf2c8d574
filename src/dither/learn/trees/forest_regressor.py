"""A forest of random trees that sums the target in its leaves, pure epsilon.

    values   (k, 2^16 - k), k the target between its bounds in steps of 2^-16: L1 norm 2^16 a tree      (`forest.py`)
    shares   k of the whole in each leaf, drawn towards those of its parents                            (`path_shrinkage.py`)
    predict  the mean over trees of the leaf's share, between the bounds

The two numbers of a row are not negative and add up to 2^16, so one row adds 2^16 in L1 norm and at most that in L2 norm.
The number of trees follows from n epsilon, n public or released with noise. Nothing else depends on the data.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dither.learn.base.cells import Integers
from dither.learn.base.columns import BoundsLike
from dither.learn.base.facts import Facts
from dither.learn.base.regressor import PrivateRegressor
from dither.learn.base.release import Release
from dither.learn.base.rows import Rows
from dither.learn.trees.forest import PrivateForest
from dither.learn.trees.path_shrinkage import shrunk_shares
from dither.ledger.ledger import Ledger
from dither.numeric.number import NumberLike
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.unit import UnitLike

TARGET_STEPS = 2**16


class ForestRegressor(PrivateForest, PrivateRegressor):
    """A forest of random trees for a number, epsilon-differentially private.

    With a `delta` and 30 trees or more its noise is Gaussian, which is smaller;
    with fewer trees the delta is not spent.

    Args:
        epsilon: the price of a fit, alone or with `delta`.
        delta: see `epsilon`.
        guarantee: the price in another way: `dither.pure`, `dither.approx`, `dither.zcdp` or `dither.gdp`.
        bounds: the public range of each column: `(low, high)`, or by column pairs and lists of categories.
        target_bounds: the public range of the target. What lies beyond is moved to the bound.
        trees: how many trees; left out, 1 to 30 by the number of rows and the price, to 100 of Gaussian noise.
        depth: how many splits lead to a leaf.
        structure_seed: the public seed that trees are drawn from; they do not depend on the data.
        unit: whom it protects.
        max_rows: how many rows of a person count, where `fit` gets `person`.
        rows: the number of rows, if it is public; rules then take it in place of a released count.
        ledger: is charged before data is read.
        analyst: who asks, where the ledger has shares.

    Raises:
        DataError, SizeError, NumberError, GuaranteeError, UnitError: by `fit`, where parameters or shapes do not fit.
        BudgetError: by `fit`, where the ledger has less left than the price.

    Example:
        >>> import numpy as np
        >>> from dither.learn import ForestRegressor
        >>> rng = np.random.default_rng(1)
        >>> X = rng.uniform(0, 100, (2000, 2))
        >>> y = X[:, 0] - X[:, 1]
        >>> model = ForestRegressor(epsilon=1, bounds=(0, 100), target_bounds=(-100, 100)).fit(X, y)
        >>> model.score(X, y, public=True) > 0
        True
    """

    trees_: Any
    n_trees_: Any
    leaf_shares_: Any

    def __init__(
        self,
        *,
        epsilon: NumberLike | None = None,
        delta: NumberLike | None = None,
        guarantee: Guarantee | None = None,
        bounds: BoundsLike = None,
        target_bounds: tuple[float, float] | None = None,
        trees: int | None = None,
        depth: int = 5,
        structure_seed: int = 0,
        unit: UnitLike = "add/remove one person",
        max_rows: int = 1,
        rows: int | None = None,
        ledger: Ledger | None = None,
        analyst: str = "",
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.guarantee = guarantee
        self.bounds = bounds
        self.target_bounds = target_bounds
        self.trees = trees
        self.depth = depth
        self.structure_seed = structure_seed
        self.unit = unit
        self.max_rows = max_rows
        self.rows = rows
        self.ledger = ledger
        self.analyst = analyst

    def _learn(self, facts: Facts, release: Release) -> dict[str, Any]:
        trees, sums, deviation, rows = self._release_leaves(facts, release, target_pairs, 2, TARGET_STEPS)
        shares = shrunk_shares(sums, deviation)[0][:, :, 0]
        return {"trees_": trees, "leaf_shares_": shares, "n_trees_": trees.count, "row_counts_": rows}

    def predict(self, X: Any) -> Any:
        """The target, for each row of `X`."""
        rows, target = self._predicted(X), self.facts_.target
        shares = [self.leaf_shares_[tree][self.trees_.leaves(rows, tree)] for tree in range(self.n_trees_)]
        assert target is not None
        return target.low + (target.high - target.low) * np.mean(shares, axis=0)


def target_pairs(rows: Rows) -> Integers:
    """(k, 2^16 - k) of each row: not negative, and 2^16 together."""
    steps = np.trunc((rows.targets + 1.0) * (TARGET_STEPS / 2)).astype(np.int64)
    return np.stack([steps, TARGET_STEPS - steps], axis=1)
