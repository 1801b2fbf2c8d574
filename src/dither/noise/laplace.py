"""The discrete Laplace (two-sided geometric) law and the one-sided geometric law, drawn exactly.

    DiscreteLaplace      P(X = x) = (1 - q) / (1 + q) q^|x|      on all integers
    OneSidedGeometric    P(X = x) = (1 - q) q^x                  on 0, 1, 2, ...

q = exp(-rate), rate = 1 / scale. A scale is rational; a rate may also hold logarithms, so that epsilon = ln 3 for a
count of sensitivity 1 is the rate ln 3 and q is one third, exactly.

Tails, by summing the series: P(X > k) = q^(k+1) / (1 + q), and q^(k+1), for k >= 0. The staircase beyond n cells of
width M on each side weighs (q^(nM) + q^(nM+1)) / (1 - q^M), since the near ends there are nM, nM + M, ... on the right
and nM + 1, nM + M + 1, ... on the left.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from dither.arguments import argument_errors
from dither.errors import NumberError, stated
from dither.noise.law import Sampler, TableLaw, check_rate, check_scale
from dither.noise.samplers.large_scale import StaircaseSampler
from dither.noise.samplers.small_scale import DirectSampler
from dither.numeric.balls import ceil_of, precision
from dither.numeric.enclosure import to_ball
from dither.numeric.number import Number, NumberLike

if TYPE_CHECKING:
    from flint import arb

TABLE_SCALES = 31  # e^-31 < 2^-44: how much of the law the table leaves to the slow path
LARGEST_REACH = 1024  # beyond this a staircase is smaller and faster than a direct table
CELLS_PER_SCALE_BITS = 5


@argument_errors
class _GeometricLaw(TableLaw):
    """What the two laws share: q, its powers, and how they are sampled."""

    def __init__(self, scale: NumberLike | None = None, *, rate: NumberLike | None = None) -> None:
        if scale is not None and rate is None:
            self._rate = Number(1 / check_scale(scale, name="scale"))
        elif rate is not None and scale is None:
            self._rate = check_rate(rate, name="rate")
        else:
            given = stated(scale=scale, rate=rate)
            raise NumberError("scale, rate", given, "exactly one of them is needed", "scale=10, or rate=ln(3)")

    @property
    def rate(self) -> Number:
        """The exponential decay of one step: one over the scale."""
        return self._rate

    def _key(self) -> tuple[object, ...]:
        return (self._rate,)

    def __repr__(self) -> str:
        if self._rate.is_rational:
            return f"{type(self).__name__}(scale='{Number(1 / self._rate.fraction())}')"
        return f"{type(self).__name__}(rate='{self._rate}')"

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return _rebuild, (type(self), self._rate)

    def build_sampler(self) -> Sampler:
        scale = 1 / float(self.rate)  # only chooses the shape of the table; every shape gives the same law
        reach = math.floor(TABLE_SCALES * scale) + 2
        if reach <= LARGEST_REACH:
            return DirectSampler(self, reach)
        cell_bits = max(0, math.frexp(scale)[1] - 1 - CELLS_PER_SCALE_BITS)
        return StaircaseSampler(self, cell_bits, reach // 2**cell_bits + 1)

    def _rational_fall(self, k: int) -> tuple[Fraction, Fraction] | None:
        """q and q^(k+1) where e^rate is rational and the power has less than a few thousand digits."""
        growth = self._rate.exp_fraction()
        if growth is None or (k + 1) * growth.numerator.bit_length() > 2**14:
            return None
        return 1 / growth, 1 / growth ** (k + 1)

    def weight(self, y: Fraction | int) -> arb:
        return (-(to_ball(self._rate) * to_ball(y))).exp()

    def ladder(self, start: Fraction | int, step: int) -> Iterator[arb]:
        weight, factor = self.weight(start), self.weight(step)
        while True:
            yield weight
            weight *= factor

    def chord_gaps(self, start: Fraction | int, width: int, cells: int, unit: int) -> list[int]:
        # The largest curvature of a cell is rate^2 near, and far = near exp(-rate width): near cancels, one gap for all.
        with precision(96):
            fall = to_ball(self._rate) * width
            return [ceil_of(fall**2 * unit / 8 / -(-fall).expm1())] * cells

    def _geometric_series(self, cells: int, width: int) -> arb:
        return self.weight(cells * width) / -(-(to_ball(self._rate) * width)).expm1()


@argument_errors
class DiscreteLaplace(_GeometricLaw):
    """Integer noise with P(x) proportional to exp(-|x| / scale): the noise of counts under pure epsilon.

    Args:
        scale: Sensitivity over epsilon, rational, between 2^-20 and 2^60.
        rate: One over the scale, in place of `scale`: exact, and it may hold logarithms such as ln 3.

    Raises:
        NumberError: Not exactly one of the two is given, or it is no exact number, or out of range.

    Example:
        >>> from dither import ln
        >>> from dither.noise import DiscreteLaplace
        >>> "1/2" in DiscreteLaplace(rate=ln(3)).pmf(0)
        True
        >>> DiscreteLaplace(10).quantile("0.95")
        (23, 23)
    """

    def above(self, k: int) -> arb:
        return self.weight(k + 1) / (1 + self.weight(1))

    def exactly_above(self, k: int) -> Fraction | None:
        fall = self._rational_fall(k)
        return None if fall is None else fall[1] / (1 + fall[0])

    def mass(self, k: int) -> arb:
        return -(-to_ball(self._rate)).expm1() / (1 + self.weight(1)) * self.weight(abs(k))

    def beyond(self, cells: int, width: int) -> arb:
        return self._geometric_series(cells, width) * (1 + self.weight(1))


@argument_errors
class OneSidedGeometric(_GeometricLaw):
    """Waiting-time noise with P(x) proportional to exp(-x / scale) on 0, 1, 2, ...; not private by itself.

    Args:
        scale: How far the weight falls by a factor e, rational, between 2^-20 and 2^60.
        rate: One over the scale, in place of `scale`: exact, and it may hold logarithms such as ln 3.

    Raises:
        NumberError: Not exactly one of the two is given, or it is no exact number, or out of range.

    Example:
        >>> from dither import ln
        >>> from dither.noise import OneSidedGeometric
        >>> "1/4" in OneSidedGeometric(rate=ln(2)).pmf(1)
        True
        >>> OneSidedGeometric(10).sample() >= 0
        True
    """

    two_sided = False

    def above(self, k: int) -> arb:
        return self.weight(k + 1)

    def exactly_above(self, k: int) -> Fraction | None:
        fall = self._rational_fall(k)
        return None if fall is None else fall[1]

    def mass(self, k: int) -> arb:
        return to_ball(0) if k < 0 else -(-to_ball(self._rate)).expm1() * self.weight(k)

    def beyond(self, cells: int, width: int) -> arb:
        return self._geometric_series(cells, width)


def _rebuild(kind: type[_GeometricLaw], rate: Number) -> _GeometricLaw:
    return kind(rate=rate)
