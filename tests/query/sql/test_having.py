"""HAVING: on keys, with OR and NOT, on aggregates that SELECT does not name; all of it on released values."""

from __future__ import annotations

import itertools

import pytest

from dither.query.plan.question import HavingFilter, HavingLogic, HavingNot, HavingNull
from tests.query.sql.rewrites.plain import compare, data, engine

OF_WARD = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING"
KEPT = [
    "COUNT(1) > 0",
    "ward = 'A'",
    "ward <> 'A' OR n > 1000",
    "ward IN ('A', 'C') AND COUNT(*) > 3",
    "NOT (ward = 'A' OR n > 1000)",
    "SUM(cost) > 500 AND NOT ward = 'B'",
    "AVG(cost) BETWEEN 0 AND 10 OR ward >= 'B'",
    "10 < COUNT(*)",
    "ward IS NOT NULL AND n IS NOT NULL",
    "COUNT(DISTINCT person) > 20 AND (ward = 'A' OR ward = 'B')",
    "COUNT(*) FILTER (WHERE smokes) > 1000",
]
OTHERS = [
    "SELECT age, SUM(cost) AS s FROM visits GROUP BY age HAVING age > 1 AND COUNT(*) > 0",
    "SELECT age + 1 AS b, COUNT(*) AS n FROM visits GROUP BY b HAVING b BETWEEN 2 AND 3",
    "SELECT smokes, COUNT(*) AS n FROM visits GROUP BY smokes HAVING smokes",
    "SELECT smokes, COUNT(*) AS n FROM visits GROUP BY smokes HAVING NOT smokes",
    "SELECT day, COUNT(*) AS n FROM visits WHERE day BETWEEN '2024-01-30' AND '2024-02-01' GROUP BY day"
    " HAVING day >= '2024-01-31T00:00:00' AND COUNT(*) > 0",
    "SELECT ward FROM visits GROUP BY ward HAVING COUNT(*) > 10 AND ward <> 'B'",
]


@pytest.mark.parametrize("sql", [*(f"{OF_WARD} {condition}" for condition in KEPT), *OTHERS])
def test_having_is_plain_sql(tmp_path, sql):
    answer = data(tmp_path).quote(sql, epsilon=10**6).release()
    with engine() as plain:
        rows = plain.execute(sql).fetchall()
        compare(answer, plain.execute(sql))
    key = next(iter(answer.columns))
    assert sorted(answer[key]) == sorted(row[0] for row in rows if row[0] is not None)


def test_an_aggregate_that_is_not_named_is_paid_for_and_not_shown(tmp_path):
    clinic = data(tmp_path)
    alone = clinic.quote("SELECT ward, SUM(cost) AS s FROM visits GROUP BY ward", epsilon=1)
    quote = clinic.quote("SELECT ward, SUM(cost) AS s FROM visits GROUP BY ward HAVING MEDIAN(age) > 1", epsilon=1)
    assert "median (for HAVING, not shown)" in quote.explain()
    assert list(quote.errors) == ["s", "median"]
    assert quote.errors["s"] > alone.errors["s"]  # at the same price
    answer = quote.release()
    assert list(answer.columns) == ["ward", "s", "s_low", "s_high"]
    assert answer.aggregates == ("s",)
    assert list(answer.statements) == ["s"]
    assert "median" not in str(answer)


def test_a_name_that_is_taken_is_not_given_to_it(tmp_path):
    quote = data(tmp_path).quote(
        'SELECT ward AS "Count", SUM(age) AS s FROM visits GROUP BY ward HAVING COUNT(*) > 1', epsilon=1
    )
    assert [one.name for one in quote.offer.question.aggregates] == ["s", "count_2"]


def test_conditions_are_of_three_values():
    """Kleene's tables, which are SQL's."""
    truth = {True: HavingFilter("x", ">", 0), False: HavingFilter("x", "<", 0), None: HavingFilter("y", ">", 0)}
    row = {"x": 1, "y": None}
    assert HavingNull("y").holds(row) is True
    for left, right in itertools.product(truth, repeat=2):
        parts = (truth[left], truth[right])
        order = {False: 0, None: 1, True: 2}
        assert HavingLogic(True, parts).holds(row) is min(left, right, key=order.get)
        assert HavingLogic(False, parts).holds(row) is max(left, right, key=order.get)
        assert HavingNot(truth[left]).holds(row) is (None if left is None else not left)
