"""Exact entries: rational functions of E = e^epsilon, for mechanisms whose probabilities are not rational.

Equality is decidable. For epsilon = r + sum of c ln b (`Number`) with r other than 0, E is e^r times an algebraic number,
so it is transcendental (Lindemann) and a polynomial in E is zero only when all its coefficients are. For r = 0, E^q is a
rational R for a smallest q (`Number.root_degree`), and x^q - R is irreducible (R > 0 is then no p-th power for a prime p
dividing q), so a polynomial is zero exactly when its remainder modulo x^q - R is. With q = 1, E is rational and
fractions do. Whatever is not zero is told from zero by balls of growing precision.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from flint import arb, fmpq, fmpq_poly

from dither.errors import NumberError
from dither.numeric.balls import precision
from dither.numeric.enclosure import certify, to_ball
from dither.numeric.number import Number

Exact = Fraction | int
MOST_ROOTS = 1000


@dataclass(frozen=True, eq=False)
class Ratio:
    """top(E) / bottom(E) for one epsilon."""

    epsilon: Number
    top: fmpq_poly
    bottom: fmpq_poly

    @classmethod
    def of(cls, epsilon: Number, value: Exact) -> Ratio:
        return cls(epsilon, fmpq_poly([fmpq(Fraction(value).numerator, Fraction(value).denominator)]), fmpq_poly([1]))

    @classmethod
    def power(cls, epsilon: Number, exponent: int) -> Ratio:
        """E^exponent, as a rational function of E."""
        one, high = fmpq_poly([1]), fmpq_poly([0] * abs(exponent) + [1])
        return cls(epsilon, high, one) if exponent >= 0 else cls(epsilon, one, high)

    # -- arithmetic --------------------------------------------------------------------------------------------

    def _read(self, other: object) -> Ratio | None:
        if isinstance(other, Ratio):
            if other.epsilon != self.epsilon:
                raise NumberError("epsilon", str(other.epsilon), f"it does not go with {self.epsilon}", "one epsilon")
            return other
        return Ratio.of(self.epsilon, other) if isinstance(other, (int, Fraction)) else None

    def __add__(self, other: Ratio | Exact) -> Ratio:
        right = self._read(other)
        if right is None:
            return NotImplemented
        if self.bottom == right.bottom:
            return _reduced(self.epsilon, self.top + right.top, self.bottom)
        return _reduced(self.epsilon, self.top * right.bottom + right.top * self.bottom, self.bottom * right.bottom)

    __radd__ = __add__

    def __mul__(self, other: Ratio | Exact) -> Ratio:
        right = self._read(other)
        return NotImplemented if right is None else _reduced(self.epsilon, self.top * right.top, self.bottom * right.bottom)

    __rmul__ = __mul__

    def __neg__(self) -> Ratio:
        return Ratio(self.epsilon, -self.top, self.bottom)

    def __sub__(self, other: Ratio | Exact) -> Ratio:
        right = self._read(other)
        return NotImplemented if right is None else self + -right

    def __rsub__(self, other: Ratio | Exact) -> Ratio:
        return -self + other

    def __truediv__(self, other: Ratio | Exact) -> Ratio:
        right = self._read(other)
        if right is None:
            return NotImplemented
        if right.sign() == 0:
            raise NumberError("divisor", 0, "nothing can be divided by zero", "a divisor other than zero")
        return _reduced(self.epsilon, self.top * right.bottom, self.bottom * right.top)

    def __rtruediv__(self, other: Ratio | Exact) -> Ratio:
        left = self._read(other)
        return NotImplemented if left is None else left / self

    # -- order -------------------------------------------------------------------------------------------------

    def ball(self) -> arb:
        """A ball around the value at the present working precision."""
        e = self.epsilon.ball().exp()
        return _at(self.top, e) / _at(self.bottom, e)

    def sign(self) -> int:
        """The sign of the value: -1, 0 or 1, exactly."""
        if _is_zero(self.top, self.epsilon):
            return 0
        bits = 128
        while True:
            with precision(bits):
                value = self.ball()
                if value > 0:
                    return 1
                if value < 0:
                    return -1
            bits *= 2

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Ratio) and other.epsilon != self.epsilon:  # only constants can be compared
            mine, other = self._constant(), other._constant()
            return mine is not None and mine == other
        right = self._read(other)
        return NotImplemented if right is None else (self - right).sign() == 0

    def _constant(self) -> Fraction | None:
        if self.top.degree() > 0 or self.bottom.degree() > 0:
            return None
        value = self.top[0] / self.bottom[0]
        return Fraction(int(value.p), int(value.q))

    def __lt__(self, other: Ratio | Exact) -> bool:
        right = self._read(other)
        return NotImplemented if right is None else (self - right).sign() < 0

    def __le__(self, other: Ratio | Exact) -> bool:
        right = self._read(other)
        return NotImplemented if right is None else (self - right).sign() <= 0

    def __gt__(self, other: Ratio | Exact) -> bool:
        right = self._read(other)
        return NotImplemented if right is None else (self - right).sign() > 0

    def __ge__(self, other: Ratio | Exact) -> bool:
        right = self._read(other)
        return NotImplemented if right is None else (self - right).sign() >= 0

    __hash__ = None  # type: ignore[assignment]  # equal values can be written in many ways

    def __float__(self) -> float:
        """The nearest float, or one beside it: for the eye."""
        lower, upper = certify(self.ball)
        return (lower + upper) / 2

    def __repr__(self) -> str:
        return f"({self.top.str(var='E')}) / ({self.bottom.str(var='E')})"


def _reduced(epsilon: Number, top: fmpq_poly, bottom: fmpq_poly) -> Ratio:
    common = top.gcd(bottom)
    if common.degree() > 0:
        top, bottom = top // common, bottom // common
    return Ratio(epsilon, top, bottom)


def _at(poly: fmpq_poly, e: arb) -> arb:
    total = to_ball(0)
    for coefficient in reversed(poly.coeffs()):
        total = total * e + arb(coefficient)
    return total


def _is_zero(poly: fmpq_poly, epsilon: Number) -> bool:
    if poly.degree() < 0:
        return True
    modulus = _modulus(epsilon)
    return modulus is not None and (poly % modulus).degree() < 0


@lru_cache(maxsize=256)
def _modulus(epsilon: Number) -> fmpq_poly | None:
    """x^q - R where E is algebraic; None where it is transcendental."""
    stored = epsilon.to_json()
    if isinstance(stored, str):
        return fmpq_poly([-1, 1]) if epsilon == 0 else None
    assert isinstance(stored, list)
    if Fraction(stored[0]):
        return None
    q = epsilon.root_degree()
    power = (epsilon * q).exp_fraction() if q <= MOST_ROOTS else None
    if power is None:
        why = "e to this power is a root of too high a degree to compute with"
        raise NumberError("epsilon", str(epsilon), why, "a rational number, or a simple one such as ln(3) / 2")
    return fmpq_poly([-fmpq(power.numerator, power.denominator)] + [0] * (q - 1) + [1])
