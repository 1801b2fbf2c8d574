"""Every small data set over a few rows, every pair of neighbours, and the exact loss of a release on each pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from dither.learn.base.cells import read_cells
from dither.learn.base.release import Release
from dither.learn.base.rows import Rows

Row = tuple[list[Any], Any]


class Course(Release):
    """A release that says what it is told to say, and notes the true values and the noise that they would have had."""

    def __init__(self, price: Any, rows: Rows, rows_per_person: int, says: Callable[[int, tuple[int, ...]], Any]) -> None:
        super().__init__(price, rows, rows_per_person)
        self.says = says
        self.true: list[Any] = []
        self.noise: list[tuple[str, Fraction]] = []  # the law, and its scale or variance

    def gaussian(self, statistic: Any, shape: Any, *, norm2: Any, share: Any, weights: Any = None) -> Any:
        assert weights is None
        return self._said(statistic, shape, share, ("gaussian", self.variance(norm2, share)))

    def geometric(self, statistic: Any, shape: Any, *, norm1: Any, share: Any) -> Any:
        return self._said(statistic, shape, share, ("geometric", self.scale(norm1, share)))

    def _said(self, statistic: Any, shape: Any, share: Any, noise: Any) -> Any:
        self._spend(share)
        self.true.append(statistic(self._rows))
        self.noise.append(noise)
        said = np.asarray(self.says(len(self.released), shape), dtype=np.int64)
        self.released.append(said)
        return said.copy()


def course(estimator: Any, rows: list[Row], says: Any) -> Course:
    """The course of a fit on rows, when the releases are what `says` says."""
    X = np.array([row[0] for row in rows], dtype=float).reshape(len(rows), len(estimator.bounds))
    y = np.array([row[1] for row in rows], dtype=object)
    cells = read_cells(X)
    facts = estimator._facts(cells, y)
    found = Course(facts.price, estimator._rows(cells, y, None, facts), facts.rows_per_person, says)
    estimator._learn(facts, found)
    return found


def data_sets(domain: list[Row], most: int) -> list[tuple[int, ...]]:
    """Every multiset of at most so many rows, as places in the domain."""
    return [chosen for size in range(most + 1) for chosen in combinations_with_replacement(range(len(domain)), size)]


def neighbours(sets: list[tuple[int, ...]], replaced: bool) -> Iterator[tuple[int, int]]:
    """Every pair that differs by one row: added, or replaced."""
    for one, a in enumerate(sets):
        for other, b in enumerate(sets):
            common, left = 0, list(b)
            for row in a:
                if row in left:
                    left.remove(row)
                    common += 1
            if (len(a), len(b)) == (common + 1, common + 1) if replaced else len(a) + len(b) - 2 * common == 1:
                yield one, other


def largest_epsilon(estimator: Any, domain: list[Row], most: int, counts: list[int | None], outputs: Any) -> Fraction:
    """The largest log ratio of output probabilities, over all pairs, both ways, and all outputs; exact.

    The count is each of `counts` in turn (None: none is released), and the coordinates of the table run through `outputs`.
    """
    sets, worst = data_sets(domain, most), Fraction(0)
    replaced = "replace" in str(getattr(estimator.unit, "value", estimator.unit))
    for count in counts:

        def says(place: int, shape: tuple[int, ...], count: int | None = count) -> Any:
            return np.full(shape, count) if place == 0 and count is not None else np.zeros(shape)

        courses = [course(estimator, [domain[place] for place in chosen], says) for chosen in sets]
        for one, other in neighbours(sets, replaced):
            a, b = courses[one], courses[other]
            if a.noise != b.noise:
                return Fraction(10**9)  # the noise tells the data apart
            total = Fraction(0)
            for place, (law, scale) in enumerate(a.noise):
                assert law == "geometric"
                said = [count] if place == 0 and count is not None else outputs
                apart = np.stack([abs(out - b.true[place]) - abs(out - a.true[place]) for out in said])
                total += Fraction(int(apart.max(axis=0).sum())) / scale  # coordinates are independent
            worst = max(worst, total)
    return worst


def largest_mu2(estimator: Any, domain: list[Row], most: int, seeds: int) -> Fraction:
    """The largest sum of squared distances over variances, over all pairs, for releases drawn at random; exact."""
    sets, worst = data_sets(domain, most), Fraction(0)
    replaced = "replace" in str(getattr(estimator.unit, "value", estimator.unit))
    for seed in range(seeds):

        def says(place: int, shape: tuple[int, ...], seed: int = seed) -> Any:
            return np.rint(np.random.default_rng([seed, place]).normal(0, 10.0 ** (seed % 7), shape))

        courses = [course(estimator, [domain[place] for place in chosen], says) for chosen in sets]
        for one, other in neighbours(sets, replaced):
            a, b = courses[one], courses[other]
            if a.noise != b.noise:
                return Fraction(10**9)
            total = Fraction(0)
            for x, y, (law, variance) in zip(a.true, b.true, a.noise, strict=True):
                assert law == "gaussian"
                total += Fraction(int(((x - y).astype(object) ** 2).sum())) / variance
            worst = max(worst, total)
    return worst
