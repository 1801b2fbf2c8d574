"""The optimal strategy of the matrix mechanism for Gaussian noise, with a lower bound: one convex problem and its dual.

Queries W (one a row) of a histogram x are answered from A x + noise, where A is a strategy and noise has a deviation in
proportion to the largest column norm of A. The least-squares answers have a total variance in proportion to

    max_i X_ii * tr(V X^+),    X = A'A,  V = W'W                      so: minimise tr(V X^+) with all X_ii <= 1.

Dual. Let u > 0 have one entry for each cell, D = diag(u). As X_ii <= 1, tr(V X^+) >= tr(V X^+) + tr(D X) - sum u, and the
right side is smallest over all X where X D X = V. With V = F'F, F of full row rank, and K = F D F':

    X = F' K^(-1/2) F,   A = K^(-1/4) F,   tr(V X^+) = tr(D X) = tr K^(1/2) =: t

so 2t - sum u is a lower bound for every u, and at the best multiple of u it is t^2 / sum u. Equal u give the bound of Li
and Miklau: (sum of the singular values of W)^2 / number of cells. X / max X_ii is a strategy, so max X_ii * t is an upper
bound, and every round has both.

Rounds. Let v = sqrt u. t is the nuclear norm of F diag(v), at least tr(U' F diag(v)) for every U of norm 1, with equality
for its polar factor at the present v0, where the diagonal of U'F is v0_i X_ii. So 2t - sum u is at least the sum over i of
2 v_i v0_i X_ii - v_i^2, and equal at v0. That parabola peaks at v_i = v0_i X_ii, and every step towards the peak, up to
twice as far, does not lower it: the bound rises in every round. (u is first brought to its best multiple.) Steps are
1.5 times as long as to the peak, which was fastest.

Directions of W that are below 2^-22 of the largest are left out of F. That makes V smaller, so lower bounds stay bounds.
All figures are floats: they say how useful a strategy is and bound no privacy.

Li, Miklau, Hay, McGregor and Rastogi 2015; Li and Miklau 2013; Edmonds, Nikolov and Ullman 2020.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STEP = 1.5
SHORTEST = 0.1  # no entry of v shrinks more than this in a round
NEGLIGIBLE = 2.0**-44  # of the largest eigenvalue of V


@dataclass(frozen=True, eq=False)
class StrategyOptimum:
    """A strategy with largest column norm 1, and what is known about it."""

    matrix: NDArray[np.float64]
    upper: float  # tr(V X^+): the total variance of all answers, for noise of variance 1
    lower: float  # no strategy has less
    svd: float  # the lower bound of Li and Miklau
    rounds: int


def optimise(gram: NDArray[np.float64], *, gap: float, rounds: int) -> StrategyOptimum:
    """The best strategy for V = W'W: until the bounds agree within `gap`, in deviations, or for so many rounds."""
    import numpy as np

    factor = _factor(gram)
    scale = math.sqrt(float(np.square(factor).sum()))
    factor = factor / scale  # so that nothing depends on the units of the queries
    cells = factor.shape[1]
    u = np.full(cells, 1.0 / cells)
    best, upper, lower, svd, done = factor, math.inf, 0.0, 0.0, 0
    while done < rounds and not upper <= lower * (1 + gap) ** 2:
        done += 1
        values, vectors = np.linalg.eigh((factor * u) @ factor.T)
        roots = np.sqrt(np.maximum(values, values[-1] * np.finfo(float).eps ** 2))
        matrix = (vectors.T @ factor) / np.sqrt(roots)[:, None]
        diagonal = np.square(matrix).sum(axis=0)
        total, most = float(roots.sum()), float(diagonal.max())
        bound = total**2  # u adds up to 1
        svd = svd or bound
        lower = max(lower, bound)
        if most * total < upper:
            best, upper = matrix / math.sqrt(most), most * total
        u = u * np.square(np.maximum(1 + STEP * (diagonal / total - 1), SHORTEST))  # X at the best multiple of u
        u = u / u.sum()
    return StrategyOptimum(best, upper * scale**2, lower * scale**2, svd * scale**2, done)


def _factor(gram: NDArray[np.float64]) -> NDArray[np.float64]:
    """F with V = F'F and as many rows as V has directions."""
    import numpy as np

    values, vectors = np.linalg.eigh(gram)
    kept = values > values[-1] * NEGLIGIBLE
    return np.asarray((vectors[:, kept] * np.sqrt(values[kept])).T)
