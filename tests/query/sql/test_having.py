"""HAVING: on keys, with OR and NOT, on aggregates that SELECT does not name; all of it on released values."""

from __future__ import annotations

import itertools

import pytest

from dither.errors import QuestionError
from dither.query.engines.postgres.magnitudes import nodes
from dither.query.plan.question import HavingFilter, HavingLogic, HavingNot, HavingNull
from dither.query.sql.parse import parse
from tests.query.chain_shop import policy
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


SOFT = "SELECT age, COUNT(*) AS n FROM visits GROUP BY age HAVING"


@pytest.mark.parametrize(
    ("condition", "ages"),
    [
        ("age >= 5", [5]),
        ("age > 3", [4, 5]),
        ("age < 2", [0, 1]),
        ("age <= 0 OR age = 3", [0, 3]),
        ("age BETWEEN 1 AND 4", [1, 2, 3, 4]),
        ("NOT age IN (1, 2)", [0, 3, 4, 5]),
    ],
)
def test_having_on_keys_at_the_edge_of_bounds(tmp_path, condition, ages):
    answer = data(tmp_path, hard=[]).quote(f"{SOFT} {condition}", epsilon=10**6).release()
    assert answer["age"] == ages


@pytest.mark.parametrize(
    "condition", ["age > 5", "age = 5", "age <> 0", "age <= 7", "age IN (1, 5)", "age < 0", "age >= -3"]
)
def test_having_that_would_divide_what_is_beyond_the_bounds_is_refused(tmp_path, condition):
    """The group >= 5 has ages of 5 and above: age > 5 is neither true nor false of it."""
    clinic = data(tmp_path, hard=[])
    with pytest.raises(QuestionError, match="stands for all that is beyond"):
        clinic.quote(f"{SOFT} {condition}", epsilon=1)
    data(tmp_path, name="others").quote(f"{SOFT} {condition}".replace("visits", "others"), epsilon=1)  # bounds are hard


def test_a_having_within_a_condition_counts():
    """An inner question about several rows at once is one of its own: nothing of it may be passed over."""
    whole = "SELECT COUNT(*) AS n FROM buyers WHERE who IN (SELECT who FROM orders GROUP BY who{})"
    plain, some = (parse(whole.format(having), policy()).relation for having in ("", " HAVING COUNT(*) > 2"))
    assert plain != some
    assert "person_total" in {getattr(node, "code", None) for node in nodes(some)}
