"""Counters of two expressions, of rows that have both values: parts of one whole number, which each row adds to all of
them.

With q of G steps above the lower bound of x, and r of H steps above that of y,

    for covariances      q r, q (H - r), (G - q) r, (G - q)(H - r)      which add up to G H
    with squares too     a^2, b^2, c^2, 2ab, 2ac, 2bc                   which add up to T^2

where a = A q, b = B r, c = T - a - b and T = A G + B H. A and B are whole numbers that make A G and B H about as large.

Theorem. One row that comes or goes moves the counters of such a set by G H, or by T^2, in L1 norm, or by nothing; so a set
has the claims of `statistics/bounding.py` with this reach, for both units, in all ways to bound a person.

Proof. 0 <= q <= G and 0 <= r <= H whatever the row holds: they are clamped (`engines/templates/counters.py`), and a row
that lacks one of them adds nothing. So no part is negative (c >= T - A G - B H = 0), and they add up to (q + G - q)(r + H -
r), or to (a + b + c)^2. The claims use of a family that its rows move it by at most `reach` in L1 norm, and that no part is
negative.

From the first follow n and the sums of x, y and xy; from the second those of x^2 and y^2 as well. NaN, infinities and NULL
are decided for each of the two as for one: what is no number is missing, and the row with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from dither.query.plan.base import Expression
from dither.query.plan.counters import AboveCounter, Counter

PairPart = Literal["qr", "q-", "-r", "--", "aa", "bb", "cc", "ab", "ac", "bc"]
FINEST = 2**10  # of A G and of B H


@dataclass(frozen=True)
class PairValues(Counter):
    """What is read of two expressions of a row: the steps q and r of each above its lower bound, where both have values."""

    code: ClassVar[str] = "pair_counter"
    kind: ClassVar[str] = "both"
    spelled_attributes: ClassVar[tuple[str, ...]] = ("kind", "of", "step", "beside", "beside_step")
    is_pair: ClassVar[bool] = True

    beside: Expression | None = None
    beside_step: Fraction = Fraction(1)

    @property
    def axes(self) -> tuple[AboveCounter, AboveCounter]:
        """The steps of each."""
        return AboveCounter(self.of, self.step), AboveCounter(self.beside, self.beside_step)

    @property
    def high(self) -> int:
        """That both are there."""
        return 1

    @property
    def base(self) -> Counter:
        """Itself."""
        return self


@dataclass(frozen=True)
class PairCounter(PairValues):
    """A part of what a row adds that has two values; no other row adds anything."""

    part: PairPart = "qr"

    @property
    def kind(self) -> str:  # type: ignore[override]
        """Which part."""
        return f"both {self.part}"

    @property
    def scales(self) -> tuple[int, int]:
        """A and B."""
        first, second = (max(1, FINEST // axis.steps) for axis in self.axes)
        return first, second

    @property
    def of_squares(self) -> bool:
        """Whether it is a part of T^2."""
        return self.part[0] in "abc"

    @property
    def total(self) -> int:
        """T."""
        return sum(scale * axis.steps for scale, axis in zip(self.scales, self.axes, strict=True))

    @property
    def high(self) -> int:
        """All that a row adds."""
        first, second = self.axes
        return self.total**2 if self.of_squares else first.steps * second.steps

    @property
    def base(self) -> Counter:
        """The steps of both."""
        return PairValues(self.of, self.step, self.beside, self.beside_step)
