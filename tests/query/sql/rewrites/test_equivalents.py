"""Each rewrite means the same: the text as it was written in plain DuckDB, and the question with next to no noise."""

from __future__ import annotations

import datetime

import duckdb
import pytest

from dither.errors import QuestionError
from dither.query.dataset import Dataset
from dither.query.engines.postgres.words import POSTGRES
from dither.query.engines.templates.person_totals import own_total
from dither.query.plan.calendar_periods import part_of
from dither.query.plan.expressions import PARTS, ColumnValue
from dither.query.plan.person_totals import PersonMax, PersonMin
from dither.query.policy.column import Column, Type
from tests.query.sql.rewrites.plain import compare, data, engine

N = "SELECT COUNT(*) AS n FROM visits WHERE"
INNER = "FROM (SELECT person, {} AS own FROM visits GROUP BY person) AS people"
PAIRS = [("ward", "'A'"), ("cost", "20"), ("3", "age"), ("age", "cost"), ("ward", "name"), ("day", "NULL")]
SAME = [
    # names
    'SELECT "main"."visits"."ward" AS ward, COUNT(*) AS n FROM "main"."visits" GROUP BY "main"."visits"."ward"',
    "SELECT visits.ward, COUNT(*) AS n FROM memory.main.visits GROUP BY visits.ward",
    "SELECT v.ward, COUNT(*) AS n FROM main.visits v GROUP BY 1 ORDER BY 1",
    # clauses
    "SELECT ward, COUNT(*) AS n FROM (SELECT * FROM visits WHERE age > 1) GROUP BY ward",
    "SELECT COUNT(*) AS n FROM (SELECT person, COUNT(*) AS c FROM (SELECT * FROM main.visits) GROUP BY ALL) WHERE c > 9",
    "SELECT ward, smokes, COUNT(*) AS n, AVG(cost) AS a FROM visits GROUP BY ALL",
    "SELECT age + 1 AS b, COUNT(*) AS n FROM visits GROUP BY ALL ORDER BY 1",
    "SELECT COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY ALL",
    # aggregates
    "SELECT COUNT(1) AS a, COUNT(0) AS b, COUNT('x') AS c, COUNT(TRUE) AS d, SUM(1) AS e FROM visits",
    "SELECT ward, COUNT_IF(smokes) AS n, COUNT_IF(cost > 10 OR smokes) AS m FROM visits GROUP BY ward",
    "SELECT ward, COUNT(*) FILTER (WHERE smokes) AS n, COUNT(*) FILTER (WHERE NOT smokes) AS m FROM visits GROUP BY ward",
    "SELECT COUNT(*) FILTER (WHERE smokes IS NULL) AS n, COUNT(1) FILTER (WHERE cost > 2) AS m FROM visits",
    "SELECT SUM(1) FILTER (WHERE smokes) AS n, COUNT(cost) FILTER (WHERE smokes) AS m FROM visits",
    "SELECT SUM(cost) FILTER (WHERE smokes) AS s, AVG(cost) FILTER (WHERE NOT smokes) AS a FROM visits",
    "SELECT ward, COUNT(DISTINCT person) FILTER (WHERE cost > 10) AS n FROM visits GROUP BY ward",
    "SELECT VAR_POP(cost) FILTER (WHERE age >= 1) AS v FROM visits",
    # conditions as numbers: NULL is passed over
    "SELECT ward, SUM(smokes) AS s, SUM(age > 1) AS t, COUNT(*) AS n FROM visits GROUP BY ward",
    "SELECT ward, AVG(smokes::INT) AS a, SUM(CAST(age > 1 AS BIGINT)) AS s FROM visits GROUP BY ward",
    "SELECT AVG(CAST(name IS NULL AS DOUBLE)) AS a, VAR_POP(smokes::TINYINT) AS v FROM visits",
    "SELECT SUM(smokes) FILTER (WHERE age > 1) AS s, SUM(CAST(smokes AS INT)) FILTER (WHERE NOT smokes) AS t FROM visits",
    "SELECT ward, BOOL_OR(smokes) AS o, BOOL_AND(smokes) AS a, MAX(age > 9) AS m FROM visits GROUP BY ward",
    "SELECT BOOL_OR(smokes) FILTER (WHERE age > 1) AS o, MIN(smokes IS NULL) AS m FROM visits",
    f"SELECT SUM(own) AS s {INNER.format('SUM(smokes)')}",
    f"SELECT SUM(own) AS s {INNER.format('SUM(smokes) FILTER (WHERE age > 2)')}",
    f"SELECT COUNT(*) AS n {INNER.format('SUM(smokes) FILTER (WHERE cost > 25)')} WHERE own IS NULL",
    f"SELECT AVG(own) AS a {INNER.format('AVG(smokes::INT)')}",
    f"SELECT COUNT_IF(own) AS n {INNER.format('BOOL_OR(cost > 25)')}",
    f"SELECT COUNT_IF(NOT own) AS n, COUNT(own) AS m {INNER.format('BOOL_AND(smokes) FILTER (WHERE cost > 25)')}",
    "SELECT COUNT(*) AS n FROM (SELECT person FROM visits GROUP BY person HAVING BOOL_OR(cost > 25) AND SUM(smokes) > 1) q",
    "SELECT SUM(s) AS s FROM (SELECT SUM(smokes) OVER (PARTITION BY person, ward) AS s FROM visits) q",
    "SELECT COUNT_IF(s) AS n FROM (SELECT BOOL_AND(smokes) OVER (PARTITION BY person ORDER BY cost) AS s FROM visits) q",
    "SELECT AVG(CAST(smokes AS DECIMAL(10, 2))) AS a, SUM((age > 1)::NUMERIC) AS s FROM visits",
    "SELECT (age > 1)::INT AS k, COUNT(*) AS n FROM visits GROUP BY k",
    "SELECT ward, (age > 1 AND smokes)::INT AS k, COUNT(*) AS n FROM visits GROUP BY ALL",
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING BOOL_OR(age > 2) AND NOT BOOL_AND(smokes) = TRUE",
    # sums of one number, where a condition is met
    "SELECT ward, SUM(CASE WHEN smokes THEN 1 END) AS n, SUM(IF(age > 1, 2.5, NULL)) AS m FROM visits GROUP BY ward",
    "SELECT SUM(CASE WHEN age > 1 THEN -3 WHEN smokes THEN -3 END) AS s FROM visits",
    f"SELECT SUM(own) AS s, COUNT(own) AS n {INNER.format('SUM(CASE WHEN cost > 25 AND smokes THEN 1 END)')}",
    f"SELECT COUNT(*) AS n {INNER.format('SUM(CASE WHEN cost > 25 AND smokes THEN -0.5 END)')} WHERE own IS NULL",
    # approximate aggregates, and the most frequent value
    "SELECT APPROX_COUNT_DISTINCT(ward) AS n, APPROX_QUANTILE(cost, 0.5) AS q FROM visits",
    "SELECT APPROX_COUNT_DISTINCT(ward) FILTER (WHERE smokes) AS n FROM visits",
    # a person's own totals: NULL and 0 are told apart
    f"SELECT COUNT(*) AS n {INNER.format('SUM(cost) FILTER (WHERE cost > 25 AND smokes)')} WHERE own IS NULL",
    f"SELECT COUNT(*) AS n {INNER.format('COUNT(*) FILTER (WHERE cost > 25 AND smokes)')} WHERE own IS NOT NULL",
    f"SELECT COUNT(*) AS n {INNER.format('SUM(1)')} WHERE own > 3",
    f"SELECT SUM(own) AS s {INNER.format('COUNT(DISTINCT ward) FILTER (WHERE smokes)')}",
    # values
    "SELECT IF(cost > 20, 'long', 'short') AS k, COUNT(*) AS n FROM visits GROUP BY k",
    "SELECT SUM(IF(smokes, cost, 0)) AS s FROM visits",
    "SELECT COUNT(IF(smokes, cost, NULL)) AS n FROM visits",
    "SELECT CASE WHEN cost > 20 THEN IF(smokes, 'a', 'b') ELSE 'c' END AS k, COUNT(*) AS n FROM visits GROUP BY k",
    "SELECT CAST(ward AS VARCHAR) AS w, SUM(CAST(cost AS DOUBLE)) AS s, AVG(age::INT) AS a FROM visits GROUP BY w",
    f"{N} CAST(smokes AS BOOLEAN) AND CAST(day AS DATE) > DATE '2024-01-01' AND CAST(moment AS TIMESTAMP) IS NOT NULL",
    "SELECT CAST(DATE_TRUNC('month', day) AS DATE) AS m, COUNT(*) AS n FROM visits"
    " WHERE day >= '2024-01-01' AND day < '2024-03-01' GROUP BY CAST(DATE_TRUNC('month', day) AS DATE)",
    # dates
    f"{N} day >= TIMESTAMP '2024-01-31T00:00:00'",
    f"{N} day = TIMESTAMP '2024-01-31 00:00:00'",
    f"{N} day NOT IN (TIMESTAMP '2024-01-31 00:00:00')",
    *[f"{N} day {sign} TIMESTAMP '2024-01-31 12:00:00'" for sign in ("<", "<=", ">", ">=")],
    *[f"{N} NOT (TIMESTAMP '2024-01-31 12:00:00' {sign} day)" for sign in ("<", "<=", ">", ">=")],
    *[f"{N} day {sign} '2024-01-31T12:00:00Z'" for sign in ("<", "<=", ">", ">=", "=", "<>")],
    f"{N} day BETWEEN '2024-01-01T00:00:00Z' AND '2024-01-31T23:59:59Z'",
    f"{N} day BETWEEN TIMESTAMP '2024-01-01 00:00:01' AND TIMESTAMP '2024-01-31 23:59:59'",
    *[f"{N} moment {sign} DATE '2024-01-31'" for sign in ("<", "<=", ">", ">=", "=", "<>")],
    f"{N} moment < timestamp with time zone '2024-01-31 12:30:00.000Z'",
    f"{N} moment >= '2024-01-31T12:30:00Z'",
    f"{N} EXTRACT(year FROM day) = EXTRACT(year FROM DATE '2024-05-06')",
    f"{N} day >= DATE_TRUNC('month', DATE '2024-01-31') AND age = DATE '2024-02-01' - DATE '2024-01-31'",
    f"{N} age < DATE_DIFF('month', DATE '2023-12-01', DATE '2024-01-31') AND NULLIF(3, 3) IS NULL",
    *[f"{N} DAYNAME(day) {sign} 'Wednesday' OR MONTHNAME(day) {sign} 'February'" for sign in ("=", "<>")],
    # clauses that change nothing
    "(SELECT COUNT(*) AS n FROM visits)",
    "SELECT COUNT(*) AS n FROM visits;;",
    "SELECT DISTINCT COUNT(*) AS n FROM visits",
    "SELECT DISTINCT ward, COUNT(*) AS n FROM visits GROUP BY ward",
    "SELECT ward, COUNT(*) AS n FROM (SELECT * FROM visits ORDER BY cost) GROUP BY ward",
    "WITH RECURSIVE a AS (SELECT * FROM visits) SELECT COUNT(*) AS n FROM a",
    # conditions
    *[f"{N} smokes IS {no}{truth}" for no in ("", "NOT ") for truth in ("TRUE", "FALSE")],
    *[f"{N} {no}(age IN (1, NULL) OR smokes)" for no in ("",)],
    *[f"{N} {no}age IN (age, 2, cost)" for no in ("", "NOT ")],
    *[f"{N} {condition}" for condition in ("age = '1'", "age <> '1'", "cost = '1.5'", "age IN ('1', '2')", "1 IN (1, 2)")],
    *[
        f"{N} {condition}"
        for condition in ("smokes = 1", "0 <> smokes", "smokes IN (0, 1)", "smokes > 0", "smokes = 'True'")
    ],
    *[f"{N} name GLOB '{pattern}'" for pattern in ("a*", "*n?a", "Anna")],
    f"{N} CASE WHEN smokes THEN NULL WHEN age > 1 THEN FALSE ELSE TRUE END AND COALESCE(age, NULL) IS NOT NULL",
    "SELECT AVG(CASE WHEN smokes THEN NULL WHEN age > 1 THEN cost WHEN age > 0 THEN NULL ELSE 3 END) AS a FROM visits",
    f"{N} name = $$Anna$$",
    *[f"{N} name ILIKE '{pattern}'" for pattern in ("A%", "%An%", "K%", "i%", "%I%", "_k%", "\\_%", "")],
    *[f"{N} name NOT ILIKE '{pattern}'" for pattern in ("A%", "%k%")],
    *[f"{N} {a} IS {no}DISTINCT FROM {b}" for a, b in PAIRS for no in ("", "NOT ")],
    *[f"{N} NOT ({a} IS {no}DISTINCT FROM {b})" for a, b in PAIRS for no in ("", "NOT ")],
    *[f"{N} (smokes IS {no}DISTINCT FROM (cost > 10)) IS NOT NULL" for no in ("", "NOT ")],
    *[f"{N} NOT (smokes IS {no}DISTINCT FROM (age IS DISTINCT FROM 1))" for no in ("", "NOT ")],
    f"{N} (ward, age) IN (('A', 1), ('B', 2))",
    f"{N} (ward, smokes) IN (('A', TRUE)) OR (age > 2 AND (ward, cost) IN (('B', 20), ('A', 1.5)))",
    "SELECT COUNT(*) FILTER (WHERE (ward, age) IN (('A', 1))) AS n, COUNT_IF((ward, age) IN (('A', 2))) AS m FROM visits",
    "SELECT CASE WHEN (ward, age) IN (('A', 1)) THEN 'yes' ELSE 'no' END AS k, COUNT(*) AS n FROM visits GROUP BY k",
]
ELSEWHERE = {  # what DuckDB does not have
    f"{N} day < TO_DATE('2024-01-31', 'YYYY-MM-DD')": f"{N} day < DATE '2024-01-31'",
    f"{N} moment < TO_TIMESTAMP('2024-01-31 12:30:00', 'YYYY-MM-DD HH24:MI:SS')": f"{N} moment < '2024-01-31 12:30:00'",
    f"{N} moment > TO_TIMESTAMP('2024-01-30 12:30:00.000000', 'YYYY-MM-DD HH24:MI:SS.US')": (
        f"{N} moment > '2024-01-30 12:30:00'"
    ),
    f"{N} day <= TO_TIMESTAMP('2024-01-31 12:30:00.000', 'YYYY-MM-DD HH24:MI:SS.MS')": f"{N} day <= '2024-01-31'",
    "SELECT ward, AVG(smokes) AS a FROM visits GROUP BY ward": (
        "SELECT ward, AVG(smokes::INT) AS a FROM visits GROUP BY ward"
    ),
    "SELECT AVG(age > 1) FILTER (WHERE smokes) AS a FROM visits": (
        "SELECT AVG((age > 1)::INT) FILTER (WHERE smokes) AS a FROM visits"
    ),
    f"SELECT SUM(own) AS s {INNER.format('AVG(smokes)')}": f"SELECT SUM(own) AS s {INNER.format('AVG(smokes::INT)')}",
    "SELECT SUM(s) AS s FROM (SELECT AVG(smokes) OVER (PARTITION BY person) AS s FROM visits) q": (
        "SELECT SUM(s) AS s FROM (SELECT AVG(smokes::INT) OVER (PARTITION BY person) AS s FROM visits) q"
    ),
    "SELECT IIF(smokes, 'a', 'b') AS k, COUNT(*) AS n FROM visits GROUP BY k": (
        "SELECT CASE WHEN smokes THEN 'a' ELSE 'b' END AS k, COUNT(*) AS n FROM visits GROUP BY k"
    ),
    # 0 where all are NULL, and not NULL as DuckDB has it
    f"SELECT COUNT(*) AS n {INNER.format('COUNT_IF(smokes)')} WHERE own IS NOT NULL": (
        f"SELECT COUNT(*) AS n {INNER.format('COUNT(*) FILTER (WHERE smokes)')} WHERE own IS NOT NULL"
    ),
}


@pytest.fixture(scope="module")
def held(tmp_path_factory) -> Dataset:
    return data(tmp_path_factory.mktemp("held"))


@pytest.fixture(scope="module")
def plain():
    with engine() as made:
        yield made


@pytest.mark.parametrize(("sql", "told"), [*((sql, sql) for sql in SAME), *ELSEWHERE.items()])
def test_a_rewrite_means_the_same(held, plain, sql, told):
    compare(held.quote(sql, epsilon=10**6).release(), plain.execute(told))


CASE = "CASE WHEN {0} THEN 1 WHEN NOT {0} THEN 0 END"
AS_CASE = {
    "SELECT ward, AVG(smokes) AS a, SUM(age > 1) AS s FROM visits GROUP BY ward": (
        f"SELECT ward, AVG({CASE.format('smokes')}) AS a, SUM({CASE.format('age > 1')}) AS s FROM visits GROUP BY ward"
    ),
    "SELECT AVG(smokes IS NULL) AS a FROM visits": (
        "SELECT AVG(CASE WHEN smokes IS NULL THEN 1 ELSE 0 END) AS a FROM visits"
    ),
    f"SELECT SUM(own) AS s {INNER.format('AVG(smokes)')}": (
        f"SELECT SUM(own) AS s {INNER.format('AVG(' + CASE.format('smokes') + ')')}"
    ),
    "SELECT BOOL_OR(smokes) AS o FROM visits": f"SELECT MAX({CASE.format('smokes')}) AS o FROM visits",
    **{
        f"SELECT ward AS w FROM visits GROUP BY {by} ORDER BY {count} DESC {limit}": "SELECT MODE(ward) AS w FROM visits"
        for by, count, limit in (
            ("w", "COUNT(*)", "LIMIT 1"),
            ("ALL", "COUNT(1)", "LIMIT 1"),
            ("1", "COUNT(*)", "FETCH FIRST 1 ROWS ONLY"),
        )
    },
    "SELECT MODE() WITHIN GROUP (ORDER BY ward DESC) AS w FROM visits": "SELECT MODE(ward) AS w FROM visits",
    f"{N} age = EXTRACT(year FROM DATE '2024-05-06') - 2020": f"{N} age = 4",
    f"{N} day < DATE_TRUNC('month', DATE '2024-02-20') + INTERVAL '1 day'": f"{N} day < DATE '2024-02-02'",
    f"{N} age > 7 // 2 AND cost > -(3 * 2) AND age % 2 = 7 % 2": f"{N} age > 3 AND cost > -6 AND age % 2 = 1",
}


@pytest.mark.parametrize(("sql", "same"), AS_CASE.items())
def test_a_spelling_is_the_same_question(held, sql, same):
    """So it has the same program: the counted numbers, the noise, the price and the coverage are equal."""
    assert held.quote(sql, epsilon=1).question == held.quote(same, epsilon=1).question


def test_constants_are_computed_before_keys_are_listed(held):
    """EXTRACT of a constant has one value, and not the years 1 to 9999."""
    sql = "SELECT FLOOR((EXTRACT(year FROM DATE '2026-01-31') - age) / 10) * 10 AS k, COUNT(*) AS n FROM visits GROUP BY k"
    assert [row["k"] for row in held.quote(sql, epsilon=10**6).release()] == [2020]


@pytest.mark.parametrize("part", PARTS)
def test_parts_of_constants_are_those_of_the_engine(part):
    name = {"weekday": "dow"}.get(part, part)
    moments = [datetime.datetime(y, m, d, 23, 59, 58) for y in (1, 1999, 2024, 9999) for m in (1, 2, 12) for d in (1, 28)]
    with duckdb.connect() as plain:
        for moment in moments:
            (found,) = plain.execute(f"SELECT EXTRACT({name} FROM TIMESTAMP '{moment.isoformat()}')").fetchone()
            assert part_of(part, moment) == found, moment


def test_most_frequent_values_of_nobodys_keys_are_refused_in_words(held):
    with pytest.raises(QuestionError, match="declares no keys") as caught:
        held.quote("SELECT name FROM visits GROUP BY name ORDER BY COUNT(*) DESC LIMIT 1", epsilon=1)
    assert "GROUP BY with COUNT(*)" in caught.value.instead


@pytest.mark.parametrize(
    "detail",
    [
        "ORDER BY COUNT(*) DESC LIMIT 1 PERCENT",
        "ORDER BY COUNT(*) DESC LIMIT 1%",
        "WITH ROLLUP ORDER BY COUNT(*) DESC LIMIT 1",
        "ORDER BY COUNT(*) DESC FETCH FIRST 1 ROWS WITH TIES",
        "ORDER BY COUNT(*) DESC FETCH FIRST 1 PERCENT ROWS ONLY",
        "ORDER BY COUNT(*) LIMIT 1",
        "ORDER BY COUNT(*) ASC LIMIT 1",
        "ORDER BY COUNT(cost) DESC LIMIT 1",
        "ORDER BY SUM(cost) DESC LIMIT 1",
        "ORDER BY COUNT(*) DESC, ward LIMIT 1",
        "ORDER BY COUNT(*) DESC LIMIT 1 OFFSET 1",
        ", age ORDER BY COUNT(*) DESC LIMIT 1",
    ],
)
def test_no_detail_is_lost_on_the_way_to_the_most_frequent_value(held, detail):
    """One percent of the rows is not one row: what a rewrite takes away has no details that would be refused."""
    with pytest.raises(QuestionError):
        held.quote(f"SELECT ward FROM visits GROUP BY ward {detail}", epsilon=1)


def test_the_ends_of_a_persons_conditions_are_words_of_every_engine():
    """PostgreSQL has no max of booleans."""
    kept = ColumnValue(Column("smokes", Type.BOOLEAN))
    for kind, word in ((PersonMin, "bool_and"), (PersonMax, "bool_or")):
        assert f"{word}(e0)" in own_total(POSTGRES, kind.make("k", 3, kept), 0)


def nested(start: str, middle: str, end: str, depth: int) -> str:
    return start * depth + middle + end * depth


@pytest.mark.parametrize(
    "condition",
    [
        nested("(", "smokes", " IS DISTINCT FROM smokes)", 40),
        nested("(smokes IS DISTINCT FROM ", "smokes", ")", 40),
        f"({', '.join(['age'] * 20)}) IN ({', '.join(['(' + ', '.join('1' * 20) + ')'] * 180)})",
    ],
)
def test_rewrites_that_repeat_a_part_end(held, condition):
    with pytest.raises(QuestionError) as caught:
        held.quote(f"{N} {condition}", epsilon=1)
    assert any(word in caught.value.why for word in ("repeated", "nested", "words and signs"))


def test_a_sum_of_ones_is_missing_where_a_person_has_none(held, plain):
    """Of nothing SUM is NULL and COUNT is 0, which an outer question can tell apart: it is not read as a count there."""
    sql = f"SELECT COUNT(*) AS n {INNER.format('SUM(1) FILTER (WHERE cost > 25 AND smokes)')} WHERE own IS NULL"
    compare(held.quote(sql, epsilon=10**6).release(), plain.execute(sql))
    assert plain.execute(sql).fetchone() > (0,)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT AVG(CASE WHEN smokes THEN 1 END) AS a FROM visits",  # of whatever rows, 1
        "SELECT SUM(CASE WHEN smokes THEN 0 END) AS a FROM visits",
        "SELECT AVG(smokes::DECIMAL(2, 2)) AS a FROM visits",  # has no digit for 1
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING COUNT(*) = TRUE",
        f"{N} DATE_TRUNC('month', DATE '2024-01-01') < '2024-01-01 12:00:00'",  # a day, or a moment: engines differ
        f"{N} '2024-01-01 12:00:00' > DATE_TRUNC('month', DATE '2024-01-01')",
    ],
)
def test_what_has_another_meaning_is_refused(held, sql):
    with pytest.raises(QuestionError):
        held.quote(sql, epsilon=1)
