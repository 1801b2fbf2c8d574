"""Naive Bayes: class by class the count, mean and variance of each number, and how often each category occurs.

    t   a number on the lattice 2^-10, from 0 (its lower bound) to 1 (its upper bound);  T = 2^10 t;  u = 2 t - 1
    S   2^20: what one row weighs;  D, N, K: columns, of numbers, of categories
    pure       each number adds to its class the triple ((2^10 - T)^2, 2 T (2^10 - T), T^2): the Bernstein polynomials
               of degree 2. Each category adds S at its place.
    Gaussian   a row adds to its class 2^10 (weight 1), and for each number U = 2T - 2^10 and
               V = trunc(2 U^2 / 2^10) - 2^10 (weight D each); for each category 2^10 at its place (weight D)

Theorem. Whatever a row holds, it adds whole numbers of L1 norm at most D S (pure); and with sum f_j^2 / w_j at most
4^10 (1 + (2 N + K) / D) (Gaussian).

Proof. A triple has no negative number, and its sum is (2^10 - T + T)^2 = S; a category adds S or nothing. |U| <= 2^10, and
2 U^2 / 2^10 lies between 0 and 2^11, so |V| <= 2^10. A row has one label, so it adds to one class. T is made of one cell;
sums are of whole numbers (`base/exact_sums.py`).

The sum of a triple is a count, so counts cost nothing of their own. From the polynomials t is half the second plus the
third, and t^2 is the third. Each class is drawn towards all classes together by as many rows as the noise is worth.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from dither.learn.base.cells import Floats, Integers
from dither.learn.base.class_means import class_noise, shrunk_means
from dither.learn.base.classifier import PrivateClassifier
from dither.learn.base.columns import BoundsLike, CategoryColumn, Column, NumberColumn
from dither.learn.base.exact_sums import exact_products
from dither.learn.base.facts import Facts
from dither.learn.base.release import Rehearsal, Release
from dither.learn.base.row_count import RowCount, listed_counts, row_counts
from dither.learn.base.rows import Rows
from dither.learn.base.targets import ClassesLike
from dither.ledger.ledger import Ledger
from dither.numeric.number import NumberLike
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.unit import UnitLike

BITS = 10
STEPS = 2**BITS
LEAST_VARIANCE = 0.003  # of u; also that of a column that is constant


class GaussianNB(PrivateClassifier):
    """Gaussian naive Bayes, with categories by their frequencies; pure epsilon, or (epsilon, delta).

    Args:
        epsilon: the price of a fit; without a `delta` it is pure.
        delta: with it noise is Gaussian, which is less where there are many columns.
        guarantee: the price in another way: `dither.pure`, `dither.zcdp`, `dither.gdp` or `dither.approx`.
        bounds: the public range of each column: `(low, high)`, or by column pairs and lists of categories.
        classes: the public list of labels. Rows with another label are left out.
        unit: whom it protects.
        max_rows: how many rows of a person count, where `fit` gets `person`.
        rows: not needed here: counts are part of what is released.
        ledger: is charged before data is read.
        analyst: who asks, where the ledger has shares.

    Raises:
        DataError, SizeError, NumberError, GuaranteeError, UnitError: by `fit`, where parameters or shapes do not fit.
        BudgetError: by `fit`, where the ledger has less left than the price.

    Example:
        >>> import numpy as np
        >>> from dither.learn import GaussianNB
        >>> rng = np.random.default_rng(1)
        >>> y = rng.integers(0, 2, 2000)
        >>> X = rng.normal(40 + 20 * y[:, None], 10, (2000, 2))
        >>> model = GaussianNB(epsilon=1, bounds=(0, 100), classes=[0, 1]).fit(X, y)
        >>> model.score(X, y, public=True) > 0.85
        True
    """

    _kinds = ("pure", "gaussian")

    class_prior_: Any
    scaled_theta_: Any
    scaled_var_: Any
    category_log_prob_: Any

    def __init__(
        self,
        *,
        epsilon: NumberLike | None = None,
        delta: NumberLike | None = None,
        guarantee: Guarantee | None = None,
        bounds: BoundsLike = None,
        classes: ClassesLike = None,
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
        self.unit = unit
        self.max_rows = max_rows
        self.rows = rows
        self.ledger = ledger
        self.analyst = analyst

    def _learn(self, facts: Facts, release: Release) -> dict[str, Any]:
        counts, first, second, listed, noise, rows = _moments(facts, release)
        prior = (np.maximum(counts, 0.0) + noise) / (np.maximum(counts, 0.0) + noise).sum()
        means, variances = shrunk_moments(np.maximum(counts, 1.0), first, second, noise)
        tables = []
        for table in listed:
            total = np.maximum(table.sum(axis=0), 0.0) + noise / table.shape[1]
            odds = np.maximum(table, 0.0) + noise * total / total.sum()
            tables.append(np.log(odds / odds.sum(axis=1, keepdims=True)))
        return {
            "class_prior_": prior,
            "scaled_theta_": means,
            "scaled_var_": variances,
            "category_log_prob_": tables,
            "row_counts_": rows,
        }

    @property
    def theta_(self) -> Any:
        """The mean of each number, a row for each class, in its own units."""
        return np.array([c.middle for c in _numbers(self.facts_)]) + self.scaled_theta_ * _halves(self.facts_)

    @property
    def var_(self) -> Any:
        """The variance of each number, a row for each class, in the square of its own units."""
        return self.scaled_var_ * _halves(self.facts_) ** 2

    def predict_proba(self, X: Any) -> Any:
        """The probability of each class, in the order of `classes_`, for each row of `X`."""
        scores = self._joint(self._predicted(X))
        exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
        return exponentials / exponentials.sum(axis=1, keepdims=True)

    def _joint(self, rows: Rows) -> Floats:
        """The logarithm of prior times likelihood, up to a constant; a category that is not listed says nothing."""
        apart = rows.numbers[:, None, :] - self.scaled_theta_[None]
        scores: Floats = -0.5 * (apart**2 / self.scaled_var_ + np.log(self.scaled_var_)).sum(axis=2)
        for place, table in enumerate(self.category_log_prob_):
            codes = rows.codes[:, place]
            scores += np.where((codes >= 0)[:, None], table.T[np.maximum(codes, 0)], 0.0)
        return scores + np.log(self.class_prior_)

    def _expect(self, facts: Facts, n: int) -> list[str]:
        columns, rehearsal = len(facts.columns), Rehearsal(facts.price, facts.rows_per_person)
        if facts.price.kind == "pure":
            noise = 2 * float(rehearsal.scale(columns, Fraction(1)))
        else:
            numbers = len(_numbers(facts))
            noise = float(rehearsal.variance(1 + Fraction(columns + numbers, columns), Fraction(1)) * columns) ** 0.5
        return [class_noise(noise)]


def _moments(facts: Facts, release: Release) -> tuple[Floats, Floats, Floats, list[Floats], float, tuple[RowCount, ...]]:
    """By class: counts, sums of u and of u^2, tables of categories; the deviation of a sum of u; and counts of rows."""
    kind, columns, classes = facts.price.kind, len(facts.columns), len(facts.classes)
    statistic, width = (bernstein_sums, 3) if kind == "pure" else (moment_sums, 2)
    numbers, lists = _numbers(facts), [c.width for c in facts.columns if isinstance(c, CategoryColumn)]
    cells = width * len(numbers) + sum(lists)
    if kind == "pure":
        norm1 = columns * STEPS**2
        found = release.geometric(lambda rows: statistic(rows, facts), (classes, cells), norm1=norm1, share=Fraction(1))
        sums = found / float(STEPS**2)
        triples = sums[:, : 3 * len(numbers)].reshape(classes, len(numbers), 3)
        tables = _tables(sums[:, 3 * len(numbers) :], lists)
        counts = (triples.sum(axis=(1, 2)) + sum(table.sum(axis=1) for table in tables)) / columns
        t, t2 = triples[:, :, 1] / 2 + triples[:, :, 2], triples[:, :, 2]
        alike = triples.sum(axis=2)  # the counts that these triples hold
        first, second = 2 * t - alike, 4 * t2 - 4 * t + alike
        noise, step = 2 * float(release.scale(columns, Fraction(1))), 1 / STEPS**2
        rows = tuple[RowCount, ...]()
        if numbers:  # each triple of all classes adds up to the rows with a label
            each = 1 / len(numbers)
            total, cells = float(triples.sum()) * each, triples.size
            rows = row_counts(facts, total, noise * 0.5**0.5 * each, step=step * each, numbers=cells)
        return counts, first, second, tables, noise, rows + listed_counts(facts, tables, noise * 0.5**0.5, step)
    norm2 = Fraction(STEPS**2) * (1 + Fraction(2 * len(numbers) + len(lists), columns))
    weights = ([1] + [columns] * cells) * classes
    found = release.gaussian(
        lambda rows: statistic(rows, facts), (classes, 1 + cells), norm2=norm2, share=Fraction(1), weights=weights
    )
    sums = found / float(STEPS)
    counts, first = sums[:, 0], sums[:, 1 : 1 + len(numbers)]
    second = (sums[:, 1 + len(numbers) : 1 + 2 * len(numbers)] + counts[:, None]) / 2
    one = float(release.variance(norm2, Fraction(1))) ** 0.5 / STEPS
    noise, tables = one * columns**0.5, _tables(sums[:, 1 + 2 * len(numbers) :], lists)
    rows = row_counts(facts, float(counts.sum()), one, step=1 / STEPS, numbers=classes)
    return counts, first, second, tables, noise, rows + listed_counts(facts, tables, noise, 1 / STEPS)


def shrunk_moments(counts: Floats, first: Floats, second: Floats, noise: float) -> tuple[Floats, Floats]:
    """Means and variances of u by class; a variance is drawn towards that within all classes, and of all columns."""
    means, left = shrunk_means(counts, first, noise)
    whole, each = counts.sum(), counts[:, None]
    raw = np.clip(first / each, -1.0, 1.0) ** 2 - np.minimum((noise / each) ** 2, 1.0)
    within = np.clip((second.sum(axis=0) - (each * raw).sum(axis=0)) / whole, LEAST_VARIANCE, 1.0)
    trust = whole / (whole + noise * len(counts) ** 0.5)
    within = trust * within + (1 - trust) * (within.mean() if within.size else 0.0)
    trust = each / (each + 2 * noise)
    own = np.clip(second / each - raw, 0.0, 1.0)
    return means, np.maximum(trust * own + (1 - trust) * within, LEAST_VARIANCE) + left


def bernstein_sums(rows: Rows, facts: Facts) -> Integers:
    """By class the triples of numbers, and then the tables of categories."""
    t = _steps(rows)
    triples = np.stack([(STEPS - t) ** 2, 2 * t * (STEPS - t), t**2], axis=2).reshape(rows.count, 3 * t.shape[1])
    parts = np.concatenate([triples, *_listed(rows, facts, STEPS**2)], axis=1)
    return exact_products(_classes(rows, facts), parts, STEPS**2)


def moment_sums(rows: Rows, facts: Facts) -> Integers:
    """By class the count, the sums of U and of V, and then the tables of categories."""
    u = 2 * _steps(rows) - STEPS
    constant = np.full((rows.count, 1), float(STEPS))
    parts = np.concatenate([constant, u, np.floor(2 * u**2 / STEPS) - STEPS, *_listed(rows, facts, STEPS)], axis=1)
    return exact_products(_classes(rows, facts), parts, STEPS)


def _steps(rows: Rows) -> Floats:
    return np.rint((rows.numbers + 1.0) * (STEPS / 2))


def _classes(rows: Rows, facts: Facts) -> Floats:
    return (rows.labels[:, None] == np.arange(len(facts.classes))).astype(np.float64)


def _listed(rows: Rows, facts: Facts, size: int) -> list[Floats]:
    lists = [c.width for c in facts.columns if isinstance(c, CategoryColumn)]
    return [(rows.codes[:, place, None] == np.arange(width)) * float(size) for place, width in enumerate(lists)]


def _tables(sums: Floats, lists: list[int]) -> list[Floats]:
    return list(np.split(sums, np.cumsum(lists)[:-1], axis=1)) if lists else []


def _numbers(facts: Facts) -> list[NumberColumn]:
    columns: tuple[Column, ...] = facts.columns
    return [column for column in columns if isinstance(column, NumberColumn)]


def _halves(facts: Facts) -> Floats:
    return np.array([column.half for column in _numbers(facts)])
