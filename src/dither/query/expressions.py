"""Expressions of a question, one row at a time: each node of the parser's tree becomes one of ours, or a refusal."""

from __future__ import annotations

import datetime
from fractions import Fraction
from typing import Any, cast

from sqlglot import exp

from dither.errors import NumberError, QuestionError
from dither.numeric.number import Number
from dither.query.column import Key, Type
from dither.query.plan import (
    PARTS,
    Arithmetic,
    Case,
    Cell,
    Compare,
    Comparison,
    Constant,
    DatePart,
    Expression,
    IsMissing,
    Like,
    Logic,
    Not,
    OneOf,
    Operator,
    Part,
)
from dither.query.table import Table

DIALECT = "duckdb"
SIGNS: dict[type[exp.Expression], Comparison] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
OPERATORS: dict[type[exp.Expression], Operator] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*"}
DATE_FUNCTIONS: dict[type[exp.Expression], Part] = {
    exp.Year: "year",
    exp.Quarter: "quarter",
    exp.Month: "month",
    exp.Day: "day",
    exp.DayOfWeek: "weekday",
}
MOST_OPTIONS = 1000
MOST_DERIVED_KEYS = 1000


def place_of(node: object) -> str:
    """Where in the question a node is, as well as the parser knows."""
    if isinstance(node, exp.Expression):
        for part in node.walk():
            if part.meta.get("line"):
                return f"line {part.meta['line']}, column {part.meta['col'] - len(part.name) + 1}"
    return "question"


def refuse(node: exp.Expression, why: str, instead: str) -> QuestionError:
    return QuestionError(place_of(node), node.sql(DIALECT), why, instead)


class Reader:
    """Reads expressions about the rows of one table."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def same(self, node: exp.Expression, expression: Expression) -> bool:
        """Whether a node means an expression that was read before."""
        try:
            return self.value(node) == expression
        except QuestionError:
            return False

    def condition(self, node: exp.Expression) -> Expression:
        """Something that is true or false of a row."""
        found = self.value(node)
        if found.facts.type is not Type.BOOLEAN:
            raise refuse(node, f"it is a {found.facts.type.value}, not a condition", "a comparison such as age >= 18")
        return found

    def value(self, node: exp.Expression) -> Expression:
        """Any allowed expression."""
        kind = type(node)
        if kind is exp.Paren:
            return self.value(node.this)
        if kind is exp.Column:
            return self._column(node)
        if kind in (exp.Literal, exp.Boolean, exp.Cast, exp.Neg) and (constant := self._constant(node)) is not None:
            return constant
        if kind is exp.Neg:
            return Arithmetic("-", Constant(Fraction(0)), self._number(node.this))
        if kind in OPERATORS:
            return Arithmetic(OPERATORS[kind], self._number(node.this), self._number(node.expression))
        if kind in SIGNS:
            return self._compare(SIGNS[kind], node)
        if kind in (exp.And, exp.Or):
            return Logic(kind is exp.And, tuple(self.condition(part) for part in node.flatten()))
        if kind is exp.Not:
            return Not(self.condition(node.this))
        if kind is exp.Is and isinstance(node.expression, exp.Null):
            return IsMissing(self.value(node.this))
        if kind is exp.Between:
            low, high = (self._pair(node.this, end, node) for end in (node.args["low"], node.args["high"]))
            return Logic(True, (Compare(">=", *low), Compare("<=", *high)))
        if kind is exp.In:
            return self._one_of(node)
        if kind is exp.Like:
            return self._like(node)
        if kind is exp.Case:
            return self._case(node)
        if kind in (exp.Extract, *DATE_FUNCTIONS):
            return self._date_part(node)
        raise self._unknown(node)

    def keys(self, by: Expression, node: exp.Expression) -> tuple[Key, ...]:
        """All values that a group can have: declared for a column, listed by a CASE, or the parts of a date."""
        if isinstance(by, Cell):
            if by.column.keys is None:
                why = "the policy declares no keys for it, and none are taken from the data"
                raise refuse(node, why, "a column with keys, or CASE WHEN ... THEN 'label' ELSE 'other' END")
            return by.column.keys
        if isinstance(by, Case):
            values = [value for _, value in by.branches] + ([] if by.otherwise is None else [by.otherwise])
            if by.otherwise is None or not all(isinstance(value, Constant) for value in values):
                raise refuse(
                    node,
                    "a CASE to group by gives constants, and has an ELSE",
                    "CASE WHEN age < 18 THEN 'child' ELSE 'adult' END",
                )
            found = {_as_key(cast(Constant, value)) for value in values}
            if len({type(key) for key in found}) > 1:
                raise refuse(node, "its labels are of different kinds", "labels that are all texts, or all whole numbers")
            return tuple(sorted(found))
        if isinstance(by, DatePart) and by.part != "year":
            lower, upper = PARTS[by.part]
            return tuple(range(lower, upper + 1))
        if isinstance(by, DatePart) and isinstance(by.of, Cell) and by.of.column.keys is not None:
            return tuple(sorted({day.year for day in by.of.column.keys if isinstance(day, datetime.date)}))
        raise refuse(
            node, "its possible values are not known beforehand", "a column with declared keys, or a CASE with labels"
        )

    # -- leaves --------------------------------------------------------------------------------------------------

    def _column(self, node: exp.Expression) -> Cell:
        column = self.table.column(node.name)
        if column is None:
            names = ", ".join(column.name for column in self.table.columns)
            raise refuse(node, f"the table {self.table.name} has no such column", names)
        return Cell(column)

    def _constant(self, node: exp.Expression) -> Constant | None:
        if isinstance(node, exp.Boolean):
            return Constant(bool(node.this))
        if isinstance(node, exp.Literal):
            return Constant(node.this) if node.is_string else Constant(_fraction(node, node.this))
        if isinstance(node, exp.Neg) and isinstance(node.this.unnest(), exp.Literal) and not node.this.unnest().is_string:
            return Constant(-_fraction(node, node.this.unnest().this))
        if isinstance(node, exp.Cast):
            return _date(node)
        return None

    def _number(self, node: exp.Expression) -> Expression:
        found = self.value(node)
        if not found.facts.type.is_number:
            raise refuse(node, f"it is a {found.facts.type.value}; arithmetic needs numbers", "columns of numbers")
        return found

    # -- conditions ----------------------------------------------------------------------------------------------

    def _compare(self, sign: Comparison, node: exp.Expression) -> Expression:
        return Compare(sign, *self._pair(node.this, node.expression, node))

    def _pair(self, first: exp.Expression, second: exp.Expression, node: exp.Expression) -> tuple[Expression, Expression]:
        """Two values that can be compared: of one kind, a text next to a date being read as one."""
        left, right = self.value(first), self.value(second)
        left, right = _dated(left, right, first), _dated(right, left, second)
        if left.facts.type.is_number and right.facts.type.is_number:
            return left, right
        if left.facts.type is not right.facts.type:
            why = f"a {left.facts.type.value} is compared with a {right.facts.type.value}"
            raise refuse(node, why, "two values of one type")
        return left, right

    def _one_of(self, node: exp.Expression) -> Expression:
        options = node.expressions
        if not options or len(options) > MOST_OPTIONS or node.args.get("query") or node.args.get("unnest"):
            raise refuse(node, f"IN takes a list of 1 to {MOST_OPTIONS} constants", "ward IN ('A', 'B')")
        pairs = [self._pair(node.this, option, node) for option in options]
        found = [right for _, right in pairs]
        if not all(isinstance(option, Constant) for option in found):
            raise refuse(node, "IN takes constants", "ward IN ('A', 'B')")
        return OneOf(pairs[0][0], tuple(cast(Constant, option) for option in found))

    def _like(self, node: exp.Expression) -> Expression:
        value, pattern = self.value(node.this), node.expression
        if value.facts.type is not Type.TEXT or not isinstance(pattern, exp.Literal) or not pattern.is_string:
            raise refuse(node, "LIKE compares a text with a pattern that is written out", "name LIKE 'A%'")
        return Like(value, str(pattern.this))

    def _case(self, node: exp.Expression) -> Expression:
        subject = node.this
        branches = []
        for branch in node.args["ifs"]:
            if subject is None:
                condition = self.condition(branch.this)
            else:
                condition = Compare("=", *self._pair(subject, branch.this, node))
            branches.append((condition, self.value(branch.args["true"])))
        default = node.args.get("default")
        otherwise = None if default is None or isinstance(default, exp.Null) else self.value(default)
        kinds = {value.facts.type for _, value in branches} | ({otherwise.facts.type} if otherwise is not None else set())
        if len(kinds) > 1 and not all(kind.is_number for kind in kinds):
            raise refuse(node, "its branches give values of different types", "branches of one type")
        return Case(tuple(branches), otherwise)

    def _date_part(self, node: exp.Expression) -> Expression:
        if isinstance(node, exp.Extract):
            part, inner = str(node.this.name).lower(), node.expression
            part = {"dow": "weekday", "dayofweek": "weekday"}.get(part, part)
        else:
            part, inner = DATE_FUNCTIONS[type(node)], node.this
        of = self.value(inner)
        if (
            part not in PARTS
            or of.facts.type not in (Type.DATE, Type.TIMESTAMP)
            or (part == "hour" and of.facts.type is Type.DATE)
        ):
            raise refuse(
                node, "it is no part of a date that is answered", f"EXTRACT(month FROM ...), one of {', '.join(PARTS)}"
            )
        return DatePart(cast(Part, part), of)

    def _unknown(self, node: exp.Expression) -> QuestionError:
        if isinstance(node, (exp.Subquery, exp.Select, exp.Exists)):
            return refuse(node, "a question within a question is not answered yet", "one SELECT about one table")
        if isinstance(node, exp.Window):
            return refuse(node, "windows show single rows", "GROUP BY")
        if isinstance(node, exp.Div):
            return refuse(node, "division could fail on a single row", "multiplying by a constant: cost * 0.5")
        if isinstance(node, exp.Null):
            return refuse(node, "NULL is no value", "x IS NULL")
        if isinstance(node, exp.AggFunc):
            return refuse(node, "this aggregate is not answered here", "COUNT, SUM or AVG, in SELECT")
        name = node.name if isinstance(node, exp.Anonymous) else type(node).__name__
        allowed = "comparisons, AND, OR, NOT, IN, BETWEEN, LIKE, IS NULL, CASE, + - *, parts of dates"
        return refuse(node, f"{name} is not on the list of what may be computed from a row", allowed)


def _fraction(node: exp.Expression, text: Any) -> Fraction:
    try:
        return Number(str(text)).fraction()
    except NumberError as error:
        raise refuse(node, error.why, "a number such as 0.5") from error


def _date(node: exp.Cast) -> Constant | None:
    """DATE '2026-01-31' and TIMESTAMP '...': written out, so read by us."""
    wanted = node.to.this
    if wanted not in (exp.DataType.Type.DATE, exp.DataType.Type.TIMESTAMP) or not isinstance(node.this, exp.Literal):
        raise refuse(node, "values are not cast; the policy says what a column is", "DATE '2026-01-31' for a constant")
    return _read_date(str(node.this.this), Type.DATE if wanted == exp.DataType.Type.DATE else Type.TIMESTAMP, node)


def _dated(value: Expression, beside: Expression, node: exp.Expression) -> Expression:
    if isinstance(value, Constant) and isinstance(value.value, str) and beside.facts.type in (Type.DATE, Type.TIMESTAMP):
        return _read_date(value.value, beside.facts.type, node)
    return value


def _read_date(text: str, kind: Type, node: exp.Expression) -> Constant:
    try:
        if kind is Type.DATE:
            return Constant(datetime.date.fromisoformat(text))
        found = datetime.datetime.fromisoformat(text)
    except ValueError as error:
        raise refuse(node, f"it does not read as a {kind.value}", "DATE '2026-01-31'") from error
    if found.tzinfo is not None:
        raise refuse(node, "time zones are not read", "TIMESTAMP '2026-01-31 12:00:00'")
    return Constant(found)


def _as_key(constant: Constant) -> Key:
    value = constant.value
    if isinstance(value, Fraction):
        if value.denominator != 1 or not -(2**63) <= value < 2**63:
            raise QuestionError("CASE", str(value), "labels are texts or whole numbers", "'low', 'high'")
        return int(value)
    if isinstance(value, datetime.datetime):
        raise QuestionError("CASE", str(value), "labels are texts, whole numbers or dates", "'low', 'high'")
    return value
