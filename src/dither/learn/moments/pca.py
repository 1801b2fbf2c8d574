"""Principal components from one release of second moments.

    M   second moments of (x, c) with noise, c = 3 X / 8                               (`second_moments.py`)
    C   the covariances of u, columns scaled to [-1, 1], that M gives; its leading eigenvectors are the components

Theorem. A fit is as private as the release of M.

Proof. All else is computed from public facts and from M (`base/release.py`).

c balances the noise of the squares, (X^2 + c^2) / mu, with that of the mean, which is as much over c: a small c pays little
for the mean, and where the mean is far from the middle of the bounds a larger one pays off.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from dither.errors import NumberError, SizeError
from dither.extras import needs
from dither.learn.base.cells import Cells, Floats
from dither.learn.base.columns import BoundsLike, CategoryColumn
from dither.learn.base.estimator import PrivateEstimator
from dither.learn.base.facts import Facts
from dither.learn.base.release import Rehearsal, Release
from dither.learn.base.row_count import RowCount, listed_counts, released_count
from dither.learn.base.rows import one_hot, row_products
from dither.learn.moments.second_moments import REACH, SecondMoments, check_width, lattice_steps, released_moments
from dither.ledger.ledger import Ledger
from dither.numeric.number import NumberLike
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.unit import UnitLike
from dither.terminal import Explanation

with needs("dither[learn]"):
    from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted

CONSTANT = 3 * REACH // 8


class PCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PrivateEstimator):
    """Principal components of columns that are scaled to [-1, 1] by their public bounds, (epsilon, delta)-private.

    `components_`, `mean_` and `explained_variance_` are of the scaled columns; `inverse_transform` gives the units of the
    columns again. Scores lie within `bounds_out_`: give them as `bounds` to the estimator that comes next.

    Args:
        n_components: how many; left out, all of them.
        epsilon: the price of a fit, with `delta`.
        delta: see `epsilon`.
        guarantee: the price in another way: `dither.zcdp`, `dither.gdp` or `dither.approx`.
        bounds: the public range of each column: `(low, high)`, or by column pairs and lists of categories.
        norm: a public bound of the L2 norm of rows after scaling to [-1, 1]; smaller is better where most rows are short:
            noise grows with its square.
        unit: whom it protects.
        max_rows: how many rows of a person count, where `fit` gets `person`.
        ledger: is charged before data is read.
        analyst: who asks, where the ledger has shares.

    Raises:
        DataError, SizeError, NumberError, GuaranteeError, UnitError: by `fit`, where parameters or shapes do not fit.
        BudgetError: by `fit`, where the ledger has less left than the price.

    Example:
        >>> import numpy as np
        >>> from dither.learn import PCA
        >>> t = np.linspace(-1, 1, 10_000)
        >>> pca = PCA(1, epsilon=1, delta="1e-6", bounds=(-1, 1)).fit(np.stack([t, t, 0 * t], axis=1))
        >>> bool(np.abs(pca.components_[0] - [0.71, 0.71, 0]).max() < 0.1)
        True
    """

    rows: Any = None  # the number of rows is among the moments

    components_: Any
    mean_: Any
    explained_variance_: Any
    explained_variance_ratio_: Any
    noise_norm_: Any
    bounds_out_: Any

    def __init__(
        self,
        n_components: int | None = None,
        *,
        epsilon: NumberLike | None = None,
        delta: NumberLike | None = None,
        guarantee: Guarantee | None = None,
        bounds: BoundsLike = None,
        norm: float | None = None,
        unit: UnitLike = "add/remove one person",
        max_rows: int = 1,
        ledger: Ledger | None = None,
        analyst: str = "",
    ) -> None:
        self.n_components = n_components
        self.epsilon = epsilon
        self.delta = delta
        self.guarantee = guarantee
        self.bounds = bounds
        self.norm = norm
        self.unit = unit
        self.max_rows = max_rows
        self.ledger = ledger
        self.analyst = analyst

    def _facts(self, cells: Cells, labels: Any) -> Facts:
        facts = check_width(super()._facts(cells, labels), self)
        facts.norm(self.norm)  # refused here if it is no norm, before any charge
        self._count(facts)
        return facts

    def _count(self, facts: Facts) -> int:
        """How many components."""
        if self.n_components is None:
            return facts.width
        given = self.n_components
        if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or not 1 <= given <= facts.width:
            why = f"it is a whole number from 1 to {facts.width}, the number of coordinates"
            raise NumberError("n_components", given, why, "n_components=1")
        return int(given)

    def _learn(self, facts: Facts, release: Release) -> dict[str, Any]:
        norm, count = facts.norm(self.norm), self._count(facts)
        share, counts = Fraction(1), tuple[RowCount, ...]()
        if norm < facts.norm(None) and facts.has_lists:  # rows are shortened, so moments of listed values are no counts
            _, spent, counts = released_count(facts, release)
            share -= spent
        moments = released_moments(facts, release, norm=norm, constant=CONSTANT, target=False, share=share)
        values, vectors = np.linalg.eigh(moments.covariance)
        components = _upright(vectors[:, ::-1][:, :count].T)
        variances = np.maximum(values[::-1], 0.0)
        total = float(variances.sum()) or 1.0
        ends = np.stack([components @ (end - moments.mean) for end in (np.ones(facts.width), -np.ones(facts.width))])
        reach, centre = np.abs(components).sum(axis=1), ends.mean(axis=0)  # scores of the box of all u
        return {
            "components_": components,
            "mean_": moments.mean,
            "explained_variance_": variances[:count],
            "explained_variance_ratio_": variances[:count] / total,
            "noise_norm_": covariance_noise(moments),
            "row_counts_": counts or moment_counts(facts, moments),
            "bounds_out_": list(zip((centre - reach).tolist(), (centre + reach).tolist(), strict=True)),
        }

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def transform(self, X: Any) -> Any:
        """The scores of each component, for each row of `X`."""
        rows = self._predicted(X)
        return row_products(one_hot(rows, self.facts_.columns) - self.mean_, self.components_.T)

    def inverse_transform(self, X: Any) -> Any:
        """Scores `X` back to the units of the columns, a coordinate for each category."""
        check_is_fitted(self, "guarantee_")
        given, columns = np.asarray(X, dtype=np.float64), self.facts_.columns
        if given.ndim != 2 or given.shape[1] != len(self.components_):
            raise SizeError("X", given.shape, f"it has not {len(self.components_)} columns", "what transform gave")
        listed = [np.zeros(one.width) if isinstance(one, CategoryColumn) else np.array([one.middle]) for one in columns]
        halves = [np.ones(one.width) if isinstance(one, CategoryColumn) else np.array([one.half]) for one in columns]
        return (given @ self.components_ + self.mean_) * np.concatenate(halves) + np.concatenate(listed)

    def explain(self) -> Explanation:
        """What was released, at which price, and which components stand above the noise."""
        above, count = int((self.explained_variance_ > self.noise_norm_).sum()), len(self.components_)
        told = f"{above} of {count} components have a variance above the norm of the noise"
        return Explanation(f"{super().explain()}\nSignal     {told}")

    def _expect(self, facts: Facts, n: int) -> list[str]:
        norm, rehearsal = facts.norm(self.norm), Rehearsal(facts.price, facts.rows_per_person)
        deviation = float(rehearsal.variance((REACH**2 + CONSTANT**2) ** 2, Fraction(1))) ** 0.5
        noise = deviation * float(np.sqrt(2 * facts.width)) / (lattice_steps(facts.width, norm) ** 2 * n)
        return [f"noise alone gives a component a variance of up to about {noise:.2g}; a column spread evenly has 0.33"]


def moment_counts(facts: Facts, moments: SecondMoments) -> tuple[RowCount, ...]:
    """Counts by column of categories: a listed value is a whole number of steps, times the constant."""
    each = 1 / (moments.constant * round(moments.steps))
    sums = np.split(moments.matrix[: facts.width, facts.width] * each, np.cumsum([one.width for one in facts.columns])[:-1])
    tables = [part for part, one in zip(sums, facts.columns, strict=True) if isinstance(one, CategoryColumn)]
    return listed_counts(facts, tables, moments.deviation * 0.5**0.5 * each, each)


def covariance_noise(moments: SecondMoments) -> float:
    """About the largest eigenvalue that noise alone gives the covariances: s sqrt(2 width) for a symmetric matrix."""
    return moments.deviation * float(np.sqrt(2 * moments.width)) / (moments.steps**2 * moments.rows)


def _upright(components: Floats) -> Floats:
    """Each with its largest coordinate positive: eigenvectors have no sign."""
    largest = np.argmax(np.abs(components), axis=1)
    return np.asarray(components * np.where(components[np.arange(len(components)), largest] < 0, -1.0, 1.0)[:, None])
