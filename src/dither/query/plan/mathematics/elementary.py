"""Logarithms, roots, exponentials and powers of a number of the row, with bounds that follow from its bounds.

Theorem. The claims of `statistics/bounding.py` hold of sums of these values, whatever the engine computes, as long as
what it computes is a function of the number alone.

    e       what the engine computes of a row, a double or NULL
    k       the whole number of steps that is added up for the row

Proof. k is made of e by `engines/templates/counters.py`: one of the two ends, a whole number that was tested to lie between
them, or NULL, whatever e is. So a row adds no more than the claim says, and no accuracy of e is used. e depends on the
cells of its row and on nothing else, so what other people add does not change when somebody comes or goes.

How accurate. A square root, and powers by 2 and 3, which are products, are correctly rounded by IEEE: the same on every
engine (`exact`). Logarithms, exponentials and other powers are not: engines may differ in the last digits, and so by one
step where a value lies between two. (LN of 0, SQRT of -1, EXP of 1000, POWER of 0 by -1 have no value: numbers are compared
before anything is computed of them, `engines/templates/mathematics.py`.)

Bounds. Each function is monotone on each side of zero, so that its ends are those of the bounds; where these hold numbers
without a value, those that have one. They are computed in balls and rounded outward to seven digits. A logarithm down to
zero has no bounds; of whole numbers the least is one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import TYPE_CHECKING, ClassVar, Literal

from dither.numeric.balls import ends, precision
from dither.query.plan.base import Expression
from dither.query.plan.facts import Facts
from dither.query.plan.mathematics.division import Quotient, Remainder, Sign, WholeQuotient, nonzero
from dither.query.policy.column import Type

if TYPE_CHECKING:
    from flint import arb

ElementaryName = Literal["ln", "log10", "log2", "sqrt", "exp"]
DIGITS = 7  # of bounds
BITS = 192
LARGEST_EXPONENT = 700  # e^700 is below the largest double
PRODUCTS = (2, 3)  # exponents that are written as products


@dataclass(frozen=True)
class Elementary(Expression):
    """A logarithm, a square root or an exponential; missing where there is none."""

    code: ClassVar[str] = "elementary"

    name: ElementaryName
    of: Expression

    @property
    def exact(self) -> bool:
        """Whether all engines compute the same: a root is correctly rounded."""
        return self.name == "sqrt"

    @cached_property
    def facts(self) -> Facts:
        of = self.of.facts
        lower, upper = of.lower, of.upper
        if lower is None or upper is None:
            return Facts(Type.FLOAT)
        if self.name == "exp":
            upper = min(upper, Fraction(LARGEST_EXPONENT))
        elif self.name == "sqrt":
            lower = max(lower, Fraction(0))
        elif of.type is Type.INTEGER:
            lower = max(lower, Fraction(1))
        if lower > upper or (lower <= 0 and self.name.startswith("l")):
            return Facts(Type.FLOAT)
        return Facts(Type.FLOAT, self._ends(lower)[0], self._ends(upper)[1])

    def _ends(self, at: Fraction) -> tuple[Fraction, Fraction]:
        """Bounds of the value at a number."""
        if self.name == "exp" and at < -LARGEST_EXPONENT:
            return Fraction(0), Fraction(1, 10**300)
        with precision(BITS):
            ball = _ball(at)
            if self.name == "exp":
                return _outward(ball.exp())
            if self.name == "sqrt":
                return _outward(ball.sqrt())
            base = {"ln": None, "log10": 10, "log2": 2}[self.name]
            return _outward(ball.log() if base is None else ball.log() / _ball(Fraction(base)).log())


@dataclass(frozen=True)
class Power(Expression):
    """A number to the power of a constant that is not zero; missing where there is none."""

    code: ClassVar[str] = "power"

    of: Expression
    exponent: Fraction

    @property
    def exact(self) -> bool:
        """Whether all engines compute the same: products are correctly rounded."""
        return self.exponent in PRODUCTS

    @property
    def whole(self) -> bool:
        """Whether negative numbers have a power."""
        return self.exponent.denominator == 1

    @cached_property
    def facts(self) -> Facts:
        of = self.of.facts
        lower, upper = of.lower, of.upper
        kind = Type.INTEGER if of.type is Type.INTEGER and self.whole and self.exponent > 0 else Type.FLOAT
        if lower is None or upper is None:
            return Facts(kind)
        if self.exponent < 0:
            sides = nonzero(of)
        else:  # zero is where an even power turns
            zero = Fraction(0)
            sides = [(lower, min(upper, zero)), (max(lower, zero), upper)]
        sides = [(low, high) for low, high in sides if low <= high and (self.whole or low >= 0)]
        found = [end for side in sides for at in side for end in self._ends(at)]
        return Facts(kind, min(found), max(found)) if found else Facts(kind)

    def _ends(self, at: Fraction) -> tuple[Fraction, Fraction]:
        """Bounds of the power of a number."""
        if self.whole:
            power = at ** int(self.exponent)
            return power, power
        if at == 0:
            return Fraction(0), Fraction(0)
        with precision(BITS):
            return _outward((_ball(at).log() * _ball(self.exponent)).exp())


def _ball(number: Fraction) -> arb:
    from flint import arb, fmpq

    return arb(fmpq(number.numerator, number.denominator))


def _outward(ball: arb) -> tuple[Fraction, Fraction]:
    """Two numbers of seven digits around a ball, or one where the ball is as good as that number."""
    low, high = ends(ball)
    largest = max(abs(low), abs(high))
    digits = DIGITS
    while largest and largest < 1:
        largest, digits = largest * 10, digits + 1
    while largest >= 10:
        largest, digits = largest / 10, digits - 1
    unit = Fraction(10) ** (1 - digits)
    nearest = round(low / unit)
    if abs(nearest * unit - low) + abs(nearest * unit - high) < unit / 2**60:
        return nearest * unit, nearest * unit
    return floor(low / unit) * unit, ceil(high / unit) * unit


NumberFunction = Quotient | WholeQuotient | Remainder | Sign | Elementary | Power
