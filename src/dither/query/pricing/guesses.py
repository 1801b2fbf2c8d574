"""Public guesses of an analyst about a group: how many rows it has, and how much its values differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from fractions import Fraction
from typing import SupportsIndex

from dither.errors import NumberError, QuestionError
from dither.numeric.number import NumberLike, integer, rational
from dither.query.counters.estimators import Guesses, name_of, spread_name
from dither.query.plan.aggregates import PairAggregate, Variance
from dither.query.plan.base import Expression
from dither.query.plan.question import Question
from dither.query.policy.column import Column
from dither.query.policy.policy import Policy
from dither.query.pricing.ask import SpreadLike

LARGEST_SIZE = 10**15
Bounds = tuple[Fraction | None, Fraction | None]
EXAMPLE = "spread={'cost': 300}"


def read_guesses(
    size: SupportsIndex | None, spread: SpreadLike | None, questions: Sequence[Question], policy: Policy
) -> Guesses:
    """The guesses, read and checked: a spread is of a column of the policy, or of what one of the questions computes."""
    return Guesses(_size(size), () if spread is None else tuple(_spread(spread, questions, policy).items()))


def _size(stated: SupportsIndex | None) -> int | None:
    hint = None if stated is None else integer(stated, name="size", least=1)
    if hint is not None and hint > LARGEST_SIZE:
        raise NumberError("size", "so large", f"no group has more than {LARGEST_SIZE} rows", "1000")
    return hint


def _spread(stated: SpreadLike, questions: Sequence[Question], policy: Policy) -> dict[str, Fraction]:
    if not isinstance(stated, Mapping) or not all(isinstance(name, str) for name in stated):
        raise QuestionError("spread", stated, "it names no column with its standard deviation", EXAMPLE)
    computed = {name_of(of): of for question in questions for of in _expressions(question)}
    columns: dict[str, list[Column]] = {}
    for column in (one for table in policy.tables for one in table.columns if one.type.is_number):
        columns.setdefault(spread_name(column.name), []).append(column)
    found: dict[str, Fraction] = {}
    for text, value in stated.items():
        name = spread_name(text)
        if name not in columns.keys() | computed.keys():
            raise QuestionError("spread", text, "no column with numbers has that name", _near(name, {*computed, *columns}))
        if name in found:
            raise QuestionError("spread", text, "it is stated twice", EXAMPLE)
        found[name] = rational(value, name=f"spread of {text}", positive=True)
        if name in computed:
            facts = computed[name].facts
            _check(text, value, found[name], [(facts.lower, facts.upper)])
        else:
            _check(text, value, found[name], [(column.lower, column.upper) for column in columns[name]])
    return found


def _expressions(question: Question) -> list[Expression]:
    """What is asked for standard deviations, correlations and the like."""
    found: list[Expression] = []
    for one in question.aggregates:
        found += one.pair if isinstance(one, PairAggregate) else [one.values] if isinstance(one, Variance) else []
    return found


def _check(text: str, value: NumberLike, deviation: Fraction, bounds: Sequence[Bounds]) -> None:
    """Refuse what no column of that name can have."""
    known = [(lower, upper) for lower, upper in bounds if lower is not None and upper is not None]
    if len(known) < len(bounds):
        return
    lower, upper = max(known, key=lambda ends: ends[1] - ends[0])
    if 2 * deviation <= upper - lower:
        return
    most = f"{float((upper - lower) / 2):.6g}"
    why = f"no standard deviation of values between {float(lower):.6g} and {float(upper):.6g} is above {most}"
    raise NumberError(f"spread of {text}", value, why, f"a number above 0, and at most {most}")


def _near(name: str, names: set[str]) -> str:
    near = get_close_matches(name, sorted(names), n=1, cutoff=0.6)
    return f"did you mean {near[0]}?" if near else ", ".join(sorted(names)) or "leaving it out"
