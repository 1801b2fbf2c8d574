"""What one row can add to several counts and sums of a group at once, so that it is known which combinations are impossible.

Theorem. Let forms weigh counts and sums of the same rows. Where no row that is listed here makes a form negative, it is not
negative; and where none makes the lower of two forms negative, their quotient lies between the least and the largest
quotient of what a listed row adds to them.

    COUNT(*)                            1
    COUNT(x), SUM(x)                    1 and the lower bound of x, 1 and the upper one, or nothing where x is missing
    COUNT and SUM of x where c holds    the same, or nothing where c does not hold
    COUNT(DISTINCT person)              1 or nothing; those who meet a condition likewise, and nothing where it is nothing
    any other                           1 or -1 or nothing, by the signs that it may have

Proof. A person is counted at one of their rows in the group, whichever. Then all are sums over rows. Which conditions hold
in a row is one of the listed combinations, and so is who is counted there. Once these are fixed, an aggregate is 0 or the
number or the value of one expression, which is in its bounds or missing: a mixture of the listed ones; and different
expressions are mixed independently. So the forms are sums of listed rows, each times a number that is not negative. A sum
of numbers that are not negative is not; a sum of parts over a sum of parts lies between the least and the largest of their
quotients. ∎
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from math import prod
from typing import NamedTuple

from dither.query.plan.aggregates import Aggregate, CountPersons, CountRows, CountValues, Sum
from dither.query.plan.base import Expression
from dither.query.plan.expressions import Case

ExtremeRow = Mapping[str, Fraction]  # what it adds to each aggregate
MOST = 256  # rows that are listed
ZERO, ONE = Fraction(0), Fraction(1)


class Addend(NamedTuple):
    """An aggregate, and what one row adds to it."""

    aggregate: Aggregate
    least: Fraction
    most: Fraction


def extreme_rows(several: Mapping[str, Addend]) -> list[ExtremeRow]:
    """The rows of the theorem, of aggregates by their names."""
    found: list[ExtremeRow] = []
    options = _options(several)
    if options is None:
        return _one_by_one(several)
    people, conditions, values = options
    for who, met, cells in product(people, product((False, True), repeat=len(conditions)), product(*values.values())):
        holds, value = dict(zip(conditions, met, strict=True)), dict(zip(values, cells, strict=True))
        row: dict[str, Fraction] = {**dict.fromkeys(several, ONE), **who}
        for name, one in several.items():
            if isinstance(one.aggregate, (CountValues, Sum)):
                of, condition = _parts(one.aggregate)
                cell = value[of] if condition is None or holds[condition] else None
                there = ZERO if cell is None else ONE
                row[name] = there if cell is None or isinstance(one.aggregate, CountValues) else cell
        found.append(row)
    return found


def _options(
    several: Mapping[str, Addend],
) -> tuple[list[ExtremeRow], list[Expression], Mapping[Expression, list[Fraction | None]]] | None:
    """Who may be counted in a row, which conditions there are, and what expressions may be; None for too many rows."""
    ends: dict[Expression, list[Fraction]] = {}
    people: dict[str, Expression | None] = {}
    conditions: list[Expression] = []
    for name, one in several.items():
        if isinstance(one.aggregate, CountPersons):
            people[name] = one.aggregate.of
        elif isinstance(one.aggregate, (CountValues, Sum)):
            of, condition = _parts(one.aggregate)
            known = [end for end in (of.facts.lower, of.facts.upper) if end is not None]
            ends.setdefault(of, []).extend(known + [one.least, one.most] * isinstance(one.aggregate, Sum))
            conditions += [] if condition is None else [condition]
        elif not isinstance(one.aggregate, CountRows):
            return None
    conditions = list(dict.fromkeys(conditions))
    values: dict[Expression, list[Fraction | None]] = {}
    for of, own in ends.items():
        values[of] = [None, *dict.fromkeys((min(own, default=ZERO), max(own, default=ZERO)))]
    met = [name for name, condition in people.items() if condition is not None]
    if prod([2 ** (len(met) + len(conditions)), *map(len, values.values())]) > MOST:
        return None
    every = dict.fromkeys(people, ONE)
    counted = [every | dict(zip(met, one, strict=True)) for one in product((ZERO, ONE), repeat=len(met))]
    return [*counted, dict.fromkeys(people, ZERO)] if people else [{}], conditions, values


def _parts(of: Aggregate) -> tuple[Expression, Expression | None]:
    """Of which expression an aggregate is, and under which condition."""
    match of.values:
        case Case(((condition, inner),), None):
            return inner, condition
    return of.values, None


def _one_by_one(several: Mapping[str, Addend]) -> list[ExtremeRow]:
    """One row for each aggregate, as if they had nothing to do with each other."""
    nothing = dict.fromkeys(several, ZERO)
    signs = {name: [ONE] * (one.most > 0) + [-ONE] * (one.least < 0) for name, one in several.items()}
    return [nothing | {name: sign} for name, own in signs.items() for sign in own]
