"""Two-sided geometric noise for whole numbers: the mechanism of counts under pure epsilon.

Theorem. Let f take whole numbers (or vectors of them) and move by at most D in L1 norm. Then f + N, the coordinates
of N independent with P(N = x) proportional to exp(-epsilon |x| / D), is epsilon-differentially private.

    D         sensitivity: the largest change, a whole number
    f, f'     the values on two neighbouring data sets

Proof. P(f + N = y) / P(f' + N = y) = exp(epsilon (|y - f'| - |y - f|) / D) <= exp(epsilon |f - f'| / D) <= e^epsilon,
by the triangle inequality. Attained at any y beyond f on the side away from f' when |f - f'| = D: no smaller epsilon
is true.

In zCDP its rho is smaller than that of other mechanisms with this epsilon: epsilon - (1 - e^-epsilon) r / sinh(r) with
r = epsilon / D, the expected loss of the largest move. Proof, for vectors too: `privacy/formulas/discrete_laplace.py`.

With bounds [lo, hi]: values are moved into them first, which is a contraction, and so are releases, which is
post-processing. (Drawing again until a release lies inside would not be private at this epsilon: the chance of lying
inside differs between neighbours.) Where the bounds are narrower than D, values can move by hi - lo at most, and the
noise is smaller for it.

Ghosh, Roughgarden and Sundararajan 2009: of all mechanisms that see only the count, none serves any user better, whatever
she believes about the count.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, SupportsIndex

from attrs import evolve, field, frozen

from dither.arguments import argument_errors
from dither.channels.channel import Channel
from dither.channels.closed_form_rows import truncated
from dither.errors import GuaranteeError, NumberError, SizeError
from dither.mechanisms.additive.additive import Additive, guess_laplace, read_dimension
from dither.mechanisms.additive.calibration import steps_within
from dither.mechanisms.norms import l1_shifts
from dither.mechanisms.sensitivity import SensitivityLike, read_l1
from dither.noise.laplace import DiscreteLaplace
from dither.numeric.lattice import LARGEST_INDEX
from dither.numeric.number import Number, NumberLike, integer
from dither.numeric.representation import short_repr
from dither.privacy.formulas.discrete_laplace import charged_rho
from dither.privacy.guarantee.definitions import pure
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.loss.pairs.discrete_laplace import discrete_laplace
from dither.privacy.records import read_epsilon
from dither.privacy.unit import Unit, UnitLike

LARGEST_CHANNEL = 1000  # rows of an exact matrix


@argument_errors
@frozen(kw_only=True, slots=False, init=False)
class Geometric(Additive):
    """Two-sided geometric (discrete Laplace) noise for whole numbers: pure epsilon, and the best there is for counts.

    Args:
        epsilon: the pure privacy loss of one release, above zero.
        sensitivity: the largest change of the value, in L1 norm: a whole number, or a `Sensitivity`.
        bounds: the lowest and the highest value; values and releases are moved into them. None (the default): no bounds.
        dimension: how many numbers a value has; None (the default) for a single number.
        unit: the neighbouring relation; that of a `Sensitivity`, otherwise add/remove one person by default.

    Raises:
        NumberError: a parameter is no exact number or lies outside its range, or the sensitivity is not whole.
        UnitError: the unit is unknown, or not that of the sensitivity.

    Example:
        >>> from dither import Geometric
        >>> mechanism = Geometric(epsilon="0.5", sensitivity=1)
        >>> print(mechanism.guarantee)
        ε = 0.5 (add/remove one person)
        >>> mechanism.error("0.95")
        6
        >>> isinstance(mechanism.release(128), int)
        True
    """

    code: ClassVar[str] = "geometric"

    epsilon: Number = field(converter=read_epsilon)  # the promise
    sensitivity: int  # the largest change of the value, in L1 norm
    bounds: tuple[int, int] | None  # values and releases are moved into these
    dimension: int | None = field(converter=read_dimension)  # None for one number, d for a vector
    unit: Unit  # whose coming, going or replacement the sensitivity is about
    __repr__ = short_repr

    def __init__(
        self,
        *,
        epsilon: NumberLike,
        sensitivity: SensitivityLike,
        bounds: tuple[SupportsIndex, SupportsIndex] | None = None,
        dimension: SupportsIndex | None = None,
        unit: UnitLike | None = None,
    ) -> None:
        moved, whom = read_l1(sensitivity, unit)
        if moved.denominator != 1:
            why = "whole numbers move by whole numbers"
            raise NumberError("sensitivity", sensitivity, why, f"{math.ceil(moved)}, or Laplace for real values")
        ends = None if bounds is None else read_bounds(bounds)
        self.__attrs_init__(epsilon=epsilon, sensitivity=int(moved), bounds=ends, dimension=dimension, unit=whom)

    @classmethod
    def for_error(
        cls,
        half_width: NumberLike,
        confidence: NumberLike,
        *,
        sensitivity: SensitivityLike,
        bounds: tuple[SupportsIndex, SupportsIndex] | None = None,
        dimension: SupportsIndex | None = None,
        unit: UnitLike | None = None,
    ) -> Geometric:
        """The mechanism with the least epsilon whose error at this `confidence` is within `half_width`.

        `sensitivity`, `bounds`, `dimension` and `unit` are those of the class. Raises NumberError where no noise is that
        small, or where the bounds alone keep every release that close.
        """
        model = cls(epsilon=1, sensitivity=sensitivity, bounds=bounds, dimension=dimension, unit=unit)
        if steps_within(half_width, None) >= model._widest:
            raise NumberError("half_width", half_width, "the bounds alone keep every release that close", "no release")
        rate = model._least_rate(half_width, confidence, lambda x: DiscreteLaplace(rate=x), guess_laplace)
        return evolve(model, epsilon=rate * model.reach)

    @property
    def reach(self) -> int:
        """How far a value can move once it is inside the bounds."""
        return min(self.sensitivity, (self.dimension or 1) * self._widest)

    @property
    def guarantee(self) -> Guarantee:
        """Pure differential privacy: epsilon for one release, with the rho of this noise."""
        return pure(self.epsilon, rho=charged_rho(self.epsilon, self.epsilon / self.reach), unit=self.unit)

    def loss(self) -> Loss:
        """The dominating pair: for a number discrete Laplace noise moved by `reach`, for a vector that of any epsilon-DP."""
        if self.dimension is not None:
            return self.guarantee.loss()
        return Loss(((discrete_laplace(self.epsilon / self.reach, self.reach), 1),), self.unit)

    def channel(self) -> Channel:
        """The exact matrix of output probabilities, for one number with bounds; GuaranteeError without them."""
        if self.bounds is None or self.dimension is not None:
            raise GuaranteeError(
                "bounds", self.bounds, "there is no end to what may come out", "bounds=(0, 100), one number"
            )
        low, high = self.bounds
        labels = range(low, high + 1)
        if len(labels) > LARGEST_CHANNEL:
            raise SizeError("bounds", self.bounds, f"a matrix has up to {LARGEST_CHANNEL} rows", "channels.kernels")
        rate = self.epsilon / self.reach
        return Channel([truncated(at, len(labels), rate) for at in range(len(labels))], labels, labels)

    @cached_property
    def law(self) -> DiscreteLaplace:
        """Discrete Laplace noise with scale sensitivity / epsilon."""
        return DiscreteLaplace(rate=self.epsilon / self.reach)

    @property
    def lattice(self) -> None:
        """None, since whole numbers are not rounded."""
        return None

    @property
    def limits(self) -> tuple[int, int]:
        """The bounds, or the largest whole numbers that are kept."""
        return (-LARGEST_INDEX, LARGEST_INDEX) if self.bounds is None else self.bounds

    def shifts(self) -> Iterator[tuple[Fraction, ...]]:
        """All whole changes of one number, or the hardest of a vector."""
        return l1_shifts(Fraction(self.sensitivity), self.dimension or 1)


def read_bounds(bounds: tuple[SupportsIndex, SupportsIndex]) -> tuple[int, int]:
    """Two whole numbers, the lower first."""
    if not isinstance(bounds, (tuple, list)) or len(bounds) != 2:
        raise NumberError("bounds", bounds, "they are a pair", "(0, 100)")
    low, high = (integer(end, name="bounds") for end in bounds)
    if not -LARGEST_INDEX <= low < high <= LARGEST_INDEX:
        raise NumberError("bounds", bounds, "the lower bound lies below the upper one, both below 2^62", "(0, 100)")
    return low, high
