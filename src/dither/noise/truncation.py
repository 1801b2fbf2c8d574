"""Truncation: a symmetric law given that it lies within -bound..bound, drawn exactly.

    P(X = k) = Q(k) / Q(-bound..bound)        Q the law that is truncated

Of the two-sided geometric law this is q^|k| over the sum of these; of a normal variable, rounded, it is the normal variable
given that it lies within bound + 1/2 of zero, rounded.

Theorem. Draw from Q until a draw lies within the bound, and give that one. It has the law stated.

Proof. Draws are independent, so P(X = k) = Q(k) (1 + r + r^2 + ...), r the probability that a draw lies beyond; and the sum
is 1 / (1 - r). How often is drawn depends on the draws alone, and on no data.

A bound that throws away more than half of the draws is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from dither.arguments import argument_errors
from dither.errors import NumberError
from dither.noise.law import Law, Sampler, TableLaw
from dither.numeric.enclosure import to_ball
from dither.numeric.number import integer
from dither.numeric.search import surely

if TYPE_CHECKING:
    from flint import arb
    from numpy.typing import NDArray

LARGEST_BOUND = 2**62
LEAST_KEPT = Fraction(1, 2)  # of the draws


@argument_errors
class Truncated(Law):
    """A symmetric law within -bound..bound: noise of which the farthest is known.

    Args:
        law: The law that is truncated: two-sided geometric, or Gaussian, rounded or discrete.
        bound: The largest draw, 1 or more; beyond it and its opposite nothing is drawn.

    Raises:
        NumberError: A law of another kind, a `bound` below 1, or one beyond which half of the law lies.

    Example:
        >>> from dither import ln
        >>> from dither.noise import DiscreteLaplace, Truncated
        >>> law = Truncated(DiscreteLaplace(rate=ln(2)), bound=2)
        >>> "0.4" in law.pmf(0), "0.1" in law.pmf(2), law.pmf(3).upper == 0
        (True, True, True)
        >>> abs(law.sample()) <= 2
        True
    """

    def __init__(self, law: TableLaw, bound: SupportsIndex) -> None:
        if not isinstance(law, TableLaw) or not law.two_sided:
            raise NumberError("law", law, "it is no symmetric law that can be truncated", "DiscreteLaplace(10)")
        most = integer(bound, name="bound", least=1)
        if most > LARGEST_BOUND or not surely(lambda: 2 * law.above(most) - to_ball(1 - LEAST_KEPT), most=2**11):
            why = "half of all draws or more would lie beyond it" if most <= LARGEST_BOUND else "it is above 2^62"
            raise NumberError("bound", bound, why, "a bound of several deviations")
        self._law, self._bound = law, most

    @property
    def law(self) -> TableLaw:
        """The law that is truncated."""
        return self._law

    @property
    def bound(self) -> int:
        """The largest draw."""
        return self._bound

    def _key(self) -> tuple[object, ...]:
        return self._law, self._bound

    def __repr__(self) -> str:
        return f"Truncated({self._law!r}, bound={self._bound})"

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Truncated, (self._law, self._bound)

    def within(self) -> arb:
        """A ball around the share of the law that is kept."""
        return 1 - 2 * self._law.above(self._bound)

    def above(self, k: int) -> arb:
        if k >= self._bound:
            return to_ball(0)
        return (self._law.above(k) - self._law.above(self._bound)) / self.within()

    def mass(self, k: int) -> arb:
        return self._law.mass(k) / self.within() if abs(k) <= self._bound else to_ball(0)

    def _outcomes(self) -> Iterator[tuple[int, arb]]:
        return islice(super()._outcomes(), 2 * self._bound + 1)

    def sampler(self) -> Sampler:
        return _Rejection(self._law.sampler(), self._bound)


class _Rejection(Sampler):
    """Draws within a bound: those beyond are drawn again."""

    def __init__(self, whole: Sampler, bound: int) -> None:
        self.whole, self.bound = whole, bound

    def one(self) -> int:
        while True:
            value = self.whole.one()
            if -self.bound <= value <= self.bound:
                return value

    def many(self, count: int) -> NDArray[np.int64]:
        found: Any = self.whole.many(count)
        while (again := np.flatnonzero((found < -self.bound) | (found > self.bound))).size:
            drawn = self.whole.many(again.size)
            if drawn.dtype == object:
                found = found.astype(object)
            found[again] = drawn
        return np.asarray(found, dtype=np.int64)
