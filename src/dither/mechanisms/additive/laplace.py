"""Laplace noise for real numbers and vectors, on a lattice: pure epsilon where whole numbers will not do.

Theorem. Let f take real vectors and move by at most D in L1 norm. Put f on the lattice of step g and add independent
noise of N steps to each coordinate, P(N = x) proportional to exp(-epsilon |x| / S). This is epsilon-differentially
private for

    S = ceil(D / g) + d - 1,    d the number of coordinates.

Proof. On the lattice values differ by at most S steps (`numeric/lattice.py`). The rest is the proof of
`additive/geometric.py` with S for D. Reading back k steps as the float nearest to k g is post-processing, and the same for
all data. (D is taken 1/1024 of a step larger than stated: see `additive/lattice_step.py`.)

The step, unless you give one, is the largest power of two that is at most D / (4096 d): rounding then costs about
1/4096 of the noise. It depends on D and d only, never on data. A step as large as D doubles the noise of one number;
for whole numbers there is `Geometric`, which rounds nothing.

Dwork, McSherry, Nissim and Smith 2006. Why on a lattice: Mironov 2012.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, SupportsIndex

from attrs import evolve, field, frozen

from dither.arguments import argument_errors
from dither.mechanisms.additive.additive import Additive, guess_laplace, read_dimension
from dither.mechanisms.additive.lattice_step import choose_step, spare
from dither.mechanisms.norms import SLIVERS, l1_shifts
from dither.mechanisms.sensitivity import SensitivityLike, read_l1
from dither.noise.laplace import DiscreteLaplace
from dither.numeric.lattice import Lattice
from dither.numeric.number import Number, NumberLike
from dither.numeric.representation import short_repr
from dither.privacy.guarantee.definitions import pure
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.loss.loss import Loss
from dither.privacy.loss.pairs.discrete_laplace import discrete_laplace
from dither.privacy.records import read_epsilon
from dither.privacy.unit import Unit, UnitLike


@argument_errors
@frozen(kw_only=True, slots=False, init=False)
class Laplace(Additive):
    """Laplace noise for real numbers and vectors, on a lattice: pure epsilon, for a known L1 sensitivity.

    Args:
        epsilon: the pure privacy loss of one release, above zero.
        sensitivity: the largest change of the value, in L1 norm: a number, or a `Sensitivity`.
        dimension: how many numbers a value has; None (the default) for a single number.
        step: of the lattice, in units of the value; by default a power of two, at most sensitivity / 4096 a coordinate.
        unit: the neighbouring relation; that of a `Sensitivity`, otherwise add/remove one person by default.

    Raises:
        NumberError: a parameter is no exact number, or lies outside its range.
        UnitError: the unit is unknown, or not that of the sensitivity.

    Example:
        >>> from dither import Laplace
        >>> mechanism = Laplace(epsilon=1, sensitivity="0.1")
        >>> print(mechanism.guarantee)
        ε = 1 (add/remove one person)
        >>> round(mechanism.error("0.95"), 4)
        0.2996
        >>> isinstance(mechanism.release(36.6), float)
        True
    """

    code: ClassVar[str] = "laplace"

    epsilon: Number = field(converter=read_epsilon)  # the promise
    sensitivity: Fraction  # the largest change of the value, in L1 norm
    dimension: int | None  # None for one number, d for a vector
    step: Fraction  # of the lattice
    unit: Unit  # whose coming, going or replacement the sensitivity is about
    __repr__ = short_repr

    def __init__(
        self,
        *,
        epsilon: NumberLike,
        sensitivity: SensitivityLike,
        dimension: SupportsIndex | None = None,
        step: NumberLike | None = None,
        unit: UnitLike | None = None,
    ) -> None:
        moved, whom = read_l1(sensitivity, unit)
        size = read_dimension(dimension)
        chosen = choose_step(step, moved / (size or 1))
        self.__attrs_init__(epsilon=epsilon, sensitivity=moved, dimension=size, step=chosen, unit=whom)

    @classmethod
    def for_error(
        cls,
        half_width: NumberLike,
        confidence: NumberLike,
        *,
        sensitivity: SensitivityLike,
        dimension: SupportsIndex | None = None,
        step: NumberLike | None = None,
        unit: UnitLike | None = None,
    ) -> Laplace:
        """The mechanism with the least epsilon whose error at this `confidence` is within `half_width`.

        `sensitivity`, `dimension`, `step` and `unit` are those of the class. Raises NumberError where no noise is so small.
        """
        model = cls(epsilon=1, sensitivity=sensitivity, dimension=dimension, step=step, unit=unit)
        rate = model._least_rate(half_width, confidence, lambda x: DiscreteLaplace(rate=x), guess_laplace)
        return evolve(model, epsilon=rate * model.reach)

    @property
    def reach(self) -> int:
        """How far a value can move on the lattice, in steps."""
        return self.lattice.l1_cost(spare(self.sensitivity, self.step), self.dimension or 1)

    @property
    def guarantee(self) -> Guarantee:
        """Pure differential privacy: epsilon for one release."""
        return pure(self.epsilon, unit=self.unit)

    def loss(self) -> Loss:
        """The dominating pair: for a number discrete Laplace noise moved by `reach`, for a vector that of any epsilon-DP."""
        if self.dimension is not None:
            return self.guarantee.loss()
        return Loss(((discrete_laplace(self.epsilon / self.reach, self.reach), 1),), self.unit)

    @cached_property
    def law(self) -> DiscreteLaplace:
        """The discrete Laplace law of the noise, in steps of the lattice."""
        return DiscreteLaplace(rate=self.epsilon / self.reach)

    @cached_property
    def lattice(self) -> Lattice:
        """The lattice that values are rounded to."""
        return Lattice(self.step)

    def shifts(self) -> Iterator[tuple[Fraction, ...]]:
        """Changes of the full L1 norm that are hardest for the lattice."""
        return l1_shifts(self.sensitivity, self.dimension or 1, sliver=self.step / SLIVERS)
