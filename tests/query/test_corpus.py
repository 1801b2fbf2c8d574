"""How the parser reads: the trees that the readers rely on, so that a version that reads differently is noticed."""

from __future__ import annotations

from typing import Any

import pytest
import sqlglot
from sqlglot import exp

from dither.query.sql.syntax import ARGS, DIALECT

PARTS = {
    "SELECTED": {
        "COUNT(*)": "Count(big_int=True, this=Star())",
        "COUNT(age)": "Count(big_int=True, this=<age>)",
        "COUNT(ALL age)": "Count(big_int=True, this=<age>)",
        "COUNT(DISTINCT patient_id)": "Count(big_int=True, this=Distinct(expressions=[<patient_id>]))",
        "SUM(cost)": "Sum(this=<cost>)",
        "AVG(cost)": "Avg(this=<cost>)",
        "COUNT(*) AS n": "Alias(alias=<n>, this=Count(big_int=True, this=Star()))",
        "COUNT(*) FILTER (WHERE smokes)": "Filter(expression=Where(this=<smokes>), this=Count(big_int=True, this=Star()))",
        "AVG(cost) OVER ()": "Window(over='OVER', this=Avg(this=<cost>))",
        "SUM(COUNT(*)) OVER (PARTITION BY a ORDER BY b)": "Window(order=Order(expressions=[Ordered(this=<b>)]), "
        "over='OVER', partition_by=[<a>], this=Sum(this=Count(big_int=True, this=Star())))",
        "SUM(a) OVER (ORDER BY b ROWS 2 PRECEDING)": "Window(order=Order(expressions=[Ordered(this=<b>)]), over='OVER', "
        "spec=WindowSpec(kind='ROWS', start=2, start_side='PRECEDING'), this=Sum(this=<a>))",
        "VAR_POP(a)": "VariancePop(this=<a>)",
        "VAR_SAMP(a)": "Variance(this=<a>)",
        "VARIANCE(a)": "Variance(this=<a>)",
        "STDDEV_POP(a)": "StddevPop(this=<a>)",
        "STDDEV_SAMP(a)": "StddevSamp(this=<a>)",
        "STDDEV(a)": "Stddev(this=<a>)",
        "v.cost": "Column(table=<v>, this=<cost>)",
        '"a b"': "<a b>",
        "*": "Star()",
    },
    "CONDITIONS": {
        "age = 1": "EQ(expression=1, this=<age>)",
        "age <> 1": "NEQ(expression=1, this=<age>)",
        "age != 1": "NEQ(expression=1, this=<age>)",
        "age <= 1.5e3": "LTE(expression=1.5e3, this=<age>)",
        "age > -1": "GT(expression=Neg(this=1), this=<age>)",
        "age > 1_000": "GT(expression=1000, this=<age>)",
        "NOT smokes": "Not(this=<smokes>)",
        "smokes AND smokes AND smokes": "And(expression=<smokes>, this=And(expression=<smokes>, this=<smokes>))",
        "smokes OR age < 3 AND smokes": "Or(expression=And(expression=<smokes>, this=LT(expression=3, this=<age>)), "
        "this=<smokes>)",
        "age IS NULL": "Is(expression=Null(), this=<age>)",
        "age IS NOT NULL": "Not(this=Is(expression=Null(), this=<age>))",
        "age BETWEEN 1 AND 2": "Between(high=2, low=1, this=<age>)",
        "age NOT BETWEEN 1 AND 2": "Not(this=Between(high=2, low=1, this=<age>))",
        "age BETWEEN SYMMETRIC 1 AND 2": "Between(high=2, low=1, symmetric=True, this=<age>)",
        "age IN (1, 2)": "In(expressions=[1, 2], this=<age>)",
        "age NOT IN (1)": "Not(this=In(expressions=[1], this=<age>))",
        "age IN (SELECT 1)": "In(query=Subquery(this=Select(expressions=[1])), this=<age>)",
        "name LIKE 'a%'": "Like(expression=Literal(is_string=True, this='a%'), this=<name>)",
        "name NOT LIKE 'a%'": "Like(expression=Literal(is_string=True, this='a%'), negate=True, this=<name>)",
        "name LIKE 'a' ESCAPE 'b'": "Escape(expression=Literal(is_string=True, this='b'), "
        "this=Like(expression=Literal(is_string=True, this='a'), this=<name>))",
        "name = 'it''s \\\\'": 'EQ(expression=Literal(is_string=True, this="it\'s \\\\\\\\"), this=<name>)',
        "age + 1 - 2 * 3 > (4)": "GT(expression=Paren(this=4), this=Sub(expression=Mul(expression=3, this=2), "
        "this=Add(expression=1, this=<age>)))",
        "CASE WHEN smokes THEN 1 ELSE 2 END = 1": "EQ(expression=1, this=Case(default=2, ifs=[If(this=<smokes>, true=1)]))",
        "CASE age WHEN 1 THEN 2 END = 1": "EQ(expression=1, this=Case(ifs=[If(this=1, true=2)], this=<age>))",
        "seen = DATE '2026-01-31'": "EQ(expression=Cast(this=Literal(is_string=True, this='2026-01-31'), "
        "to=DataType(this=DATE)), this=<seen>)",
        "at = TIMESTAMP '2026-01-31 12:30'": "EQ(expression=Cast(this=Literal(is_string=True, this='2026-01-31 12:30'), "
        "to=DataType(this=TIMESTAMPNTZ)), this=<at>)",
        "EXTRACT(month FROM seen) = 1": "EQ(expression=1, this=Extract(expression=<seen>, this=Var(this='MONTH')))",
        "EXTRACT(dow FROM seen) = 1": "EQ(expression=1, this=Extract(expression=<seen>, this=Var(this='DOW')))",
        "year(seen) = month(seen)": "EQ(expression=Month(this=<seen>), this=Year(this=<seen>))",
        "hour(at) = dayofweek(at)": "EQ(expression=DayOfWeek(this=<at>), this=Hour(this=<at>))",
        "TRUE": "Boolean(this=True)",
    },
    "TABLES": {
        "FROM visits AS v": "Table(alias=TableAlias(this=<v>), this=<visits>)",
        "FROM visits v (a)": "Table(alias=TableAlias(columns=[<a>], this=<v>), this=<visits>)",
        "FROM db.visits": "Table(db=<db>, this=<visits>)",
        "FROM visits TABLESAMPLE 10%": "Table(sample=TableSample(method=Var(this='SYSTEM'), percent=10), this=<visits>)",
    },
    "CLAUSES": {
        "GROUP BY ward, 1": "group=Group(expressions=[<ward>, 1])",
        "GROUP BY ALL": "group=Group(all=True)",
        "GROUP BY ward WITH ROLLUP": "group=Group(expressions=[<ward>], rollup=[Rollup()])",
        "HAVING n > 3": "having=Having(this=GT(expression=3, this=<n>))",
        "ORDER BY n": "order=Order(expressions=[Ordered(this=<n>)])",
        "ORDER BY n DESC NULLS LAST": "order=Order(expressions=[Ordered(desc=True, this=<n>)])",
        "ORDER BY n NULLS FIRST": "order=Order(expressions=[Ordered(nulls_first=True, this=<n>)])",
        "LIMIT 3": "limit=Limit(expression=3)",
        "LIMIT 3 OFFSET 2": "limit=Limit(expression=3), offset=Offset(expression=2)",
        "LIMIT 3%": "limit=Limit(expression=3, limit_options=LimitOptions(percent=True))",
    },
}


def tree(sql: str) -> exp.Expr:
    return sqlglot.parse_one(sql, read=DIALECT)


def shape(node: Any) -> str:
    """A tree on one line: kinds of nodes, and every detail that is not empty."""
    if isinstance(node, list):
        return "[" + ", ".join(shape(part) for part in node) + "]"
    if isinstance(node, (exp.Column, exp.Identifier)) and set(filled(node)) == {"this"}:
        return f"<{node.name}>"
    if isinstance(node, exp.Literal) and not node.is_string:
        return str(node.this)
    if isinstance(node, exp.Expr):
        return f"{type(node).__name__}({', '.join(f'{name}={shape(part)}' for name, part in filled(node).items())})"
    return getattr(node, "name", None) or repr(node)


def filled(node: exp.Expr) -> dict[str, Any]:
    return {name: part for name, part in sorted(node.args.items()) if part not in (None, False, [])}


def read(kind: str, sql: str) -> str:
    if kind == "SELECTED":
        return shape(tree(f"SELECT {sql} FROM t").expressions[0])
    if kind == "CONDITIONS":
        return shape(tree(f"SELECT 1 FROM t WHERE {sql}").args["where"].this)
    if kind == "TABLES":
        return shape(tree(f"SELECT 1 {sql}").args["from_"].this)
    whole = filled(tree(f"SELECT 1 FROM t {sql}"))
    return ", ".join(f"{name}={shape(part)}" for name, part in whole.items() if name not in ("expressions", "from_"))


CORPUS = [(kind, sql, shape) for kind, part in PARTS.items() for sql, shape in part.items()]


@pytest.mark.parametrize(("kind", "sql", "expected"), CORPUS, ids=[sql for _, sql, _ in CORPUS])
def test_the_parser_reads_as_the_readers_expect(kind, sql, expected):
    assert read(kind, sql) == expected


@pytest.mark.parametrize("kind", ARGS, ids=lambda kind: kind.__name__)
def test_every_detail_that_is_read_exists(kind):
    assert ARGS[kind] <= set(kind.arg_types)


def test_a_node_that_is_refused_by_default_is_not_listed():
    for kind in (exp.ILike, exp.Escape, exp.TryCast, exp.Filter, exp.NullSafeEQ, exp.Any):
        assert kind not in ARGS


def test_words_know_their_places():
    name = tree('SELECT 1\nFROM t WHERE "a b" = 2').find(exp.Where).find(exp.Identifier)
    assert {key: name.meta[key] for key in ("line", "col", "start", "end")} == {"line": 2, "col": 18, "start": 22, "end": 26}
