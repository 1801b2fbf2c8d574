"""Expressions and measures in DuckDB's SQL: one template a node, each total (it cannot fail on any row) and deterministic.

Why total. Cells are read by TRY_CAST, which gives NULL where a cell does not fit, and NaN in a cell is NULL. Numbers
are doubles: sums and products overflow to infinities; infinity minus infinity is NaN, which compares as above every
number and counts as missing when it is measured. (It is not made NULL inside expressions: DuckDB would write each
operand twice, and nested sums would grow as 2^n.) Comparisons, LIKE with a constant pattern, IN with constants, CASE
and parts of dates have a value, or NULL, for every input. Division is by constants, in doubles, where it cannot fail. Texts
are cut and made sound before a function gets them. There is no cast of analysts' values, no function with a pattern, a
position or a length from a row. Why the analyst's text cannot get through: only numbers, dates, quoted texts and quoted
names are ever written, each by its own quoting function; names are those of the policy, or what a question calls the
columns of an inner one, at most 128 printable characters.
"""

from __future__ import annotations

import datetime
from fractions import Fraction

from dither.query.plan.base import Expression
from dither.query.plan.counters import Counter
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
)
from dither.query.plan.functions import (
    Abs,
    ChangeText,
    Coalesce,
    Concat,
    DateTrunc,
    Function,
    GreatestLeast,
    Length,
    Round,
    Substring,
    WidthBucket,
)
from dither.query.policy.column import LONGEST_TEXT, Column, Type
from dither.query.sources.sql_quotes import name, text

TYPES = {
    Type.INTEGER: "BIGINT",
    Type.DECIMAL: "DOUBLE",
    Type.FLOAT: "DOUBLE",
    Type.TEXT: "VARCHAR",
    Type.BOOLEAN: "BOOLEAN",
    Type.DATE: "DATE",
    Type.TIMESTAMP: "TIMESTAMP",
}
WEEKDAY = {"weekday": "dow"}
WHOLE = (ColumnValue, DatePart, Length, WidthBucket)  # their whole numbers are BIGINTs, all other numbers may be doubles


def cell(column: Column) -> str:
    """The cell of a column as its type; NULL where it does not fit, and where it is not a number."""
    read = f"TRY_CAST({name(column.name)} AS {TYPES[column.type]})"
    if column.type is Type.TEXT:
        return f'{read} COLLATE "binary"'  # a column of a DuckDB file may say that a is A
    if column.type in (Type.DATE, Type.TIMESTAMP):
        return f"CASE WHEN isfinite({read}) THEN {read} END"  # 'infinity' is no day: Python takes it for 9999-12-31
    return real(read) if TYPES[column.type] == "DOUBLE" else read


def person(column: Column, *, is_text: bool) -> str:
    """Whose a row is; NULL where that cannot be told. A text that is to be a whole number must be spelled as one is: of
    '7', '007' and '6.9' TRY_CAST would make one person."""
    if is_text and column.type is Type.INTEGER:
        return f"CASE WHEN regexp_full_match({name(column.name)}::VARCHAR, '0|-?[1-9][0-9]*') THEN {cell(column)} END"
    return cell(column)


def real(sql: str) -> str:
    """A double that is a number or an infinity; NULL for NaN."""
    return f"nullif({sql}, 'nan'::DOUBLE)"  # in DuckDB NaN equals NaN


def number(value: Fraction) -> str:
    """The double nearest to a rational."""
    try:
        found = value.numerator / value.denominator
    except OverflowError:
        found = float("inf") if value > 0 else float("-inf")
    return f"{text(repr(found))}::DOUBLE"


def constant(value: object) -> str:
    """A value that was written in a question."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return f"{text(str(value))}::BIGINT"  # quoted: unquoted, a minus comes after the cast, and -2^63 fails
    if isinstance(value, Fraction):
        whole = value.denominator == 1 and -(2**63) <= value < 2**63
        return constant(value.numerator) if whole else number(value)
    if isinstance(value, datetime.datetime):
        return f"{text(value.isoformat(sep=' '))}::TIMESTAMP"
    if isinstance(value, datetime.date):
        return f"{text(value.isoformat())}::DATE"
    assert isinstance(value, str)
    return text(value)


def render(node: Expression) -> str:
    """An expression as SQL."""
    match node:
        case ColumnValue(column):
            return cell(column)
        case Constant(value):
            return constant(value)
        case Arithmetic(operator, left, right):
            return f"({_double(left)} {operator} {_double(right)})"
        case DatePart(part, of):
            return f"date_part({text(WEEKDAY.get(part, part))}, {render(of)})"
        case Compare(operator, left, right):
            if {left.facts.type, right.facts.type} <= {Type.INTEGER} or not left.facts.type.is_number:
                return f"({render(left)} {operator} {render(right)})"
            return f"({_double(left)} {operator} {_double(right)})"
        case InList(value, options):
            if value.facts.type.is_number and value.facts.type is not Type.INTEGER:
                return f"({render(value)} IN ({', '.join(_double(option) for option in options)}))"
            return f"({render(value)} IN ({', '.join(render(option) for option in options)}))"
        case Like(value, pattern):
            return f"(left({render(value)}, {LONGEST_TEXT}) LIKE {text(pattern)})"
        case IsNull(value):
            return f"(NOT {is_there(value)})"
        case Logic(every, parts):
            return "(" + (" AND " if every else " OR ").join(render(part) for part in parts) + ")"
        case Not(condition):
            return f"(NOT {render(condition)})"
        case Bucket():
            return _bucket(node)
        case Case(branches, otherwise):
            as_double = node.facts.type in (Type.DECIMAL, Type.FLOAT)
            spell = _double if as_double else render
            told = " ".join(f"WHEN {render(condition)} THEN {spell(value)}" for condition, value in branches)
            return f"(CASE {told} ELSE {'NULL' if otherwise is None else spell(otherwise)} END)"
        case _:
            assert isinstance(node, Function), node
            return _function(node)


def _function(node: Function) -> str:
    """A function of a row. Each operand is written once, but for a bucket's."""
    spell = _double if node.facts.type in (Type.DECIMAL, Type.FLOAT) else render
    match node:
        case DateTrunc(period, of):  # beyond the years that a timestamp has, DuckDB fails: missing
            return f"TRY_CAST(TRY(date_trunc({text(period)}, {render(of)})) AS {TYPES[node.facts.type]})"
        case ChangeText(how, of):
            return f"{how}({_sound(of)})"
        case Substring(of, None, length):
            return f"right({_sound(of, whole=True)}, {length})"
        case Substring(of, start, length):
            return f"substring({_sound(of)}, {start}, {length})"
        case Concat(parts):
            return f"left({' || '.join(_sound(part) for part in parts)}, {LONGEST_TEXT})"
        case Length(of):
            return f"length({_sound(of)})"
        case Coalesce(parts):
            return f"coalesce({', '.join(spell(part) for part in parts)})"
        case GreatestLeast(largest, parts):  # DuckDB leaves out what is missing
            return f"{'greatest' if largest else 'least'}({', '.join(spell(part) for part in parts)})"
        case Abs(of):
            return f"abs({_double(of)})"  # of the least BIGINT it would fail
        case Round(way, of, digits):
            return f"round({_double(of)}, {digits})" if way == "round" else f"{way}({_double(of)})"
        case WidthBucket(of, low, high, count):
            e, least, most = _double(of), number(low), number(high)
            # for whole numbers the quotient is exact enough that its floor is; otherwise an edge may be off by its rounding
            inside = f"TRY_CAST(floor(({e} - {least}) * {number(Fraction(count))} / {number(high - low)}) AS BIGINT) + 1"
            inside = f"least(greatest({inside}, 1::BIGINT), {count}::BIGINT)"
            beyond = f"WHEN {e} < {most} THEN {inside} WHEN {e} <= 'inf'::DOUBLE THEN {count + 1}::BIGINT"
            return f"(CASE WHEN {e} < {least} THEN 0::BIGINT {beyond} END)"


def _sound(node: Expression, *, whole: bool = False) -> str:
    """A text that functions can take: cut, and UTF-8, or NULL. A frame in memory may hold anything, on which they fail."""
    rendered = render(node) if whole else f"left({render(node)}, {LONGEST_TEXT})"
    return rendered if isinstance(node, (Constant, ChangeText, Substring, Concat)) else f"TRY(decode(encode({rendered})))"


def _bucket(node: Bucket) -> str:
    """Clamped steps, divided as whole numbers."""
    measure = Counter("above", node.of, node.step)
    e = value(measure)
    return f"(({clamped(measure, e, counted(measure, e))}) // {node.width})"


def is_there(node: Expression, sql: str | None = None) -> str:
    """Whether an expression has a value; true or false, never NULL. What is not a number is no value."""
    rendered = render(node) if sql is None else sql
    if node.facts.type.is_number and not (isinstance(node, WHOLE) and node.facts.type is Type.INTEGER):
        return f"coalesce({rendered} <= 'inf'::DOUBLE, FALSE)"
    return f"({rendered} IS NOT NULL)"


def value(measure: Counter) -> str:
    """An expression that is about to be measured in steps: a BIGINT where it is a whole number of them, else a double."""
    assert measure.of is not None
    return render(measure.of) if _is_whole(measure) else _double(measure.of)


def _is_whole(measure: Counter) -> bool:
    """Whether a value is its own number of steps, in 64 bits."""
    node, wide = measure.of, 2**62
    if not isinstance(node, WHOLE) or node.facts.type is not Type.INTEGER or measure.step != 1:
        return False
    return -wide < measure.low + _origin(measure) and measure.high + _origin(measure) < wide


def counted(measure: Counter, e: str) -> str:
    """The value `e` in steps, before the clamp; NULL where it has none, or lies beyond 2^63 steps."""
    if _is_whole(measure):
        return "NULL::BIGINT"  # not needed: `clamped` takes the value itself
    origin = _origin(measure)
    shifted = e if origin == 0 else f"({e} - {number(origin)})"
    inverse = 1 / measure.step
    scaled = f"{shifted} * {number(inverse)}" if inverse.denominator == 1 else f"{shifted} / {number(measure.step)}"
    return f"TRY_CAST(floor({scaled} + 0.5::DOUBLE) AS BIGINT)"


def clamped(measure: Counter, e: str, k: str) -> str:
    """The steps `k` of the value `e`, a BIGINT from `low` to `high` whatever the row holds; NULL where e is NULL or NaN.

    k is missing for NaN, which is above every number, and for values beyond 2^63 steps, which the sign tells apart. `above`
    counts from the lower bound, `steps` from zero.
    """
    low, high, origin = f"{measure.low}::BIGINT", f"{measure.high}::BIGINT", _origin(measure)
    if _is_whole(measure):
        first, last = measure.low + int(origin), measure.high + int(origin)
        shifted = e if origin == 0 else f"{e} - ({int(origin)})"
        inside = f"{e} BETWEEN {first} AND {last} THEN {shifted}"
        return f"CASE WHEN {inside} WHEN {e} > {last} THEN {high} WHEN {e} < {first} THEN {low} END"
    far = f"CASE WHEN {e} > {number(origin)} THEN {high} ELSE {low} END"
    inside = f"{k} BETWEEN {low} AND {high} THEN {k} WHEN {k} > {high} THEN {high} WHEN {k} < {low} THEN {low}"
    return f"CASE WHEN {inside} WHEN {e} <= 'inf'::DOUBLE THEN {far} END"


def _origin(measure: Counter) -> Fraction:
    assert measure.of is not None
    assert measure.of.facts.lower is not None
    return measure.of.facts.lower if measure.kind == "above" else Fraction(0)


def _double(node: Expression) -> str:
    if isinstance(node, Constant) and isinstance(node.value, Fraction):
        return number(node.value)
    return f"{render(node)}::DOUBLE"
