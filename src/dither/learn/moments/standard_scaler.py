"""Columns with mean 0 and deviation 1, by released moments. Means and deviations of the data itself tell of single rows.

    w   a value on the lattice, a whole number between -B and B = 2^15, B at the bounds of its column

Theorem 1 (Gaussian noise). Release the sums of  w B,  w^2 - B^2 / 2  of each of d columns, and of B^2 (how many rows). One
row adds whole numbers with  sum (w B)^2 + 4 sum (w^2 - B^2 / 2)^2 + B^4 <= (2 d + 1) B^4.

Proof. With v = w^2 / B^2 in [0, 1] a column adds B^4 (v + 4 (v - 1/2)^2), convex in v: 1 at v = 0, 2 at v = 1.

Theorem 2 (discrete Laplace noise). Release the sums of  (B - w)^2,  (B + w)^2,  2 (B^2 - w^2)  of each column. One row adds
whole numbers of L1 norm 4 B^2 d, exactly.

Proof. None is negative, and those of a column add up to (B - w + B + w)^2 = 4 B^2.

Each is made of the cell of its own row and column; sums are exact and cut at 2^62, which moves no two of them further apart.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from dither.errors import DataError, SizeError
from dither.extras import needs
from dither.learn.base.cells import Cells, Floats, Integers
from dither.learn.base.columns import BoundsLike, NumberColumn
from dither.learn.base.estimator import PrivateEstimator
from dither.learn.base.facts import Facts
from dither.learn.base.release import Release
from dither.learn.base.rows import Rows
from dither.learn.moments.second_moments import bounded_products
from dither.ledger.ledger import Ledger
from dither.numeric.number import NumberLike
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.unit import UnitLike

with needs("dither[learn]"):
    from sklearn.base import OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted

B = 2**15


class StandardScaler(OneToOneFeatureMixin, TransformerMixin, PrivateEstimator):
    """Columns less their mean, over their deviation; both are released, at epsilon or (epsilon, delta).

    Values beyond `bounds` are moved to the bound, by `fit` and by `transform`; what is no number counts as the middle. So
    what comes out lies within `bounds_out_`, which are made of public bounds and released numbers: give them, or rounder
    ones that you chose before, as `bounds` to the estimator that comes next. It has its own price.

    Args:
        epsilon: the price of a fit; pure without `delta`.
        delta: with it, noise is Gaussian: better from about ten columns on.
        guarantee: the price in another way: `dither.pure`, `dither.zcdp`, `dither.gdp` or `dither.approx`.
        bounds: the public range of each column: `(low, high)`, or a pair for each.
        unit: whom it protects.
        max_rows: how many rows of a person count, where `fit` gets `person`.
        ledger: is charged before data is read.
        analyst: who asks, where the ledger has shares.

    Raises:
        DataError, SizeError, NumberError, GuaranteeError, UnitError: by `fit`, where parameters or shapes do not fit.
        BudgetError: by `fit`, where the ledger has less left than the price.

    Example:
        >>> import numpy as np
        >>> from dither.learn import StandardScaler
        >>> X = np.linspace(20, 60, 10_000).reshape(-1, 1)
        >>> scaler = StandardScaler(epsilon=1, bounds=(0, 100)).fit(X)
        >>> scaler.mean_.round(), scaler.scale_.round(-1)
        (array([40.]), array([10.]))
        >>> [(int(low), int(high)) for low, high in scaler.bounds_out_]
        [(-3, 5)]
    """

    _kinds = ("pure", "gaussian")
    rows: Any = None  # the number of rows is among the moments

    mean_: Any
    scale_: Any
    var_: Any
    bounds_out_: Any

    def __init__(
        self,
        *,
        epsilon: NumberLike | None = None,
        delta: NumberLike | None = None,
        guarantee: Guarantee | None = None,
        bounds: BoundsLike = None,
        unit: UnitLike = "add/remove one person",
        max_rows: int = 1,
        ledger: Ledger | None = None,
        analyst: str = "",
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.guarantee = guarantee
        self.bounds = bounds
        self.unit = unit
        self.max_rows = max_rows
        self.ledger = ledger
        self.analyst = analyst

    def _facts(self, cells: Cells, labels: Any) -> Facts:
        facts = super()._facts(cells, labels)
        for name, column in zip(facts.names, facts.columns, strict=True):
            if not isinstance(column, NumberColumn):
                why = "a category has no mean"
                ways = "pairs of numbers; scikit-learn's ColumnTransformer passes other columns by"
                raise DataError(f"bounds[{name!r}]", list(column.values), why, ways)
        return facts

    def _learn(self, facts: Facts, release: Release) -> dict[str, Any]:
        count, sums, squares, noise = released_sums(facts.width, release)
        mean = np.clip(sums / count, -1.0, 1.0)
        floor = min(1.0, noise / count)  # a variance below its own noise is not told from it
        variance = np.clip(squares / count - mean**2, floor, 1.0)
        lows, highs = (np.array([getattr(one, end) for one in facts.columns]) for end in ("low", "high"))
        middles, halves = _middles(facts), _halves(facts)
        means, scales = middles + halves * mean, halves * np.sqrt(variance)
        out = zip(((lows - means) / scales).tolist(), ((highs - means) / scales).tolist(), strict=True)
        return {"mean_": means, "scale_": scales, "var_": scales**2, "bounds_out_": list(out)}

    def transform(self, X: Any) -> Any:
        """Values of `X` within `bounds`, less the mean, over the deviation."""
        rows = self._predicted(X)
        return (rows.numbers * _halves(self.facts_) + _middles(self.facts_) - self.mean_) / self.scale_

    def inverse_transform(self, X: Any) -> Any:
        """`X` back to the units of the columns."""
        check_is_fitted(self, "guarantee_")
        given = np.asarray(X, dtype=np.float64)
        if given.ndim != 2 or given.shape[1] != len(self.mean_):
            raise SizeError("X", given.shape, f"it has not {len(self.mean_)} columns", "what transform gave")
        return given * self.scale_ + self.mean_

    def _expect(self, facts: Facts, n: int) -> list[str]:
        people, width = n / facts.rows_per_person / facts.price.replacement, facts.width
        spread = np.sqrt(2 * width + 1) if facts.price.kind == "gaussian" else 2 * width
        off = spread / (people * facts.price.mu)
        return [f"the noise of a mean is about {off:.1g} of half the range of its column"]


def released_sums(width: int, release: Release) -> tuple[float, Floats, Floats, float]:
    """The number of rows, the sums of u and of u^2 by column, with noise, and the standard deviation of the latter."""
    if release.price.kind == "gaussian":
        norm2, share = (2 * width + 1) * B**4, Fraction(1)
        weights = [Fraction(1)] * width + [Fraction(1, 4)] * width + [Fraction(1)]
        told = release.gaussian(gaussian_sums, (2 * width + 1,), norm2=norm2, share=share, weights=weights) / B**2
        deviation = float(release.variance(norm2, share)) ** 0.5 / B**2
        count = max(float(told[-1]), deviation, 1.0)
        return count, told[:width], told[width:-1] + told[-1] / 2, deviation / np.sqrt(2)
    norm1 = 4 * B**2 * width
    lows, highs, middles = release.geometric(bernstein_sums, (3, width), norm1=norm1, share=Fraction(1)) / (4.0 * B**2)
    deviation = float(release.scale(norm1, Fraction(1))) * 2**0.5 / (4 * B**2)
    count = max(float((lows + highs + middles).mean()), deviation, 1.0)
    return count, highs - lows, highs + lows - middles, deviation * 3**0.5


def lattice_values(rows: Rows) -> Floats:
    """w of each value."""
    return np.rint(rows.numbers * B)


def gaussian_sums(rows: Rows) -> Integers:
    """The sums of Theorem 1: those of values, of squares, and the number of rows."""
    w = lattice_values(rows)
    parts = np.concatenate([w * B, w * w - B**2 // 2, np.full((len(w), 1), float(B**2))], axis=1)
    return bounded_products(np.ones((len(w), 1)), parts, B**2)[0]


def bernstein_sums(rows: Rows) -> Integers:
    """The sums of Theorem 2, three a column."""
    w = lattice_values(rows)
    parts = np.concatenate([(B - w) ** 2, (B + w) ** 2, 2 * (B**2 - w * w)], axis=1)
    return bounded_products(np.ones((len(w), 1)), parts, 4 * B**2)[0].reshape(3, -1)


def _halves(facts: Facts) -> Floats:
    return np.array([column.half for column in facts.columns if isinstance(column, NumberColumn)])


def _middles(facts: Facts) -> Floats:
    return np.array([column.middle for column in facts.columns if isinstance(column, NumberColumn)])
