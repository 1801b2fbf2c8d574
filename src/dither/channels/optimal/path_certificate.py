"""A dual certificate: a proved bound on what any epsilon-private mechanism can gain, for answers that lie on a path.

Theorem. Let h(r, i) = prior(i) g(r, i) be the weighted gain of the guess r at the i-th answer, a = e^-epsilon, and let
lambda satisfy, for every guess r and every c with c(i) >= a c(i+1), c(i+1) >= a c(i), c >= 0:

    sum over i of (h(r, i) - lambda(i)) c(i) <= 0.

Then every epsilon-private mechanism gains at most the sum of lambda, whatever its outputs and whatever the remap.

Proof. The column of an output z with guess r(z) is such a c; so the gain, the sum over z of the sum over i of
h(r(z), i) C[i, z], is at most the sum over z and i of lambda(i) C[i, z], and rows add up to one.

The condition is checked by one sweep. V(i) = the largest sum over j >= i of w(j) c(j) among those c with c(i) = 1, for
w = h(r, .) - lambda, is V(i) = w(i) + max over s in [a, 1/a] of s V(i+1) = w(i) + V(i+1) / a where V(i+1) > 0, and
w(i) + a V(i+1) where not. The condition says V(0) <= 0.

The sweep is in floats that are rounded up at every step, all guesses at once, so V(0) <= 0 is proved. V may grow beyond
any float; only its sign matters, and its ratio to the sum of c, so both are scaled by powers of two on the way. Which
lambda to try: one that makes every column of the truncated geometric mechanism tight (`optimal/geometric_remap.py`); then
all of it is raised by the little that is missing. Raising lambda by t lowers V(0) by t times the sum of the c that attains
it, so t = V(0) / that sum is the next to try (Dinkelbach's method for a ratio).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from dither.numeric.balls import round_up
from dither.numeric.enclosure import exp
from dither.numeric.number import Number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ROUNDS = 60
LARGEST = 200  # epsilons beyond this hide nothing: e^-200 of a gain is less than any float can tell
TINY = 2.0**-1074  # the smallest float above zero
ROOM = 400  # powers of two that V may grow by before it is scaled


def bound(upper: NDArray[np.float64], dual: NDArray[np.float64], epsilon: Number) -> float | None:
    """The sum of a dual that passes, rounded up: a bound on every gain; None where none was found.

    `upper[r, i]` is not below h(r, i), `dual` is where to begin.
    """
    import numpy as np

    if epsilon > LARGEST:  # what could be gained without privacy
        return sum_up(upper.max(axis=0))
    trial = dual.copy()
    low, high = exp(-epsilon).lower, exp(epsilon).upper
    for _ in range(ROUNDS):
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # what overflows proves nothing and is not used
            value, total = sweep(np.nextafter(upper - trial, np.inf), low, high)
            if (value <= 0).all():
                return sum_up(trial)
            step = float((value / total).max())
        if not math.isfinite(step):
            return None
        trial = np.nextafter(trial + (step * (1 + 2.0**-20) + np.abs(trial).max() * 2.0**-53), np.inf)
    return None


def sum_up(values: NDArray[np.float64]) -> float:
    return round_up(sum((Fraction(x) for x in values.tolist()), start=Fraction(0)))


def sweep(lacking: NDArray[np.float64], a: float, inverse: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """V(0) for each row, rounded up, and about the sum of the c that attains it, both times a power of two."""
    import numpy as np

    columns = np.ascontiguousarray(lacking.T)
    value = columns[-1].copy()
    scale, total = np.ones_like(value), np.ones_like(value)
    block = max(1, int(ROOM / math.log2(inverse)))
    for i in range(len(columns) - 2, -1, -1):
        factor = np.where(value > 0, inverse, a)
        # Products and sums are rounded: a step up for each. Where the scale is too small for a float it counts as
        # the smallest float for what is gained, and as zero for what is lost.
        value = np.nextafter(value * factor, np.inf)
        weights = columns[i] * np.where(columns[i] > 0, np.maximum(scale, TINY), scale)
        value = np.nextafter(value + np.nextafter(weights, np.inf), np.inf)
        total = total * factor + scale
        if i and i % block == 0:
            power = np.maximum(np.frexp(np.maximum(value, total))[1], 0)
            # a negative value may be halved until it is zero, which is above it
            value, total, scale = (np.ldexp(x, -power) for x in (value, total, scale))
            value = np.nextafter(value, np.inf)
    return value, total
