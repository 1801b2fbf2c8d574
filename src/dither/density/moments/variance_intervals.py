"""Confidence intervals for variances and deviations of shares u from 0 to 1, from counters with noise.

    N, S1, S2   the released count, sum and sum of squares of u; n the true count
    p, v, s     the true mean, variance and deviation of the counted u; X(p) = S2 - 2 p S1 + p^2 N, whose truth is n v
    d, h        the deviation before values were rounded to steps, and how far rounding moves a deviation at most
    alpha       the probability that an interval may miss the truth; a, b parts of it

The set. For every p in the set of the mean all v for which |X(p) - v N| stays within its quantile
(`moments/ratio_intervals.py`). No share has a square beyond itself, so v <= p (1 - p), and the set ends at the most of them.
For a sample N - 1 stands for N, and v is below 2 p (1 - p). A wrong p adds only n (p - mean)^2, so the mean needs a small
part of alpha alone: 1/16.

An empty set is a miss that alpha has paid for, whatever is said then. It is what would have been said if X(p) had been the
nearest value that it can have without noise: as wide as ever, at 0 or at the most that a variance can be. Where the set of
the mean is empty, the nearest cell of shares stands for it.

Theorem, rounded values. Let |d - s| <= h, and let each tail of X(p) - v N have probability b at most beyond c(v). If
P(X(p) - v N - its truth > c(v) + n h (2 s - h)) <= a - b at v = (s - h)^2 and at v = (s + h)^2, on either side, then the
deviations of the set, and h on either side of them, miss d with probability a at most.

Proof. Let s <= d; the other case is the same, mirrored. If s^2 is in the set, d is not missed. If it is not since X is too
small: probability b. If X is too large for s^2, d is missed only if the set begins beyond (d + h)^2 >= (s + h)^2. Then X is
too large for (s + h)^2 too: X(p) - v N is continuous in v, and where it is 0 v is in the set. Its truth at (s + h)^2 is
-n h (2 s + h), so this has probability a - b at most. Where (s + h)^2 is more than a variance can be, an empty set says the
most that it can be, and h below that is below d.

So b may be more than a/2, up to a: where rounding is more than noise one side alone can miss. How much more is read off the
release. Let n >= n0 and s0 <= s <= s1 but for alpha/64 each. Of the b in BALANCES the largest is taken for which
c ln(b / (a - b)) / ln(1 / 2b) <= n0 h (2 s0 - h), with the largest c of all v that are left. This is enough for the theorem:
the logarithm of a tail is concave and 0 at 0, so from c on it falls by ln(1/2b) / c at least. (Of normal noise the two
quantiles are known, and their difference grows with the weights.) And a b that is read off the release is no risk: but for
alpha/32 it is no more than the largest b that is right for the truth, and a lesser b has wider sets.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dither.density.moments.ratio_intervals import (
    CELLS,
    CounterNoise,
    Pivot,
    interval_if_any,
    quantile,
    share_quantiles,
    shares_within,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dither.density.moments.ratio_intervals import Floats

MEANS = 8  # cells of the mean
FOR_MEAN = 16  # one part in so many of alpha
FOR_SIZE = 64  # likewise for n, and for the first look at s
BALANCES = (0.5, 0.52, 0.55, 0.6, 0.65, 0.7, 0.8, 0.9, 0.99)  # b, of a
ROOT_2 = 1.4142135623730951


def variance_interval(
    sums: tuple[Floats, Floats, Floats],
    weights: tuple[Floats, Floats, Floats],
    noise: CounterNoise,
    odds: float,
    *,
    sample: bool = False,
) -> tuple[Floats, Floats]:
    """For the variance of the counted shares: at most 1/4; of a sample of two or more, at most 1/2.

    `sums` are N, S1 and S2, `weights` how each noise enters them.
    """
    means = _means(sums, weights, noise, odds)
    return _variances(sums, weights, means, noise, odds + math.log(FOR_MEAN / (FOR_MEAN - 1)), sample=sample)


def deviation_interval(
    sums: tuple[Floats, Floats, Floats],
    weights: tuple[Floats, Floats, Floats],
    noise: CounterNoise,
    odds: float,
    *,
    rounding: float,
    sample: bool = False,
) -> tuple[Floats, Floats]:
    """For the deviation of shares that were rounded by up to `rounding` before they were counted."""
    import numpy as np

    if not rounding:
        low, high = variance_interval(sums, weights, noise, odds, sample=sample)
        return np.sqrt(low), np.sqrt(high)
    means, look = _means(sums, weights, noise, odds), odds + math.log(FOR_SIZE)
    least = sums[0] - quantile(np.abs(weights[0])[None, :], noise, look)[0]
    hidden = np.full(np.shape(sums[0]), rounding)
    if sample:
        hidden = rounding * np.where(least >= 2, np.sqrt(1 + 1 / np.maximum(least - 1, 1.0)), ROOT_2) * (1 + 1e-15)
    rest = odds - math.log1p(-1 / FOR_MEAN - 2 / FOR_SIZE)
    first, last = (np.sqrt(end) for end in _variances(sums, weights, means, noise, look, sample=sample))
    apart = np.maximum(least - sample, 0.0) * rounding * np.maximum(2 * first - hidden, 0.0)
    heaviest = _heaviest(weights, means, np.square(np.maximum(first - hidden, 0.0)), np.square(last + hidden))
    balance = np.full(np.shape(sums[0]), BALANCES[0])
    for one in BALANCES[1:]:
        if (log := rest - math.log(2 * one)) > 0:  # ln(1 / 2b)
            need = _further(heaviest, noise, log, math.log(one / (1 - one)))
            balance = np.where(need <= apart, np.maximum(balance, one), balance)
    low, high = np.zeros(balance.shape), np.zeros(balance.shape)
    for one in BALANCES:
        at = balance == one
        if at.any():
            part = sums[0][at], sums[1][at], sums[2][at]
            ends = _variances(part, weights, means[at], noise, rest - math.log(2 * one), sample=sample)
            low[at], high[at] = ends
    return np.maximum(np.sqrt(low) - hidden, 0.0), np.sqrt(high) + hidden


def _further(sizes: Floats, noise: CounterNoise, odds: float, log: float) -> Floats:
    """How far from its quantile at e^-odds a sum has a tail that is smaller by the factor e^-log, from above."""
    reach = quantile(sizes, noise, odds)
    further: Floats = quantile(sizes, noise, odds + log) - reach if noise.normal else reach * (log / odds)
    return further * (1 + 1e-9)


def _means(
    sums: tuple[Floats, Floats, Floats], weights: tuple[Floats, Floats, Floats], noise: CounterNoise, odds: float
) -> Floats:
    """The ends of the set of the mean, or of the cell that is nearest to being one: one axis more, of two."""
    import numpy as np

    room = share_quantiles(*weights[:2], noise, odds + math.log(FOR_MEAN))
    return np.stack(shares_within(*sums[:2], room), axis=-1)


def _variances(
    sums: tuple[Floats, Floats, Floats],
    weights: tuple[Floats, Floats, Floats],
    means: Floats,
    noise: CounterNoise,
    odds: float,
    *,
    sample: bool,
) -> tuple[Floats, Floats]:
    """The set of v, given the set of the mean."""
    import numpy as np

    of_total, of_sum, of_squares = weights
    cells = np.linspace(means[..., 0], means[..., 1], MEANS + 1, axis=-1)
    low, high = cells[..., :-1, None], cells[..., 1:, None]
    total, sum_, squares = (part[..., None, None] for part in sums)
    lightest, heaviest = square_range(of_total, of_sum, of_squares, low[..., None], high[..., None])
    nearest = np.clip(0.5, means[..., 0], means[..., 1])
    top = np.minimum(nearest * (1 - nearest) * (2.0 if sample else 1.0) * (1 + 1e-12), 0.5 if sample else 0.25)
    size = sums[0] - 1 if sample else sums[0]

    def found(least: Floats, most: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        def pivot(first: Floats, last: Floats) -> Pivot:
            down = np.abs(lightest - last[..., None, :, None] * of_total)
            up = np.abs(heaviest - first[..., None, :, None] * of_total)
            shape = (*first.shape[:-1], MEANS, CELLS)
            return Pivot(np.maximum(down, up), np.broadcast_to(least, shape), np.broadcast_to(most, shape))

        return interval_if_any(size, (np.zeros(top.shape), top), pivot, noise, odds)

    least, most = square_range(total, sum_, squares, low, high)
    first, last, some = found(least, most)
    if not some.all():
        end = (top * np.maximum(size, 0.0))[..., None, None]
        others = found(np.clip(least, 0.0, end), np.clip(most, 0.0, end))
        first, last, some = (np.where(some, one, other) for one, other in zip((first, last, some), others, strict=True))
    limit = 0.5 if sample else 0.25
    return np.where(some, first, 0.0), np.where(some, last, limit)


def _heaviest(weights: tuple[Floats, Floats, Floats], means: Floats, least: Floats, most: Floats) -> Floats:
    """The largest sizes of the weights of each noise in X(p) - v N for all p of the set and all v between two."""
    import numpy as np

    of_total, of_sum, of_squares = weights
    lightest, heaviest = square_range(of_total, of_sum, of_squares, means[..., :1], means[..., 1:])
    ends = [part - v[..., None] * of_total for part in (lightest, heaviest) for v in (least, most)]
    found: Floats = np.abs(np.stack(ends)).max(axis=0)
    return found


def square_range(two: Floats, one: Floats, none: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The least and the most of  two p^2 - 2 one p + none  for p from low to high: at the ends, or where it turns."""
    import numpy as np

    turn = np.clip(np.divide(one, two, out=np.zeros(np.broadcast(one, two).shape), where=two != 0), low, high)
    values = [(two * p - 2 * one) * p + none for p in (low, high, turn)]
    return np.minimum.reduce(values), np.maximum.reduce(values)
