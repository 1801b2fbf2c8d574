"""k-means: a noisy grid over the main directions, k-means of its cells, and one noisy step of means over rows.

    v   a row on the lattice 2^-12, |v|_2 <= 2^12                                     (`base/rows.py`)
    C   centres on the lattice 2^-12, no coordinate above 1                            public: made of earlier releases
    step of means: a row adds to the centre that it is nearest to 2^12 (Gaussian, weight 4) or 2^11 (pure), and v

Theorem. Whatever a row holds, it adds to the step whole numbers with sum f_j^2 / w_j at most 4^12 5/4 (Gaussian), and of L1
norm at most 2^11 + ceil(2^12 sqrt(width)) (pure). The grid and the directions: `grid.py`.

Proof. The nearest centre is the first with the largest 2 v C - |C|^2, a whole number below 2^53 that looks at one row.
|v|_2 <= 2^12 is checked in whole numbers; |v|_1 <= sqrt(width) |v|_2; 4^12 / 4 + 4^12 = 4^12 5/4.

Pure epsilon has no directions, since second moments cost too much there: it takes up to three coordinates as they are.
Where n mu < 10 k, one mean is released, and k points around it (public directions).
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np

from dither.errors import GuaranteeError, NumberError
from dither.extras import needs
from dither.learn.base.cells import Cells, Floats, Integers
from dither.learn.base.columns import BoundsLike, CategoryColumn
from dither.learn.base.estimator import PrivateEstimator
from dither.learn.base.exact_sums import exact_products, exact_scores
from dither.learn.base.facts import Facts
from dither.learn.base.release import Release
from dither.learn.base.row_count import released_count
from dither.learn.base.rows import Rows, one_hot
from dither.learn.clusters.grid import ROW_BITS, Grid, released_directions, row_vectors, whole_box
from dither.learn.clusters.weighted_kmeans import nearest, weighted_kmeans
from dither.ledger.ledger import Ledger
from dither.numeric.number import NumberLike, integer
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.unit import UnitLike
from dither.terminal import Explanation

with needs("dither[learn]"):
    from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

SIDES = {1: (256,), 2: (24, 24), 3: (10, 10, 10)}
MOST_CLUSTERS = 1000
FEW = 10  # n mu for each centre: below it one mean is all that can be had
SHRINKAGE = 1.0  # rows that a unit of noise is worth
SPREAD = 0.1  # of the points around it, in units of the norm
ONE_CENTER = "too few rows for this price and so many centres: one mean, and points around it, in place of clusters"


class KMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PrivateEstimator):
    """k-means, (epsilon, delta)-differentially private; of up to three coordinates also with pure epsilon.

    Distances are those of columns scaled to [-1, 1] by their bounds. The clusters of the rows that were fitted are not told:
    `predict` is for other rows, or for the owner's eyes.

    Args:
        n_clusters: how many centres.
        epsilon: the price of a fit; without a `delta` it is pure.
        delta: with it noise is Gaussian.
        guarantee: the price in another way: `dither.pure`, `dither.zcdp`, `dither.gdp` or `dither.approx`.
        bounds: the public range of each column: `(low, high)`, or by column pairs and lists of categories.
        norm: a public bound of the L2 norm of rows after scaling to [-1, 1]; smaller is better where most rows are short.
        start_seed: a public seed of the starts of k-means on released cells. It has nothing to do with noise.
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
        >>> from dither.learn import KMeans
        >>> rng = np.random.default_rng(1)
        >>> X = np.array([[20.0, 20.0], [80.0, 80.0]])[rng.integers(0, 2, 5000)] + rng.normal(0, 5, (5000, 2))
        >>> model = KMeans(n_clusters=2, epsilon=1, bounds=(0, 100)).fit(X)
        >>> [sorted(center.round(-1).tolist()) for center in sorted(model.cluster_centers_, key=sum)]
        [[20.0, 20.0], [80.0, 80.0]]
    """

    _kinds = ("pure", "gaussian")

    found_clusters_: Any
    scaled_centers_: Any

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        epsilon: NumberLike | None = None,
        delta: NumberLike | None = None,
        guarantee: Guarantee | None = None,
        bounds: BoundsLike = None,
        norm: float | None = None,
        start_seed: int = 0,
        unit: UnitLike = "add/remove one person",
        max_rows: int = 1,
        rows: int | None = None,
        ledger: Ledger | None = None,
        analyst: str = "",
    ) -> None:
        self.n_clusters = n_clusters
        self.epsilon = epsilon
        self.delta = delta
        self.guarantee = guarantee
        self.bounds = bounds
        self.norm = norm
        self.start_seed = start_seed
        self.unit = unit
        self.max_rows = max_rows
        self.rows = rows
        self.ledger = ledger
        self.analyst = analyst

    def _facts(self, cells: Cells, labels: Any) -> Facts:
        facts = super()._facts(cells, labels)
        if integer(self.n_clusters, name="n_clusters", least=1) > MOST_CLUSTERS:
            raise NumberError("n_clusters", self.n_clusters, f"{MOST_CLUSTERS:,} centres are the most", "n_clusters=8")
        integer(self.start_seed, name="start_seed", least=0)
        facts.norm(self.norm)
        if facts.price.kind == "pure" and facts.width > max(SIDES):
            why = f"directions of {facts.width} coordinates need Gaussian noise; pure epsilon is for {max(SIDES)} at most"
            raise GuaranteeError("delta", self.delta, why, "delta='1e-6', or fewer columns")
        return facts

    def _learn(self, facts: Facts, release: Release) -> dict[str, Any]:
        norm = facts.norm(self.norm)
        n, spent, counts = released_count(facts, release)
        left = 1 - spent
        if n * facts.price.mu < FEW * self.n_clusters * facts.rows_per_person * facts.price.replacement:
            centers = self._one_center(facts, release, norm, left)
            return {"scaled_centers_": centers * norm, "found_clusters_": False, "row_counts_": counts}
        grid, share = _grid(facts, release, norm, left)
        cells = _cells(grid, facts, release, norm, share)
        points = grid.centers()
        lifted = grid.lifted(weighted_kmeans(points[cells > 0], cells[cells > 0], self.n_clusters, self.start_seed)[0])
        centers = _step(facts, release, norm, lifted, share)
        return {"scaled_centers_": centers * norm, "found_clusters_": True, "row_counts_": counts}

    def _one_center(self, facts: Facts, release: Release, norm: float, share: Fraction) -> Floats:
        mean = _step(facts, release, norm, np.zeros((1, facts.width)), share)
        around = np.random.default_rng(self.start_seed).uniform(-SPREAD, SPREAD, (self.n_clusters, facts.width))
        around[0] = 0.0  # the mean itself is one of them
        return mean + around / facts.width**0.5

    @property
    def cluster_centers_(self) -> Any:
        """The centres, a row each, in the units of the columns; of a category how often it occurs."""
        parts, place = [], 0
        for column in self.facts_.columns:
            part = self.scaled_centers_[:, place : place + column.width]
            parts.append(part if isinstance(column, CategoryColumn) else column.middle + column.half * part)
            place += column.width
        return np.concatenate(parts, axis=1)

    @property
    def _n_features_out(self) -> int:
        return len(self.scaled_centers_)

    def predict(self, X: Any) -> Any:
        """The number of the nearest centre, for each row of `X`."""
        rows = self._predicted(X)
        return nearest(one_hot(rows, self.facts_.columns), self.scaled_centers_)

    def transform(self, X: Any) -> Any:
        """The distance to each centre, in columns scaled to [-1, 1], for each row of `X`."""
        u = one_hot(self._predicted(X), self.facts_.columns)
        return np.sqrt(((u[:, None, :] - self.scaled_centers_[None]) ** 2).sum(axis=2))

    def explain(self) -> Explanation:
        """What was released, at which price; and where there were too few rows for clusters, that."""
        return Explanation(super().explain() + ("" if self.found_clusters_ else f"\nFound      {ONE_CENTER}"))

    def _expect(self, facts: Facts, n: int) -> list[str]:
        ratio = n * facts.price.mu / self.n_clusters / facts.rows_per_person / facts.price.replacement
        if ratio < FEW:
            return [ONE_CENTER]
        return [f"n mu / k is {ratio:.3g}, {FEW} or more: clusters are looked for; those of few rows may be missed"]


def _grid(facts: Facts, release: Release, norm: float, left: Fraction) -> tuple[Grid, Fraction]:
    """The grid, and the share of the price for its counts, and again for the step of means."""
    if facts.price.kind == "pure" or facts.width <= 2:
        return whole_box(facts, norm, SIDES[facts.width]), left / 2
    return released_directions(facts, release, norm, left / 5, SIDES[3]), left * 2 / 5


def _cells(grid: Grid, facts: Facts, release: Release, norm: float, share: Fraction) -> Floats:
    """Counts of cells that stand out of the noise; all that are above zero where none does, and one where none is."""
    if facts.price.kind == "pure":
        found = release.geometric(lambda rows: grid.counts(rows, facts, norm), (grid.size,), norm1=1, share=share)
        noise = float(release.scale(1, share)) * 2**0.5
    else:
        found = release.gaussian(lambda rows: grid.counts(rows, facts, norm), (grid.size,), norm2=1, share=share)
        noise = float(release.variance(1, share)) ** 0.5
    counts = found.astype(np.float64)
    kept = np.where(counts > 2 * noise, counts, 0.0)
    if kept.any():
        return kept
    return np.maximum(counts, 0.0) if (counts > 0).any() else np.ones(grid.size)


def _step(facts: Facts, release: Release, norm: float, centers: Floats, share: Fraction) -> Floats:
    """Means of the rows that are nearest to each centre, drawn towards it by what the noise is worth."""
    whole = np.rint(np.clip(centers, -1.0, 1.0) * 2.0**ROW_BITS)
    shape, weights = (len(centers), 1 + facts.width), [4, *[1] * facts.width] * len(centers)
    if facts.price.kind == "pure":
        norm1 = 2 ** (ROW_BITS - 1) + isqrt(facts.width * 4**ROW_BITS - 1) + 1
        found = release.geometric(
            lambda rows: mean_sums(rows, facts, norm, whole, ROW_BITS - 1), shape, norm1=norm1, share=share
        )
        counts, noise = found[:, :1] / 2.0 ** (ROW_BITS - 1), float(release.scale(norm1, share)) * 2**0.5
    else:
        norm2 = Fraction(5 * 4**ROW_BITS, 4)
        found = release.gaussian(
            lambda rows: mean_sums(rows, facts, norm, whole, ROW_BITS), shape, norm2=norm2, share=share, weights=weights
        )
        counts, noise = found[:, :1] / 2.0**ROW_BITS, float(release.variance(norm2, share)) ** 0.5
    drawn = SHRINKAGE * noise / 2**ROW_BITS * facts.width**0.5
    means = (found[:, 1:] / 2.0**ROW_BITS + drawn * centers) / (np.maximum(counts, 0.0) + drawn)
    return means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1.0)


def mean_sums(rows: Rows, facts: Facts, norm: float, centers: Floats, count_bits: int) -> Integers:
    """For each centre the count and the sum of the rows that are nearest to it, in steps of 2^-count_bits and 2^-12."""
    vectors = row_vectors(rows, facts, norm)
    square = np.einsum("ij,ij->i", centers, centers)
    largest = int(2**ROW_BITS * np.sqrt(facts.width) + 1) * 2 ** (ROW_BITS + 1)
    near = np.argmax(exact_scores(vectors, 2 * centers.T, largest) - square, axis=1)
    parts = np.concatenate([np.full((rows.count, 1), 2.0**count_bits), vectors], axis=1)
    return exact_products((near[:, None] == np.arange(len(centers))).astype(np.float64), parts, 2**ROW_BITS)
