"""Steps on Poisson samples: the only place where rows meet noise here. What comes out is all that training sees of them.

    q       the rate; a coin of its own for each person and step, exact, of secret bits
    f(S)    the sum over the rows of a sample S, a vector of whole numbers
    k       how many rows of a person count
    s       how far one row more or less in the sample moves f(S) at most, in L2 norm, whatever else is in it
    z       the noise multiplier (`sampled_price.py`)

Theorem. A step, the sum over a sample with the nearest integers to independent normal variables of deviation z k s, is
dominated by the Poisson sampled normal pair of rate q and mu = 1/z, whatever was released before.

Proof. Let somebody have up to k rows in D, and D' be the rest. Her coin is independent of all others, so that the others in
the sample are S with the same law for D and D'; for each S the step on D is a mixture of f(S with all her rows), weight q,
and f(S), weight 1 - q, and on D' it is f(S). |f(S with her rows) - f(S)|_2 <= k s, a row at a time; so each pair of outputs
is dominated by that of a Gaussian of mu = 1/z, rounding being post-processing since f is whole; sampling as in
`privacy/loss/pairs/poisson_sampled.py`, and the mixture over S by joint convexity of hockey-stick divergences. An empty
sample is a sample: its sum is 0, and the noise is drawn all the same. Addition modulo 2^64 and clipping are post-processing.

How large a sample was is never told: the time of a step, which it decides, is not padded.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dither.learn.base.cells import Integers
from dither.learn.base.price import Price
from dither.learn.base.release import FAR, Release, Statistic
from dither.learn.base.rows import Rows
from dither.learn.networks.sampled_price import SamplePlan
from dither.noise.bernoulli import Bernoulli
from dither.noise.gaussian import RoundedGaussian


class SampledRelease(Release):
    """Sums over samples with noise, as many as the plan has."""

    def __init__(self, price: Price, rows: Rows, rows_per_person: int, plan: SamplePlan, sensitivity: int) -> None:
        super().__init__(price, rows, rows_per_person)
        self.steps_left = plan.steps
        self._coin = Bernoulli(plan.rate)
        self._noise = RoundedGaussian(sigma2=plan.variance(sensitivity * rows_per_person))

    def step(self, statistic: Statistic, size: int) -> Integers:
        """The statistic of the rows of a new sample, with noise."""
        assert self.steps_left > 0, "the price is of so many steps"
        self.steps_left -= 1
        true = np.asarray(statistic(poisson_sample(self._rows, self._coin)))
        assert true.dtype == np.int64, "a statistic is an array of whole numbers"
        assert true.shape == (size,), "a statistic has the shape that was declared"
        noise: Any = np.asarray(self._noise.sample(size))
        if noise.dtype == np.int64:
            return true + noise
        return np.clip(true.astype(object) + noise, -FAR, FAR).astype(np.int64)  # a draw that does not fit 64 bits


def poisson_sample(rows: Rows, coin: Bernoulli) -> Rows:
    """The rows of those whose coin fell so: one coin a person, or a row where each is another person."""
    if rows.person is None:
        return rows.take(coin.sample(rows.count))
    people = int(rows.person.max(initial=-1)) + 1
    return rows.take(coin.sample(people)[rows.person])
