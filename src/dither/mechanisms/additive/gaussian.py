"""Gaussian noise, rounded: for vectors that one person moves in many coordinates, and for everything that composes.

Theorem. Let f take vectors and move by at most D in L2 norm. Put f on the lattice of step g (whole numbers are on it)
and add N steps to each coordinate, N the nearest integers to independent normal variables of deviation sigma / g.
This is (S g / sigma)-Gaussian differentially private, for

    S = D / g            whole numbers (g = 1): there is nothing to round
    S = ceil(D / g)      one real number
    S = D / g + sqrt d   a real vector of d

Proof. On the lattice values differ by at most S steps in L2 norm (`numeric/lattice.py`). For a whole number k and a
real Z, k + round(Z) = round(k + Z); so the release is the continuous Gaussian mechanism, which is (S g / sigma)-GDP
by definition, followed by rounding, which is post-processing. Nothing about discrete Gaussians is needed, in any
dimension. (Of real values D is taken 1/1024 of a step larger than stated: see `additive/lattice_step.py`.)

sigma is given, or follows from what is wanted: rho-zCDP has mu = sqrt(2 rho), so sigma^2 = (S g)^2 / (2 rho) exactly;
for (epsilon, delta) it is the smallest that the exact Gaussian curve allows (`calibrate.gaussian`), not the
textbook's formula, which has too much noise below epsilon = 1 and is not proved above (far above it is false).

Dong, Roth and Su 2019; Balle and Wang 2018.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist
from typing import ClassVar, SupportsIndex

from attrs import evolve, frozen

from dither.arguments import argument_errors
from dither.errors import NumberError, stated
from dither.mechanisms.additive.additive import Additive, read_dimension, read_flag
from dither.mechanisms.additive.lattice_step import choose_step, spare
from dither.mechanisms.norms import SLIVERS, float_root, l2_shifts, root_above, root_below
from dither.mechanisms.sensitivity import SensitivityLike, read_l2_squared
from dither.noise.gaussian import RoundedGaussian
from dither.numeric.lattice import Lattice
from dither.numeric.number import NumberLike, rational
from dither.numeric.representation import short_repr
from dither.privacy import calibrate
from dither.privacy.guarantee.definitions import gdp
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.records import read_rho
from dither.privacy.unit import Unit, UnitLike, read_unit

WAYS = "sigma=2, sigma2=4, rho='0.1', or epsilon=1 with delta='1e-6'"


@argument_errors
@frozen(kw_only=True, slots=False, init=False)
class Gaussian(Additive):
    """Gaussian noise for a known L2 sensitivity: the mechanism of vectors and of long compositions.

    The sensitivity is given in one of two ways, the noise in one of four: sigma, sigma2, rho, or epsilon with delta.

    Args:
        l2_sensitivity: the largest change of the value, in L2 norm: a number, or a `Sensitivity`.
        l2_squared: the square of that, for norms such as sqrt 2 that have no exact decimal.
        sigma: the standard deviation of the noise, in units of the value.
        sigma2: its variance.
        rho: the noise that is rho-zCDP.
        epsilon: the least noise that is (epsilon, delta)-DP, by the exact Gaussian curve; goes with `delta`.
        delta: see `epsilon`.
        dimension: how many numbers a value has; None (the default) for a single number.
        integers: whether values are whole numbers, which are not rounded; False by default.
        step: of the lattice, in units of the value; by default a power of two far below the sensitivity.
        unit: the neighbouring relation; that of a `Sensitivity`, otherwise add/remove one person by default.

    Raises:
        NumberError: a parameter is no exact number or lies outside its range, or the noise is not stated in one way.
        UnitError: the unit is unknown, or not that of the sensitivity.

    Example:
        >>> from dither import Gaussian
        >>> mechanism = Gaussian(l2_sensitivity=1, rho="0.125", integers=True, dimension=3)
        >>> mechanism.sigma2
        Fraction(4, 1)
        >>> mechanism.error("0.95")
        5
        >>> mechanism.release([10, 20, 30]).shape
        (3,)
    """

    code: ClassVar[str] = "gaussian"

    l2_squared: Fraction  # the largest change of the value, in L2 norm, squared: sqrt 2 has no exact decimal
    sigma2: Fraction  # the variance of the noise before it is rounded
    dimension: int | None  # None for one number, d for a vector
    integers: bool  # whether values are whole numbers
    step: Fraction  # of the lattice; 1 for whole numbers
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
        epsilon: NumberLike | None = None,
        delta: NumberLike | None = None,
        dimension: SupportsIndex | None = None,
        integers: bool = False,
        step: NumberLike | None = None,
        unit: UnitLike | None = None,
    ) -> None:
        squared, whom = read_either(l2_sensitivity, l2_squared, unit)
        size, whole = read_dimension(dimension), read_flag(integers, name="integers")
        chosen = choose_step(step, root_below(squared / (size or 1)), integers=whole)
        if sum(way is not None for way in (sigma, sigma2, rho, epsilon)) != 1 or (epsilon is None) != (delta is None):
            given = stated(sigma=sigma, sigma2=sigma2, rho=rho, epsilon=epsilon, delta=delta)
            raise NumberError("noise", given, "the noise is stated in exactly one way", WAYS)
        if sigma is not None:
            variance = rational(sigma, name="sigma", positive=True) ** 2
        elif sigma2 is not None:
            variance = rational(sigma2, name="sigma2", positive=True)
        elif rho is not None:
            variance = _reach2(squared, size, whole, chosen) * chosen**2 / (2 * read_rho(rho))
        else:
            assert epsilon is not None  # exactly one way was stated
            assert delta is not None
            variance = calibrate.gaussian(epsilon, delta) ** 2 * _reach2(squared, size, whole, chosen) * chosen**2
        self.__attrs_init__(l2_squared=squared, sigma2=variance, dimension=size, integers=whole, step=chosen, unit=whom)

    @classmethod
    def for_error(
        cls,
        half_width: NumberLike,
        confidence: NumberLike,
        *,
        l2_sensitivity: SensitivityLike | None = None,
        l2_squared: NumberLike | None = None,
        dimension: SupportsIndex | None = None,
        integers: bool = False,
        step: NumberLike | None = None,
        unit: UnitLike | None = None,
    ) -> Gaussian:
        """The mechanism with the most noise whose error at this `confidence` is within `half_width`.

        `l2_sensitivity` or `l2_squared`, `dimension`, `integers`, `step` and `unit` are those of the class. Raises
        NumberError where no noise is that small.
        """
        squared, whom = read_either(l2_sensitivity, l2_squared, unit)
        model = cls(l2_squared=squared, rho=1, dimension=dimension, integers=integers, step=step, unit=whom)
        inverse = model._least_rate(half_width, confidence, lambda x: RoundedGaussian(sigma2=1 / x**2), guess_gaussian)
        return evolve(model, sigma2=(model.step / inverse) ** 2)

    @property
    def l2_sensitivity(self) -> float:
        """The largest change of the value in L2 norm, rounded up."""
        return float_root(self.l2_squared)

    @cached_property
    def reach2(self) -> Fraction:
        """The square of how far a value can move on the lattice, in steps; rounded up where it is irrational."""
        return _reach2(self.l2_squared, self.dimension, self.integers, self.step)

    @property
    def guarantee(self) -> Guarantee:
        """mu-Gaussian DP, from which every other currency follows."""
        return gdp(mu2=self.reach2 * self.step**2 / self.sigma2, unit=self.unit)

    @cached_property
    def law(self) -> RoundedGaussian:
        """The rounded Gaussian law of the noise, in steps of the lattice."""
        return RoundedGaussian(sigma2=self.sigma2 / self.step**2)

    @cached_property
    def lattice(self) -> Lattice | None:
        """The lattice that real values are rounded to; None for whole numbers."""
        return None if self.integers else Lattice(self.step)

    def shifts(self) -> Iterator[tuple[Fraction, ...]]:
        """Changes of the largest L2 norm; for whole numbers in few dimensions all of them."""
        return l2_shifts(self.l2_squared, self.dimension or 1, sliver=None if self.integers else self.step / SLIVERS)


def read_either(
    l2_sensitivity: SensitivityLike | None, l2_squared: NumberLike | None, unit: UnitLike | None
) -> tuple[Fraction, Unit]:
    """The square of the L2 sensitivity and the unit, from a sensitivity or from its square."""
    if l2_sensitivity is not None and l2_squared is None:
        return read_l2_squared(l2_sensitivity, unit)
    if l2_sensitivity is not None or l2_squared is None:
        given = stated(l2_sensitivity=l2_sensitivity, l2_squared=l2_squared)
        raise NumberError("l2_sensitivity, l2_squared", given, "exactly one is needed", "l2_sensitivity=1")
    return rational(l2_squared, name="l2_squared", positive=True), read_unit(Unit.ADD_REMOVE if unit is None else unit)


def _reach2(l2_squared: Fraction, dimension: int | None, integers: bool, step: Fraction) -> Fraction:
    if integers:
        return l2_squared
    root, steps, size = spare(root_above(l2_squared), step), Lattice(step), dimension or 1
    return Fraction(steps.scalar_cost(root) if size == 1 else steps.l2_cost(root, size).upper) ** 2


def guess_gaussian(level: Fraction, size: int, steps: int) -> float:
    """About one over the deviation for which `size` normal variables stay within so many steps."""
    return NormalDist().inv_cdf(min(1 - 1e-16, float(1 - (1 - level) / (2 * size)))) / (steps + 0.5)
