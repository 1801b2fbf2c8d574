"""Gaussian noise on the integers, drawn exactly: the rounded normal law, and the discrete Gaussian.

    RoundedGaussian     X = round(Z), Z normal with variance sigma2:  P(k) = Phi((k+1/2)/sigma) - Phi((k-1/2)/sigma)
    DiscreteNormal    P(k) proportional to exp(-k^2 / (2 sigma2))

The rounded one is the default: for a whole number f, f + round(Z) = round(f + Z), so every theorem about continuous
Gaussian noise holds for it by post-processing. The discrete one has the zCDP bound of the continuous one, but not
its whole (epsilon, delta) curve.

The variance is rational. Tails of the discrete law, with w(y) = exp(-y^2/(2 sigma2)) and Z its sum over the integers:

* sigma2 <= 2^15: the sum of w(k+1), w(k+2), ...; the ratio of neighbours falls, so what follows a term t with ratio r
  lies in [0, t r / (1 - r)].
* above: Euler-Maclaurin about a = k + 1/2, where the odd terms vanish. With t = a / sigma and Hermite polynomials He,
  the sum is the integral of w from a on, plus B_j(1/2)/j! He_{j-1}(t) w(a) / sigma^(j-1) for j = 2, 4, 6, 8, with an
  error of at most max|B_8|/8! = 1/(30 * 8!) times the integral of |w^(8)| = sigma^-8 |He_8| w. Beyond the last root of He_8,
  at 4.15, w^(8) is positive and the integral is -w^(7)(a) = He_7(t) w(a) / sigma^7. Before it, Cramer's inequality
  |He_n(t)| <= 1.0865 sqrt(n!) exp(t^2/4) bounds the integral by 1.0865 sqrt(8!) sqrt(pi) erfc(t/2) / sigma^7.
* Z = sigma sqrt(2 pi) (1 + 2 sum of exp(-2 pi^2 sigma2 j^2)) by Poisson summation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from flint import arb, ctx

from dither.arguments import argument_errors
from dither.errors import NumberError, stated
from dither.noise.law import Sampler, TableLaw, check_scale, check_variance
from dither.noise.samplers.large_scale import StaircaseSampler
from dither.noise.samplers.small_scale import DirectSampler
from dither.numeric.enclosure import to_ball
from dither.numeric.number import Number, NumberLike

TABLE_SIGMAS = Fraction(38, 5)  # P(|Z| > 7.6) < 2^-44: how much of the law the table leaves to the slow path
LARGEST_REACH = 1024  # beyond this a staircase is smaller and faster than a direct table
CELLS_PER_SIGMA_BITS = 6
FAR = 1000  # beyond this, of x^2
LARGEST_SUMMED = 2**15  # up to this variance the discrete tail is summed term by term
LARGEST_THETA = 2**12  # exp(-2 pi^2 2^12) < 2^-116000
HERMITE = {2: (1, 0), 4: (1, 0, -3, 0), 6: (1, 0, -10, 0, 15, 0), 8: (1, 0, -21, 0, 105, 0, -105, 0)}  # of He_{j-1}
CRAMER = Fraction(10865, 10000)
LAST_ROOT = Fraction(83, 20)  # of He_8: 4.1446...
MIDPOINT = {2: Fraction(-1, 12), 4: Fraction(7, 240), 6: Fraction(-31, 1344), 8: Fraction(127, 3840)}  # B_j(1/2)
HALF = Fraction(1, 2)


class _NormalLaw(TableLaw):
    """What the two laws share: the weight exp(-y^2 / (2 sigma2)), and how they are sampled."""

    _sigma2: Fraction

    @property
    def sigma2(self) -> Fraction:
        """The variance of the normal law that is rounded or restricted to the integers, exactly."""
        return self._sigma2

    def _key(self) -> tuple[object, ...]:
        return (self._sigma2,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(sigma2='{Number(self._sigma2)}')"

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _rebuild, (type(self), self._sigma2)

    def build_sampler(self) -> Sampler:
        # The shape of the table is chosen here; every shape gives the same law.
        sigma = max(1, math.isqrt(math.floor(self.sigma2)) + 1)
        reach = math.floor(TABLE_SIGMAS * sigma) + 2
        if reach <= LARGEST_REACH:
            return DirectSampler(self, reach)
        cell_bits = max(0, sigma.bit_length() - 1 - CELLS_PER_SIGMA_BITS)
        return StaircaseSampler(self, cell_bits, reach // 2**cell_bits + 1)

    def weight(self, y: Fraction | int) -> arb:
        return (-to_ball(Fraction(y) ** 2 / (2 * self._sigma2))).exp()

    def ladder(self, start: Fraction | int, step: int) -> Iterator[arb]:
        return (weight for weight, _ in self._rungs(start, step))

    def _rungs(self, start: Fraction | int, step: int) -> Iterator[tuple[arb, arb]]:
        """Weights, and their ratios exp(-(2 y step + step^2) / (2 sigma2)) to the next, which fall by `fall` a step."""
        weight, fall = self.weight(start), to_ball(Fraction(-(step**2)) / self._sigma2).exp()
        ratio = to_ball((-2 * Fraction(start) * step - step**2) / (2 * self._sigma2)).exp()
        while True:
            yield weight, ratio
            weight *= ratio
            ratio *= fall

    def chord_gaps(self, start: Fraction | int, width: int, cells: int, unit: int) -> list[int]:
        """Gaps of `cells` from `start` on, each of this `width`, in 1/`unit`: in whole numbers, by a rational bound.

        With t = y / sigma and h = width / sigma, |weight''| = |t^2 - 1| weight / sigma2 is at most m near / sigma2 on a
        cell, m the larger |t^2 - 1| of its ends; and far = near exp(-z), z = (t1^2 - t0^2) / 2. So near cancels, and the gap
        is at most unit h^2 m / 8 / (1 - exp(-z)). As x coth x = 1 + sum of 2 x^2 / (x^2 + pi^2 n^2) <= 1 + x^2 / 3,
        1 / (1 - exp(-z)) = (1 + coth(z/2)) / 2 <= 1/z + 1/2 + z/12: too much by less than z^3 / 720.

        Below, distances are doubled to be whole; with sigma2 = p / q, y^2, sigma2 and m sigma2 are multiplied by 4 q.
        """
        q, variance = self._sigma2.denominator, 4 * self._sigma2.numerator
        step, near = 2 * width, int(2 * start)
        assert near == 2 * start >= 0, "cells begin at whole or half numbers"
        square, cube = 48 * variance**2, 192 * variance**3
        gaps, inner = [], q * near**2
        for _ in range(cells):
            ends = 2 * near + step
            fall = q * step * ends  # 2 z, times the variance
            m = max(abs(inner - variance), abs(inner + fall - variance))
            above = unit * step * m * (square + 12 * variance * fall + fall**2)
            gaps.append(-(-above // (cube * ends)))
            near, inner = near + step, inner + fall
        return gaps

    def series(self, start: Fraction | int, step: int) -> arb:
        """weight(start) + weight(start + step) + ..., with what is left out enclosed."""
        total, small = to_ball(0), to_ball(Fraction(1, 1 << ctx.prec))
        for weight, ratio in self._rungs(start, step):
            total += weight
            # Ratios fall, so a geometric series with the present one covers the rest.
            rest = weight * ratio / (1 - ratio)
            if rest <= total * small or not weight > 0:  # or it is too small for a ball to tell it from zero
                return total + rest.union(to_ball(0))
        raise AssertionError("a ladder has no end")


@argument_errors
class RoundedGaussian(_NormalLaw):
    """A normal variable rounded to the nearest integer: the default Gaussian noise.

    Args:
        sigma: The standard deviation of the normal variable, rational, between 2^-20 and 2^60.
        sigma2: Its variance, in place of `sigma`: rational, where the deviation may be irrational.

    Raises:
        NumberError: Not exactly one of the two is given, or it is not rational, or out of range.

    Example:
        >>> from dither.noise import RoundedGaussian
        >>> RoundedGaussian(10).quantile("0.975")
        (20, 20)
        >>> RoundedGaussian(10) == RoundedGaussian(sigma2=100)
        True
    """

    rounded = True

    def __init__(self, sigma: NumberLike | None = None, *, sigma2: NumberLike | None = None) -> None:
        if sigma is not None and sigma2 is None:
            self._sigma2 = check_scale(sigma, name="sigma") ** 2
        elif sigma2 is not None and sigma is None:
            self._sigma2 = check_variance(sigma2, name="sigma2")
        else:
            given = stated(sigma=sigma, sigma2=sigma2)
            raise NumberError("sigma, sigma2", given, "exactly one of them is needed", "sigma=10, or sigma2=100")

    def above(self, k: int) -> arb:
        return _normal_above(k + HALF, self._sigma2)

    def mass(self, k: int) -> arb:
        k = abs(k)
        return self.above(k - 1) - self.above(k) if k else 1 - 2 * self.above(0)

    def beyond(self, cells: int, width: int) -> arb:
        return self.series(cells * width - HALF, width) + self.series(cells * width + HALF, width)


@argument_errors
class DiscreteNormal(_NormalLaw):
    """Integer noise with P(k) proportional to exp(-k^2 / (2 sigma2)): the discrete normal law, or discrete Gaussian.

    Args:
        sigma2: The variance parameter, rational, between 2^-40 and 2^120.

    Raises:
        NumberError: `sigma2` is not rational, or out of range.

    Example:
        >>> from dither.noise import DiscreteNormal
        >>> DiscreteNormal(100).quantile("0.975")
        (20, 20)
        >>> DiscreteNormal(100).sample(1000).shape
        (1000,)
    """

    def __init__(self, sigma2: NumberLike) -> None:
        self._sigma2 = check_variance(sigma2, name="sigma2")

    def normaliser(self) -> arb:
        """A ball around the sum of all weights: what a weight is divided by to be a probability."""
        variance = self._sigma2
        if variance < 1:
            return 1 + 2 * self.series(1, 1)
        # The theta series beyond its j-th term is below 2 first^((j+1)^2), as first < 1/2. For a large variance its
        # first term is already below any precision, and bounded by that of a smaller one.
        first = (-2 * arb.pi() ** 2 * to_ball(min(variance, Fraction(LARGEST_THETA)))).exp()
        terms = math.isqrt(ctx.prec // 28) + 1 if variance <= LARGEST_THETA else 0
        theta = sum((first ** (j * j) for j in range(1, terms + 1)), start=to_ball(0))
        rest = (2 * first ** ((terms + 1) ** 2)).union(to_ball(0))
        return (2 * arb.pi() * to_ball(variance)).sqrt() * (1 + 2 * (theta + rest))

    def above(self, k: int) -> arb:
        return self.sum_above(k) / self.normaliser()

    def aboves(self, last: int) -> list[arb]:
        sums = [self.sum_above(last)]
        for k in range(last, 0, -1):
            sums.append(sums[-1] + self.weight(k))
        normaliser = self.normaliser()
        return [ball / normaliser for ball in reversed(sums)]

    def sum_above(self, k: int) -> arb:
        """A ball around the sum of the weights beyond `k`: term by term, or by Euler-Maclaurin for a large variance."""
        if self._sigma2 <= LARGEST_SUMMED:
            return self.series(k + 1, 1)
        a, sigma = k + HALF, to_ball(self._sigma2).sqrt()
        t = to_ball(a) / sigma
        total = _normal_above(a, self._sigma2) * (2 * arb.pi()).sqrt() * sigma
        hermite = to_ball(0)
        for j, coefficients in HERMITE.items():
            hermite = to_ball(0)
            for coefficient in coefficients:
                hermite = hermite * t + coefficient
            total += to_ball(MIDPOINT[j] / math.factorial(j)) * hermite * self.weight(a) / sigma ** (j - 1)
        if t > to_ball(LAST_ROOT):
            integral = hermite * self.weight(a) / sigma**7  # He_7 was the last
        else:
            integral = to_ball(CRAMER) * (math.factorial(8) * arb.pi()).sqrt() * (t / 2).erfc() / sigma**7
        error = integral / (30 * math.factorial(8))
        return total + error.union(-error)

    def mass(self, k: int) -> arb:
        return self.weight(abs(k)) / self.normaliser()

    def beyond(self, cells: int, width: int) -> arb:
        return self.series(cells * width, width) + self.series(cells * width + 1, width)


def _normal_above(a: Fraction, variance: Fraction) -> arb:
    """P(Z > a) for a normal Z and a >= 0."""
    square = a**2 / (2 * variance)
    if square > FAR:
        # erfc(x) = exp(-x^2) U(1/2, 1/2, x^2) / sqrt(pi), from the exact square: erfc of a ball around x would lose as many
        # bits as x^2 has.
        ball = to_ball(square)
        return (-ball).exp() * ball.hypgeom_u(to_ball(HALF), to_ball(HALF)) / (2 * arb.pi().sqrt())
    return (to_ball(a) / to_ball(2 * variance).sqrt()).erfc() / 2


def _rebuild(kind: type[_NormalLaw], sigma2: Fraction) -> _NormalLaw:
    if kind is RoundedGaussian:
        return RoundedGaussian(sigma2=sigma2)
    return kind(sigma2)  # type: ignore[call-arg]
