"""Discrete Gaussian noise for whole numbers: the zCDP of Gaussian noise, with nothing rounded.

Theorem. Let f take vectors of whole numbers and move by at most D in L2 norm. Then f + N, the coordinates of N
independent with P(N = x) proportional to exp(-x^2 / (2 sigma2)), is rho-zCDP for rho = D^2 / (2 sigma2).

Proof. For one coordinate and a whole shift s, with w(x) = exp(-x^2 / (2 sigma2)) and Z the sum of w over the
integers, the Renyi divergence of order a between N and N + s is 1/(a-1) times the logarithm of the sum of w(x)^a w(x
- s)^(1-a) / Z. Completing the square, each term is exp(a (a-1) s^2 / (2 sigma2)) w(x - (1-a) s), and the sum of w
over any shifted lattice is at most Z (Poisson summation: its Fourier coefficients are positive, so it is largest
unshifted). So the divergence is at most a s^2 / (2 sigma2). Coordinates are independent, so divergences add up to a
|s|^2 / (2 sigma2) <= a rho.

It is *not* Gaussian differentially private: between lattice points its delta exceeds the Gaussian curve of mu = D /
sigma, more than four times at sigma = 0.5 and twice at sigma = 1 (where delta is above 1e-9). For (epsilon, delta)
and for long compositions `Gaussian` is the better choice.

Canonne, Kamath and Steinke 2020.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, SupportsIndex

from attrs import evolve, field, frozen

from dither.arguments import argument_errors
from dither.errors import NumberError, stated
from dither.mechanisms.additive.additive import Additive, read_dimension
from dither.mechanisms.additive.gaussian import guess_gaussian, read_either
from dither.mechanisms.norms import l2_shifts
from dither.mechanisms.sensitivity import SensitivityLike
from dither.noise.gaussian import DiscreteNormal
from dither.numeric.number import NumberLike, rational
from dither.numeric.representation import short_repr
from dither.privacy.guarantee.definitions import zcdp
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.records import read_rho
from dither.privacy.unit import Unit, UnitLike


@argument_errors
@frozen(kw_only=True, slots=False, init=False)
class DiscreteGaussian(Additive):
    """Discrete Gaussian noise for whole numbers, promised in zCDP only.

    The sensitivity is given in one of two ways, the noise in one of three: sigma, sigma2 or rho.

    Args:
        l2_sensitivity: the largest change of the value, in L2 norm: a number, or a `Sensitivity`.
        l2_squared: the square of that, for norms such as sqrt 2 that have no exact decimal.
        sigma: the root of sigma2.
        sigma2: the parameter of the law; its variance is a little smaller.
        rho: the noise that is rho-zCDP.
        dimension: how many numbers a value has; None (the default) for a single number.
        unit: the neighbouring relation; that of a `Sensitivity`, otherwise add/remove one person by default.

    Raises:
        NumberError: a parameter is no exact number or lies outside its range, or the noise is not stated in one way.
        UnitError: the unit is unknown, or not that of the sensitivity.

    Example:
        >>> from dither import DiscreteGaussian
        >>> mechanism = DiscreteGaussian(l2_sensitivity=1, rho="0.125")
        >>> mechanism.sigma2
        Fraction(4, 1)
        >>> mechanism.error("0.95")
        4
        >>> isinstance(mechanism.release(128), int)
        True
    """

    code: ClassVar[str] = "discrete_gaussian"

    l2_squared: Fraction  # the largest change of the value, in L2 norm, squared
    sigma2: Fraction  # the parameter of the law; its variance is a little smaller
    dimension: int | None = field(converter=read_dimension)  # None for one number, d for a vector
    unit: Unit  # whose coming, going or replacement the sensitivity is about
    __repr__ = short_repr

    def __init__(
        self,
        *,
        l2_sensitivity: SensitivityLike | None = None,
        l2_squared: NumberLike | None = None,
        sigma: NumberLike | None = None,
        sigma2: NumberLike | None = None,
        rho: NumberLike | None = None,
        dimension: SupportsIndex | None = None,
        unit: UnitLike | None = None,
    ) -> None:
        squared, whom = read_either(l2_sensitivity, l2_squared, unit)
        if sum(way is not None for way in (sigma, sigma2, rho)) != 1:
            came = stated(sigma=sigma, sigma2=sigma2, rho=rho)
            raise NumberError("noise", came, "exactly one is needed", "sigma=2, sigma2=4, or rho='0.1'")
        if rho is not None:
            variance = squared / (2 * read_rho(rho))
        elif sigma is not None:
            variance = rational(sigma, name="sigma", positive=True) ** 2
        else:
            assert sigma2 is not None  # exactly one was given
            variance = rational(sigma2, name="sigma2", positive=True)
        self.__attrs_init__(l2_squared=squared, sigma2=variance, dimension=dimension, unit=whom)

    @classmethod
    def for_error(
        cls,
        half_width: NumberLike,
        confidence: NumberLike,
        *,
        l2_sensitivity: SensitivityLike | None = None,
        l2_squared: NumberLike | None = None,
        dimension: SupportsIndex | None = None,
        unit: UnitLike | None = None,
    ) -> DiscreteGaussian:
        """The mechanism with the most noise whose error at this `confidence` is within `half_width`.

        `l2_sensitivity` or `l2_squared`, `dimension` and `unit` are those of the class. Raises NumberError where no noise
        is that small.
        """
        model = cls(l2_sensitivity=l2_sensitivity, l2_squared=l2_squared, sigma2=1, dimension=dimension, unit=unit)
        inverse = model._least_rate(half_width, confidence, lambda x: DiscreteNormal(1 / x**2), guess_gaussian)
        return evolve(model, sigma2=1 / inverse**2)

    @property
    def guarantee(self) -> Guarantee:
        """rho-zCDP for rho = D^2 / (2 sigma2); Gaussian DP does not follow."""
        return zcdp(self.l2_squared / (2 * self.sigma2), unit=self.unit)

    def loss(self) -> Loss:
        """The dominating pair of one number, moved by the largest whole number that the sensitivity allows.

        Raises GuaranteeError for vectors, of which no pair is known.
        """
        if self.dimension is not None:
            return self.guarantee.loss()  # refused, with the reason
        shift = math.isqrt(math.floor(self.l2_squared))
        return Loss(Loss.discrete_gaussian(self.sigma2, shift=shift).terms if shift else (), self.unit)

    @cached_property
    def law(self) -> DiscreteNormal:
        """The discrete Gaussian law of the noise."""
        return DiscreteNormal(self.sigma2)

    @property
    def lattice(self) -> None:
        """None, since whole numbers are not rounded."""
        return None

    def shifts(self) -> Iterator[tuple[Fraction, ...]]:
        """Changes of the largest L2 norm; in few dimensions all whole ones."""
        return l2_shifts(self.l2_squared, self.dimension or 1)
