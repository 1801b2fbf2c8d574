"""The region of coefficients that released moments leave open: it covers least squares of the clipped rows as stated.

    A, b     the true moments of (x, c), and of (x, c) with y; p = width + 1; A~ = A + N, b~ = b + n what was released
    P        the penalty of `Ridge` on the squares of the slopes, diagonal and public; 0 of `LinearRegression`; H = A~ + P
    beta     any solution of (A + P) beta = b: least squares, or ridge regression, without noise, of the rows as they were
             clipped and rounded to the lattice
    gamma    (beta, -1)
    s        the standard deviation of noise on the diagonal of N; s / sqrt 2 off it and in n
    S(beta)  s^2 / 2 (|gamma|^2 I + beta beta^T)
    h        sqrt(p (p + 1) / 2) / s, for noise that is rounded to whole numbers

Theorem 1. For every data set, the region { beta : sqrt(r^T S(beta)^-1 r) <= sqrt(q) + h }, r = H beta - b~, q the quantile
of the chi-square distribution with p degrees, holds beta with at least the stated probability.

Proof. r = N beta - n, since (A + P) beta = b. Let noise be G + E, G normal, E the rounding, each entry at most 1/2. G's part
is normal with mean 0: its row i has variance s^2 beta_i^2 + s^2/2 (sum_{j != i} beta_j^2 + 1), and rows i, k share the
entry ik, with covariance s^2/2 beta_i beta_k. That is S(beta), so its S^-1 norm squared has the chi-square law exactly. The
part of E is at most |gamma|_1 / 2 in each row, so at most sqrt(p) sqrt(p + 1) |gamma|_2 / 2 in L2 norm; and
S >= s^2 |gamma|^2 / 2. So it is at most h in the norm of S^-1, whatever beta is; norms of sums are at most sums of norms.

Theorem 2. Let Q = (sqrt(q) + h)^2 and W = H^2 - Q s^2 I. If W is positive definite, the region lies in an ellipsoid with
centre m = W^-1 H b~, and for every vector l, |l^T (beta - m)| <= sqrt(t l^T W^-1 l), t = m^T W m - |b~|^2 + Q s^2 / 2.

Proof. S <= s^2 (|beta|^2 + 1/2) I. So |r|^2 <= Q s^2 (|beta|^2 + 1/2) in the region, which is the quadric
beta^T W beta - 2 beta^T H b~ + |b~|^2 - Q s^2 / 2 <= 0, that is (beta - m)^T W (beta - m) <= t; Cauchy-Schwarz.

Theorem 3. Let H have no negative eigenvalue. Then the region at 95% holds the coefficients that a fit states, which are
(H + k I)^-1 b~ with k^2 = s^2 width / 2 (`linear_regression.py`): each estimate lies in its interval.

Proof. There r = -k beta, and S beta = s^2 / 2 (2 |beta|^2 + 1) beta. So r^T S^-1 r = 2 k^2 |beta|^2 / (s^2 (2 |beta|^2 + 1))
is below k^2 / s^2 = width / 2, and that is below the quantile of a distribution with mean width + 1.

The intervals of Theorem 2 hold for all coefficients at once. They are of the noise alone. Those of the population are
linearized, so approximate: the variance of beta~ = H^-1 b~ is taken as H^-1 (S(beta~) + v A~) H^-1, v the released mean
square of residuals, which supposes that residuals have one variance. With a penalty they are about ridge regression of the
population at the same penalty for each row.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from attrs import frozen

from dither.errors import SizeError
from dither.learn.base.cells import Floats
from dither.learn.linear.chi_square import chi_square_quantile
from dither.learn.moments.second_moments import SecondMoments


@frozen
class CoefficientInterval:
    """An interval of one coefficient; without end where what was released does not bound it."""

    name: str
    low: float
    high: float

    @property
    def unbounded(self) -> bool:
        """Whether nothing bounds it."""
        return bool(np.isinf(self.low) or np.isinf(self.high))

    def __str__(self) -> str:
        return f"{self.name}: unbounded" if self.unbounded else f"{self.name}: {self.low:.6g} to {self.high:.6g}"


@frozen(eq=False)
class CoefficientRegion:
    """The coefficients that released moments leave open at a confidence; of least squares of the *clipped* rows.

    It is made by `LinearRegression.region`; that of `Ridge` is of ridge regression with its penalty.
    """

    moments: SecondMoments
    names: tuple[str, ...]  # of the coefficients; the last one is the intercept
    units: Floats  # coefficients in the units of the columns are units @ beta + shift
    shift: Floats
    penalty: float  # on the squares of the slopes, on the lattice
    confidence: Fraction

    @property
    def reach(self) -> float:
        """sqrt(q) + h: how far from 0 the statistic may be."""
        size = len(self.names)
        return float(
            np.sqrt(chi_square_quantile(self.confidence, size)) + np.sqrt(size * (size + 1) / 2) / self.moments.deviation
        )

    @property
    def subject(self) -> str:
        """The estimate without noise that the region is about, in words."""
        return f"{'ridge regression' if self.penalty else 'least squares'} of the rows as clipped to bounds and norm"

    @property
    def square(self) -> Floats:
        """H: the released moments of (x, c) and the penalty."""
        size = len(self.names)
        return np.asarray(self.moments.matrix[:size, :size] + slope_penalty(size, self.penalty))

    def statistic(self, coefficients: Any) -> float:
        """sqrt(r^T S^-1 r) of coefficients in the units of the columns, the intercept last."""
        given = np.asarray(coefficients, dtype=np.float64)
        if given.shape != self.shift.shape:
            ways = "coef_ and intercept_ in one list, in the order of `names`"
            raise SizeError("coefficients", given.shape, f"there are {len(self.names)}, the intercept last", ways)
        beta = np.asarray(np.linalg.solve(self.units, given - self.shift), dtype=np.float64)
        size = len(beta)
        rest = self.square @ beta - self.moments.matrix[:size, size]
        return float(np.sqrt(_quadratic(rest, beta, self.moments.deviation)))

    def holds(self, coefficients: Any) -> bool:
        """Whether the region holds these coefficients, in the units of the columns, the intercept last."""
        return self.statistic(coefficients) <= self.reach

    @property
    def ellipsoid(self) -> tuple[Floats, Floats, float] | None:
        """m, W^-1 and t of an ellipsoid around the region; None where the region may have no end."""
        size, s2 = len(self.names), (self.reach * self.moments.deviation) ** 2
        square, products = self.square, self.moments.matrix[:size, size]
        values, vectors = np.linalg.eigh(square)
        if (values**2 <= s2 * (1 + 2.0**-20)).any():
            return None
        inverse = (vectors / (values**2 - s2)) @ vectors.T
        middle = inverse @ (square @ products)
        # m^T W m - |b~|^2 + Q s^2 / 2, in the eigenvectors, where nothing cancels
        turned = vectors.T @ products
        return middle, inverse, float(s2 * (turned**2 / (values**2 - s2)).sum() + s2 / 2)

    def extents(self) -> tuple[CoefficientInterval, ...]:
        """The interval of each coefficient over an ellipsoid around the region: they hold together at the confidence."""
        around = self.ellipsoid
        if around is None:
            return tuple(CoefficientInterval(name, -np.inf, np.inf) for name in self.names)
        middle, inverse, size = around
        return _intervals(self, middle, np.sqrt(size * np.einsum("ij,jk,ik->i", self.units, inverse, self.units)))

    def population(self) -> tuple[CoefficientInterval, ...]:
        """The linearized interval of each coefficient, of noise and sampling: approximate, one coefficient at a time."""
        size, m, square = len(self.names), self.moments, self.square
        if self.ellipsoid is None or (np.linalg.eigvalsh(square) <= 0).any():
            return tuple(CoefficientInterval(name, -np.inf, np.inf) for name in self.names)
        inverse = np.linalg.inv(square)
        beta = inverse @ m.matrix[:size, size]
        gamma = np.append(beta, -1.0)
        noise = m.deviation**2 / 2 * (float(gamma @ gamma) * np.eye(size) + np.outer(beta, beta))
        left = float(gamma @ m.matrix @ gamma)  # of the squares of the target
        spread = max(left, m.deviation) / m.rows
        variance = inverse @ (noise + spread * m.matrix[:size, :size]) @ inverse
        within = np.maximum(np.einsum("ij,jk,ik->i", self.units, variance, self.units), 0.0)
        return _intervals(self, beta, np.sqrt(chi_square_quantile(self.confidence, 1) * within))

    def __str__(self) -> str:
        lines = [f"Region     {self.subject}, with noise alone: {float(self.confidence):.6g} of all draws of noise"]
        return "\n".join([*lines, *(f"           {one}" for one in self.extents())])


def slope_penalty(size: int, penalty: float) -> Floats:
    """P, for slopes and an intercept, which has none."""
    return np.diag([penalty] * (size - 1) + [0.0])


def _quadratic(rest: Floats, beta: Floats, s: float) -> float:
    """r^T S(beta)^-1 r, by Sherman and Morrison."""
    gamma2 = float(beta @ beta) + 1
    inside = float(rest @ rest) - float(rest @ beta) ** 2 / (gamma2 + float(beta @ beta))
    return max(inside, 0.0) * 2 / (s**2 * gamma2)


def _intervals(region: CoefficientRegion, middle: Floats, half: Floats) -> tuple[CoefficientInterval, ...]:
    centre = region.units @ middle + region.shift
    ends = zip(region.names, (centre - half).tolist(), (centre + half).tolist(), strict=True)
    return tuple(CoefficientInterval(*one) for one in ends)
