"""The release of a fit: the only place where private rows meet noise. What it gives is all that an estimator sees of them.

An estimator is a function of public facts and of what was released. It hands over *statistics*: functions of the rows and of
earlier releases, with the norm of what one row can add to them. They are called here, once each; noise is added, and the sum
is written down. With the list of releases the same estimator runs again without any rows and is the same: `Replay`.

Theorem. Let each statistic be a sum over rows of vectors of whole numbers, f(row; earlier releases), with
sum f_j^2 / w_j <= norm2 for every row; let every person have at most k rows, and a neighbour be p persons away (1: added or
removed, 2: replaced). Add to coordinate j the nearest integer to a normal variable of variance w_j sigma2, where
sigma2 = norm2 (k p)^2 / (share mu^2), for shares that add up to at most 1: all releases together are mu-Gaussian
differentially private. With |f|_1 <= norm1 and discrete Laplace noise of scale norm1 k p / (share epsilon) they are
epsilon-differentially private.

Proof. Given the earlier releases, the statistics of neighbours differ by at most k p such vectors; after division of
coordinate j by sqrt(w_j), by at most k p sqrt(norm2) in L2 norm: the Gaussian mechanism is sqrt(share) mu-GDP, and rounding
is post-processing since the statistic is whole. Adaptive composition adds squares of mu (Dong, Roth and Su 2019). Shares may
depend on earlier releases as long as those of every course add up to at most 1: by induction from the last release on, what
follows is sqrt(1 - shares so far) mu-GDP for each outcome. Of pure epsilon likewise, with L1 norms and sums of epsilon.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from dither.errors import DataError
from dither.learn.base.cells import Integers
from dither.learn.base.price import Price
from dither.learn.base.rows import Rows
from dither.noise.gaussian import RoundedGaussian
from dither.noise.laplace import DiscreteLaplace

Statistic: TypeAlias = Callable[[Rows], Integers]
NO_ROWS = Rows(np.zeros((0, 0)), np.zeros((0, 0), dtype=np.int64))
FAR = 2**62  # whole numbers are kept within 64 bits; clipping after the noise is post-processing


@contextmanager
def untold() -> Iterator[list[str]]:
    """Drop every error and warning raised inside, since it may tell of a single row; after an error the list is empty."""
    done: list[str] = []
    try:
        with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):  # a warning tells as much as an error
            yield done
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # also panics of libraries that are no Exception
        done.clear()


class Release:
    """Statistics of private rows with noise, and what is left of the price."""

    def __init__(self, price: Price, rows: Rows, rows_per_person: int = 1) -> None:
        self.price = price
        self.released: list[Integers] = []
        self.spent = Fraction(0)
        self._rows = rows
        self._times = rows_per_person * price.replacement

    def gaussian(
        self,
        statistic: Statistic,
        shape: tuple[int, ...],
        *,
        norm2: Fraction | int,
        share: Fraction,
        weights: Sequence[Fraction | int] | None = None,
    ) -> Integers:
        """The statistic with Gaussian noise, at a `share` of mu^2; `weights` are those of the flat coordinates."""
        variance = self.variance(norm2, share)
        self._spend(share)
        size = int(np.prod(shape))
        noise = np.zeros(size, dtype=object)
        by_weight = np.array([Fraction(1)] * size if weights is None else [Fraction(one) for one in weights], dtype=object)
        for weight in sorted(set(by_weight)):
            chosen = by_weight == weight
            noise[chosen] = np.asarray(RoundedGaussian(sigma2=variance * weight).sample(int(chosen.sum())), dtype=object)
        return self._told(statistic, noise, shape)

    def geometric(self, statistic: Statistic, shape: tuple[int, ...], *, norm1: int, share: Fraction) -> Integers:
        """The statistic with discrete Laplace noise, at a `share` of epsilon."""
        scale = self.scale(norm1, share)
        self._spend(share)
        return self._told(statistic, np.asarray(DiscreteLaplace(scale).sample(int(np.prod(shape))), dtype=object), shape)

    def variance(self, norm2: Fraction | int, share: Fraction) -> Fraction:
        """The variance of Gaussian noise at that share, of a coordinate of weight 1; public."""
        assert self.price.mu2 is not None, "the price buys Gaussian noise"
        return Fraction(norm2) * self._times**2 / (share * self.price.mu2)

    def scale(self, norm1: int, share: Fraction) -> Fraction:
        """The scale of discrete Laplace noise at that share; public."""
        assert self.price.epsilon is not None, "the price buys geometric noise"
        return norm1 * self._times / (share * self.price.epsilon)

    def _spend(self, share: Fraction) -> None:
        assert share > 0, "a release has a price"
        self.spent += share
        assert self.spent <= 1, "the shares of a price add up to it"

    def _told(self, statistic: Statistic, noise: Any, shape: tuple[int, ...]) -> Integers:
        true = np.asarray(statistic(self._rows))
        assert true.dtype == np.int64, "a statistic is an array of whole numbers"
        assert true.shape == shape, "a statistic has the shape that was declared"
        found = np.clip(true.ravel().astype(object) + noise, -FAR, FAR).astype(np.int64).reshape(shape)
        self.released.append(found)
        return found.copy()


class Rehearsal(Release):
    """The same without rows and without a charge: zeros. What parameters make impossible is refused here, and told."""

    def __init__(self, price: Price, rows_per_person: int = 1) -> None:
        super().__init__(price, NO_ROWS, rows_per_person)

    def gaussian(
        self,
        statistic: Statistic,
        shape: tuple[int, ...],
        *,
        norm2: Fraction | int,
        share: Fraction,
        weights: Sequence[Fraction | int] | None = None,
    ) -> Integers:
        """Zeros, where noise of that size can be drawn."""
        self._spend(share)
        for weight in {1} if weights is None else {Fraction(one) for one in weights}:
            RoundedGaussian(sigma2=self.variance(norm2, share) * weight)
        return np.zeros(shape, dtype=np.int64)

    def geometric(self, statistic: Statistic, shape: tuple[int, ...], *, norm1: int, share: Fraction) -> Integers:
        """Zeros, where noise of that size can be drawn."""
        self._spend(share)
        DiscreteLaplace(self.scale(norm1, share))
        return np.zeros(shape, dtype=np.int64)


class Replay(Release):
    """The same without rows: what was released before, again. Nothing is drawn, and no statistic is called."""

    def __init__(self, price: Price, released: Sequence[Integers], rows_per_person: int = 1) -> None:
        super().__init__(price, NO_ROWS, rows_per_person)
        self._stored = list(released)

    def gaussian(
        self,
        statistic: Statistic,
        shape: tuple[int, ...],
        *,
        norm2: Fraction | int,
        share: Fraction,
        weights: Sequence[Fraction | int] | None = None,
    ) -> Integers:
        """What was released at this place."""
        self._spend(share)
        return self._next(shape)

    def geometric(self, statistic: Statistic, shape: tuple[int, ...], *, norm1: int, share: Fraction) -> Integers:
        """What was released at this place."""
        self._spend(share)
        return self._next(shape)

    def _next(self, shape: tuple[int, ...]) -> Integers:
        found = self._stored[len(self.released)]
        assert found.shape == shape, "the list is of this estimator"
        self.released.append(found)
        return found.copy()


def to_json(released: Sequence[Integers]) -> str:
    """What a ledger stores of a fit: exactly what was released."""
    return json.dumps(
        {"fit": 1, "released": [{"shape": list(one.shape), "values": one.ravel().tolist()} for one in released]}
    )


def from_json(text: str) -> list[Integers]:
    """The releases of a text that `to_json` wrote."""
    try:
        stored = json.loads(text)
        if stored["fit"] != 1:
            raise ValueError("another version")
        return [np.array(one["values"], dtype=np.int64).reshape(one["shape"]) for one in stored["released"]]
    except (KeyError, TypeError, ValueError) as error:
        raise DataError("answer", text, "dither did not write this about a fit", "what a ledger stored of it") from error
