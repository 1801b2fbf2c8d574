"""Boosting of functions of one column for a number: an additive model whose every part can be drawn.

Theorem and proof are in `boosting.py`. Residuals are cut to half of the range of the target. The start is the sum of the
target as u between -1 and 1: L2 norm at most 1, as theirs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dither.learn.base.cells import Floats, Integers
from dither.learn.base.columns import BoundsLike
from dither.learn.base.exact_sums import exact_bins
from dither.learn.base.facts import Facts
from dither.learn.base.regressor import PrivateRegressor
from dither.learn.base.release import Release
from dither.learn.base.rows import Rows
from dither.learn.trees.boosting import Loss
from dither.learn.trees.residuals import TARGET_UNIT, target_residuals
from dither.learn.trees.shape_functions import AdditiveModel
from dither.ledger.ledger import Ledger
from dither.numeric.number import NumberLike
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.unit import UnitLike

SPREAD = 0.04  # of a step, where the range of the target is 2


class BoostingRegressor(AdditiveModel, PrivateRegressor):
    """Boosting for a number, an additive model that explains itself, (epsilon, delta)-differentially private.

    Args:
        epsilon: the price of a fit, with `delta`.
        delta: see `epsilon`.
        guarantee: the price in another way: `dither.zcdp`, `dither.gdp` or `dither.approx`.
        bounds: the public range of each column: `(low, high)`, or by column pairs and lists of categories.
        target_bounds: the public range of the target. What lies beyond is moved to the bound.
        rounds: how often each column gets a step.
        leaves: into how many groups a step cuts its column.
        structure_seed: the public seed of the groups; they do not depend on the data.
        unit: whom it protects.
        max_rows: how many rows of a person count, where `fit` gets `person`.
        rows: the number of rows, if it is public; left out, it is read off the released histograms.
        ledger: is charged before data is read.
        analyst: who asks, where the ledger has shares.

    Raises:
        DataError, SizeError, NumberError, GuaranteeError, UnitError: by `fit`, where parameters or shapes do not fit.
        BudgetError: by `fit`, where the ledger has less left than the price.

    Example:
        >>> import numpy as np
        >>> from dither.learn import BoostingRegressor
        >>> rng = np.random.default_rng(1)
        >>> X = rng.uniform(0, 100, (5000, 2))
        >>> y = np.sqrt(X[:, 0]) + X[:, 1] / 10
        >>> model = BoostingRegressor(epsilon=1, delta="1e-6", bounds=(0, 100), target_bounds=(0, 20)).fit(X, y)
        >>> model.score(X, y, public=True) > 0.3
        True
    """

    shapes_: Any
    histograms_: Any
    intercept_: Any
    importances_: Any
    n_iter_: Any

    def __init__(
        self,
        *,
        epsilon: NumberLike | None = None,
        delta: NumberLike | None = None,
        guarantee: Guarantee | None = None,
        bounds: BoundsLike = None,
        target_bounds: tuple[float, float] | None = None,
        rounds: int = 20,
        leaves: int = 4,
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
        self.rounds = rounds
        self.leaves = leaves
        self.structure_seed = structure_seed
        self.unit = unit
        self.max_rows = max_rows
        self.rows = rows
        self.ledger = ledger
        self.analyst = analyst

    def _learn(self, facts: Facts, release: Release) -> dict[str, Any]:
        loss = Loss(
            outputs=1,
            norm=TARGET_UNIT,
            unit=TARGET_UNIT,
            score_unit=TARGET_UNIT,
            curvature=1.0,
            spread=SPREAD,
            residuals=target_residuals,
            start=target_sum,
            start_size=1,
            start_norm=TARGET_UNIT,
            intercepts=target_mean,
        )
        fitted = self._boost(facts, release, loss)
        assert facts.target is not None
        half, middle = facts.target.half, facts.target.middle  # from here on in the units of the target
        return fitted | {
            "shapes_": [shape * half for shape in fitted["shapes_"]],
            "intercept_": fitted["intercept_"] * half + middle,
            "importances_": fitted["importances_"] * half,
        }

    def predict(self, X: Any) -> Any:
        """The target, for each row of `X`."""
        scores = self._scores(X).ravel()
        target = self.facts_.target
        assert target is not None
        return np.clip(scores, target.low, target.high)

    def _score_words(self) -> str:
        return "the target, in its own units"

    def _output_names(self) -> list[str]:
        return ["target"]


def target_sum(rows: Rows) -> Integers:
    """The sum of the target, in steps of 2^-14."""
    return exact_bins(np.zeros(rows.count, dtype=np.int64), np.trunc(rows.targets * TARGET_UNIT), 1, TARGET_UNIT)


def target_mean(sums: Integers, deviation: float, n: float) -> Floats:
    """The mean of the target, drawn to the middle of its bounds by the noise."""
    return np.clip(sums / (n * TARGET_UNIT + deviation), -1.0, 1.0)
