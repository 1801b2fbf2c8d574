"""Nearest centroid: a mean for each class, and the class whose mean is nearest.

    v   a row on the lattice 2^-12, |v|_2 <= 2^12                                     (`base/rows.py`)
    Gaussian   a row adds to its class 2^12 and v (weight 1), and to one number for all trunc(|v|^2 / 2^12) (weight 16)
    T, t       as in `naive_bayes.py`: a number on the lattice 2^-10, T from 0 to 2^10;  D columns
    pure       to its class each number adds T and 2^10 - T, each category 2^10 at its place; and the row adds to one
               number for all classes the mean over its numbers of (2T - 2^10)^2 / 2^10, cut to a whole number

Theorem. Whatever a row holds, it adds whole numbers with sum f_j^2 / w_j at most 4^12 (2 + 1/16) (Gaussian), and of L1 norm
at most 2^10 (D + 1) (pure).

Proof. |v|^2 <= 4^12 is checked in whole numbers, so trunc(|v|^2 / 2^12) <= 2^12. T + (2^10 - T) = 2^10 for each number, and
a category adds 2^10 or nothing; (2T - 2^10)^2 <= 4^10, so the mean is at most 2^10. A row has one label.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from dither.learn.base.cells import Floats, Integers
from dither.learn.base.class_means import class_noise, shrunk_means
from dither.learn.base.classifier import PrivateClassifier
from dither.learn.base.columns import BoundsLike, CategoryColumn
from dither.learn.base.exact_sums import exact_products
from dither.learn.base.facts import Facts
from dither.learn.base.release import Rehearsal, Release
from dither.learn.base.row_count import RowCount, listed_counts, released_count, row_counts
from dither.learn.base.rows import Rows, lattice_vectors, one_hot
from dither.learn.base.targets import ClassesLike
from dither.ledger.ledger import Ledger
from dither.numeric.number import NumberLike
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.unit import UnitLike

ROW_BITS, CELL_BITS = 12, 10
SQUARE_WEIGHT = 16  # the sum of squares is one number for all classes: it needs little of the price
LEAST_VARIANCE = 0.003


class NearestCentroid(PrivateClassifier):
    """The class whose mean is nearest; pure epsilon, or (epsilon, delta). One small release.

    Args:
        epsilon: the price of a fit; without a `delta` it is pure.
        delta: with it noise is Gaussian, which is less where there are many columns.
        guarantee: the price in another way: `dither.pure`, `dither.zcdp`, `dither.gdp` or `dither.approx`.
        bounds: the public range of each column: `(low, high)`, or by column pairs and lists of categories.
        classes: the public list of labels. Rows with another label are left out.
        norm: a public bound of the L2 norm of rows after scaling to [-1, 1]; only Gaussian noise is less for it.
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
        >>> from dither.learn import NearestCentroid
        >>> rng = np.random.default_rng(1)
        >>> y = rng.integers(0, 2, 2000)
        >>> X = rng.normal(40 + 20 * y[:, None], 10, (2000, 2))
        >>> model = NearestCentroid(epsilon=1, bounds=(0, 100), classes=[0, 1]).fit(X, y)
        >>> model.score(X, y, public=True) > 0.85
        True
    """

    _kinds = ("pure", "gaussian")

    scaled_centroids_: Any
    scaled_variance_: Any

    def __init__(
        self,
        *,
        epsilon: NumberLike | None = None,
        delta: NumberLike | None = None,
        guarantee: Guarantee | None = None,
        bounds: BoundsLike = None,
        classes: ClassesLike = None,
        norm: float | None = None,
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
        self.norm = norm
        self.unit = unit
        self.max_rows = max_rows
        self.rows = rows
        self.ledger = ledger
        self.analyst = analyst

    def _learn(self, facts: Facts, release: Release) -> dict[str, Any]:
        norm = facts.norm(self.norm)
        counts, sums, squares, noise, rows = (
            _pure(facts, release) if facts.price.kind == "pure" else _gaussian(facts, release, norm)
        )
        counts = np.maximum(counts, 1.0)
        means, _ = shrunk_means(counts, sums, noise)
        within = (squares - (counts[:, None] * means**2).sum()) / counts.sum() / facts.width
        variance = float(np.clip(within, LEAST_VARIANCE, 1.0))
        return {"scaled_centroids_": means, "scaled_variance_": variance, "row_counts_": rows}

    @property
    def centroids_(self) -> Any:
        """The mean of each class, a row each, in the units of the columns; of a category how often it occurs."""
        parts, place = [], 0
        for column in self.facts_.columns:
            part = self.scaled_centroids_[:, place : place + column.width]
            parts.append(part if isinstance(column, CategoryColumn) else column.middle + column.half * part)
            place += column.width
        return np.concatenate(parts, axis=1)

    def decision_function(self, X: Any) -> Any:
        """How near each class is to rows of `X`: minus squared distance over twice the variance; of two, the difference."""
        u = one_hot(self._predicted(X), self.facts_.columns)
        apart = u[:, None, :] - self.scaled_centroids_[None]
        scores = -(apart**2).sum(axis=2) / (2 * self.scaled_variance_)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_proba(self, X: Any) -> Any:
        """The probability of each class for rows of `X`, were all normal with the same variance, and equally frequent."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.stack([np.zeros_like(scores), scores], axis=1)
        exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
        return exponentials / exponentials.sum(axis=1, keepdims=True)

    def _expect(self, facts: Facts, n: int) -> list[str]:
        rehearsal, columns = Rehearsal(facts.price, facts.rows_per_person), len(facts.columns)
        if facts.price.kind == "pure":
            return [class_noise(2 * float(rehearsal.scale(columns + 1, Fraction(1))))]
        norm2 = Fraction(2 * SQUARE_WEIGHT + 1, SQUARE_WEIGHT)
        return [class_noise(float(rehearsal.variance(norm2, Fraction(1))) ** 0.5 * facts.norm(self.norm))]


Sums: TypeAlias = tuple[Floats, Floats, float, float, tuple[RowCount, ...]]


def _gaussian(facts: Facts, release: Release, norm: float) -> Sums:
    """By class counts and sums of u; the sum of squares of u; the standard deviation of a sum of u; and counts of rows."""
    classes, width, norm2 = len(facts.classes), facts.width, 4**ROW_BITS * Fraction(2 * SQUARE_WEIGHT + 1, SQUARE_WEIGHT)
    weights, share, bought = [1] * (classes * (1 + width)) + [SQUARE_WEIGHT], Fraction(1), tuple[RowCount, ...]()
    if norm < facts.norm(None) and facts.has_lists:  # rows are shortened, so sums of listed values are no counts
        _, spent, bought = released_count(facts, release)
        share -= spent
    found = release.gaussian(
        lambda rows: centroid_sums(rows, facts, norm), (len(weights),), norm2=norm2, share=share, weights=weights
    )
    sums = found[:-1].reshape(classes, 1 + width) / 2.0**ROW_BITS
    one, step = float(release.variance(norm2, share)) ** 0.5 / 2**ROW_BITS, 2.0**-ROW_BITS
    rows = row_counts(facts, float(sums[:, 0].sum()), one, step=step, numbers=classes)
    each = 2**ROW_BITS / np.trunc(2**ROW_BITS / norm)  # a listed value is cut to the lattice
    rows += bought[-1:] or listed_counts(facts, _tables(sums[:, 1:] * each, facts), one * each, step * each)
    return sums[:, 0], sums[:, 1:] * norm, float(found[-1]) / 2**ROW_BITS * norm**2, one * norm, rows


def _tables(sums: Floats, facts: Facts) -> list[Floats]:
    """Of sums by class and coordinate those of each column of categories."""
    ends = np.cumsum([column.width for column in facts.columns])
    pairs = zip(facts.columns, ends, strict=True)
    return [sums[:, end - column.width : end] for column, end in pairs if isinstance(column, CategoryColumn)]


def _pure(facts: Facts, release: Release) -> Sums:
    """The same from pairs of a number and what is missing to its upper bound."""
    classes, columns, steps = len(facts.classes), len(facts.columns), 2.0**CELL_BITS
    width = sum(column.width if isinstance(column, CategoryColumn) else 2 for column in facts.columns)
    norm1 = (columns + 1) * 2**CELL_BITS
    found = release.geometric(lambda rows: pair_sums(rows, facts), (classes * width + 1,), norm1=norm1, share=Fraction(1))
    sums, place = found[:-1].reshape(classes, width) / steps, 0
    parts, tables, pairs = list[Floats](), list[Floats](), list[Floats]()
    for column in facts.columns:
        listed = isinstance(column, CategoryColumn)
        part = sums[:, place : place + (column.width if listed else 2)]
        parts.append(part if listed else part[:, :1] - part[:, 1:])  # t - (1 - t) = u
        (tables if listed else pairs).append(part)
        place += part.shape[1]
    numbers = sum(not isinstance(column, CategoryColumn) for column in facts.columns)
    counts = np.maximum(sums.sum(axis=1) / columns, 0.0)
    squares = float(found[-1]) / steps * numbers + counts.sum() * (columns - numbers)
    noise = 2 * float(release.scale(columns + 1, Fraction(1)))
    one, rows = noise * 0.5**0.5, tuple[RowCount, ...]()
    if pairs:  # each of them adds up to the rows with a label
        each, cells = 1 / len(pairs), 2 * classes * len(pairs)
        rows = row_counts(facts, float(np.sum(pairs)) * each, one * each, step=each / steps, numbers=cells)
    rows += listed_counts(facts, tables, one, 1 / steps)
    return counts, np.concatenate(parts, axis=1), squares, noise, rows


def centroid_sums(rows: Rows, facts: Facts, norm: float) -> Integers:
    """By class the count and v, and at the end the sum of |v|^2, in steps of 2^-12."""
    vectors = lattice_vectors(one_hot(rows, facts.columns), ROW_BITS, norm)
    parts = np.concatenate([np.full((rows.count, 1), 2.0**ROW_BITS), vectors], axis=1)
    squares = np.floor(np.einsum("ij,ij->i", vectors, vectors) / 2.0**ROW_BITS)
    return _flat(exact_products(_classes(rows, facts), parts, 2**ROW_BITS), squares)


def pair_sums(rows: Rows, facts: Facts) -> Integers:
    """By class the pairs of numbers and tables of categories, and at the end the sum of mean squares; in steps of 2^-10."""
    steps = float(2**CELL_BITS)
    t = np.rint((rows.numbers + 1.0) * (steps / 2))
    parts, number, code = [], 0, 0
    for column in facts.columns:
        if isinstance(column, CategoryColumn):
            parts.append((rows.codes[:, code, None] == np.arange(column.width)) * steps)
            code += 1
        else:
            parts.append(np.stack([t[:, number], steps - t[:, number]], axis=1))
            number += 1
    squares = np.floor(np.einsum("ij,ij->i", 2 * t - steps, 2 * t - steps) / (steps * max(number, 1)))
    return _flat(exact_products(_classes(rows, facts), np.concatenate(parts, axis=1), 2**CELL_BITS), squares)


def _classes(rows: Rows, facts: Facts) -> Floats:
    return (rows.labels[:, None] == np.arange(len(facts.classes))).astype(np.float64)


def _flat(by_class: Integers, squares: Floats) -> Integers:
    total = exact_products(np.ones((len(squares), 1)), squares[:, None], 2**ROW_BITS)
    return np.concatenate([by_class.ravel(), total.ravel()])
