"""Expressions and measures in DuckDB's SQL: one template a node, each total (it cannot fail on any row) and deterministic.

Why total. Cells are read by TRY_CAST, which gives NULL where a cell does not fit. Numbers are doubles: sums and products
overflow to infinities, and infinity minus infinity is NaN, which is made NULL at once. Comparisons, LIKE with a constant
pattern, IN with constants, CASE and parts of dates have a value, or NULL, for every input. There is no division, no cast of
analysts' values, no function with a pattern or a length from a row. Why the analyst's text cannot get through: only numbers,
quoted texts, dates and column names of the policy are ever written, each by its own quoting function.
"""

from __future__ import annotations

import datetime
from fractions import Fraction

from dither.query.column import Column, Key, Type
from dither.query.measure import Measure
from dither.query.plan import (
    Arithmetic,
    Case,
    Cell,
    Compare,
    Constant,
    DatePart,
    Expression,
    IsMissing,
    Like,
    Logic,
    Not,
    OneOf,
)

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


def name(text: str) -> str:
    """A name, quoted."""
    return '"' + text.replace('"', '""') + '"'


def text(value: str) -> str:
    """A text, quoted: inside single quotes only a single quote means anything."""
    return "'" + value.replace("'", "''") + "'"


def cell(column: Column) -> str:
    """The cell of a column as its type; NULL where it does not fit, and where it is not a number."""
    read = f"TRY_CAST({name(column.name)} AS {TYPES[column.type]})"
    return real(read) if TYPES[column.type] == "DOUBLE" else read


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
        return f"{value}::BIGINT"
    if isinstance(value, Fraction):
        whole = value.denominator == 1 and -(2**63) < value < 2**63
        return f"{value.numerator}::BIGINT" if whole else number(value)
    if isinstance(value, datetime.datetime):
        return f"{text(value.isoformat(sep=' '))}::TIMESTAMP"
    if isinstance(value, datetime.date):
        return f"{text(value.isoformat())}::DATE"
    assert isinstance(value, str)
    return text(value)


def render(node: Expression) -> str:
    """An expression as SQL."""
    match node:
        case Cell(column):
            return cell(column)
        case Constant(value):
            return constant(value)
        case Arithmetic(operator, left, right):
            return real(f"({_double(left)} {operator} {_double(right)})")
        case DatePart(part, of):
            return f"date_part({text(WEEKDAY.get(part, part))}, {render(of)})"
        case Compare(operator, left, right):
            if {left.facts.type, right.facts.type} <= {Type.INTEGER} or not left.facts.type.is_number:
                return f"({render(left)} {operator} {render(right)})"
            return f"({_double(left)} {operator} {_double(right)})"
        case OneOf(value, options):
            if value.facts.type.is_number and value.facts.type is not Type.INTEGER:
                return f"({render(value)} IN ({', '.join(_double(option) for option in options)}))"
            return f"({render(value)} IN ({', '.join(render(option) for option in options)}))"
        case Like(value, pattern):
            return f"({render(value)} LIKE {text(pattern)})"
        case IsMissing(value):
            return f"({render(value)} IS NULL)"
        case Logic(every, parts):
            return "(" + (" AND " if every else " OR ").join(render(part) for part in parts) + ")"
        case Not(condition):
            return f"(NOT {render(condition)})"
        case Case(branches, otherwise):
            as_double = node.facts.type in (Type.DECIMAL, Type.FLOAT)
            spell = _double if as_double else render
            told = " ".join(f"WHEN {render(condition)} THEN {spell(value)}" for condition, value in branches)
            return f"(CASE {told} ELSE {'NULL' if otherwise is None else spell(otherwise)} END)"


def measured(measure: Measure) -> str:
    """A measure as SQL: a BIGINT between its bounds for every row, whatever the row holds."""
    if measure.kind in ("one", "person"):
        return "1::BIGINT"
    assert measure.of is not None
    if measure.kind == "present":
        return f"(CASE WHEN {render(measure.of)} IS NULL THEN 0 ELSE 1 END)::BIGINT"
    if measure.kind == "missing":
        return f"(CASE WHEN {render(measure.of)} IS NULL THEN {measure.high} ELSE 0 END)::BIGINT"
    lower = measure.of.facts.lower
    assert lower is not None
    from_ = Fraction(0) if measure.kind == "steps" else lower
    steps = f"floor(({_double(measure.of)} - {number(from_)}) / {number(measure.step)} + 0.5::DOUBLE)"
    # NaN cannot come here: the value is none, and an infinity minus or divided by a finite number is none.
    clamped = f"CAST(least(greatest({steps}, {measure.low}::DOUBLE), {measure.high}::DOUBLE) AS BIGINT)"
    taken = f"{measure.high}::BIGINT - {clamped}" if measure.kind == "below" else clamped
    return f"(CASE WHEN {render(measure.of)} IS NULL THEN 0::BIGINT ELSE {taken} END)"


def keys_of(by: str, keys: tuple[Key, ...]) -> str:
    """Whether a value is among the declared keys."""
    return f"({by} IN ({', '.join(constant(key) for key in keys)}))"


def _double(node: Expression) -> str:
    if isinstance(node, Constant) and isinstance(node.value, Fraction):
        return number(node.value)
    return f"{render(node)}::DOUBLE"
