"""Staircase noise for one real number: pure epsilon with less error than Laplace when epsilon is large.

Theorem. Let f take real numbers and move by at most D. Put f on the lattice of step g, S = ceil(D / g), and add N
steps with

    P(N = x) proportional to b^k for k S <= |x| < k S + r,  b^(k+1) for k S + r <= |x| < (k+1) S,   b = e^-epsilon,

for any r from 1 to S. This is epsilon-differentially private.

Proof. On the lattice values differ by at most S steps. Write p(|x|) for the weight: it never rises, and p(m + S) = b
p(m) for m >= 0. For a shift s, |x - s| <= |x| + S, so p(|x - s|) >= p(|x| + S) = b p(|x|). Hence no ratio exceeds
e^epsilon. (Of real values D is taken 1/1024 of a step larger than stated: see `additive/lattice_step.py`.)

One number only: in a vector one person may cross a step in every coordinate with an arbitrarily small change, each at
the full epsilon. For whole numbers with D = 1 it is the geometric mechanism. The high part r / S = gamma is 1 / (1 +
e^(epsilon/2)) unless you say otherwise, which has the least expected error; every gamma is private.

Geng and Viswanath 2014.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from attrs import frozen

from dither.arguments import argument_errors
from dither.errors import NumberError
from dither.mechanisms.additive.additive import Additive, log_odds
from dither.mechanisms.additive.lattice_step import choose_step, spare
from dither.mechanisms.norms import SLIVERS, l1_shifts
from dither.mechanisms.sensitivity import SensitivityLike, read_l1
from dither.noise.staircase import DiscreteStaircase
from dither.numeric.lattice import Lattice
from dither.numeric.number import Number, NumberLike, rational
from dither.numeric.representation import short_repr
from dither.privacy.guarantee.definitions import pure
from dither.privacy.guarantee.guarantee import Guarantee
from dither.privacy.records import read_epsilon
from dither.privacy.unit import Unit, UnitLike


@argument_errors
@frozen(kw_only=True, slots=False, init=False)
class Staircase(Additive):
    """Staircase noise for one real number: pure epsilon, with less error than Laplace when epsilon is large.

    Args:
        epsilon: the pure privacy loss of one release, above zero.
        sensitivity: the largest change of the value: a number, or a `Sensitivity`.
        gamma: the part of a stride that is high, above 0 and at most 1; by default the one with the least expected error.
        step: of the lattice, in units of the value; by default a power of two, at most sensitivity / 4096.
        unit: the neighbouring relation; that of a `Sensitivity`, otherwise add/remove one person by default.

    Raises:
        NumberError: a parameter is no exact number, or lies outside its range.
        UnitError: the unit is unknown, or not that of the sensitivity.

    Example:
        >>> from dither import Laplace, Staircase
        >>> mechanism = Staircase(epsilon=8, sensitivity=1)
        >>> mechanism.error("0.9") < Laplace(epsilon=8, sensitivity=1).error("0.9")
        True
        >>> isinstance(mechanism.release(36.6), float)
        True
    """

    code: ClassVar[str] = "staircase"

    epsilon: Number  # the promise
    sensitivity: Fraction  # the largest change of the value
    gamma: Fraction  # which part of a stride is high
    step: Fraction  # of the lattice
    unit: Unit  # whose coming, going or replacement the sensitivity is about
    __repr__ = short_repr

    def __init__(
        self,
        *,
        epsilon: NumberLike,
        sensitivity: SensitivityLike,
        gamma: NumberLike | None = None,
        step: NumberLike | None = None,
        unit: UnitLike | None = None,
    ) -> None:
        moved, whom = read_l1(sensitivity, unit)
        budget, chosen = read_epsilon(epsilon), choose_step(step, moved)
        high = least_error_gamma(budget) if gamma is None else _read_gamma(gamma)
        self.__attrs_init__(epsilon=budget, sensitivity=moved, gamma=high, step=chosen, unit=whom)

    @property
    def dimension(self) -> None:  # type: ignore[override]
        """None: staircase noise is for a single number."""
        return

    @classmethod
    def for_error(
        cls,
        half_width: NumberLike,
        confidence: NumberLike,
        *,
        sensitivity: SensitivityLike,
        gamma: NumberLike | None = None,
        step: NumberLike | None = None,
        unit: UnitLike | None = None,
    ) -> Staircase:
        """The mechanism with the least epsilon whose error at this `confidence` stays within `half_width`, at this `gamma`.

        `sensitivity`, `step` and `unit` are those of the class. Raises NumberError where no noise is that small.
        Without a gamma each epsilon has its own, and as the high part is a whole number of steps the error does not always
        fall with epsilon: on a coarse lattice a smaller epsilon may do as well.
        """

        def at(epsilon: NumberLike) -> Staircase:
            return cls(epsilon=epsilon, sensitivity=sensitivity, gamma=gamma, step=step, unit=unit)

        def guess(level: Fraction, size: int, steps: int) -> float:
            return log_odds(size, level) * model.reach / (steps + 1)

        model = at(1)
        return at(model._least_rate(half_width, confidence, lambda x: at(x).law, guess))

    @property
    def reach(self) -> int:
        """How far a value can move on the lattice, in steps."""
        return self.lattice.scalar_cost(spare(self.sensitivity, self.step))

    @property
    def guarantee(self) -> Guarantee:
        """Pure differential privacy: epsilon for one release."""
        return pure(self.epsilon, unit=self.unit)

    @cached_property
    def law(self) -> DiscreteStaircase:
        """The staircase law of the noise, in steps of the lattice."""
        flat = max(1, min(self.reach, round(self.gamma * self.reach)))
        return DiscreteStaircase(rate=self.epsilon, width=self.reach, flat=flat)

    @cached_property
    def lattice(self) -> Lattice:
        """The lattice that values are rounded to."""
        return Lattice(self.step)

    def shifts(self) -> Iterator[tuple[Fraction, ...]]:
        """Changes of the full size and of one step: the hardest for the lattice."""
        yield from l1_shifts(self.sensitivity, 1, sliver=self.step / SLIVERS)
        yield (self.step,)


def least_error_gamma(epsilon: Number) -> Fraction:
    """1 / (1 + e^(epsilon/2)), to the nearest of 2^20 parts: any gamma is private, so nothing rests on its last bit."""
    half = min(float(epsilon) / 2, 700.0)
    return max(Fraction(1, 2**20), Fraction(round(2**20 / (1 + math.exp(half))), 2**20))


def _read_gamma(gamma: NumberLike) -> Fraction:
    share = rational(gamma, name="gamma", positive=True)
    if share > 1:
        raise NumberError("gamma", gamma, "it is the part of a stride that is high", "'0.4'")
    return share
