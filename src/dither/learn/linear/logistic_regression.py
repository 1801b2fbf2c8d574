"""Logistic regression: gradient descent over all rows at once, in whole numbers, a Gaussian at each step.

    x   a row on the lattice 2^-12: numbers between -1 and 1, categories as 0 and 1, and a constant 1
    w   weights on the lattice 2^-14, within 256                                      public: made of earlier releases
    p   softmax of x w, its exponentials from a table of whole numbers in steps of 2^-10
    r   p - (1 at the label), shortened where |x|_2 |r|_2 > 1 so that it is at most 1, on the lattice 2^-15
    G   the sum of x r^T over rows

Theorem. One row adds to G a matrix of whole numbers of L2 norm at most 2^27, whatever it holds, and no other row's part
changes. So `Release.gaussian` has norm2 = 4^27 at every step.

Proof. x w is a sum of whole products below 2^53, exact in any order; the table, the sum over classes in their order, the
division and the shortening look at one row each. |x r^T| = |x| |r|, and sum r^2 <= floor(4^27 / sum x^2) is checked in whole
numbers. G is exact (`base/exact_sums.py`).

Shortening the gradient of a row, not the row, leaves long rows their say where the model is sure of them: of digits at
epsilon 1, 89% are told right in place of 82%. The number of steps follows from n mu / sqrt(width), n public or released with
noise. Nothing else depends on the data: no early stop, no line search.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dither.learn.base.cells import Cells, Floats, Integers
from dither.learn.base.classifier import PrivateClassifier
from dither.learn.base.columns import BoundsLike
from dither.learn.base.exact_sums import exact_products, exact_scores
from dither.learn.base.facts import Facts, read_setting
from dither.learn.base.release import Rehearsal, Release
from dither.learn.base.row_count import COUNT_SHARE, released_count
from dither.learn.base.rows import Rows, one_hot, row_products
from dither.learn.base.targets import ClassesLike
from dither.learn.linear.original_units import NamesCoefficients, bounded_values, original_coefficients
from dither.ledger.ledger import Ledger
from dither.numeric.number import NumberLike
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.unit import UnitLike

ROW_BITS, WEIGHT_BITS, RESIDUAL_BITS = 12, 14, 15
NORM2 = 4 ** (ROW_BITS + RESIDUAL_BITS)
LARGEST_WEIGHT = 256.0
LARGEST_L2 = 1000.0
TABLE_BITS, TABLE_REACH = 10, 16  # steps of 2^-10, exponentials down to e^-16
EXPONENTIALS = np.rint(np.exp(-np.arange(TABLE_REACH * 2**TABLE_BITS + 1) / 2**TABLE_BITS) * 2**30)
MOMENTUM, RATE = 0.8, 1.0
SPARE = 1 - 2.0**-20


class LogisticRegression(NamesCoefficients, PrivateClassifier):
    """Logistic regression for two or more classes, (epsilon, delta)-differentially private.

    Args:
        epsilon: the price of a fit, with `delta`.
        delta: see `epsilon`.
        guarantee: the price in another way: `dither.zcdp`, `dither.gdp` or `dither.approx`.
        bounds: the public range of each column: `(low, high)`, or by column pairs and lists of categories.
        classes: the public list of labels. Rows with another label are left out.
        l2: how strongly weights are drawn to zero; costs nothing.
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
        >>> from dither.learn import LogisticRegression
        >>> rng = np.random.default_rng(1)
        >>> X = rng.uniform(0, 100, (2000, 2))
        >>> y = np.where(X[:, 0] > X[:, 1], "yes", "no")
        >>> model = LogisticRegression(epsilon=1, delta="1e-6", bounds=(0, 100), classes=["no", "yes"]).fit(X, y)
        >>> model.score(X, y, public=True) > 0.9
        True
    """

    coef_: Any
    intercept_: Any
    n_iter_: Any

    def __init__(
        self,
        *,
        epsilon: NumberLike | None = None,
        delta: NumberLike | None = None,
        guarantee: Guarantee | None = None,
        bounds: BoundsLike = None,
        classes: ClassesLike = None,
        l2: float = 0.0,
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
        self.l2 = l2
        self.unit = unit
        self.max_rows = max_rows
        self.rows = rows
        self.ledger = ledger
        self.analyst = analyst

    def _facts(self, cells: Cells, labels: Any) -> Facts:
        self._penalty()
        return super()._facts(cells, labels)

    def _penalty(self) -> float:
        return read_setting(self.l2, "l2", 0, LARGEST_L2, "l2=0.01")

    def _learn(self, facts: Facts, release: Release) -> dict[str, Any]:
        classes, penalty = len(facts.classes), self._penalty()
        n, spent, counts = released_count(facts, release)
        steps = step_count(n * facts.mu / np.sqrt(facts.width))
        share = (1 - spent) / steps
        weights = np.zeros((facts.width + 1, classes))
        speed, total, counted = np.zeros_like(weights), np.zeros_like(weights), 0
        for step in range(steps):
            whole = np.rint(np.clip(weights, -LARGEST_WEIGHT, LARGEST_WEIGHT) * 2**WEIGHT_BITS)
            gradient = release.gaussian(
                lambda rows, whole=whole: gradient_sums(rows, facts, whole),  # type: ignore[misc]
                (facts.width + 1, classes),
                norm2=NORM2,
                share=share,
            )
            speed = MOMENTUM * speed + gradient / 2.0 ** (ROW_BITS + RESIDUAL_BITS) / n + penalty * weights
            weights = np.clip(np.nan_to_num(weights - RATE * speed), -LARGEST_WEIGHT, LARGEST_WEIGHT)  # NaN would scale rows
            if step >= steps // 2:
                total, counted = total + weights, counted + 1
        mean = total / counted
        coefficients, intercepts = original_coefficients(mean[:-1], mean[-1], facts.columns)
        if classes == 2:
            coefficients, intercepts = np.diff(coefficients, axis=1), np.diff(intercepts)
        return {"coef_": coefficients.T, "intercept_": intercepts, "n_iter_": steps, "row_counts_": counts}

    def decision_function(self, X: Any) -> Any:
        """How much each class is favoured, for each row of `X`; of two classes, how much the second is."""
        rows = self._predicted(X)
        scores = row_products(bounded_values(rows, self.facts_.columns), self.coef_.T) + self.intercept_
        return scores.ravel() if len(self.classes_) == 2 else scores

    def predict_proba(self, X: Any) -> Any:
        """The probability of each class, in the order of `classes_`, for each row of `X`."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.stack([np.zeros_like(scores), scores], axis=1)
        exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
        return exponentials / exponentials.sum(axis=1, keepdims=True)

    def _expect(self, facts: Facts, n: int) -> list[str]:
        ratio = n * facts.mu / np.sqrt(facts.width)
        steps = step_count(ratio)
        noise = float(Rehearsal(facts.price, facts.rows_per_person).variance(1, (1 - COUNT_SHARE) / steps)) ** 0.5 / n
        words = (
            f"each number of a mean gradient has noise of deviation {noise:.2g}, where that of a row has length 1 at most"
        )
        return [f"n mu / sqrt(d) is {ratio:.3g}, so {steps} gradient steps", words]


def step_count(ratio: float) -> int:
    """The steps for n mu / sqrt(width): more where noise is smaller beside the gradient."""
    return 10 if ratio < 8 else 25 if ratio < 45 else 50 if ratio < 100 else 100


def gradient_sums(rows: Rows, facts: Facts, weights: Floats) -> Integers:
    """The sum of x r^T over rows, in steps of 2^-27."""
    vectors = np.trunc(one_hot(rows, facts.columns) * 2.0**ROW_BITS)
    vectors = np.concatenate([vectors, np.full((rows.count, 1), 2.0**ROW_BITS)], axis=1)
    return exact_products(vectors, residuals(vectors, rows.labels, weights), 2 ** (ROW_BITS + RESIDUAL_BITS))


def residuals(vectors: Floats, labels: Integers, weights: Floats) -> Floats:
    """r of each row, in steps of 2^-15, so short that |x| |r| is at most 2^27."""
    largest = vectors.shape[1] * 2**ROW_BITS * int(LARGEST_WEIGHT) * 2**WEIGHT_BITS
    scores = np.floor(exact_scores(vectors, weights, largest) / 2.0 ** (ROW_BITS + WEIGHT_BITS - TABLE_BITS))
    below = np.minimum(scores.max(axis=1, keepdims=True) - scores, float(TABLE_REACH * 2**TABLE_BITS))
    powers = EXPONENTIALS[below.astype(np.int64)]
    total = powers[:, 0].copy()
    for place in range(1, powers.shape[1]):  # whole numbers, exact in any order; one by one all the same
        total += powers[:, place]
    errors = powers / total[:, None]
    errors[np.arange(len(labels)), labels] -= 1.0
    whole = np.trunc(errors * 2.0**RESIDUAL_BITS)
    most = NORM2 // np.einsum("ij,ij->i", vectors, vectors).astype(
        np.int64
    )  # at least 4^12 of the constant: no division by 0
    square = np.einsum("ij,ij->i", whole, whole)
    long = square > most
    whole[long] = np.trunc(whole[long] * (np.sqrt(most[long]) * SPARE / np.sqrt(square[long]))[:, None])
    whole[np.einsum("ij,ij->i", whole, whole) > most] = 0.0  # no row gets here; one that did would not count
    return whole
