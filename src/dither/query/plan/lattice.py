"""On which steps a number stands before it is added up: those of columns, whole numbers, or enough between its bounds."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from math import gcd

from dither.query.plan.base import Expression
from dither.query.plan.expressions import Case, ColumnValue, Constant
from dither.query.plan.functions import Coalesce, GreatestLeast
from dither.query.policy.column import FINEST, Type

MOST_SQUARED = 2**10  # steps of a variance: their squares, times rows, limits and resolution, stay within bounding.LARGEST


def step_of(expression: Expression) -> Fraction:
    """Return the lattice of an expression: its columns', whole numbers, or 2^20 steps between its bounds."""
    if isinstance(expression, ColumnValue) and expression.column.step is not None:
        return expression.column.step
    facts = expression.facts
    assert facts.lower is not None
    assert facts.upper is not None
    if facts.type is Type.INTEGER and facts.upper - facts.lower <= 2**52:
        return Fraction(1)
    common, width = divisor_of(expression), facts.upper - facts.lower
    if common and width % common == 0 and width / common <= FINEST:
        return common
    return width / FINEST


def divisor_of(expression: Expression) -> Fraction | None:
    """Return what all values are multiples of, if those of columns are multiples of their steps; 0 if all are zero.

    Of a choice among several it is the greatest common divisor of all; None where nothing is known.
    """
    if isinstance(expression, Constant):
        return abs(expression.value) if isinstance(expression.value, Fraction) else None
    if isinstance(expression, ColumnValue) and expression.column.step is not None:
        return expression.column.step
    if isinstance(expression, (Case, Coalesce, GreatestLeast)):
        found = [divisor_of(part) for part in choices_of(expression)]
        known = [one for one in found if one is not None]
        return reduce(_common, known, Fraction(0)) if len(known) == len(found) else None
    return Fraction(1) if expression.facts.type is Type.INTEGER else None


def choices_of(expression: Case | Coalesce | GreatestLeast) -> list[Expression]:
    """Return the expressions of which a value is one."""
    if not isinstance(expression, Case):
        return list(expression.parts)
    return [value for _, value in expression.branches] + ([expression.otherwise] if expression.otherwise else [])


def _common(one: Fraction, other: Fraction) -> Fraction:
    return Fraction(
        gcd(one.numerator * other.denominator, other.numerator * one.denominator), one.denominator * other.denominator
    )


def bounded_step(expression: Expression) -> Fraction | None:
    """The lattice of an expression; none where it has no bounds, or is one number."""
    facts = expression.facts
    if not facts.type.is_number or facts.lower is None or facts.lower == facts.upper:
        return None
    return step_of(expression)


def step_of_squares(expression: Expression) -> Fraction:
    """The lattice for squares: the same, or one of 2^10 steps where that is coarser."""
    facts = expression.facts
    assert facts.lower is not None
    assert facts.upper is not None
    return max(step_of(expression), (facts.upper - facts.lower) / MOST_SQUARED)
