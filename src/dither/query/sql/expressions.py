"""Expressions of a question, one row at a time: each node of the parser's tree becomes one of ours, or a refusal."""

from __future__ import annotations

import datetime
from fractions import Fraction
from typing import Any, cast

from sqlglot import exp

from dither.errors import NumberError, QuestionError
from dither.numeric.number import Number
from dither.query.plan.base import Expression
from dither.query.plan.calendar_periods import part_of
from dither.query.plan.dates import DateTrunc
from dither.query.plan.expressions import (
    Arithmetic,
    Case,
    ColumnValue,
    Compare,
    Comparison,
    Constant,
    DatePart,
    InList,
    IsNull,
    Like,
    Logic,
    Not,
    Operator,
    columns_of,
    constants_of,
)
from dither.query.plan.facts import a
from dither.query.plan.mathematics.division import Remainder, WholeQuotient
from dither.query.policy.column import LONGEST_TEXT, Type
from dither.query.sql.clauses.scalar_subqueries import compared, constant_of
from dither.query.sql.dates.date_functions import (
    CASTS,
    DATE_CALLS,
    NAMED_PARTS,
    date_arithmetic,
    date_part,
    interval_arithmetic,
    interval_comparison,
    of_one_type,
)
from dither.query.sql.dates.written_dates import alike, as_compared, written_date
from dither.query.sql.functions import CALLS
from dither.query.sql.group_keys import PossibleKeys, possible_keys
from dither.query.sql.mathematics import CALLS as NUMBER_CALLS
from dither.query.sql.refusals import LIKE_WORDS, number_words, unknown_node, within_a_condition
from dither.query.sql.rewrites.date_constants import whole_days
from dither.query.sql.scope import Scope
from dither.query.sql.syntax import refuse, shown

Kind = type[exp.Expr]
SIGNS: dict[Kind, Comparison] = {exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}
TURNED: dict[Comparison, Comparison] = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}
OPERATORS: dict[Kind, Operator] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*"}
MOST_OPTIONS = 1000
LONGEST_PATTERN = 200  # the work of LIKE grows with the pattern and the text
MOST_BITS = 4096  # of a bound
MOST_NODES = 10_000  # of all expressions of a question


class Reader:
    """Reads expressions about the rows of one relation."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self._read = 0
        self._where: Expression | None = None

    def meaning(self, node: exp.Expr) -> Expression | None:
        """What a node means, if it is an expression about a row."""
        try:
            return self.value(node)
        except QuestionError:
            return None

    def condition(self, node: exp.Expr) -> Expression:
        """Something that is true or false of a row."""
        found = self.value(node)
        if found.facts.type is not Type.BOOLEAN:
            raise refuse(node, f"it is {a(found.facts.type)}, not a condition", "a comparison with it")
        return found

    def value(self, node: exp.Expr) -> Expression:
        """Any allowed expression."""
        self._count(node, 1)  # BETWEEN and CASE read a value again for each comparison: an engine will get it as often
        kind = type(node)
        if kind is exp.Paren:
            return self.value(node.this)
        if kind is exp.Column:
            return self._column(node)
        if (released := constant_of(node)) is not None:
            return compared(node, released)
        if kind in (exp.Literal, exp.Boolean, exp.Cast, exp.Neg) and (constant := self._constant(node)) is not None:
            return constant
        if kind is exp.Neg:
            return _within(_folded(Arithmetic("-", Constant(Fraction(0)), self.number(node.this))), node)
        if kind in OPERATORS:
            return _within(self._arithmetic(node), node)
        if kind in SIGNS:
            return self._compared(SIGNS[kind], node.this, node.expression)
        if kind in (exp.And, exp.Or):
            return Logic(kind is exp.And, tuple(self.condition(part) for part in node.flatten()))
        if kind is exp.Not:
            return Not(self.condition(node.this))
        if kind is exp.Is and isinstance(node.expression, exp.Null):
            return IsNull(self.value(node.this))
        if kind is exp.Between:
            low, high = node.args["low"], node.args["high"]
            return Logic(True, (self._compared(">=", node.this, low), self._compared("<=", node.this, high)))
        if kind is exp.In:
            return self._one_of(node)
        if kind is exp.Like:
            return self._like(node)
        if kind is exp.Case:
            return self._case(node)
        call = DATE_CALLS.get(kind) or CALLS.get(kind) or NUMBER_CALLS.get(kind)
        if kind is exp.Anonymous and node.name.lower() in NAMED_PARTS:
            call = date_part
        if call is not None:
            found = call(self, node)
            return _folded(_within(found, node) if found.facts.type.is_number else found)
        raise unknown_node(node)

    def kept(self, node: exp.Expr) -> Expression:
        """The condition of WHERE, which may also tell which dates there can be."""
        self._where = self.condition(node)
        return self._where

    def keys(self, by: Expression, node: exp.Expr) -> PossibleKeys:
        """All values that a group can have; None where nobody declared them, and a private release chooses."""
        return possible_keys(by, node, self._where, self.scope.relation)

    # -- leaves --------------------------------------------------------------------------------------------------

    def _column(self, node: exp.Expr) -> ColumnValue:
        if not isinstance(node.this, exp.Identifier):
            raise refuse(node, "single rows are never shown", "aggregates of the rows, such as their number")
        return ColumnValue(self.scope.column(node))

    def _constant(self, node: exp.Expr) -> Constant | None:
        if isinstance(node, exp.Boolean):
            return Constant(bool(node.this))
        if isinstance(node, exp.Literal):
            if node.is_string and len(node.this) >= LONGEST_TEXT:
                why = f"of texts of more than {LONGEST_TEXT} characters only those are read: no text is told apart by more"
                raise refuse(node, why, f"a text of less than {LONGEST_TEXT} characters")
            return Constant(node.this) if node.is_string else Constant(_fraction(node, node.this))
        if isinstance(node, exp.Neg) and isinstance(node.this.unnest(), exp.Literal) and not node.this.unnest().is_string:
            return Constant(-_fraction(node, node.this.unnest().this))
        if isinstance(node, exp.Cast) and node.to.this in CASTS and isinstance(node.this.unnest(), exp.Literal):
            return written_date(node)
        return None

    def _arithmetic(self, node: exp.Expr) -> Expression:
        found = interval_arithmetic(self, node)
        if found is not None:
            return found
        left, right = self.value(node.this), self.value(node.expression)
        found = date_arithmetic(self, node, left, right)
        if found is not None:
            return _folded(found)
        made = Arithmetic(OPERATORS[type(node)], _number(left, node.this), _number(right, node.expression))
        return _folded(made)  # exactly: in doubles 0.06 + 0.01 is below 0.07

    def number(self, node: exp.Expr, times: int = 1) -> Expression:
        """A number, which an engine will get so many times."""
        before = self._read
        found = _number(self.value(node), node)
        self._count(node, (times - 1) * (self._read - before))
        return found

    def _count(self, node: exp.Expr, parts: int) -> None:
        self._read += parts
        if self._read > MOST_NODES:
            raise refuse(node, f"written out, the question has more than {MOST_NODES} parts", "a shorter question")

    # -- conditions ----------------------------------------------------------------------------------------------

    def pair(self, first: exp.Expr, left: Expression, second: exp.Expr) -> tuple[Expression, Expression]:
        """Two values that can be compared: of one kind, a text next to a date being read as one."""
        return alike(first, left, second, self.value(second))

    def _compared(self, sign: Comparison, first: exp.Expr, second: exp.Expr) -> Expression:
        """A comparison; of days with a timestamp, one with a day; of durations, one of whole numbers."""
        span = interval_comparison(self, sign, first, second)
        if span is not None:
            return span
        left, right = self.value(first), self.value(second)
        left, right = as_compared(left, right), as_compared(right, left)
        for turned, value, beside in ((sign, right, left), (TURNED[sign], left, right)):
            if isinstance(value, Constant) and beside.facts.type is Type.DATE:
                found = whole_days(turned, value.value)
                if found is not None:
                    return Compare(found[0], beside, Constant(found[1]))
        return Compare(sign, *alike(first, left, second, right))

    def alike(self, parts: list[Expression]) -> list[Expression]:
        """Dates beside timestamps as one kind; all else as it is."""
        return of_one_type(parts)

    def _one_of(self, node: exp.Expr) -> Expression:
        if node.args.get("query") is not None:
            raise within_a_condition(node)
        options, value = node.expressions, self.value(node.this)
        if not 0 < len(options) <= MOST_OPTIONS:
            why = f"IN takes a list of 1 to {MOST_OPTIONS} constants"
            raise refuse(node, why, "several lists, joined by OR" if options else "no row: an empty list holds no value")
        read = [as_compared(self.value(option), value) for option in options]
        found = [alike(node.this, value, option, one)[1] for option, one in zip(options, read, strict=True)]
        value, *found = self.alike([value, *found])
        if isinstance(value, Constant) or not all(isinstance(option, Constant) for option in found):
            raise refuse(node, "IN compares a value with constants", "equalities that are joined by OR")
        return InList(value, tuple(cast(Constant, option) for option in found))

    def _like(self, node: exp.Expr) -> Expression:
        value, pattern = self.value(node.this), node.expression.unnest()
        if value.facts.type is not Type.TEXT or not isinstance(pattern, exp.Literal) or not pattern.is_string:
            why = "LIKE compares a text with a pattern that is written out"
            raise refuse(node, why, LIKE_WORDS)
        if len(str(pattern.this)) > LONGEST_PATTERN:
            raise refuse(node, f"a pattern has at most {LONGEST_PATTERN} characters", "a shorter pattern")
        like = Like(value, str(pattern.this))
        return Not(like) if node.args.get("negate") else like

    def _case(self, node: exp.Expr) -> Expression:
        subject = node.this
        branches = []
        for branch in node.args["ifs"]:
            if subject is None:
                condition = self.condition(branch.this)
            else:
                condition = Compare("=", *self.pair(subject, self.value(subject), branch.this))
            branches.append((condition, self.value(branch.args["true"])))
        default = node.args.get("default")
        otherwise = None if default is None or isinstance(default, exp.Null) else self.value(default)
        values = self.alike([value for _, value in branches] + ([] if otherwise is None else [otherwise]))
        branches = [(condition, value) for (condition, _), value in zip(branches, values, strict=False)]
        otherwise = None if otherwise is None else values[-1]
        kinds = {value.facts.type for _, value in branches} | ({otherwise.facts.type} if otherwise is not None else set())
        if len(kinds) > 1 and not all(kind.is_number for kind in kinds):
            why = "its branches give values of different types, and are texts in all of them, or numbers in all"
            raise refuse(node, why, "values of one type in all branches")
        return Case(tuple(branches), otherwise)


def _number(found: Expression, node: exp.Expr) -> Expression:
    if not found.facts.type.is_number:
        why = f"it is {a(found.facts.type)}; arithmetic needs numbers"
        raise refuse(node, why, number_words(found.facts.type, shown(node)))
    return found


def _folded(found: Expression) -> Expression:
    """The same, or its value where it is made of constants alone and its facts leave one value only.

    Facts are never narrower than what an expression can be, so what is left between two equal bounds is the value itself,
    unless it is missing: NULLIF(3, 3) has none. Of constants DATE_TRUNC, // and % always have one.
    """
    if isinstance(found, DatePart) and isinstance(found.of, Constant):
        assert isinstance(found.of.value, datetime.date)
        return Constant(Fraction(part_of(found.part, found.of.value)))
    facts = found.facts
    first, last = (facts.lower, facts.upper) if facts.type.is_number else (facts.first, facts.last)
    missing = facts.nullable and not isinstance(found, (DateTrunc, WholeQuotient, Remainder))
    if first is None or first != last or missing or isinstance(found, Constant) or columns_of(found) or constants_of(found):
        return found
    return Constant(first)


def _within(found: Expression, node: exp.Expr) -> Expression:
    """The same, unless its bounds are numbers that cost time to compute with and that no engine can hold."""
    ends = [end for end in (found.facts.lower, found.facts.upper) if end is not None]
    if any(max(end.numerator.bit_length(), end.denominator.bit_length()) > MOST_BITS for end in ends):
        raise refuse(node, "its bounds are too large, or have too many digits", "factors of ordinary size")
    return found


def _fraction(node: exp.Expr, text: Any) -> Fraction:
    try:
        return Number(str(text)).fraction()
    except NumberError as error:
        raise refuse(node, error.why, "a number such as 0.5") from error
