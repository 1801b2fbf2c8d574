"""Each rewrite means the same: the text as it was written in plain DuckDB, and the question with next to no noise."""

from __future__ import annotations

import pytest

from dither.errors import QuestionError
from dither.query.dataset import Dataset
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
    # conditions
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


def test_a_sum_of_ones_is_missing_where_a_person_has_none(held):
    """Of nothing SUM is NULL and COUNT is 0, which an outer question can tell apart: it is not read as a count there."""
    with pytest.raises(QuestionError, match="the same for every row"):
        held.quote(f"SELECT COUNT(*) AS n {INNER.format('SUM(1) FILTER (WHERE smokes)')} WHERE own IS NULL", epsilon=1)
