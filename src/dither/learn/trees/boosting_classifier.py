"""Boosting of functions of one column for classes: an additive model whose every part can be drawn.

Theorem and proof are in `boosting.py`. Two classes have one score, more have one each; the residuals of a row have L2 norm
at most 1 together (`residuals.py`), so more classes cost no more. The start is the counts of the classes: L2 norm 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dither.learn.base.cells import Floats, Integers
from dither.learn.base.classifier import PrivateClassifier
from dither.learn.base.columns import BoundsLike
from dither.learn.base.exact_sums import exact_bins
from dither.learn.base.facts import Facts
from dither.learn.base.release import Release
from dither.learn.base.rows import Rows
from dither.learn.base.targets import ClassesLike
from dither.learn.trees.boosting import Loss
from dither.learn.trees.residuals import SCORE_BITS, UNIT, class_residuals, two_class_residuals
from dither.learn.trees.shape_functions import AdditiveModel
from dither.ledger.ledger import Ledger
from dither.numeric.number import NumberLike
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.unit import UnitLike

CURVATURE = 0.18  # of the logistic loss, about p (1 - p)
SPREAD = 0.35  # of a step in log-odds


class BoostingClassifier(AdditiveModel, PrivateClassifier):
    """Boosting for two or more classes, an additive model that explains itself, (epsilon, delta)-differentially private.

    Args:
        epsilon: the price of a fit, with `delta`.
        delta: see `epsilon`.
        guarantee: the price in another way: `dither.zcdp`, `dither.gdp` or `dither.approx`.
        bounds: the public range of each column: `(low, high)`, or by column pairs and lists of categories.
        classes: the public list of labels. Rows with another label are left out.
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
        >>> from dither.learn import BoostingClassifier
        >>> rng = np.random.default_rng(1)
        >>> X = rng.uniform(0, 100, (5000, 2))
        >>> y = np.where((X[:, 0] - 50) ** 2 < 500, "yes", "no")
        >>> model = BoostingClassifier(epsilon=1, delta="1e-6", bounds=(0, 100), classes=["no", "yes"]).fit(X, y)
        >>> model.score(X, y, public=True) > 0.75
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
        classes: ClassesLike = None,
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
        self.classes = classes
        self.rounds = rounds
        self.leaves = leaves
        self.structure_seed = structure_seed
        self.unit = unit
        self.max_rows = max_rows
        self.rows = rows
        self.ledger = ledger
        self.analyst = analyst

    def _learn(self, facts: Facts, release: Release) -> dict[str, Any]:
        count = len(facts.classes)

        def class_counts(rows: Rows) -> Integers:
            return exact_bins(rows.labels, None, count)

        loss = Loss(
            outputs=1 if count == 2 else count,
            norm=UNIT,
            unit=UNIT,
            score_unit=2**SCORE_BITS,
            curvature=CURVATURE,
            spread=SPREAD,
            residuals=two_class_residuals if count == 2 else class_residuals,
            start=class_counts,
            start_size=count,
            start_norm=1,
            intercepts=class_intercepts,
        )
        return self._boost(facts, release, loss)

    def decision_function(self, X: Any) -> Any:
        """How much each class is favoured, for each row of `X`; of two classes, how much the second is."""
        scores = self._scores(X)
        return scores.ravel() if len(self.classes_) == 2 else scores

    def predict_proba(self, X: Any) -> Any:
        """The probability of each class, in the order of `classes_`, for each row of `X`."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.stack([np.zeros_like(scores), scores], axis=1)
        exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
        return exponentials / exponentials.sum(axis=1, keepdims=True)

    def _score_words(self) -> str:
        return "log-odds" if len(self.classes_) == 2 else "the logarithm of a probability, but for a constant"

    def _output_names(self) -> list[str]:
        return [str(one) for one in self.classes_[-1:]] if len(self.classes_) == 2 else [str(one) for one in self.classes_]


def class_intercepts(counts: Integers, deviation: float, n: float) -> Floats:
    """Log-odds of the second class, or logarithms of the shares of all, drawn towards equal ones by the noise."""
    shares = np.maximum(counts, 0.0) + max(deviation, 0.5)
    logs = np.log(shares / shares.sum())
    return logs[1:] - logs[:1] if len(logs) == 2 else logs - logs.mean()
