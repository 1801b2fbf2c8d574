"""What each allowed construct becomes, and what is known of an expression without looking at data."""

from __future__ import annotations

import datetime
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dither.query.plan.aggregates import CountPersons, CountRows, CountValues, Mean, Sum
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
from dither.query.plan.facts import Facts
from dither.query.plan.question import Group, HavingFilter, OrderBy, Question
from dither.query.plan.relations import Scan
from dither.query.policy.column import Type
from dither.query.policy.policy import read_policy
from dither.query.sql.parse import parse

COLUMNS = {
    "patient_id": {"type": "integer"},
    "ward": {"type": "text", "keys": ["A", "B", "C"]},
    "name": {"type": "text"},
    "cost": {"type": "decimal", "bounds": [0, 2000], "step": 0.01},
    "age": {"type": "integer", "bounds": [0, 120], "nullable": False},
    "weight": {"type": "float", "bounds": [-1, 300]},
    "income": {"type": "float"},
    "smokes": {"type": "boolean", "keys": [True, False]},
    "seen": {"type": "date", "keys": [datetime.date(2025, 12, 31), datetime.date(2026, 1, 1)]},
    "born": {"type": "date"},
    "at": {"type": "timestamp"},
    "odd name": {"type": "integer", "bounds": [0, 5]},
    "month": {"type": "integer", "keys": [1, 2]},
}
POLICY = read_policy(
    {
        "version": 1,
        "domain": "clinic",
        "ledger": {"location": "clinic.ledger", "budget": {"epsilon": 3}},
        "tables": {
            "visits": {"person": "patient_id", "max_groups": 3, "max_rows_per_group": 5, "columns": COLUMNS},
            "people": {"person": "each row", "columns": {"age": {"type": "integer", "bounds": [0, 120]}}},
        },
    }
)
VISITS = POLICY.tables[0]


def cell(name: str) -> ColumnValue:
    column = VISITS.column(name)
    assert column is not None
    return ColumnValue(column)


def number(value: object) -> Constant:
    return Constant(Fraction(value))


def plan(sql: str) -> Question:
    return parse(sql, POLICY)


def where(condition: str) -> Expression | None:
    return plan(f"SELECT COUNT(*) FROM visits WHERE {condition}").where


def summed(expression: str) -> Expression | None:
    return plan(f"SELECT SUM({expression}) FROM visits").aggregates[0].of


AGE, COST, NAME, WARD, SEEN, AT = (cell(name) for name in ("age", "cost", "name", "ward", "seen", "at"))
SMOKES, WEIGHT = cell("smokes"), cell("weight")
ADULT, OLD = Compare(">=", AGE, number(18)), Compare(">", AGE, number(65))
DAY = datetime.date(2026, 1, 31)
NOON = datetime.datetime(2026, 1, 31, 12, 30)


def test_a_whole_question():
    bucket = "CASE WHEN age < 18 THEN 'child' ELSE 'adult' END"
    sql = f"""
        SELECT ward, {bucket} AS bucket, COUNT(*) AS n, COUNT(cost), COUNT(DISTINCT patient_id) AS people,
            SUM(cost), AVG(v.cost)
        FROM visits AS v -- of one year
        WHERE smokes /* or did */ AND v.age >= 18
        GROUP BY ward, bucket HAVING n > 10 AND n <= 0.5 ORDER BY n DESC, ward LIMIT 3;
    """
    by = Case(((Compare("<", AGE, number(18)), Constant("child")),), Constant("adult"))
    assert plan(sql) == Question(
        relation=Scan(VISITS),
        where=Logic(True, (SMOKES, ADULT)),
        groups=(Group("ward", WARD, ("A", "B", "C")), Group("bucket", by, ("adult", "child"))),
        aggregates=(
            CountRows("n"),
            CountValues("count", COST),
            CountPersons("people"),
            Sum("sum", COST),
            Mean("avg", COST),
        ),
        shown=("ward", "bucket", "n", "count", "people", "sum", "avg"),
        having=(HavingFilter("n", ">", Fraction(10)), HavingFilter("n", "<=", Fraction(1, 2))),
        order=(OrderBy("n", True), OrderBy("ward", False)),
        limit=3,
    )


CONDITIONS = [
    ("age = 3", Compare("=", AGE, number(3))),
    ("age == 3", Compare("=", AGE, number(3))),
    ("age <> 3", Compare("<>", AGE, number(3))),
    ("age != 3", Compare("<>", AGE, number(3))),
    ("age < 3", Compare("<", AGE, number(3))),
    ("age <= 3", Compare("<=", AGE, number(3))),
    ("age > 65", OLD),
    ("3 >= age", Compare(">=", number(3), AGE)),
    ("VISITS.AGE >= 18", ADULT),
    ('"Age" >= 18', ADULT),
    ("((age)) >= (18)", ADULT),
    ('"odd name" = 1', Compare("=", cell("odd name"), number(1))),
    ("age > -1.5e-1", Compare(">", AGE, number("-0.15"))),
    ("age > 1_000", Compare(">", AGE, number(1000))),
    ("age > .5", Compare(">", AGE, number("0.5"))),
    ("age > 0.1", Compare(">", AGE, number("1/10"))),
    ("age > 1e300", Compare(">", AGE, number(10**300))),
    ("smokes", SMOKES),
    ("NOT smokes", Not(SMOKES)),
    ("(NOT smokes) IS NULL", IsNull(Not(SMOKES))),
    ("age > 9007199254740992", Compare(">", AGE, number(2**53))),
    ("smokes = TRUE", Compare("=", SMOKES, Constant(True))),
    ("age IS NULL", IsNull(AGE)),
    ("age IS NOT NULL", Not(IsNull(AGE))),
    ("age BETWEEN 18 AND 65", Logic(True, (ADULT, Compare("<=", AGE, number(65))))),
    ("age NOT BETWEEN 18 AND 65", Not(Logic(True, (ADULT, Compare("<=", AGE, number(65)))))),
    ("ward IN ('A', 'B')", InList(WARD, (Constant("A"), Constant("B")))),
    ("ward NOT IN ('A')", Not(InList(WARD, (Constant("A"),)))),
    ("age IN (1, -2.5)", InList(AGE, (number(1), number("-2.5")))),
    ("name LIKE 'A%'", Like(NAME, "A%")),
    ("name NOT LIKE 'A%'", Not(Like(NAME, "A%"))),
    ("NOT name NOT LIKE 'A%'", Not(Not(Like(NAME, "A%")))),
    (r"name LIKE 'A\%'", Like(NAME, r"A\%")),
    ("name = 'it''s'", Compare("=", NAME, Constant("it's"))),
    ("name = '\\'", Compare("=", NAME, Constant("\\"))),
    ("name = 'a;\n--b'", Compare("=", NAME, Constant("a;\n--b"))),
    ("name = ward", Compare("=", NAME, WARD)),
    ("smokes AND age >= 18 AND age > 65", Logic(True, (SMOKES, ADULT, OLD))),
    ("smokes OR age >= 18 AND age > 65", Logic(False, (SMOKES, Logic(True, (ADULT, OLD))))),
    ("(smokes OR age >= 18) AND age > 65", Logic(True, (Logic(False, (SMOKES, ADULT)), OLD))),
    ("NOT smokes AND age > 65", Logic(True, (Not(SMOKES), OLD))),
    ("seen = '2026-01-31'", Compare("=", SEEN, Constant(DAY))),
    ("'2026-01-31' = seen", Compare("=", Constant(DAY), SEEN)),
    ("seen < DATE '2026-01-31'", Compare("<", SEEN, Constant(DAY))),
    ("seen < CAST('2026-01-31' AS DATE)", Compare("<", SEEN, Constant(DAY))),
    ("seen < MAKE_DATE(2026, 1, 31)", Compare("<", SEEN, Constant(DAY))),
    ("at < MAKE_TIMESTAMP(2026, 1, 31, 12, 30, 0.0)", Compare("<", AT, Constant(NOON))),
    ("CAST(age AS BIGINT) >= CAST(18 AS DOUBLE)", ADULT),
    ("seen IN ('2026-01-31')", InList(SEEN, (Constant(DAY),))),
    ("at < TIMESTAMP '2026-01-31 12:30:00'", Compare("<", AT, Constant(NOON))),
    ("at < '2026-01-31T12:30'", Compare("<", AT, Constant(NOON))),
    ("EXTRACT(year FROM seen) = 2026", Compare("=", DatePart("year", SEEN), number(2026))),
    ("EXTRACT(dow FROM seen) = 0", Compare("=", DatePart("weekday", SEEN), number(0))),
    ("dayofweek(at) = hour(at)", Compare("=", DatePart("weekday", AT), DatePart("hour", AT))),
    ("day(at) = quarter(at)", Compare("=", DatePart("day", AT), DatePart("quarter", AT))),
    ("CASE WHEN smokes THEN age > 65 END", Case(((SMOKES, OLD),), None)),
    ("CASE age WHEN 1 THEN TRUE ELSE NULL END", Case(((Compare("=", AGE, number(1)), Constant(True)),), None)),
]


@pytest.mark.parametrize(("sql", "expected"), CONDITIONS, ids=[sql for sql, _ in CONDITIONS])
def test_conditions(sql, expected):
    assert where(sql) == expected


VALUES = [
    ("cost + age", Arithmetic("+", COST, AGE)),
    ("cost - age * 2", Arithmetic("-", COST, Arithmetic("*", AGE, number(2)))),
    ("(cost - age) * 2", Arithmetic("*", Arithmetic("-", COST, AGE), number(2))),
    ("cost - age - 2", Arithmetic("-", Arithmetic("-", COST, AGE), number(2))),
    ("-cost", Arithmetic("-", number(0), COST)),
    ("+cost", COST),
    ("CASE WHEN smokes THEN cost ELSE 0 END", Case(((SMOKES, COST),), number(0))),
]


@pytest.mark.parametrize(("sql", "expected"), VALUES, ids=[sql for sql, _ in VALUES])
def test_values(sql, expected):
    assert summed(sql) == expected


GROUPS = [
    ("ward", "ward", WARD, ("A", "B", "C")),
    ("smokes", "smokes", SMOKES, (False, True)),
    ("month", "month", cell("month"), (1, 2)),
    ("month(at)", 'MONTH("at")', DatePart("month", AT), tuple(range(1, 13))),
    ("EXTRACT(dow FROM seen)", "EXTRACT(DAYOFWEEK FROM seen)", DatePart("weekday", SEEN), tuple(range(7))),
    ("year(seen)", "YEAR(seen)", DatePart("year", SEEN), (2025, 2026)),
    ("seen", "seen", SEEN, (datetime.date(2025, 12, 31), datetime.date(2026, 1, 1))),
]


@pytest.mark.parametrize(("sql", "name", "by", "keys"), GROUPS, ids=[group[0] for group in GROUPS])
def test_groups(sql, name, by, keys):
    assert plan(f"SELECT COUNT(*) FROM visits GROUP BY {sql}").groups == (Group(name, by, keys),)
    named = plan(f"SELECT {sql} AS g, COUNT(*) FROM visits GROUP BY {sql} ORDER BY {sql}")
    assert (named.groups, named.shown, named.order) == ((Group("g", by, keys),), ("g", "count"), (OrderBy("g", False),))
    assert plan(f"SELECT {sql} AS g, COUNT(*) FROM visits GROUP BY g ORDER BY g") == named
    assert plan(f"SELECT {sql} AS g, COUNT(*) FROM visits GROUP BY 1 ORDER BY 1") == named


def test_a_column_goes_before_an_alias_of_its_name():
    assert plan("SELECT COUNT(*) FROM visits GROUP BY ward, ward").groups == (Group("ward", WARD, ("A", "B", "C")),)
    assert plan("SELECT month(at) AS m, COUNT(*) FROM visits GROUP BY month(at)").groups[0].by == DatePart("month", AT)
    # `month` is a column of the table; that a group is computed by a function of that name does not make it the group.
    with pytest.raises(ValueError, match="neither an aggregate nor in GROUP BY"):
        plan("SELECT month, COUNT(*) FROM visits GROUP BY month(at)")


def test_what_was_released_can_be_named_or_written_again():
    by_name = plan("SELECT COUNT(*) AS n, SUM(cost) AS s FROM visits HAVING n > 3 AND s < -1 ORDER BY s DESC")
    again = "SELECT COUNT(*) AS n, SUM(cost) AS s FROM visits HAVING COUNT(*) > 3 AND SUM(cost) < -1 ORDER BY SUM(cost) DESC"
    assert plan(again) == by_name
    assert by_name.having == (HavingFilter("n", ">", Fraction(3)), HavingFilter("s", "<", Fraction(-1)))


def test_columns_without_a_name_get_one():
    assert plan("SELECT COUNT(*), SUM(cost), COUNT(age), SUM(age) FROM visits").shown == ("count", "sum", "count_2", "sum_2")
    assert plan('SELECT COUNT(*) AS "x y" FROM visits').shown == ("x y",)


def test_two_aggregates_of_one_name_are_told_apart_by_what_they_are_of():
    assert plan("SELECT SUM(cost) AS c, SUM(age) AS a FROM visits ORDER BY SUM(age)").order == (OrderBy("a", False),)


def test_limits_and_orders():
    assert plan("SELECT COUNT(*) FROM visits LIMIT 0").limit == 0
    assert plan("SELECT COUNT(*) FROM visits").limit is None
    assert plan("SELECT COUNT(*) FROM visits ORDER BY count ASC NULLS LAST").order == (OrderBy("count", False),)


# -- facts -------------------------------------------------------------------------------------------------------------


def facts(sql: str) -> Facts:
    found = where(f"({sql}) IS NULL").value
    assert found is not None
    return found.facts


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("age", Facts(Type.INTEGER, Fraction(0), Fraction(120), nullable=False)),
        ("income", Facts(Type.FLOAT)),
        ("age + 1", Facts(Type.INTEGER, Fraction(1), Fraction(121), nullable=False)),
        ("age * 0.5", Facts(Type.DECIMAL, Fraction(0), Fraction(60), nullable=False)),
        ("cost - weight", Facts(Type.FLOAT, Fraction(-300), Fraction(2001))),
        ("weight * weight", Facts(Type.FLOAT, Fraction(-300), Fraction(90000))),
        ("-weight", Facts(Type.FLOAT, Fraction(-300), Fraction(1))),
        ("age * income", Facts(Type.FLOAT)),
        ("CASE WHEN smokes THEN age ELSE -5 END", Facts(Type.INTEGER, Fraction(-5), Fraction(120), nullable=False)),
        ("CASE WHEN smokes THEN age ELSE 0.5 END", Facts(Type.DECIMAL, Fraction(0), Fraction(120), nullable=False)),
        ("CASE WHEN smokes THEN age END", Facts(Type.INTEGER, Fraction(0), Fraction(120))),
        ("CASE WHEN smokes THEN age ELSE income END", Facts(Type.FLOAT)),
        ("hour(at)", Facts(Type.INTEGER, Fraction(0), Fraction(23))),
        ("age = 3", Facts(Type.BOOLEAN, nullable=False)),
        ("cost = 3", Facts(Type.BOOLEAN)),
        ("cost IS NULL", Facts(Type.BOOLEAN, nullable=False)),
        ("age > 3 OR cost > 3", Facts(Type.BOOLEAN)),
        ("'a'", Facts(Type.TEXT, nullable=False)),
    ],
)
def test_facts(sql, expected):
    assert facts(sql) == expected


LEAVES = st.sampled_from(["age", "cost", "weight", "2", "-3", "0.25", "0"])
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*"), inner),
        st.builds("(- {})".format, inner),
        st.builds("CASE WHEN {} < {} THEN {} ELSE {} END".format, inner, inner, inner, inner),
        st.builds("CASE WHEN {} >= {} THEN {} END".format, inner, inner, inner),
    ),
    max_leaves=8,
)


def evaluate(node: Expression, row: dict[str, Fraction | None]) -> Fraction | bool | None:
    """The exact value, None where it is missing."""
    match node:
        case ColumnValue(column):
            return row[column.name]
        case Constant(value):
            assert isinstance(value, Fraction)
            return value
        case Arithmetic(operator, left, right) | Compare(operator, left, right):
            a, b = evaluate(left, row), evaluate(right, row)
            if a is None or b is None:
                return None
            return {"+": a + b, "-": a - b, "*": a * b, "<": a < b, ">=": a >= b}[operator]
        case Case(branches, otherwise):
            chosen = next((value for condition, value in branches if evaluate(condition, row)), otherwise)
            return None if chosen is None else evaluate(chosen, row)
    raise AssertionError(node)


def within(low: int, high: int) -> st.SearchStrategy[Fraction]:
    return st.fractions(low, high, max_denominator=8) | st.sampled_from([Fraction(low), Fraction(high)])


@settings(max_examples=150)
@given(
    sql=EXPRESSIONS,
    age=within(0, 120),
    cost=st.none() | within(0, 2000),
    weight=st.none() | within(-1, 300),
)
def test_values_within_bounds_stay_within_the_facts(sql, age, cost, weight):
    found = where(f"({sql}) IS NULL").value
    value = evaluate(found, {"age": age, "cost": cost, "weight": weight})
    assert found.facts.is_bounded
    if value is None:
        assert found.facts.nullable
    else:
        assert found.facts.lower <= value <= found.facts.upper
