"""Expressions as SQL: one template a node, each total (it cannot fail on any row) and deterministic.

Why total. What engines spell differently is written by its words (`engines/words.py`), each total by itself. Cells are read
as their type, or NULL where they do not fit, and NaN in a cell is NULL. Numbers are doubles. Cells that are computed with
are cut to sizes from 2^-100 to 2^100 (`Words.operands`), infinities aside: some engines fail where doubles overflow or
underflow, and refuse questions of so many factors that they still could. Infinity minus infinity is NaN, which compares as
above every number and counts as missing when it is measured. (It is not made NULL inside expressions: each operand would be
written twice, and nested sums would grow as 2^n.)
Comparisons, LIKE with a constant pattern, IN with constants, CASE and parts of dates have a value, or NULL, for every input.
Division is by constants, in doubles; other functions of numbers compare first (`templates/mathematics.py`). Texts are cut
and made sound before a function gets them. There is no cast of analysts' values, no function with a pattern, a position or a
length from a row. Why the analyst's text cannot get through: only numbers, dates, quoted texts and quoted names are ever
written, each by its own word; names are those of the policy, or what a question calls the columns of an inner one, at most
128 printable characters.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from fractions import Fraction

from dither.query.engines.templates import mathematics
from dither.query.engines.templates.counters import clamped, counted, holds_integers, is_whole
from dither.query.engines.words import Words
from dither.query.plan.base import Expression
from dither.query.plan.counters import AboveCounter, Counter
from dither.query.plan.dates import DateAdd, DateCast, DateDiff, DateTrunc
from dither.query.plan.expressions import (
    Arithmetic,
    Bucket,
    Case,
    ColumnValue,
    Compare,
    Constant,
    DatePart,
    InList,
    IsNull,
    Like,
    Logic,
    Not,
    ReleasedConstant,
)
from dither.query.plan.functions import (
    Abs,
    Ceil,
    ChangeText,
    Clamp,
    Coalesce,
    Concat,
    Floor,
    Function,
    GreatestLeast,
    Length,
    Round,
    Substring,
    Trunc,
    WidthBucket,
)
from dither.query.plan.mathematics.division import Quotient, Remainder, Sign, WholeQuotient
from dither.query.plan.mathematics.elementary import Elementary, Power
from dither.query.policy.column import LONGEST_TEXT, Column, Type

REAL = (Type.DECIMAL, Type.FLOAT)  # doubles
DAYS = {  # what Python can write: no 'infinity', and no year that an engine's functions of dates fail on
    Type.DATE: (datetime.date.min, datetime.date.max),
    Type.TIMESTAMP: (datetime.datetime.min, datetime.datetime.max),
}


def cell(words: Words, column: Column) -> str:
    """The cell of a column as its type; NULL where it does not fit, is no number, or lies beyond the years 1 to 9999."""
    read = words.cell(words.name(column.name), column.type)
    if column.type is Type.TEXT:
        return words.binary(read)
    if column.type in (Type.DATE, Type.TIMESTAMP):
        return _in_calendar(words, read, column.type)
    return words.real(read) if column.type in REAL else read


def _in_calendar(words: Words, sql: str, kind: Type) -> str:
    """A date of the years 1 to 9999; NULL beyond, and for infinities."""
    first, last = (words.constant(end) for end in DAYS[kind])
    return f"CASE WHEN {sql} BETWEEN {first} AND {last} THEN {sql} END"


def person(words: Words, column: Column, *, is_text: bool) -> str:
    """Whose a row is; NULL where that cannot be told. A text that is to be a whole number must be spelled as one is."""
    if is_text and column.type is Type.INTEGER:
        return f"CASE WHEN {words.is_whole(words.name(column.name))} THEN {cell(words, column)} END"
    return cell(words, column)


def render(words: Words, node: Expression) -> str:
    """An expression as SQL."""
    match node:
        case ColumnValue(column):
            return cell(words, column)
        case Constant(value):
            return words.constant(value)
        case ReleasedConstant(_, _, value):  # written by us, from a fraction: a double, or NULL
            return words.cast("NULL", words.types[Type.FLOAT]) if value is None else words.number(value)
        case Arithmetic(operator, left, right):
            return f"({_double(words.operands, left)} {operator} {_double(words.operands, right)})"
        case DatePart(part, of):
            return words.part(part, render(words, of))
        case Compare(operator, left, right):
            exact = {left.facts.type, right.facts.type} <= {Type.INTEGER} or not left.facts.type.is_number
            spell = render if exact else _double
            return f"({spell(words, left)} {operator} {spell(words, right)})"
        case InList(value, options):
            texts = tuple(option.value for option in options if isinstance(option.value, str))
            if len(texts) == len(options):
                return f"({words.among(render(words, value), texts)})"
            spell = _double if value.facts.type in REAL else render
            return f"({render(words, value)} IN ({_listed(words, options, spell)}))"
        case Like(value, pattern):
            return words.like(words.left(render(words, value), LONGEST_TEXT), pattern)
        case IsNull(value):
            return f"(NOT {is_there(words, value)})"
        case Logic(every, parts):
            return "(" + (" AND " if every else " OR ").join(render(words, part) for part in parts) + ")"
        case Not(condition):
            return f"(NOT {render(words, condition)})"
        case Bucket():
            return _bucket(words, node)
        case Case(branches, otherwise):
            spell = _double if node.facts.type in REAL else render
            told = " ".join(f"WHEN {render(words, condition)} THEN {spell(words, value)}" for condition, value in branches)
            return f"(CASE {told} ELSE {'NULL' if otherwise is None else spell(words, otherwise)} END)"
        case _:
            assert isinstance(node, Function), node
            return _function(words, node)


def _function(words: Words, node: Function) -> str:
    """A function of a row. Each operand is written once, but for those of buckets, clamps, later and different dates, and of
    functions of numbers, which are compared first."""
    spell = _double if node.facts.type in REAL else render
    match node:
        case Clamp():
            return _clamped(words, node)
        case DateTrunc(period, of):
            return words.start(period, render(words, of), node.facts.type)
        case DateCast(to, of):
            return words.cast(render(words, of), words.types[to])  # of the years 1 to 9999: each day has a start
        case DateAdd(of, months, days, microseconds):
            moment = words.cast(render(words, of), words.types[Type.TIMESTAMP])
            return _in_calendar(words, words.later(moment, months, days, microseconds), Type.TIMESTAMP)
        case DateDiff(unit, start, end):
            return words.difference(unit, render(words, start), render(words, end))
        case ChangeText(how, of):
            return words.change(how, _sound(words, of))
        case Substring(of, None, length):
            return f"right({_sound(words, of, whole=True)}, {length})"
        case Substring(of, start, length):
            return f"substring({_sound(words, of)}, {start}, {length})"
        case Concat(parts):
            return words.left(" || ".join(_sound(words, part) for part in parts), LONGEST_TEXT)
        case Length(of):
            return f"length({_sound(words, of)})"
        case Coalesce(parts):
            return f"coalesce({_listed(words, parts, spell)})"
        case GreatestLeast(largest, parts):
            spelled = [spell(words, part) for part in parts]
            return words.greatest(spelled) if largest else words.least(spelled)
        case Abs(of):
            return f"abs({_double(words, of)})"  # of the least BIGINT it would fail
        case Floor(of):
            return words.floor(_double(words, of))
        case Ceil(of):
            return words.ceil(_double(words, of))
        case Round(of, digits):
            return words.round(_double(words.operands, of), digits)
        case Trunc(of):
            return words.trunc(_double(words, of))
        case WidthBucket(of, low, high, count):
            return _width_bucket(words, _double(words.operands, of), low, high, count)
        case Quotient(of, by):
            return mathematics.quotient(words, _double(words, of), _double(words, by))
        case WholeQuotient(of, by):
            return words.divide(f"({_whole(words, of, 1)})", words.integer(by))
        case Remainder(of, by):
            return mathematics.remainder(words, _whole(words, of, node.scale), by, node.scale)
        case Sign(of):
            return mathematics.sign(words, _double(words, of))
        case Elementary(name, of):
            return mathematics.elementary(words, name, _double(words, of))
        case Power(of, exponent):
            return mathematics.power(words, _double(words, of), exponent)


def _whole(words: Words, node: Expression, scale: int) -> str:
    """A number in whole steps of 64 bits, or NULL."""
    return (
        render(words, node)
        if scale == 1 and holds_integers(node)
        else mathematics.scaled(words, _double(words.operands, node), scale)
    )


def _clamped(words: Words, node: Clamp) -> str:
    """A value within the ends, whatever the row holds: one of the two, or tested to lie between them, or NULL. NaN is above
    every number, and neither below an end nor real."""
    real = node.of.facts.type in REAL
    e = _double(words, node.of) if real else render(words, node.of)
    low, high = (
        words.number(end) if real and isinstance(end, Fraction) else words.constant(end) for end in (node.lower, node.upper)
    )
    there = f"{e} >= {high}" if not node.facts.type.is_number or holds_integers(node.of) else words.is_real(e)
    return f"(CASE WHEN {e} <= {low} THEN {low} WHEN {e} < {high} THEN {e} WHEN {there} THEN {high} END)"


def _width_bucket(words: Words, e: str, low: Fraction, high: Fraction, count: int) -> str:
    least, most = words.number(low), words.number(high)
    # for whole numbers the quotient is exact enough that its floor is; otherwise an edge may be off by its rounding
    quotient = f"({e} - {least}) * {words.number(Fraction(count))} / {words.number(high - low)}"
    place = words.greatest([f"{words.whole(words.floor(quotient))} + 1", words.integer(1)])
    inside = words.least([place, words.integer(count)])
    beyond = f"WHEN {e} < {most} THEN {inside} WHEN {words.is_real(e)} THEN {words.integer(count + 1)}"
    return f"(CASE WHEN {e} < {least} THEN {words.integer(0)} {beyond} END)"


def _sound(words: Words, node: Expression, *, whole: bool = False) -> str:
    """A text that functions can take: cut, and UTF-8, or NULL. A frame in memory may hold anything, on which they fail."""
    rendered = render(words, node) if whole else words.left(render(words, node), LONGEST_TEXT)
    return rendered if isinstance(node, (Constant, ChangeText, Substring, Concat)) else words.sound(rendered)


def _bucket(words: Words, node: Bucket) -> str:
    """Clamped steps, divided as whole numbers."""
    measure = AboveCounter(node.of, node.step)
    e = value(words, measure)
    return words.divide(f"({clamped(words, measure, e, counted(words, measure, e))})", str(node.width))


def is_there(words: Words, node: Expression, sql: str | None = None) -> str:
    """Whether an expression has a value; true or false, never NULL. What is not a number is no value."""
    rendered = render(words, node) if sql is None else sql
    if node.facts.type.is_number and not holds_integers(node):
        return f"coalesce({words.is_real(rendered)}, FALSE)"
    return f"({rendered} IS NOT NULL)"


def settled(words: Words, node: Expression) -> str:
    """A value of which what is equal is the same: NaN is missing, there is one zero, texts are compared by their bytes."""
    sql = f"CASE WHEN {is_there(words, node)} THEN {render(words, node)} END"
    if node.facts.type is Type.TEXT:
        return words.binary(f"({sql})")
    return words.one_zero(f"({sql})") if node.facts.type.is_number and not holds_integers(node) else sql


def as_column(words: Words, node: Expression, sql: str) -> str:
    """The SQL of a value as a column of its type. Whole numbers that were computed in doubles are of 64 bits from here on,
    or NULL: whoever reads the column casts it to its type, and an engine whose casts fail would fail on one row."""
    computed = node.facts.type is Type.INTEGER and not holds_integers(node) and not isinstance(node, Constant)
    return f"({words.whole(f'({sql})')})" if computed else sql


def value(words: Words, measure: Counter) -> str:
    """An expression that is about to be measured in steps: of 64 bits where it is a whole number of them, else a double."""
    node = measure.values
    if isinstance(node, ColumnValue) and node.column.type in REAL:
        return words.cell(words.name(node.column.name), node.column.type)  # with NaN, of which the clamp makes NULL
    return render(words, node) if is_whole(measure) else _double(words, node)


def _double(words: Words, node: Expression) -> str:
    if isinstance(node, Constant) and isinstance(node.value, Fraction):
        return words.number(node.value)
    return words.double(render(words, node))


def _listed(words: Words, parts: Sequence[Expression], spell: Callable[[Words, Expression], str]) -> str:
    return ", ".join(spell(words, part) for part in parts)
