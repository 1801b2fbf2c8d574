"""What is added up: whole numbers, one a row, between bounds that follow from the policy.

    one       1 for every row
    present   1 where an expression has a value
    person    1 for every person who has a row in the group, however many rows
    steps     the value of an expression in whole steps, clamped to its bounds; 0 where it has none
    above     how many steps it is above its lower bound, 0..G; 0 where it has none
    below     G minus that; 0 where it has none
    missing   G where it has no value; 0 where it has one

above + below + missing = G for every row, so the three together move by G a row, as one count of G would: mean, sum and
counts follow from them at the price of one (barycentric counters). With q = above, for variances:

    high      q^2
    middle    2 q (G - q)
    low       (G - q)^2; these three are 0 where it has no value
    nothing   G^2 where it has no value; 0 where it has one

They add up to G^2 for every row, so that mean, variance, sum and counts follow from them at the price of one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import ClassVar, Literal

from dither.query.plan.base import Expression

Kind = Literal["one", "present", "person", "steps", "above", "below", "missing", "high", "middle", "low", "nothing"]
SQUARES: tuple[Kind, ...] = ("high", "middle", "low", "nothing")


@dataclass(frozen=True)
class Counter:
    """A whole number for every row."""

    code: ClassVar[str] = "counter"

    kind: Kind
    of: Expression | None = None
    step: Fraction = Fraction(1)

    @property
    def low(self) -> int:
        """The least that a row with a value can add."""
        return ceil(self._bounds[0] / self.step) if self.kind == "steps" else 0

    @property
    def high(self) -> int:
        """The most that a row can add."""
        if self.kind in ("one", "present", "person"):
            return 1
        if self.kind == "steps":
            return floor(self._bounds[1] / self.step)
        return self.steps**2 if self.kind in SQUARES else self.steps

    @property
    def steps(self) -> int:
        """G: how many steps lie between the bounds."""
        lower, upper = self._bounds
        return ceil((upper - lower) / self.step)

    @property
    def reach(self) -> int:
        """How far a row can move the sum, by coming or going."""
        return max(abs(self.low), abs(self.high))

    @property
    def _bounds(self) -> tuple[Fraction, Fraction]:
        assert self.of is not None
        facts = self.of.facts
        assert facts.lower is not None
        assert facts.upper is not None
        return facts.lower, facts.upper
