"""Expressions on real rows: DuckDB gives what a plain reading in Python gives, on hostile cells, and never an error."""

from __future__ import annotations

import datetime
import itertools
import math
import re
import struct
from fractions import Fraction
from typing import Any

import duckdb
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dither.query.engines.duckdb.words import DUCKDB
from dither.query.engines.templates.expressions import render
from dither.query.plan.base import Expression
from dither.query.plan.expressions import (
    Arithmetic,
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
from dither.query.sources.sql_quotes import name
from dither.query.sql.parse import parse
from tests.query.sql.test_parse import CONDITIONS, POLICY, VALUES

INF, NAN = math.inf, math.nan
DATES = [None, datetime.date.min, datetime.date.max, datetime.date(1970, 1, 1), datetime.date(2026, 2, 1)]
TIMES = [None, datetime.datetime(1, 1, 1), datetime.datetime.max, datetime.datetime(2026, 1, 31, 12, 30)]
INTEGERS = [None, 0, 1, 18, 65, 120, -1, 2**63 - 1, -(2**63), 2**53 + 1]
FLOATS = [None, NAN, INF, -INF, 0.0, -0.0, 1e308, -1e308, 5e-324, 0.1, 3.0, 2000.0]
TEXTS = [None, "", "A", "B", "a%", "A%", "A\\%", "it's", "a;\n--b", "\\", "'", '"', "Ä", "🎲", "A\u0301", " A", "A\0"]
CELLS: dict[str, tuple[pyarrow.DataType, list[Any]]] = {
    "patient_id": (pyarrow.int64(), INTEGERS),
    "ward": (pyarrow.string(), TEXTS),
    "name": (pyarrow.string(), TEXTS),
    "cost": (pyarrow.float64(), FLOATS),
    "age": (pyarrow.int64(), INTEGERS),
    "weight": (pyarrow.float64(), FLOATS),
    "income": (pyarrow.float64(), FLOATS),
    "smokes": (pyarrow.bool_(), [None, True, False]),
    "seen": (pyarrow.date32(), DATES),
    "born": (pyarrow.date32(), DATES),
    "at": (pyarrow.timestamp("us"), TIMES),
    "odd name": (pyarrow.int64(), INTEGERS),
    "month": (pyarrow.int64(), INTEGERS),
}


def rows() -> list[dict[str, Any]]:
    """Each hostile cell with several others: lists of different lengths, gone round at different speeds."""
    return [
        {column: cells[(place * (turn + 1) + turn) % len(cells)] for turn, (column, (_, cells)) in enumerate(CELLS.items())}
        for place in range(120)
    ]


ROWS = rows()


@pytest.fixture(scope="module")
def engine():
    with duckdb.connect(config={"threads": 1}) as connection:
        table = {column: pyarrow.array([row[column] for row in ROWS], kind) for column, (kind, _) in CELLS.items()}
        connection.register("visits", pyarrow.table(table))
        yield connection


def computed(engine: duckdb.DuckDBPyConnection, node: Expression) -> list[Any]:
    return [row[0] for row in engine.execute(f"SELECT {render(DUCKDB, node)} FROM visits").fetchall()]


# -- the plain reading -------------------------------------------------------------------------------------------------


def double(value: Any) -> float:
    if isinstance(value, Fraction):
        try:
            return value.numerator / value.denominator
        except OverflowError:
            return INF if value > 0 else -INF
    return float(value)


def cut(value: float) -> float:
    """What arithmetic gets from a cell: a size that doubles can compute with, zero, infinity or NaN."""
    if 2.0**100 < abs(value) < math.inf:
        return math.copysign(2.0**100, value)
    return 0.0 if abs(value) < 2.0**-100 else value


def evaluate(node: Expression, row: dict[str, Any]) -> Any:
    match node:
        case ColumnValue(column):
            value = row[column.name]
            return None if isinstance(value, float) and math.isnan(value) else value
        case Constant(value):
            return value
        case Arithmetic(operator, left, right):
            row = {name: cut(value) if isinstance(value, float) else value for name, value in row.items()}
            a, b = evaluate(left, row), evaluate(right, row)
            if a is None or b is None:
                return None
            found = {"+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y}[operator](
                double(a), double(b)
            )
            return found
        case Compare(operator, left, right):
            return compared(operator, evaluate(left, row), evaluate(right, row))
        case InList(value, options):
            found = evaluate(value, row)
            return None if found is None else any(compared("=", found, option.value) for option in options)
        case Like(value, pattern):
            found = evaluate(value, row)
            signs = "".join({"%": ".*", "_": "."}.get(sign, re.escape(sign)) for sign in pattern)
            return None if found is None else re.fullmatch(signs, found, re.DOTALL) is not None
        case IsNull(value):
            found = evaluate(value, row)
            return found is None or (isinstance(found, float) and math.isnan(found))
        case Not(condition):
            found = evaluate(condition, row)
            return None if found is None else not found
        case Logic(every, parts):
            found = [evaluate(part, row) for part in parts]
            decides = not every
            return decides if decides in found else None if None in found else every
        case Case(branches, otherwise):
            chosen = next((value for condition, value in branches if evaluate(condition, row)), otherwise)
            return None if chosen is None else evaluate(chosen, row)
        case DatePart(part, of):
            found = evaluate(of, row)
            return None if found is None else part_of(part, found)


def compared(operator: str, a: Any, b: Any) -> bool | None:
    if a is None or b is None:
        return None
    if isinstance(a, float) or isinstance(b, float) or (isinstance(b, Fraction) and b.denominator != 1):
        a, b = ordered(double(a)), ordered(double(b))
    if isinstance(a, str):
        a, b = a.encode(), b.encode()
    return {"=": a == b, "<>": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[operator]


def ordered(value: float) -> tuple[bool, float]:
    """What is not a number (infinity minus infinity) is one value, above all others."""
    return (math.isnan(value), 0.0 if math.isnan(value) else value)


def part_of(part: str, day: Any) -> int:
    if part == "quarter":
        return (day.month + 2) // 3
    return day.isoweekday() % 7 if part == "weekday" else getattr(day, part)


def same(found: Any, expected: Any) -> bool:
    if found is None or expected is None:
        return found is expected
    if isinstance(expected, float):
        return found == expected or (
            math.isnan(found) and math.isnan(expected)
        )  # the sign of zero is not looked at: no comparison sees it
    return type(found) is bool is type(expected) and found == expected if isinstance(expected, bool) else found == expected


def check(engine: duckdb.DuckDBPyConnection, node: Expression) -> None:
    for row, found in zip(ROWS, computed(engine, node), strict=True):
        assert same(found, evaluate(node, row)), (node, row)


# -- one construct at a time -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("sql", "node"), CONDITIONS + VALUES, ids=[sql for sql, _ in CONDITIONS + VALUES])
def test_each_construct(engine, sql, node):
    check(engine, node)


@pytest.mark.parametrize("column", POLICY.tables[0].columns, ids=lambda column: column.name)
def test_cells(engine, column):
    check(engine, ColumnValue(column))
    check(engine, IsNull(ColumnValue(column)))


def test_every_part_of_far_dates(engine):
    for part, column in itertools.product(["year", "quarter", "month", "day", "weekday"], ["seen", "at"]):
        check(engine, DatePart(part, ColumnValue(POLICY.tables[0].column(column))))
    far = engine.execute(
        "SELECT date_part('year', d) FROM (VALUES ('infinity'::DATE), ('-infinity'::DATE), ('5881580-07-10'::DATE)) t(d)"
    ).fetchall()
    assert far == [(None,), (None,), (5881580,)]


LEAVES = st.sampled_from(["age", "cost", "weight", "income", "2", "-3.5", "0", "1e300", "9223372036854775807"])
NUMBERS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*"), inner),
        st.builds("CASE WHEN {} < {} THEN {} ELSE 0.5 END".format, inner, inner, inner),
    ),
    max_leaves=4,
)
TRUTHS = st.recursive(
    st.one_of(
        st.builds("{} {} {}".format, NUMBERS, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), NUMBERS),
        st.builds("{} IN (1, 0.1, 1e300)".format, st.sampled_from(["cost", "(cost + weight)"])),
        st.builds("{} BETWEEN 0 AND {}".format, NUMBERS, NUMBERS),
        st.builds("{} {}".format, NUMBERS, st.sampled_from(["IS NULL", "IS NOT NULL"])),
        st.sampled_from(["smokes", "name < ward", "name LIKE '%_%'", "seen > born", "at > '2026-01-01'", "day(at) < age"]),
    ),
    lambda inner: st.one_of(
        st.builds("({} AND {})".format, inner, inner),
        st.builds("({} OR {})".format, inner, inner),
        st.builds("NOT {}".format, inner.map("({})".format)),
    ),
    max_leaves=3,
)


@settings(max_examples=100)
@given(TRUTHS)
def test_random_conditions(engine, sql):
    check(engine, parse(f"SELECT COUNT(*) FROM visits WHERE {sql}", POLICY).where)


def test_deep_sums_are_computed_quickly(engine):
    sql = "cost" + " + weight" * 50
    check(engine, parse(f"SELECT SUM({sql}) FROM visits", POLICY).aggregates[0].of)


def test_long_conditions(engine):
    sql = "smokes" + " OR age > 3" * 990
    check(engine, parse(f"SELECT COUNT(*) FROM visits WHERE {sql}", POLICY).where)
    sql = "NOT " * 55 + "smokes"
    check(engine, parse(f"SELECT COUNT(*) FROM visits WHERE {sql}", POLICY).where)


# -- quoting -----------------------------------------------------------------------------------------------------------

HOSTILE = [
    "'",
    "''",
    "\\",
    "\\'",
    "' OR TRUE --",
    "a\nb",
    "\r",
    "\t",
    ";",
    "$$",
    "$$ || 'x",
    "--",
    "/*",
    "%s",
    "?",
    "{}",
    "\u2028",
]
HOSTILE += ["\x01", "\x7f", "Ä'🎲", "e'\\n'", "U&'\\0041'", "\0", "a\0'b"]


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_texts_stay_texts(engine, text):
    assert engine.execute(f"SELECT {DUCKDB.constant(text)}").fetchall() == [(text,)]
    assert engine.execute(f"SELECT {render(DUCKDB, Compare('=', Constant(text), Constant(text)))}").fetchall() == [(True,)]
    if "\0" not in text:  # the parser refuses these before any of it
        quoted = text.replace("'", "''")
        where = parse(f"SELECT COUNT(*) FROM visits WHERE name = '{quoted}'", POLICY).where
        assert where.right == Constant(text)


@given(st.text())
def test_any_text_stays_a_text(engine, text):
    assert engine.execute(f"SELECT {DUCKDB.constant(text)}").fetchall() == [(text,)]


@pytest.mark.parametrize("text", ["a b", 'a"b', '"', "a'b", "SELECT", "a;b", "Ä", "a\\b"])
def test_names_stay_names(engine, text):
    assert engine.execute(f"SELECT 1 AS {name(text)}").description[0][0] == text


NUMBERS_WRITTEN = [0, 1, -1, 2**63 - 1, -(2**63) + 1, 2**63, 10**400, Fraction(1, 3), Fraction(-1, 10), Fraction(1, 10**400)]


@pytest.mark.parametrize("value", NUMBERS_WRITTEN, ids=lambda value: str(value)[:20])
def test_numbers_are_the_nearest_that_the_engine_has(engine, value):
    [(found,)] = engine.execute(f"SELECT {DUCKDB.constant(Fraction(value))}").fetchall()
    exact = isinstance(value, int) and -(2**63) < value < 2**63
    assert found == value if exact else struct.pack("d", found) == struct.pack("d", double(Fraction(value)))


def test_the_least_integer_can_be_a_key(engine):
    assert engine.execute(f"SELECT {DUCKDB.constant(-(2**63))}").fetchall() == [(-(2**63),)]


@pytest.mark.parametrize("value", [d for d in DATES + TIMES if d is not None], ids=str)
def test_dates_are_read_back(engine, value):
    assert engine.execute(f"SELECT {DUCKDB.constant(value)}").fetchall() == [(value,)]
