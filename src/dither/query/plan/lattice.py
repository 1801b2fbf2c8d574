"""On which steps a number stands before it is added up: those of its column, whole numbers, or enough between its bounds."""

from __future__ import annotations

from fractions import Fraction

from dither.query.plan.base import Expression
from dither.query.plan.expressions import ColumnValue
from dither.query.policy.column import FINEST

MOST_SQUARED = 2**10  # steps of a variance: their squares, times rows, limits and resolution, stay within bounding.LARGEST


def step_of(expression: Expression) -> Fraction:
    """The lattice of an expression: its column's, whole numbers, or 2^20 steps between its bounds."""
    if isinstance(expression, ColumnValue) and expression.column.step is not None:
        return expression.column.step
    facts = expression.facts
    assert facts.lower is not None
    assert facts.upper is not None
    if facts.type.value == "integer" and facts.upper - facts.lower <= 2**52:
        return Fraction(1)
    return (facts.upper - facts.lower) / FINEST


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
