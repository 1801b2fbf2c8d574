"""Chernoff bounds: half-widths of weighted sums of discrete Gaussian and of two-sided geometric noise.

An answer is off by S_i = sum_j R_ij N_j with independent N_j. Rows of sizes |R_ij| come in, and a width t for which the
probability that any |S_i| exceeds t is at most 1 - confidence goes out, by a union bound over the rows.

    discrete Gaussian   E exp(s N) = e^(s^2 sigma2 / 2) times a sum of exp(-x^2 / (2 sigma2)) over a shifted lattice divided
                        by that over the lattice, and so at most e^(s^2 sigma2 / 2). Hence P(|S_i| > t) is at most
                        2 exp(-t^2 / (2 sigma2 |R_i|^2)), and t is such that these add up to 1 - confidence
    two-sided           E exp(s N) = 1 / (1 - (sinh(s/2) / sinh(r/2))^2) for |s| < r, the rate: so P(|S_i| > t) is at
    geometric           most 2 exp(-s t) prod_j E exp(s R_ij N_j) for every s; the best of several s is taken for each
                        of the n rows, with (1 - confidence) / n as its share

Both are computed in doubles; whoever asks makes them wider by what doubles can be off.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from dither.mechanisms.additive.additive import log_odds
from dither.numeric.search import halve

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TILTS = tuple(0.01 * 1.22**k for k in range(20)) + tuple(1 - 0.5 * 0.82**k for k in range(24))  # of r, in (0, 1)


def gaussian_width(rows: NDArray[np.float64], sigma2: Fraction, level: Fraction) -> float:
    """What all rows stay within together, with this probability, under discrete Gaussian noise."""
    import numpy as np

    spreads = math.sqrt(sigma2) * np.sqrt(np.square(rows).sum(axis=1))

    def inside(width: float) -> bool:
        exponents = -np.square(width / spreads) / 2
        most = float(exponents.max())
        return most + math.log(2 * float(np.exp(exponents - most).sum())) <= -log_odds(1, level)

    return halve(inside, 0.0, float(spreads.max()) * math.sqrt(2 * log_odds(2 * len(rows), level)), times=40)[1]


def geometric_width(rows: NDArray[np.float64], rate: float, level: Fraction) -> float:
    """What all rows stay within together, with this probability, under two-sided geometric noise of this rate."""
    import numpy as np

    wanted = log_odds(2 * len(rows), level)
    shares = rows / rows.max(axis=1, keepdims=True)
    best = np.full(len(rows), math.inf)
    for tilt in TILTS:
        at = rate * tilt * shares  # s R_ij: below the rate
        ratios = np.exp((at - rate) / 2) * np.expm1(-at) / math.expm1(-rate)  # sinh(at / 2) / sinh(rate / 2)
        spent = -np.log1p(-np.square(ratios)).sum(axis=1)
        best = np.minimum(best, (wanted + spent) / (rate * tilt))
    return float((best * rows.max(axis=1)).max())
