"""Boosting of functions of one column, in whole numbers, a Gaussian at each step: what classifier and regressor share.

    histogram   of each column, counts in its bins                  a tenth of mu^2; also says how many rows there are
    start       counts of the classes, or the sum of the target     one of the equal parts of the rest
    round, column in order:
        groups  of the bins, by random cuts or at random            from a public seed
        sums    of the residuals of rows, by group                  one of the equal parts
        step    0.7 of what it is expected to be, given the sum and its noise; on the lattice of scores

Theorem. One row adds to the histogram a vector of L2 norm sqrt(columns), to the start and to each table of sums one of L2
norm at most `norm`, whatever it holds, and no other row's part changes.

Proof. A row stands in one bin of each column, and in one group: bins come from its own cells, groups are public. Its
residual is a function of its label, its bins and steps made of earlier releases, all whole numbers (`additive_scores.py`),
of L2 norm at most `norm` (`residuals.py`). Sums are exact (`base/exact_sums.py`).

Rounds, groups and noise are fixed before the first look at the data. No early stop. A step is S m / (m^2 + (s / t)^2): the
mean of a normal step of deviation t, given a sum S = m step + noise of deviation s, where m is curvature x rows in the
group. So noise is never taken for an effect, and the same setting serves few rows and many.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from attrs import frozen

from dither.errors import NumberError
from dither.learn.base.cells import Cells, Floats, Integers
from dither.learn.base.columns import CategoryColumn
from dither.learn.base.estimator import PrivateEstimator
from dither.learn.base.exact_sums import exact_bins
from dither.learn.base.facts import Facts
from dither.learn.base.release import Rehearsal, Release
from dither.learn.base.row_count import RowCount, listed_counts, row_counts
from dither.learn.base.rows import Rows
from dither.learn.trees.additive_scores import AdditiveScores
from dither.learn.trees.bins import bin_count, random_groups, row_bins
from dither.numeric.number import integer

HISTOGRAM_SHARE = Fraction(1, 10)
MOST_ROUNDS, MOST_LEAVES = 1000, 32
RATE = 0.7
LEAST_DEVIATION = 2.0**-30  # a group without rows has no step, however small the noise is


@frozen
class Loss:
    """What is boosted: residuals of rows, and what they mean."""

    outputs: int  # scores of a row
    norm: int  # of the residuals of a row
    unit: int  # a residual of 1
    score_unit: int  # a score of 1
    curvature: float  # by which a score of 1 changes the mean residual
    spread: float  # of a step, as it is expected before data is there
    residuals: Callable[[Integers, Rows], Floats]
    start: Callable[[Rows], Integers]  # what the start is made of, a sum over rows
    start_size: int
    start_norm: int
    intercepts: Callable[[Integers, float, float], Floats]  # from the start, its deviation and n


class PrivateBoosting(PrivateEstimator):
    """What classifier and regressor share."""

    rounds: Any
    leaves: Any
    structure_seed: Any

    def _facts(self, cells: Cells, labels: Any) -> Facts:
        facts = super()._facts(cells, labels)
        for name, least, most in (("rounds", 1, MOST_ROUNDS), ("leaves", 2, MOST_LEAVES)):
            value = getattr(self, name)
            if integer(value, name=name, least=least) > most:
                raise NumberError(name, value, f"it is at most {most}", f"{name}={most}")
        integer(self.structure_seed, name="structure_seed", least=0)
        return facts

    def _boost(self, facts: Facts, release: Release, loss: Loss) -> dict[str, Any]:
        columns, rng = facts.columns, np.random.default_rng(int(self.structure_seed))
        weights = released_histogram(facts, release)
        n = float(facts.rows) if facts.rows is not None else max(1.0, float(np.mean([sum(one) for one in weights])))
        rounds = int(self.rounds)
        share = (1 - HISTOGRAM_SHARE) / (len(columns) * rounds + 1)
        start = release.gaussian(loss.start, (loss.start_size,), norm2=loss.start_norm**2, share=share)
        noise = float(release.variance(loss.start_norm**2, share)) ** 0.5
        scores = AdditiveScores(columns, np.rint(loss.intercepts(start, noise, n) * loss.score_unit).astype(np.int64))
        deviation = float(release.variance(loss.norm**2, share)) ** 0.5 / loss.unit
        deviation = max(deviation, LEAST_DEVIATION)
        for _ in range(rounds):
            for at, column in enumerate(columns):
                groups = random_groups(column, int(self.leaves), rng)
                size = int(groups.max()) + 1
                sums = release.gaussian(
                    lambda rows, at=at, groups=groups, size=size: group_sums(scores, loss, rows, at, groups, size),  # type: ignore[misc]
                    (size, loss.outputs),
                    norm2=loss.norm**2,
                    share=share,
                )
                mass = group_mass(weights[at], groups, size)
                steps = RATE * shrunk_steps(sums / loss.unit, loss.curvature * mass, deviation, loss.spread)
                scores.add(at, np.rint(steps * loss.score_unit).astype(np.int64)[groups])
        noise = float(release.variance(len(columns), HISTOGRAM_SHARE)) ** 0.5
        fitted = fitted_shapes(scores, weights, loss.score_unit)
        counts = histogram_counts(facts, weights, noise)
        return fitted | {"n_iter_": rounds, "histogram_deviation_": noise, "row_counts_": counts}

    def _expect(self, facts: Facts, n: int) -> list[str]:
        columns, sums = len(facts.columns), int(self.rounds) * len(facts.columns) + 1
        rehearsal = Rehearsal(facts.price, facts.rows_per_person)
        noise = float(rehearsal.variance(1, (1 - HISTOGRAM_SHARE) / sums)) ** 0.5
        each = n / int(self.leaves)
        words = f"a sum has noise of deviation {noise:.3g} rows; {n:,} rows in {self.leaves} groups are {each:.3g} in each"
        return [f"{self.rounds} rounds over {columns} columns: a histogram of each, and {sums} sums", words]


def released_histogram(facts: Facts, release: Release) -> list[Floats]:
    """Rows by bin of each column, with noise."""
    sizes = [bin_count(column) for column in facts.columns]
    offsets = np.concatenate([[0], np.cumsum(sizes)])

    def histogram(rows: Rows) -> Integers:
        places = (row_bins(rows, facts.columns) + offsets[:-1]).ravel()
        return exact_bins(places, None, int(offsets[-1]))

    found = release.gaussian(histogram, (int(offsets[-1]),), norm2=len(sizes), share=HISTOGRAM_SHARE)
    return [found[low:high].astype(np.float64) for low, high in pairwise(offsets)]


def histogram_counts(facts: Facts, weights: list[Floats], deviation: float) -> tuple[RowCount, ...]:
    """How many rows there are, by the mean over columns; and by column of categories how many in bins of listed values."""
    each, bins = 1 / len(weights), np.concatenate(weights)
    tables = [one[:-1] for one, column in zip(weights, facts.columns, strict=True) if isinstance(column, CategoryColumn)]
    counts = row_counts(facts, float(bins.sum()) * each, deviation * each, step=each, numbers=bins.size)
    return counts + listed_counts(facts, tables, deviation, 1.0)


def group_sums(scores: AdditiveScores, loss: Loss, rows: Rows, column: int, groups: Integers, size: int) -> Integers:
    """The sums of residuals by group and output."""
    bins, found = scores.of(rows)
    residuals, group = loss.residuals(found, rows), groups[bins[:, column]]
    sums = [exact_bins(group, residuals[:, output], size, loss.norm) for output in range(loss.outputs)]
    return np.stack(sums, axis=1)


def group_mass(weights: Floats, groups: Integers, size: int) -> Floats:
    """Rows by group, from the released histogram; cut at zero after the bins are added up, so noise does not pile up."""
    found: Floats = np.bincount(groups, weights=weights, minlength=size).astype(np.float64)
    return np.maximum(found, 0.0)[:, None]


def shrunk_steps(sums: Floats, mass: Floats, deviation: float, spread: float) -> Floats:
    """sum / mass, drawn to zero by the noise: what a step of that spread is expected to be; within 4 spreads."""
    steps = sums * mass / (mass**2 + (deviation / spread) ** 2)
    return np.clip(steps, -4 * spread, 4 * spread)


def fitted_shapes(scores: AdditiveScores, weights: list[Floats], unit: int) -> dict[str, Any]:
    """Effects of columns around their mean over released rows, their importances, and the intercepts."""
    shapes, intercepts, importances = [], scores.start / unit, []
    for shape, released in zip(scores.shapes(), weights, strict=True):
        weight = np.maximum(released, 0.0)
        part = weight / weight.sum() if weight.sum() > 0 else np.full(len(weight), 1 / len(weight))
        middle = part @ (shape / unit)
        shapes.append(shape / unit - middle)
        intercepts = intercepts + middle
        importances.append(float((part @ np.abs(shapes[-1])).mean()))
    return {
        "shapes_": shapes,
        "histograms_": weights,
        "intercept_": intercepts,
        "importances_": np.array(importances),
    }
