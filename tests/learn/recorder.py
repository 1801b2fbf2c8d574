"""A release that compares neighbours: every statistic is computed for several data sets after the same earlier releases."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from dither.learn.base.cells import read_cells
from dither.learn.base.release import Release
from dither.learn.base.rows import Rows


class Recorder(Release):
    """What one row adds is held against the norm that the estimator claims. The first data set drives."""

    def __init__(self, price: Any, several: list[Rows], rng: np.random.Generator) -> None:
        super().__init__(price, several[0])
        self.several, self.rng = several, rng
        self.seen: list[list[Any]] = []  # by statistic: the value of each data set
        self.claims: list[tuple[str, Any, Any]] = []  # kind, norm, weights

    def gaussian(self, statistic: Any, shape: Any, *, norm2: Any, share: Fraction, weights: Any = None) -> Any:
        self._spend(share)
        flat = np.array(
            [Fraction(1)] * int(np.prod(shape)) if weights is None else list(map(Fraction, weights)), dtype=object
        )
        return self._seen(statistic, shape, ("gaussian", Fraction(norm2), flat), float(self.variance(norm2, share)) ** 0.5)

    def geometric(self, statistic: Any, shape: Any, *, norm1: Any, share: Fraction) -> Any:
        self._spend(share)
        return self._seen(statistic, shape, ("geometric", norm1, None), float(self.scale(norm1, share)))

    def _seen(self, statistic: Any, shape: Any, claim: Any, scale: float) -> Any:
        values = [np.asarray(statistic(rows)) for rows in self.several]
        for value in values:
            assert value.dtype == np.int64
            assert value.shape == shape
        self.seen.append(values)
        self.claims.append(claim)
        noise = np.clip(self.rng.normal(0, min(scale, 1e12), shape), -1e15, 1e15)
        found = values[0] + np.rint(noise).astype(np.int64)
        self.released.append(found)
        return found.copy()


def rows_of(estimator: Any, X: Any, y: Any) -> tuple[Any, Rows]:
    """The public facts of a fit, and its rows."""
    cells = read_cells(X)
    facts = estimator._facts(cells, y)
    return facts, estimator._rows(cells, y, None, facts)


def distance(one: Any, other: Any, claim: Any) -> Fraction:
    """How far two values of a statistic are from each other, in the norm of the claim; the square of it where it is L2."""
    kind, _, weights = claim
    apart = [int(a) - int(b) for a, b in zip(one.ravel().tolist(), other.ravel().tolist(), strict=True)]
    if kind == "geometric":
        return Fraction(sum(map(abs, apart)))
    return sum((Fraction(step) ** 2 / weight for step, weight in zip(apart, weights, strict=True)), start=Fraction(0))
