"""What a number of an answer says: each makes one statement. The answer's first line and the heads of its ends name it.

    truth               the error bar holds what all rows give: bounding and clamping change nothing, by the owner's word
    at least            rows of people beyond the limits are left out of a count or of a sum of values that are not negative:
                        the low end is a lower bound of the truth, the high end is of what was counted
    of counted rows     an average, a deviation, a quantile, a sum of signed values: of the rows that were counted
    of clamped values   everybody is counted in full, with values beyond the bounds as the nearer bound, or between two steps
                        as the nearer step
    chosen              the most frequent key, by noisy counts: another may be more frequent; the quote says by how much
    of released numbers a rank among what was released (`answers/derived/statements.py` has what computed columns say)

Why the low end holds. What is counted is the sum of (part of) the rows that there are, each at least zero, so that it is at
most the truth; the interval holds what is counted with the stated probability, so its low end is at most what is counted,
and at most the truth, with at least that probability. (One end of a symmetric interval fails half as often as both.)
"""

from __future__ import annotations

from dataclasses import fields
from enum import Enum

from dither.query.plan.base import Expression
from dither.query.plan.dates import DateDiff
from dither.query.plan.expressions import Case, ColumnValue, Constant, DatePart, columns_of
from dither.query.plan.functions import Coalesce, GreatestLeast, Length
from dither.query.policy.column import Type
from dither.query.policy.table import Table


class Statement(Enum):
    """What a number says."""

    TRUTH = "truth"
    AT_LEAST = "at least"
    COUNTED = "of counted rows"
    CLAMPED = "of clamped values"
    CHOSEN = "chosen"
    RELEASED = "of released numbers"


def statement_of(*, complete: bool, clamped: bool, sums: bool) -> Statement:
    """By what is known: whether bounding changes nothing, whether clamping may change something, whether it is a sum of
    parts that are not negative."""
    if complete:
        return Statement.CLAMPED if clamped else Statement.TRUTH
    return Statement.AT_LEAST if sums and not clamped else Statement.COUNTED


def may_be_clamped(of: Expression | None, table: Table) -> bool:
    """Whether values may lie beyond the bounds that they are clamped to: those of some column are not hard.

    An expression has the bounds that follow from those of its columns. Conditions compare values as they are.
    """
    if of is None or of.facts.type is Type.BOOLEAN:
        return False
    if isinstance(of, DatePart):  # its bounds are those of the calendar
        return False
    if isinstance(of, DateDiff):
        ranges = {column.name for column in columns_of(of) if column.first is not None}
        return any(f"bounds.{name}" not in table.hard for name in ranges)
    if isinstance(of, Length):  # of a long text, the beginning is read
        return True
    if isinstance(of, ColumnValue):
        return of.column.lower is not None and f"bounds.{of.column.name}" not in table.hard
    return any(may_be_clamped(part, table) for part in _parts(of))


def may_be_rounded(of: Expression | None, table: Table) -> bool:
    """Whether values may lie between the steps in which they are counted: they are no whole numbers, and the owner does not
    say that all are multiples of their step (`steps.COLUMN` is hard).

    Whole numbers, also those that rounding gives, are counted as they are; of a choice among several, each part decides.
    """
    if of is None or of.facts.type is Type.BOOLEAN or isinstance(of, Constant):
        return False
    if isinstance(of, ColumnValue):
        whole = of.column.type is Type.INTEGER and of.column.step in (None, 1)
        return not whole and f"steps.{of.column.name}" not in table.hard
    if isinstance(of, (Case, Coalesce, GreatestLeast)):
        return any(may_be_rounded(part, table) for part in _parts(of))
    return of.facts.type is not Type.INTEGER


def _parts(of: Expression) -> list[Expression]:
    """The expressions that an expression is made of."""
    found: list[Expression] = []
    stack: list[object] = [getattr(of, field.name) for field in fields(of)]  # type: ignore[arg-type]
    while stack:
        part = stack.pop()
        if isinstance(part, Expression):
            found.append(part)
        elif isinstance(part, (tuple, list)):
            stack += part
    return found
