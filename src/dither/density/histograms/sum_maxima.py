"""The largest of several sums of independent noise: its exact law, or a bound that uses the exact law of each sum.

    S_k       N_1 + ... + N_k for k <= m: all running sums of noise in cells
    Q_j       sum_i w_ij N_i: all prefixes of a tree (`histograms/tree_shape.py`); V the largest sum_i w_ij^2
    r, q      the rate of two-sided geometric noise, e^-r; L Laplace noise of scale 1/r, Z normal noise

Theorem 1, geometric noise. For a whole t, P(|S_k| <= t for all k <= m) = sum over k = 0..t of D_k l_k^m / n_k, where u_k is
the root of cos((t+1) u) = q cos(t u) in (k pi / (t+1), (k+1) pi / (t+1)), l_k = 1 / (1 + (sin(u_k/2) / sinh(r/2))^2), and
D_k, n_k are the sums of cos(u_k x) and of its square over |x| <= t. Without the terms from K on it is off by
sqrt(2t+1) l_K^m at most.

Proof. The walk that stops outside -t..t moves by the matrix P(N = x - y). Over all whole y it takes cos(u y) to l cos(u x);
what y > t would add is q^-x times the real part of (q e^(iu))^(t+1) / (1 - q e^(iu)), which is 0 for these u. So they are
eigenvectors: t + 1 of them with different eigenvalues, as many as even functions have dimensions, and orthogonal. By
Parseval D^2/n adds up to 2t+1 and 1/n to 1, so |D|/n to sqrt(2t+1) at most, and l_k falls with k.

Theorem 2, normal noise of deviation 1. All |S_k| stay within t but for 2 P(|S_m| > t) (Levy), and all |Q_j| stay within t
with probability prod_j P(|Q_j| <= t) (Sidak 1967). Rounded, a sum is off by half the sum of the sizes of its weights more.

Theorem 3, geometric noise in a tree. For d > 0,
P(max |Q_j| > t) <= (1 - prod_j P(|sum_i w_ij L_i| <= t - d)) / (1 - e^(-d^2/V)).

Proof. L = sqrt(2E) Z with E exponential. Given all E Sidak's product holds, and its factors all fall in each E, so the mean
of their product is no less than the product of their means (Harris 1960). And L = N + D, with D the difference of the
fractions of two exponential variables, which say nothing of their whole parts: given N, D has mean 0 and lies between -1 and
1, so sum_i w_ij D_i falls below -d with probability e^(-d^2/V) at most (Hoeffding, each fraction by itself). Take the first
j with |Q_j| > t: but for that probability the Laplace sum of the same j is beyond t - d, on the same side.

Theorem 4, the tail of X = sum_i w_i L_i at scale 1. With f(s) = prod 1 / (1 + w_i^2 s^2), P(|X| <= t) is at least
(4/pi) sum over odd k < K of sin(k pi t / T) f(k pi / T) / k  -  f(S) (1 + 1/(w S)^2) / pi  -  P(|X| >= T), for any T > 0 and
even K, with S = K pi / T and w the largest size of a weight; and P(|X| >= T) <= 2 (4/3)^V e^(-T/2) if no size is beyond 1.

Proof. P(|X| <= t) = E sgn(X + t). The series of all odd k is the mean of a square wave of X + t with the period 2T, which
exceeds the sign only where X + t < -T, and by 2 at most. What is left out: f(s) <= f(S) (1 + w^2 S^2) / (w s)^2 beyond S,
and k^-3 over odd k above an even K adds up to 1/(4 K^2) at most. The last is Chernoff's bound at 1/2.

Doubles are off by far less than SLACK, which is taken off every probability; a width is made wider by one part in 2^20.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from dither.density.histograms.tree_shape import TreeShape
from dither.mechanisms.workload.workload import WIDER
from dither.noise.gaussian import RoundedGaussian
from dither.noise.laplace import DiscreteLaplace
from dither.numeric.search import halve

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

TERMS = 2048  # of the series of a walk
MOST_TERMS = 2**14  # of the series of a tail
LISTED = 512  # sums, beyond which they are not gone through one by one
SLACK = 1e-10  # of a probability
LEAST = Fraction(1, 10**7)  # 1 - level: beyond, Chernoff's bound is as good and needs no doubles near 1
FAR = 1e-12  # the probability that a Laplace sum leaves the square wave
SHARES = tuple(2.0**-k for k in range(1, 15))  # e^(-d^2/V) of theorem 3


def running_sum_width(law: DiscreteLaplace | RoundedGaussian, *, length: int, level: Fraction, most: int) -> int:
    """A whole t that all |S_k|, k <= length, stay within with probability `level`; no more than `most`, which is one."""
    if 1 - level < LEAST:
        return most
    if isinstance(law, RoundedGaussian):
        width = math.sqrt(law.sigma2) * _normal_walk(length, level) * WIDER + length / 2
        return min(most, math.floor(width))
    rate = float(law.rate)
    low, high = -1, most  # the largest that is too small, the least that is known to hold
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if walk_within(rate, length, middle) >= level else (middle, high)
    return high


def walk_within(rate: float, length: int, t: int) -> float:
    """P(|S_k| <= t for all k <= length) by theorem 1, from below."""
    import numpy as np

    q, less, k = math.exp(-rate), -math.expm1(-rate), np.arange(min(t + 1, TERMS))  # less: 1 - q, with all its digits
    low, high = k * (math.pi / (t + 1)), (k + 1) * (math.pi / (t + 1))
    u = (low + high) / 2
    for _ in range(40):  # Newton, held between the ends; the phase rises by t + 1/2 or more
        square = 2 * q * np.square(np.sin(u / 2))
        off = u * (t + 1) + np.arctan2(q * np.sin(u), less + square) - (k + 0.5) * math.pi
        low, high = np.where(off < 0, u, low), np.where(off < 0, high, u)
        if bool((np.abs(off) <= 2e-14 * (k + 1)).all()):
            break
        slope = t + 1 + (q * less - square) / (less**2 + 2 * square)
        u = u - off / slope
        u = np.where((u >= low) & (u <= high), u, (low + high) / 2)
    else:
        return 0.0  # not found, so nothing is claimed
    decay = 1 / (1 + np.square(np.sin(u / 2) / math.sinh(rate / 2)))
    sums = np.sin(u * (t + 0.5)) / np.sin(u / 2)
    squares = (2 * t + 1 + np.sin(u * (2 * t + 1)) / np.sin(u)) / 2
    left_out = math.sqrt(2 * t + 1) * float(decay[-1]) ** length if t + 1 > TERMS else 0.0
    return float(np.sum(sums / squares * decay**length)) - left_out - SLACK


@lru_cache(maxsize=1024)
def _normal_walk(length: int, level: Fraction) -> float:
    """The t of theorem 2 for running sums: by Levy's inequality, or by Sidak's."""
    import numpy as np

    alpha, root = float(1 - level), math.sqrt(2 * length)
    levy = halve(lambda t: 2 * math.erfc(t / root) + SLACK <= alpha, 0.0, 12 * root, enough=_near)[1]
    return levy if length > LISTED else min(levy, _normal_quantile(np.arange(1.0, length + 1), alpha))


def _normal_quantile(squares: Floats, alpha: float) -> float:
    """Where normal sums of these variances stay within, by Sidak's product."""
    roots = [math.sqrt(2 * square) for square in squares.tolist()]

    def holds(t: float) -> bool:
        tails = [math.erfc(t / root) for root in roots]
        return all(tail < 1 for tail in tails) and -math.expm1(sum(map(math.log1p, (-x for x in tails)))) + SLACK <= alpha

    return halve(holds, 0.0, 12 * max(roots), enough=_near)[1]


def _near(low: float, high: float) -> bool:
    return high - low <= 1e-9 * high


# -- prefixes of a tree ----------------------------------------------------------------------------------------------------


def tree_width(law: DiscreteLaplace | RoundedGaussian, shape: TreeShape, *, level: Fraction, most: float) -> float:
    """A t that all prefixes of a tree stay within with probability `level`; no more than `most`, which is one."""
    if shape.cells > LISTED or 1 - level < LEAST:
        return most
    sizes = _sizes(shape)
    if isinstance(law, RoundedGaussian):
        return min(most, (math.sqrt(law.sigma2) * _normal_tree(shape, level) + sizes.most_sum / 2) * WIDER)
    scale, alpha = 1 / law.rate.bounds().lower, float(1 - level)
    most_square = sizes.most_square
    ways = [
        scale * _laplace_tree(shape, alpha * (1 - share)) + math.sqrt(-most_square * math.log(share)) for share in SHARES
    ]
    return min(most, min(ways) * WIDER)


class _Sizes:
    """The sizes of the weights of each noise in each prefix that has any, and what follows from them."""

    def __init__(self, shape: TreeShape) -> None:
        import numpy as np

        rows = np.abs(prefix_weights(shape))
        self.rows: Floats = rows[rows.max(axis=1) > 0]
        self.squares: Floats = np.square(self.rows).sum(axis=1)
        self.most_square = float(self.squares.max())
        self.most_sum = float(self.rows.sum(axis=1).max())


@lru_cache(maxsize=8)
def _sizes(shape: TreeShape) -> _Sizes:
    return _Sizes(shape)


def prefix_weights(shape: TreeShape) -> Floats:
    """The weight of every node's noise in every prefix: k of `tree_shape.py`, leaves first."""
    import numpy as np

    heights = range(1, len(shape.sizes))
    own = [_spread(shape.own[at], shape.sizes[at]) for at in range(len(shape.sizes))]
    sums = [np.ones(0)] + [_spread(shape.sums[at], shape.sizes[at]) for at in heights]
    shares = [np.tri(shape.cells)]
    for at in heights:
        starts = np.arange(0, shape.sizes[at - 1], shape.branching)
        shares.append(np.add.reduceat(shares[-1] * own[at - 1], starts, axis=1) / sums[at])
    exact = 0.0 if shape.root == "exact" else 1.0
    found = [exact * own[-1] * shares[-1]]
    for at in reversed(heights):
        over = np.arange(shape.sizes[at - 1]) // shape.branching
        found.append(own[at - 1] * ((found[-1] / sums[at] - shares[at])[:, over] + shares[at - 1]))
    return np.hstack(found[::-1][: shape.levels])


def _spread(pair: tuple[float, float], size: int) -> Floats:
    """A figure of all nodes of a level, the last one's at the end."""
    import numpy as np

    return np.append(np.full(size - 1, pair[0]), pair[1])


@lru_cache(maxsize=1024)
def _normal_tree(shape: TreeShape, level: Fraction) -> float:
    return _normal_quantile(_sizes(shape).squares, float(1 - level))


@lru_cache(maxsize=8)
def _series(shape: TreeShape) -> tuple[Floats, Floats, Floats]:
    """The frequencies of theorem 4, its coefficients for each prefix, and what is to be taken off each probability."""
    import numpy as np

    sizes = _sizes(shape)
    squares = np.square(sizes.rows)
    period = 4 * (math.log(2 / FAR) + math.log(4 / 3) * sizes.most_square)  # twice where the far tail is below FAR
    terms = 64
    while True:
        at = np.arange(1, terms, 2) * (math.pi / period)
        last = terms * math.pi / period
        rest = _transform(squares, last) * (1 + 1 / (squares.max(axis=1) * last**2)) / math.pi
        if float(rest.max()) <= FAR or terms >= MOST_TERMS:
            break
        terms *= 2
    parts: Floats = np.stack([_transform(squares, s) for s in at.tolist()], axis=1)
    places: Floats = at.astype(np.float64)
    less: Floats = rest + FAR + SLACK / len(rest)
    return places, parts * (4 / math.pi) / np.arange(1, terms, 2), less


def _transform(squares: Floats, s: float) -> Floats:
    """f(s) of theorem 4 for each prefix."""
    import numpy as np

    with np.errstate(over="ignore"):  # a product beyond all doubles: f is 0
        found: Floats = 1 / np.prod(1 + squares * s**2, axis=1)
    return found


@lru_cache(maxsize=1024)
def _laplace_tree(shape: TreeShape, alpha: float) -> float:
    """What all Laplace sums of scale 1 stay within but for alpha."""
    import numpy as np

    at, parts, off = _series(shape)

    def holds(t: float) -> bool:
        inside = parts @ np.sin(at * t) - off
        return bool((inside > 0).all()) and -math.expm1(float(np.log(inside).sum())) <= alpha

    end = math.pi / float(at[0]) / 2
    return halve(holds, 0.0, end, enough=_near)[1] if holds(end) else math.inf
