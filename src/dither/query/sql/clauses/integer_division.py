"""x // y of released numbers: answered for whole numbers, of which every engine drops what is behind the point."""

from __future__ import annotations

from collections.abc import Sequence

from dither.query.plan.aggregates import (
    Aggregate,
    CountDistinct,
    CountDistinctValues,
    CountPersons,
    CountRows,
    CountValues,
    RunningCount,
    Sum,
)
from dither.query.plan.derived import (
    Cast,
    ConstantTerm,
    FirstKnown,
    NullIf,
    Operation,
    Rank,
    ReleasedValue,
    Term,
    Total,
    WindowStatistic,
)
from dither.query.policy.column import Type

COUNTS = (CountRows, CountValues, CountPersons, CountDistinct, CountDistinctValues, RunningCount)


def is_whole_number(term: Term, aggregates: Sequence[Aggregate]) -> bool:
    """Whether SQL has a whole number there: of what is counted, added up or written."""
    match term:
        case ReleasedValue(name):
            made = next(one for one in aggregates if one.name == name)
            return isinstance(made, COUNTS) or (isinstance(made, Sum) and made.values.facts.type is Type.INTEGER)
        case ConstantTerm(value):
            return value.denominator == 1
        case Operation(sign, left, right):
            return sign != "/" and all(is_whole_number(part, aggregates) for part in (left, right))
        case Cast(_, whole):
            return whole
        case NullIf(inner, _) | Total(_, inner):
            return is_whole_number(inner, aggregates)
        case WindowStatistic(_, kind, inner):
            return kind == "count" or (kind != "avg" and is_whole_number(inner, aggregates))
        case FirstKnown(parts):
            return all(is_whole_number(part, aggregates) for part in parts)
    return isinstance(term, Rank)
