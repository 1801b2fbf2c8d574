"""A forest of random trees that counts classes in its leaves, pure epsilon.

    values   one count at the class of the row: L1 norm 1 a tree, so `trees` in all            (`forest.py`)
    shares   of the classes in each leaf, drawn towards those of its parents                   (`path_shrinkage.py`)
    prior    the shares of the classes among all rows, from all trees
    predict  log prior + t^-0.6 x the sum over t trees of log (share in the leaf / share at the root)

A plain sum of the logarithms would count the prior once a tree: with 30 trees a rare class was never predicted.

The number of trees follows from n epsilon, n public or released with noise. Nothing else depends on the data.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dither.learn.base.cells import Integers
from dither.learn.base.classifier import PrivateClassifier
from dither.learn.base.columns import BoundsLike
from dither.learn.base.facts import Facts
from dither.learn.base.release import Release
from dither.learn.base.rows import Rows
from dither.learn.base.targets import ClassesLike
from dither.learn.trees.forest import PrivateForest
from dither.learn.trees.path_shrinkage import pooled_shares, shrunk_shares
from dither.ledger.ledger import Ledger
from dither.numeric.number import NumberLike
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.unit import UnitLike

LEAST_SHARE = 1e-3  # a leaf forbids no class
POWER = 0.6  # trees say much of the same: t of them weigh as t^0.4


class ForestClassifier(PrivateForest, PrivateClassifier):
    """A forest of random trees for two or more classes, epsilon-differentially private.

    Only leaves are counted, once. With a `delta` and 30 trees or more its noise is Gaussian; with fewer trees, where that is
    known before the fit, the delta is not spent.

    Args:
        epsilon: the price of a fit, alone or with `delta`.
        delta: see `epsilon`.
        guarantee: the price in another way: `dither.pure`, `dither.approx`, `dither.zcdp` or `dither.gdp`.
        bounds: the public range of each column: `(low, high)`, or by column pairs and lists of categories.
        classes: the public list of labels. Rows with another label are left out.
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
        >>> from dither.learn import ForestClassifier
        >>> rng = np.random.default_rng(1)
        >>> X = rng.uniform(0, 100, (2000, 2))
        >>> y = np.where(X[:, 0] > X[:, 1], "yes", "no")
        >>> model = ForestClassifier(epsilon=1, bounds=(0, 100), classes=["no", "yes"]).fit(X, y)
        >>> model.score(X, y, public=True) > 0.6
        True
    """

    trees_: Any
    n_trees_: Any
    prior_: Any
    evidence_: Any

    def __init__(
        self,
        *,
        epsilon: NumberLike | None = None,
        delta: NumberLike | None = None,
        guarantee: Guarantee | None = None,
        bounds: BoundsLike = None,
        classes: ClassesLike = None,
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
        self.classes = classes
        self.trees = trees
        self.depth = depth
        self.structure_seed = structure_seed
        self.unit = unit
        self.max_rows = max_rows
        self.rows = rows
        self.ledger = ledger
        self.analyst = analyst

    def _learn(self, facts: Facts, release: Release) -> dict[str, Any]:
        classes = len(facts.classes)

        def one_hot(rows: Rows) -> Integers:
            return (rows.labels[:, None] == np.arange(classes)).astype(np.int64)

        trees, counts, deviation, rows = self._release_leaves(facts, release, one_hot, classes, 1)
        leaves, roots = shrunk_shares(counts, deviation)
        prior = pooled_shares(counts, deviation)
        return {
            "trees_": trees,
            "n_trees_": trees.count,
            "row_counts_": rows,
            "prior_": np.log(np.maximum(prior, LEAST_SHARE)),
            "evidence_": np.log(np.maximum(leaves, LEAST_SHARE)) - np.log(np.maximum(roots, LEAST_SHARE))[:, None, :],
        }

    def predict_proba(self, X: Any) -> Any:
        """The probability of each class, in the order of `classes_`, for each row of `X`."""
        rows = self._predicted(X)
        told = sum(self.evidence_[tree][self.trees_.leaves(rows, tree)] for tree in range(self.n_trees_))
        scores = self.prior_ + told * float(self.n_trees_) ** -POWER
        exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
        return exponentials / exponentials.sum(axis=1, keepdims=True)
