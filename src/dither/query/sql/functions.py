"""Calls of functions in a question: each becomes a node of `plan/functions.py`, or a refusal. Positions, digits and counts
are constants, so that what a row costs does not depend on another column of it."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Protocol

from sqlglot import exp

from dither.query.plan.base import Expression
from dither.query.plan.calendar_periods import OF_TIMES, PERIODS
from dither.query.plan.dates import DateTrunc
from dither.query.plan.expressions import Case, Compare, Constant, IsNull, Not
from dither.query.plan.facts import a
from dither.query.plan.functions import (
    Abs,
    Ceil,
    ChangeText,
    Coalesce,
    Concat,
    Floor,
    GreatestLeast,
    Length,
    Round,
    Rounding,
    Substring,
    Trunc,
    WidthBucket,
)
from dither.query.policy.column import LONGEST_TEXT, Type
from dither.query.sql.scope import Scope
from dither.query.sql.syntax import refuse, shown

OF_DATES = "a column of dates or timestamps, or a constant: DATE '<day>'"
MOST_DIGITS = 15  # a double has no more
MOST_BUCKETS = 10_000
MOST_PARTS = 100  # of CONCAT, COALESCE, GREATEST and LEAST
ONE, ZERO = Constant(Fraction(1)), Constant(Fraction(0))
WHOLE = (exp.DataType.Type.INT, exp.DataType.Type.BIGINT, exp.DataType.Type.INT128)
NUMBERS = (exp.DataType.INTEGER_TYPES - {exp.DataType.Type.BIT}) | exp.DataType.REAL_TYPES  # SQL casts a condition to them
OWN_TYPES: dict[Any, Type] = {
    **dict.fromkeys(WHOLE, Type.INTEGER),
    exp.DataType.Type.TEXT: Type.TEXT,  # VARCHAR, which DuckDB cuts at no length
    exp.DataType.Type.BOOLEAN: Type.BOOLEAN,
    exp.DataType.Type.DATE: Type.DATE,
    exp.DataType.Type.TIMESTAMPNTZ: Type.TIMESTAMP,
}
Kind = type[exp.Expr]


class Reader(Protocol):
    """What a call needs of the reader of expressions."""

    scope: Scope

    def meaning(self, node: exp.Expr) -> Expression | None:
        """What a node means, if it is an expression about a row."""

    def value(self, node: exp.Expr) -> Expression:
        """Any allowed expression."""

    def number(self, node: exp.Expr, times: int = 1) -> Expression:
        """A number with bounds, or without, which an engine will get so many times."""

    def alike(self, parts: list[Expression]) -> list[Expression]:
        """Dates beside timestamps as one kind; all else as it is."""

    def pair(self, first: exp.Expr, left: Expression, second: exp.Expr) -> tuple[Expression, Expression]:
        """Two values of one kind."""


def _text(reader: Reader, node: exp.Expr, inner: exp.Expr) -> Expression:
    found = reader.value(inner)
    if found.facts.type is not Type.TEXT:
        raise refuse(node, f"{shown(inner)} is {a(found.facts.type)}; the function is one of texts", "a text")
    return found


def _whole(reader: Reader, node: exp.Expr, inner: exp.Expr | None, least: int, most: int) -> int:
    """A constant whole number within limits."""
    found = None if inner is None else reader.meaning(inner)
    value = found.value if isinstance(found, Constant) else None
    if not isinstance(value, Fraction) or value.denominator != 1 or not least <= value <= most:
        why = "a whole number is missing" if inner is None else f"{shown(inner)} is no whole number from {least} to {most}"
        raise refuse(node, why, f"a constant from {least} to {most}")
    return int(value)


def _alike(reader: Reader, node: exp.Expr, parts: list[exp.Expr]) -> tuple[Expression, ...]:
    """Several values of one kind."""
    if not 0 < len(parts) <= MOST_PARTS:
        raise refuse(node, f"it takes 1 to {MOST_PARTS} values", "fewer of them" if parts else "at least one value")
    found = [reader.value(parts[0])]
    for part in parts[1:]:
        found[0], other = reader.pair(parts[0], found[0], part)
        found.append(other)
    return tuple(reader.alike(found))


def _date_start(reader: Reader, node: exp.Expr) -> Expression:
    of = reader.value(node.this)
    written = node.args["unit"].name.lower()
    period = next((period for period in PERIODS if period == written), None)
    if not of.facts.type.is_date:
        raise refuse(node, f"{a(of.facts.type)} has no {written}", OF_DATES)
    if period is None or (period in OF_TIMES and of.facts.type is Type.DATE):
        kind, names = a(of.facts.type), ", ".join(PERIODS)
        why = f"of {kind}, the answered periods are {names}; hours, minutes and seconds are of timestamps"
        raise refuse(node, why, "one of these periods")
    return DateTrunc(period, of)


def _spelled(reader: Reader, node: exp.Expr) -> Expression:
    return ChangeText("upper" if isinstance(node, exp.Upper) else "lower", _text(reader, node, node.this))


def _trimmed(reader: Reader, node: exp.Expr) -> Expression:
    if node.args.get("expression") is not None:
        raise refuse(node, "spaces are trimmed, and no other signs", "TRIM of spaces alone, which is another text")
    position = str(node.args.get("position") or "").upper()
    of = _text(reader, node, node.this)
    return ChangeText("ltrim" if position == "LEADING" else "rtrim" if position == "TRAILING" else "trim", of)


def _length(reader: Reader, node: exp.Expr) -> Expression:
    return Length(_text(reader, node, node.this))


def _part(reader: Reader, node: exp.Expr) -> Expression:
    of = _text(reader, node, node.this)
    if isinstance(node, (exp.Left, exp.Right)):
        name = "LEFT" if isinstance(node, exp.Left) else "RIGHT"
        length = _whole(reader, node, node.expression, 0, LONGEST_TEXT)
        return Substring(of, 1 if name == "LEFT" else None, length)
    start = _whole(reader, node, node.args.get("start"), 1, LONGEST_TEXT)
    if node.args.get("length") is None:
        return Substring(of, start, LONGEST_TEXT)
    return Substring(of, start, _whole(reader, node, node.args["length"], 0, LONGEST_TEXT))


def _joined(reader: Reader, node: exp.Expr) -> Expression:
    if isinstance(node, exp.DPipe):
        parts = list(node.flatten())
        texts = [_text(reader, node, part) for part in parts]
    elif not node.args.get("safe"):
        raise refuse(node, "two texts side by side are one in some dialects and an error in others", "|| between them")
    else:  # CONCAT takes what is missing for an empty text
        parts = node.expressions
        texts = [Coalesce((_text(reader, node, part), Constant(""))) for part in parts]
    if not 0 < len(parts) <= MOST_PARTS:
        raise refuse(node, f"it joins 1 to {MOST_PARTS} texts", "fewer of them" if parts else "at least one text")
    return Concat(tuple(texts))


def _first_present(reader: Reader, node: exp.Expr) -> Expression:
    parts = _alike(reader, node, [node.this, *node.expressions])
    return parts[0] if len(parts) == 1 else Coalesce(parts)


def _extreme(reader: Reader, node: exp.Expr) -> Expression:
    parts = _alike(reader, node, [node.this, *node.expressions])
    if parts[0].facts.type is Type.BOOLEAN:
        raise refuse(node, "conditions are neither large nor small", "OR and AND between them, or CASE")
    return parts[0] if len(parts) == 1 else GreatestLeast(isinstance(node, exp.Greatest), parts)


def _nullif(reader: Reader, node: exp.Expr) -> Expression:
    left, right = reader.pair(node.this, reader.value(node.this), node.expression)
    if not isinstance(right, Constant):
        raise refuse(node, "NULLIF compares with a constant", "CASE WHEN <one> IS DISTINCT FROM <other> THEN <one> END")
    reader.value(node.this)  # written twice below, and so counted twice
    return Case(((Compare("<>", left, right), left),), None)


def _absolute(reader: Reader, node: exp.Expr) -> Expression:
    return Abs(reader.number(node.this))


def _rounded(reader: Reader, node: exp.Expr) -> Expression:
    of, digits = reader.number(node.this), 0
    if node.args.get("decimals") is not None:
        name = type(node).__name__.upper()
        if not isinstance(node, exp.Round):
            raise refuse(node, f"{name} gives whole numbers", f"{name} of it times a power of ten, divided by that")
        digits = _whole(reader, node, node.args["decimals"], -MOST_DIGITS, MOST_DIGITS)
    if of.facts.type is Type.INTEGER and digits >= 0:
        return of
    return ROUNDINGS[type(node)](of, digits)


def _bucket(reader: Reader, node: exp.Expr) -> Expression:
    of = reader.number(node.this)
    stated = [node.args.get(end) for end in ("min_value", "max_value")]
    ends = [None if end is None else reader.meaning(end) for end in stated]
    low, high = (end.value if isinstance(end, Constant) else None for end in ends)
    if not isinstance(low, Fraction) or not isinstance(high, Fraction) or low >= high:
        raise refuse(
            node,
            "its bounds are two constants, the lower one first",
            f"WIDTH_BUCKET({shown(node.this)}, <low>, <high>, <number>)",
        )
    count = _whole(reader, node, node.args.get("num_buckets"), 1, MOST_BUCKETS)
    for _ in range(3):
        reader.number(node.this)  # an engine gets it four times, and so it is counted four times
    return WidthBucket(of, low, high, count)


def number_of(reader: Reader, node: exp.Expr, condition: Expression) -> Expression:
    """Return 1 where a condition holds, 0 where it does not, and NULL where it is NULL: the number that SQL casts it to."""
    if not condition.facts.nullable:
        return Case(((condition, ONE),), ZERO)
    reader.value(node)  # written twice below, and so counted twice
    return Case(((condition, ONE), (Not(condition), ZERO)), None)


def beside_zero(of: Expression) -> Expression:
    """Return the same values with 0 within their bounds, by a branch that no row meets: those there are one number."""
    return Case(((Not(IsNull(of)), of), (Constant(False), ZERO)), None)


def _cast(reader: Reader, node: exp.Expr) -> Expression:
    """A cast to what a value is here anyway: it changes nothing. (To a narrower INTEGER it changes no value that fits, and
    plain SQL fails on the others; a whole number as a double is what it is added up and compared as.)"""
    kind, of = node.args["to"].this, reader.value(node.this)
    if of.facts.type is Type.BOOLEAN and kind in NUMBERS and _holds_one(node.args["to"]):
        return number_of(reader, node.this, of)
    if OWN_TYPES.get(kind) is of.facts.type or (kind is exp.DataType.Type.DOUBLE and of.facts.type.is_number):
        return of
    if kind in WHOLE or kind is exp.DataType.Type.DOUBLE:
        reader.number(node.this)  # that it is no number is the better message
        raise refuse(
            node,
            "it may have digits after the point, of which engines make different whole numbers",
            "FLOOR, CEIL, ROUND or TRUNC of it",
        )
    why = f"it is {a(of.facts.type)}; values are not cast to other types: the policy says what a column is"
    raise refuse(node, why, "the value without CAST")


def _holds_one(kind: exp.DataType) -> bool:
    """Whether 1 is a number of a type: DECIMAL(3, 2) has a digit before the point, and DECIMAL(2, 2) has none."""
    digits = [part.this.name for part in kind.expressions]
    return not digits or (len(digits) == 2 and all(map(str.isdecimal, digits)) and int(digits[0]) > int(digits[1]))


def _made_date(reader: Reader, node: exp.Expr) -> Expression:
    """MAKE_DATE and MAKE_TIMESTAMP of constants."""
    made = reader.meaning(node.args["sec"]) if isinstance(node, exp.TimestampFromParts) and node.args.get("sec") else None
    seconds = made.value if isinstance(made, Constant) else None
    names = ("year", "month", "day", *(() if isinstance(node, exp.DateFromParts) else ("hour", "min")))
    whole = [_whole(reader, node, node.args.get(name), 0, 9999) for name in names]
    try:
        if isinstance(node, exp.DateFromParts):
            return Constant(datetime.date(*whole))
        if isinstance(seconds, Fraction) and 0 <= seconds < 60 and (seconds * 10**6).denominator == 1:
            return Constant(datetime.datetime(*whole) + datetime.timedelta(microseconds=int(seconds * 10**6)))  # type: ignore[arg-type]
    except ValueError:
        pass  # there is no such day
    raise refuse(node, "there is no such date", "a day that the calendar has")


ROUNDINGS: dict[Kind, type[Rounding]] = {exp.Floor: Floor, exp.Ceil: Ceil, exp.Round: Round, exp.Trunc: Trunc}

CALLS: dict[Kind, Callable[[Reader, exp.Expr], Expression]] = {
    exp.TimestampTrunc: _date_start,
    exp.DateTrunc: _date_start,
    exp.Upper: _spelled,
    exp.Lower: _spelled,
    exp.Trim: _trimmed,
    exp.Length: _length,
    exp.Substring: _part,
    exp.Left: _part,
    exp.Right: _part,
    exp.Concat: _joined,
    exp.DPipe: _joined,
    exp.Coalesce: _first_present,
    exp.Nullif: _nullif,
    exp.Greatest: _extreme,
    exp.Least: _extreme,
    exp.Abs: _absolute,
    exp.Round: _rounded,
    exp.Floor: _rounded,
    exp.Ceil: _rounded,
    exp.Trunc: _rounded,
    exp.WidthBucket: _bucket,
    exp.Cast: _cast,
    exp.DateFromParts: _made_date,
    exp.TimestampFromParts: _made_date,
}
