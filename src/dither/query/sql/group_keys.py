"""All values that a group can have, known without looking at data: from the policy, or from the question itself.

    a column                            its domain (`sql/domains.py`): declared keys, a list of WHERE, booleans, bounds
    CASE with labels                    the labels
    a condition                         true and false
    parts of dates, WIDTH_BUCKET        the whole numbers that they can be
    FLOOR, CEIL, ROUND within bounds    the whole numbers from one rounded bound to the other, rounded by the engine
    DATE_TRUNC, days, years of dates    those between the first and the last day, of WHERE or of the policy
    DATE_DIFF, x // k within bounds     the whole numbers between them
    x % k, SIGN(x)                      the whole numbers that they can be
    any function of the above           what the engine makes of all their values, which are public

Theorem. Let a question be grouped by keys that are found here. Whichever rows there are, the groups of its answer are the
same; each row is in at most one group, and in exactly one if its value is not missing and all its columns are within
declared keys. So the claims of `statistics/bounding.py` hold, for both units, with no delta and no threshold.

    c     what is clamped: a column, the number within FLOOR, CEIL and ROUND, or the difference of dates
    D     the values of c: whole numbers, dates or doubles from one end to the other
    f     the rest of the expression, made of c and of other columns with domains

Proof. Keys are computed of the policy and the question; no row is near. The group of a row is f of the row's own cells, a
function, one value or NULL. A clamped cell is in D whatever the row holds, or NULL
(`query/engines/templates/expressions.py`); a list of WHERE holds every row of the question. Rounding in doubles goes up with
its argument, so that a number between two ends is rounded to a whole number between the two rounded ends, all of which are
listed. For any other f the engine was asked for its values at every combination, by the template that the rows will meet.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from math import prod
from typing import Any, cast

from sqlglot import exp

from dither.query.engines.duckdb.key_images import constant_images, images
from dither.query.plan.base import Expression
from dither.query.plan.calendar_periods import starts
from dither.query.plan.dates import DateCast, DateDiff, DateTrunc
from dither.query.plan.expression_parts import dated_column, exchanged, is_monotone, may_be_clamped
from dither.query.plan.expressions import Case, ColumnValue, Constant, DatePart, Not, columns_of, constants_of
from dither.query.plan.facts import a
from dither.query.plan.functions import Clamp, Rounding, WidthBucket
from dither.query.plan.mathematics.division import Remainder, Sign, WholeQuotient
from dither.query.plan.question import OpenKey
from dither.query.plan.relations import Relation
from dither.query.policy.column import MOST_KEYS, Column, Key, Type
from dither.query.sql.domains import Domain, check_span, column_domain, column_span, number_domain
from dither.query.sql.refusals import LABELS
from dither.query.sql.syntax import refuse, shown

KEYED = (Type.TEXT, Type.INTEGER, Type.BOOLEAN, Type.DATE)  # whose values can be keys without being declared
LARGEST = 2**53  # whole numbers below are doubles


@dataclass(frozen=True)
class PossibleKeys:
    """What rows are sorted by, all keys, and those to which rows beyond the bounds were moved."""

    by: Expression
    keys: tuple[Key, ...] | None  # None for a column that has no domain: a private release chooses
    open_keys: tuple[OpenKey, ...] = ()


def possible_keys(by: Expression, node: exp.Expr, where: Expression | None, relation: Relation) -> PossibleKeys:
    """The keys of an expression about the rows of a relation that meet a condition."""
    return _Finder(node, where, relation).keys(by)


def keeps_order(by: Expression) -> bool:
    """Whether it goes up with a column, so that what is beyond the bounds of one is beyond those of the other."""
    return isinstance(by, (Rounding, DateDiff)) or _is_period(by)


def _is_period(by: Expression) -> bool:
    """Whether it names a period of a date: it goes up with the date."""
    if isinstance(by, DatePart):
        return by.part in ("year", "isoyear")
    return isinstance(by, DateTrunc) or (isinstance(by, DateCast) and by.to is Type.DATE)


def _ways(by: Expression, node: exp.Expr) -> str:
    """Name what can be grouped by in the place of a key."""
    dates = [column for column in columns_of(by) if column.type.is_date]
    if len(dates) == 1 and not isinstance(by, Case):
        between = f"{shown(exp.to_identifier(dates[0].name))} BETWEEN DATE '<first day>' AND DATE '<last day>'"
        return f"WHERE {between}, so that all its values are known"
    if by.facts.type.is_number and not isinstance(by, Case):
        return f"ranges of your own: WIDTH_BUCKET({shown(node)}, <low>, <high>, <number>), or {LABELS}"
    return LABELS


@dataclass(frozen=True)
class _Finder:
    """A question's own facts, by which the keys of its groups are found."""

    node: exp.Expr  # as it was written, for refusals
    where: Expression | None
    relation: Relation

    def keys(self, by: Expression) -> PossibleKeys:
        if self._is_person(by):
            why = "it says whose a row is: each group would be about one person"
            people = f"another column in GROUP BY; the number of people is COUNT(DISTINCT {shown(self.node)})"
            raise refuse(self.node, why, people)
        found = self._domain(by)
        if found is not None:
            return PossibleKeys(found.by, found.keys, _open_keys(found))
        if isinstance(by, ColumnValue):
            self._check_unknown(by.column)
            return PossibleKeys(by, None)
        return self._images(by)

    def _domain(self, by: Expression) -> Domain | None:
        """The domain of what is a column, or a value that is not made of values with domains."""
        if isinstance(by, ColumnValue):
            return None if self._is_person(by) else column_domain(by.column, self.where, self.relation, self.node)
        if isinstance(by, Constant):  # one group, of all rows
            return Domain(by, (self._label(by.value),))
        if isinstance(by, Case):
            labels = [value for _, value in by.branches] + ([] if by.otherwise is None else [by.otherwise])
            if not (by.otherwise or _of_condition(by)) or not all(isinstance(label, Constant) for label in labels):
                return None
            return Domain(by, tuple(sorted({self._label(cast(Constant, label).value) for label in labels})))
        if by.facts.type is Type.BOOLEAN:
            return Domain(by, (False, True))
        if isinstance(by, (DatePart, DateTrunc, DateCast)) and _is_period(by):
            return self._periods(by)
        if isinstance(by, DateDiff):
            return self._differences(by)
        if isinstance(by, (WidthBucket, DatePart)):
            lower, upper = by.facts.lower, by.facts.upper
            assert lower is not None
            assert upper is not None
            return Domain(by, tuple(range(int(lower), int(upper) + 1)))
        if isinstance(by, (WholeQuotient, Remainder, Sign)):
            return number_domain(by, self.relation.table)
        return self._rounded(by) if isinstance(by, Rounding) and by.digits <= 0 else None

    def _periods(self, by: DatePart | DateTrunc | DateCast) -> Domain | None:
        """The days, years, months, ... of dates between two days: of a column, or of one some time later."""
        column = dated_column(by.of)
        if column is None:
            return None
        span = column_span(column, self.where, self.relation)
        if not span.is_known:
            return None
        check_span(span, self.node)
        kept = ColumnValue(replace(column, first=span.first, last=span.last))
        of = exchanged(by.of, {ColumnValue(column): kept}).facts
        first, last = of.first, of.last  # all dates are between them, by `plan/dates.py`
        keys: list[Key] = []
        if isinstance(by, DatePart):
            years = [end.year if by.part == "year" else end.isocalendar()[0] for end in (first, last)]
            keys += range(years[0], years[1] + 1)
        else:
            period = by.period if isinstance(by, DateTrunc) else "day"
            for start in starts(period, first, last):
                keys.append(start if isinstance(by, DateTrunc) else datetime.date(start.year, start.month, start.day))
                if len(keys) > MOST_KEYS:
                    why = f"there are more than {MOST_KEYS} between {first} and {last}"
                    raise refuse(self.node, why, "longer periods, or WHERE with a first and a last day nearer to each other")
        hard = f"bounds.{column.name}" in self.relation.table.hard
        clamped = exchanged(by, {ColumnValue(column): span.clamp(ColumnValue(column))})
        return Domain(clamped, tuple(keys), span.below and not hard, span.above and not hard)

    def _differences(self, by: DateDiff) -> Domain | None:
        """The whole numbers between its bounds."""
        lower, upper = by.facts.lower, by.facts.upper
        if lower is None or upper is None or upper - lower >= MOST_KEYS:
            return None
        beyond = may_be_clamped(by, self.relation.table)
        return Domain(Clamp(by, lower, upper), tuple(range(int(lower), int(upper) + 1)), beyond, beyond)

    def _rounded(self, by: Rounding) -> Domain | None:
        """The whole numbers from one rounded bound to the other, in steps of tens or hundreds where so many digits go."""
        lower, upper, step = by.of.facts.lower, by.of.facts.upper, 10**-by.digits
        if lower is None or upper is None:
            return None
        if (upper - lower) / step >= MOST_KEYS:
            raise refuse(self.node, f"it has more than {MOST_KEYS} possible values", _ways(by, self.node))
        ends = constant_images([replace(by, of=Constant(end)) for end in (lower, upper)])
        if ends is None or max(abs(lower), abs(upper)) + step >= LARGEST:
            raise refuse(
                self.node,
                "its values are beyond 2^53, where doubles do not tell whole numbers apart",
                "the same in a larger unit",
            )
        first, last = cast(list[int], ends)
        beyond = may_be_clamped(by.of, self.relation.table)
        return Domain(replace(by, of=Clamp(by.of, lower, upper)), tuple(range(first, last + 1, step)), beyond, beyond)

    # -- functions of values with domains ------------------------------------------------------------------------------

    def _images(self, by: Expression) -> PossibleKeys:
        """What the engine makes of all values of its parts."""
        parts: dict[Expression, Domain] = {}
        columns = columns_of(by)
        if constants_of(by):
            why = "its keys would depend on what a subquery releases, and groups are known before"
            raise refuse(self.node, why, "a CASE whose conditions compare with the subquery, and whose labels are constants")
        open_case = isinstance(by, Case) and by.otherwise is None and any(column.keys is None for column in columns)
        if not columns or open_case or not self._find_parts(by, parts):
            others = f"; or, at a price, GROUP BY k, where an inner question has {shown(self.node)} AS k"
            endless = by.facts.is_bounded and any(
                column.type.is_date for column in columns
            )  # as years are, 1 to 9999: listed
            others = others if by.facts.type in KEYED and columns and not endless else ""
            why = "its possible values are not known beforehand"
            if isinstance(by, Case):
                why = "a CASE to group by gives constants, and has an ELSE"
            raise refuse(self.node, why, f"{_ways(by, self.node)}{others}")
        if prod(len(domain.keys) + 1 for domain in parts.values()) > MOST_KEYS:
            why = f"its columns have more than {MOST_KEYS} combinations of keys"
            raise refuse(self.node, why, _ways(by, self.node))
        public = {
            part: Column(f"part {at}", part.facts.type, keys=domain.keys) for at, (part, domain) in enumerate(parts.items())
        }
        values = {part: _again(part, column) for part, column in public.items()}
        keys = self._listed(exchanged(by, values), list(public.values()))
        edges = set[Key]()
        for part, domain in parts.items():
            ends = [*domain.keys[: int(domain.below)], *domain.keys[len(domain.keys) - int(domain.above) :]]
            for end in ends:
                moved = public | {part: replace(public[part], keys=(end,))}
                again = {one: _again(one, column) for one, column in moved.items()}
                edges |= set(self._listed(exchanged(by, again), list(moved.values())))
        clamped = exchanged(by, {part: domain.by for part, domain in parts.items()})
        if len(parts) == 1 and is_monotone(by, next(iter(parts))) and len(keys) > 1:
            return PossibleKeys(clamped, keys, _open_keys(Domain(by, keys, keys[0] in edges, keys[-1] in edges)))
        return PossibleKeys(clamped, keys, tuple(OpenKey(key, "beyond") for key in keys if key in edges))

    def _find_parts(self, node: object, parts: dict[Expression, Domain]) -> bool:
        """The largest parts of an expression that have domains, and no smaller ones with declared keys; whether all have."""
        if isinstance(node, (list, tuple)):
            return all(self._find_parts(part, parts) for part in node)
        if not isinstance(node, Expression) or isinstance(node, Constant) or node in parts:
            return True
        declared = all(column.keys is not None for column in columns_of(node))
        within = dict[Expression, Domain]()
        inner = [getattr(node, field.name) for field in fields(cast(Any, node))]
        if isinstance(node, ColumnValue) or not declared or not columns_of(node):
            found = None if isinstance(node, Case) else self._domain(node)
            if found is not None:
                parts[node] = found
                return True
        if isinstance(node, ColumnValue) or not self._find_parts(inner, within):
            return False
        parts |= within
        return True

    def _listed(self, by: Expression, columns: list[Column]) -> tuple[Key, ...]:
        found = images(by, columns)
        if not found:
            why = "keys are texts, dates or whole numbers"
            raise refuse(self.node, why, f"its rounded value, or {LABELS}")
        return tuple(found)

    # -- refusals ------------------------------------------------------------------------------------------------------

    def _is_person(self, by: Expression) -> bool:
        """Whether it says whose a row is, and no keys of it are declared: what is nobody's but one person's."""
        return isinstance(by, ColumnValue) and by.column.keys is None and by.column.name == self.relation.table.person

    def _check_unknown(self, column: Column) -> None:
        """Refuse what can be no key. Of others, a private release chooses some."""
        if column.type not in KEYED:
            why = f"the policy declares no keys for it, and {a(column.type)} is none: nearly every row has one of its own"
            raise refuse(self.node, why, _ways(ColumnValue(column), self.node))

    def _label(self, value: object) -> Key:
        if isinstance(value, Fraction) and value.denominator == 1 and -(2**63) <= value < 2**63:
            return int(value)
        if isinstance(value, (Fraction, datetime.datetime)):
            why = "labels are texts, dates or whole numbers of 64 bits"
            raise refuse(self.node, why, "texts, or whole numbers of 64 bits, as labels")
        assert isinstance(value, (str, bool, datetime.date))
        return value


def _of_condition(by: Case) -> bool:
    """Whether it has a value wherever a condition has one: CAST(age > 65 AS INTEGER)."""
    met = [condition for condition, _ in by.branches]
    return len(met) == 2 and met[1] == Not(met[0])


def _again(part: Expression, column: Column) -> Expression:
    """A part of an expression, of a column that has its values: as the engine has them, which rounds to doubles."""
    return replace(part, of=ColumnValue(column)) if isinstance(part, Rounding) else ColumnValue(column)


def _open_keys(found: Domain) -> tuple[OpenKey, ...]:
    """The first and the last key, where rows beyond them were moved there."""
    first, last = found.keys[0], found.keys[-1]
    if first == last or (isinstance(found.by, Clamp) and isinstance(found.by.of, Remainder)):
        return (OpenKey(first, "beyond"),) if found.below or found.above else ()
    low, high = (OpenKey(first, "below"),), (OpenKey(last, "above"),)
    return (low if found.below else ()) + (high if found.above else ())
